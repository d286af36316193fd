"""What the library reports while it works. The default observer does nothing: the library never prints."""

from __future__ import annotations

from typing import Literal, Protocol

Stage = Literal["index", "embed", "ask", "download"]


class Observer(Protocol):
    """Receives progress and warnings. Called from the thread that does the work."""

    def progress(self, stage: Stage, done: int, total: int) -> None:
        """`done` of `total` items of a stage are finished (files, chunks, questions or megabytes).

        Called after each batch that is stored. Raising `Interrupted` here ends the work; what is stored is
        kept, and the next pass goes on from there.
        """

    def warning(self, message: str) -> None:
        """Something the user should know that does not stop the work."""


class SilentObserver:
    """The observer that does nothing but pass warnings to the `memlane` logger."""

    def progress(self, stage: Stage, done: int, total: int) -> None:
        """Ignore progress."""

    def warning(self, message: str) -> None:
        """Log a warning."""
        import logging

        logging.getLogger("memlane").warning("%s", message)
