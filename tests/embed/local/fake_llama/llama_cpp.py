"""Stands in for llama-cpp-python in the child process: words of a text make it crash, hang, print or fail."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

LLAMA_POOLING_TYPE_NONE = 0
LLAMA_POOLING_TYPE_RANK = 4
WIDTH = 26
CONTEXT = 40

_listeners = []


def llama_log_callback(function):
    return function


def llama_log_set(listener, _data):
    _listeners.append(listener)


class Llama:
    def __init__(self, path: str, **_options: object) -> None:
        self._path = Path(path)
        order = self._path.read_text("utf-8").removeprefix("GGUF ").strip()
        if order == "crash":
            os.write(2, b"GGML_ASSERT(tensor) failed\n")
            os.abort()
        if order == "refuse":
            _listeners[-1](
                4, b"llama_model_load: error loading model: unknown architecture: 'parrot'\n", None
            )
            raise ValueError(f"Failed to load model from file: {path}")
        self._pooling = int(order) if order.isdigit() else 1
        self._model = SimpleNamespace(n_ctx_train=lambda: CONTEXT)
        self.metadata = {"general.name": order}

    def pooling_type(self) -> int:
        return self._pooling

    def n_embd(self) -> int:
        return WIDTH

    def tokenize(self, text: bytes) -> list[int]:
        return list(text)

    def embed(self, text: str, truncate: bool = True) -> list[float]:
        if "CRASH" in text or (self._first("ONCE") if "ONCE" in text else False):
            os.kill(os.getpid(), signal.SIGSEGV)
        if "HANG" in text:
            threading.Event().wait()
        if "PRINT" in text:
            os.write(1, b"llama.cpp says hello\n")
            for stream in (sys.stdout, sys.stderr):
                stream.write("and so does Python\n")
                stream.flush()
        if "FAIL" in text:
            raise RuntimeError("llama_decode returned -3")
        return [float(text.lower().count(letter)) for letter in "abcdefghijklmnopqrstuvwxyz"]

    def _first(self, word: str) -> bool:
        """Whether this has not happened yet, in an earlier process either."""
        mark = self._path.with_suffix(f".{word}")
        if mark.exists():
            return False
        mark.touch()
        return True
