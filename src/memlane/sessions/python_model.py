"""A chat model that is an object in Python, named MODULE:NAME."""

from __future__ import annotations

import os
import sys
from importlib import import_module

from ..errors import ChatError, UsageError
from .chat import ChatModel


def imported(named: str) -> ChatModel:
    """The chat model, or what the function of that name gives. Raises UsageError, ChatError.

    The working directory is looked at too, as `python -m` would; a console script does not.
    """
    module, _, name = named.partition(":")
    sys.path.insert(0, os.curdir)
    try:
        found = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(
            f"{named!r} cannot be imported: {error}",
            hint="write MODULE:NAME; models of providers need: pip install 'memlane[chat]'",
        ) from error
    except Exception as error:
        raise ChatError(f"{named!r} failed while it was imported: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(os.curdir)
    model = found() if callable(found) and not hasattr(found, "reply") else found
    if isinstance(model, type) or not hasattr(model, "reply"):
        raise UsageError(f"{named!r} is no chat model", hint="see memlane.sessions.chat.ChatModel")
    return model
