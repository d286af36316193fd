"""Readings that a type alone cannot express: durations, sizes, paths, addresses, secrets, time zones.

A key names its kind in its annotation; each kind is one row of `KINDS`.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..errors import ConfigError
from .locate import Surroundings
from .related import QmdPath
from .schema import ExtraPath
from .section import MOST

DURATION_WORDS = 'a duration such as "30s", "5m" or "1h", or a number of minutes'
SIZE_WORDS = 'a size such as "512kb" or "2mb", or a number of bytes'

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_BYTES = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3}


HIDDEN = "•••"


class Secret(str):
    """A text that shows itself as dots in every repr. `str()` still gives it, to be sent."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"'{HIDDEN}'"


class Address(str):
    """A URL that shows itself in every repr without what lets somebody in. `str()` still gives it whole."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(without_credentials(str(self)))


def without_credentials(text: str) -> str:
    """An address without its user's name and password and without the keys of its query."""
    if "://" not in text:
        return text
    text = re.sub(r"(://)[^/?#\s]*@", rf"\1{HIDDEN}@", text)
    name = r"[?&][^=&#]*(?:key|token|sig|secret|auth|password)[^=&#]*"
    return re.sub(rf"({name}=)[^&#]*", rf"\1{HIDDEN}", text, flags=re.IGNORECASE)


class Unusable(Exception):  # noqa: N818 - never leaves the room
    """A value of the right type that its kind cannot take. A message replaces the kind's words."""

    def __init__(self, message: str = "", steps: Sequence[int | str] = ()) -> None:
        super().__init__(message)
        self.steps = tuple(steps)
        """The way to the part that is wrong: positions in lists and names in objects."""


# ---- durations and sizes -----------------------------------------------------------------------------


def parse_duration(value: object) -> float:
    """Seconds of `"30s"`, `"5m"`, `"1h"`, `"500ms"`, `"2d"`; a bare number, as text too, is minutes.

    Raises ConfigError for anything else, negative and endless durations among it.
    """
    number, unit = _number_and_unit(value, "ms|s|m|h|d")
    seconds = number * _SECONDS[unit or "m"]
    if not 0 <= seconds <= MOST:
        raise ConfigError(f"{value!r} is not a duration; allowed: {DURATION_WORDS}")
    return seconds


def parse_size(value: object) -> int:
    """Bytes of a number, `"2mb"` (2 × 1024 × 1024), `"512 KiB"`, `"1.5g"`. Raises ConfigError otherwise."""
    number, unit = _number_and_unit(value, "b|[kmg](?:i?b)?")
    size = number * _BYTES[unit[:1].replace("b", "")]
    if not 0 <= size <= MOST or (not unit and not size.is_integer()):
        raise ConfigError(f"{value!r} is not a size; allowed: {SIZE_WORDS}")
    return int(size)


def _number_and_unit(value: object, units: str) -> tuple[float, str]:
    """The number and lower-case unit; not-a-number for what has no such form."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (float(value) if abs(value) <= MOST else math.inf), ""
    if not isinstance(value, str):
        return math.nan, ""
    found = re.fullmatch(rf"\s*(\d{{1,15}}(?:\.\d+)?)\s*({units})?\s*", value, re.IGNORECASE | re.ASCII)
    return (float(found[1]), (found[2] or "").lower()) if found else (math.nan, "")


# ---- what a kind does --------------------------------------------------------------------------------


class Place(Struct, frozen=True):
    """What relative and home-relative paths of the file refer to."""

    folder: Path
    """Of the configuration file."""
    surroundings: Surroundings

    def located(self, text: str) -> str:
        """A path of the file as an absolute one."""
        return os.path.normpath(self.folder / self.surroundings.expanded(text))


class Kind(Struct, frozen=True):
    """One reading."""

    read: Callable[[Any, Place], Any]
    """The final form of a value that has the type. Raises Unusable."""
    allowed: str
    """In an error message."""
    takes: Any = None
    """The type in the file where it differs from the final one."""
    join: Callable[[Any, Any], Any] | None = None
    """Makes one value of the defaults' and the agent's, where an agent adds to what is there."""


def _text(value: str | None, _: Place) -> str | None:
    """Blank counts as unset: it is what an empty environment variable leaves behind."""
    return (value.strip() or None) if value else None


def _name(value: str, _: Place) -> str:
    if not (name := value.strip()):
        raise Unusable
    return name


def _secret(value: str | None, place: Place) -> Secret | None:
    text = _text(value, place)
    return None if text is None else Secret(_one_line(text))


def _headers(value: dict[str, str], _: Place) -> dict[str, Secret]:
    return {_one_line(name.strip()): Secret(_one_line(content.strip())) for name, content in value.items()}


def _one_line(text: str) -> str:
    """Control characters would let a header smuggle in another one."""
    if any(ord(character) < 32 or ord(character) == 127 for character in text):
        raise Unusable("text without line breaks and control characters")
    return text


def _url(value: str | None, place: Place) -> Address | None:
    text = _text(value, place)
    if text is None:
        return None
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(text)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError as error:
        raise Unusable from error
    if not usable or any(character.isspace() or not character.isprintable() for character in text):
        raise Unusable
    return Address(text)


def _path(value: str | None, place: Place) -> str | None:
    text = _text(value, place)
    return None if text is None else place.located(text)


def _model(value: str, place: Place) -> str:
    name = _name(value, place)
    return name if name.startswith("hf:") or "://" in name else place.located(name)


def _chat_model(value: str | dict[str, Any] | None, place: Place) -> str | None:
    """Of a model with others to fall back on, the first: each answers for itself here."""
    if not isinstance(value, dict):
        return _text(value, place)
    primary = value.get("primary")
    if primary is not None and not isinstance(primary, str):
        raise Unusable("provider/model", ["primary"])
    return _text(primary, place)


def _timezone(value: str | None, place: Place) -> str | None:
    from ..clock import zone_named

    text = _text(value, place)
    try:
        zone_named(text)
    except ConfigError as error:
        raise Unusable from error
    return text


def _command(value: str | list[str], place: Place) -> tuple[str, ...]:
    """A string is one executable, blanks and backslashes included, never a line for a shell."""
    words = [value.strip()] if isinstance(value, str) else value
    if not words or not words[0].strip():
        raise Unusable
    return (place.surroundings.expanded(words[0]), *words[1:])


def _extra_paths(value: list[str | ExtraPath], place: Place) -> tuple[ExtraPath, ...]:
    found = []
    for index, entry in enumerate(value):
        bare = isinstance(entry, str)
        whole = ExtraPath(path=entry) if isinstance(entry, str) else entry
        found.append(replace(whole, path=_rooted(whole, place, [index] if bare else [index, "path"])))
    return tuple(found)


def _qmd_paths(value: Sequence[QmdPath], place: Place) -> tuple[QmdPath, ...]:
    return tuple(
        replace(entry, path=_rooted(entry, place, [index, "path"])) for index, entry in enumerate(value)
    )


def _added(weaker: tuple[ExtraPath, ...], stronger: tuple[ExtraPath, ...]) -> tuple[ExtraPath, ...]:
    return weaker + stronger


def laid_over(weaker: Mapping[str, str], stronger: Mapping[str, str]) -> dict[str, str]:
    """Headers of both, the stronger ones where they have the same name, in whatever case."""
    replaced = {name.lower() for name in stronger}
    kept = {name: value for name, value in weaker.items() if name.lower() not in replaced}
    return {**kept, **stronger}


def _rooted(entry: ExtraPath | QmdPath, place: Place, steps: Sequence[int | str]) -> str:
    """The trimmed path with `~` expanded. A relative one waits for the workspace."""
    if not (path := entry.path.strip()):
        raise Unusable("the path of a folder or file", steps)
    return place.surroundings.expanded(path)


def _parsed(parse: Callable[[object], Any]) -> Callable[[Any, Place], Any]:
    def read(value: object, _: Place) -> object:
        try:
            return parse(value)
        except ConfigError as error:
            raise Unusable from error

    return read


KINDS: Mapping[str, Kind] = {
    "text": Kind(_text, "a string"),
    "name": Kind(_name, "a name"),
    "secret": Kind(_secret, "a string"),
    "headers": Kind(_headers, "an object of strings", join=laid_over),
    "url": Kind(_url, "an address that starts with http:// or https://"),
    "path": Kind(_path, "a path"),
    "model": Kind(_model, "a path, or hf:organisation/repository/file"),
    "chat_model": Kind(
        _chat_model, "provider/model, or an object with it as primary", str | dict[str, Any] | None
    ),
    "timezone": Kind(_timezone, "an IANA time zone such as Europe/Berlin or Asia/Seoul"),
    "command": Kind(_command, "a command, or a list of a command and its arguments", str | list[str]),
    "extra_paths": Kind(
        _extra_paths, "a list of paths or {path, pattern, evergreen}", list[str | ExtraPath], _added
    ),
    "qmd_paths": Kind(_qmd_paths, "a list of {path, pattern, name}"),
    "duration": Kind(_parsed(parse_duration), DURATION_WORDS, str | float),
    "size": Kind(_parsed(parse_size), SIZE_WORDS, str | int | float),
}
