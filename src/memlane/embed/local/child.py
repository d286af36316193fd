"""Starting the process that runs llama.cpp, asking it, and noticing when it dies or hangs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from signal import Signals
from typing import IO, Any

from msgspec import Struct

from ...errors import EmbeddingError, ProviderUnavailable
from . import worker

_LOADING_SECONDS = 180.0
"""A cold disk may give 300 MB in half a minute."""
_ENDING_SECONDS = 5.0
_NOISE_READ = 4000
_NOISE_SHOWN = 200


class Crash(Exception):  # noqa: N818 - never leaves the room
    """The process ended, or was ended because it took too long. The message is the reason."""


class Answer(Struct, frozen=True):
    """What came of one text."""

    tokens: int
    """How long it is for the model."""
    row: bytes
    """float32, little-endian, not normalised; empty where the text is too long or has no token."""


class Child:
    """One process with one model loaded. Not thread-safe but for `end`.

    Attributes:
        limit: the most tokens of one text.
        dimensions: how many numbers a row holds.
        names: what the model's file says it is called.
    """

    def __init__(self, model: Path, *, threads: int, answer_seconds: float) -> None:
        """Start it and load the model: 0.5 s and more.

        Raises ProviderUnavailable when the model cannot be used.
        """
        self._seconds = answer_seconds
        self._late = False
        self._noise: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - read when the process has crashed
        # Another session: Ctrl-C in a terminal reaches every process of the session's group.
        command = [sys.executable, "-P", worker.__file__, str(model), str(threads)]
        try:
            self._process = subprocess.Popen(  # noqa: S603 - a script of ours, no shell
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._noise,
                start_new_session=True,
            )
        except OSError as error:
            self._noise.close()
            raise ProviderUnavailable(f"a process for llama.cpp cannot be started: {error}") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._questions, self._answers = self._process.stdin, self._process.stdout
        self.pid = self._process.pid
        self.end = weakref.finalize(self, _end, self._process, self._noise, os.getpid())
        try:
            card = self._message(_LOADING_SECONDS)
        except Crash as crash:
            raise ProviderUnavailable(
                f"llama.cpp cannot load {model}: its process {crash}",
                hint="try another model or quantisation",
            ) from crash
        if "error" in card:
            self.end()
            raise ProviderUnavailable(f"{model} cannot be used: {card['error']}", hint=_REMEDY)
        self.limit: int = card["limit"]
        self.dimensions: int = card["dimensions"]
        self.names: list[str] = card["names"]

    def ask(self, texts: Sequence[str]) -> list[Answer]:
        """One answer a text. Raises Crash, and EmbeddingError when llama.cpp refuses them."""
        answer = self._message(self._seconds, json.dumps({"texts": list(texts)}).encode())
        if "error" in answer:
            raise EmbeddingError(f"llama.cpp failed: {answer['error']}")
        rows = self._frame(self._seconds)
        width, answers, at = 4 * self.dimensions, [], 0
        for tokens in answer["tokens"]:
            size = width if 0 < tokens <= self.limit else 0
            answers.append(Answer(tokens, rows[at : at + size]))
            at += size
        return answers

    def _message(self, seconds: float, request: bytes | None = None) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self._frame(seconds, request))
        return message

    def _frame(self, seconds: float, request: bytes | None = None) -> bytes:
        """The next frame, after sending a request. Whatever else happens here, the process is ended."""
        timer = threading.Timer(seconds, self._end_late)
        timer.daemon = True
        timer.start()
        frame = None
        try:
            with suppress(OSError, ValueError):  # a pipe that is broken or, by `end`, closed
                if request is not None:
                    worker.write_frame(self._questions, request)
                frame = worker.read_frame(self._answers)
            if frame is None:
                raise Crash(self._fate(seconds))
            return frame
        finally:
            timer.cancel()
            if frame is None:
                self.end()

    def _end_late(self) -> None:
        self._late = True
        self._process.kill()

    def _fate(self, seconds: float) -> str:
        """How the process ended, in words, with the last thing it said."""
        if self._late:
            return f"took longer than {seconds:g} s"
        try:
            code = self._process.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            return "closed its output"
        fate = f"ended with code {code}"
        if code < 0:
            with suppress(ValueError):
                fate = f"was ended by {Signals(-code).name}"
        last = self._last_words()
        return f"{fate}: {last}" if last else fate

    def _last_words(self) -> str:
        with suppress(OSError, ValueError):
            size = self._noise.seek(0, os.SEEK_END)
            self._noise.seek(max(0, size - _NOISE_READ))
            lines = self._noise.read().decode("utf-8", "replace").split("\n")
            return next((line.strip()[-_NOISE_SHOWN:] for line in reversed(lines) if line.strip()), "")
        return ""


_REMEDY = "local.modelPath names a GGUF file of an embedding model; delete a damaged one to fetch it again"


def _end(process: subprocess.Popen[bytes], noise: IO[bytes], owner: int) -> None:
    """End the process and let go of its pipes. A copy of this process made by fork leaves it alone."""
    if os.getpid() != owner:
        return
    process.kill()
    for stream in (process.stdin, process.stdout, noise):
        if stream is not None:
            with suppress(OSError, ValueError):
                stream.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_ENDING_SECONDS)
