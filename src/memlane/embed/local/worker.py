"""The child process that runs llama.cpp. Native code may crash, hang or print; here it harms nobody.

Started as a script, so it imports the standard library and llama_cpp alone. Messages are frames: four bytes
of length, big-endian, then so many bytes. A request is the JSON `{"texts": [...]}`; its answer is the JSON
`{"tokens": [...]}`, how long each text is for the model, and a frame of float32 numbers, one row for each
text whose length is in 1..limit, in order. Before the first request it introduces its model:
`{"limit", "dimensions", "names"}`. `{"error"}` in place of any of these says why not.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from array import array
from queue import SimpleQueue
from typing import IO, Any

CONTEXT = 2048
"""The most tokens of one text. Models of 32,000 exist, but their buffers would take gigabytes."""
_NOISE_KEPT = 50


def read_frame(stream: IO[bytes]) -> bytes | None:
    """The next frame, or None at the end of the stream, in the middle of a frame too."""
    head = stream.read(4)
    if len(head) < 4:
        return None
    length = int.from_bytes(head, "big")
    body = stream.read(length)
    return body if len(body) == length else None


def write_frame(stream: IO[bytes], body: bytes) -> None:
    """Send a frame. Raises OSError when nobody listens any more."""
    stream.write(len(body).to_bytes(4, "big") + body)
    stream.flush()


class _Unusable(Exception):  # noqa: N818 - never leaves this module
    """A file that gives no embeddings, and why."""


class _Model:
    def __init__(self, path: str, threads: int) -> None:
        import ctypes

        import llama_cpp

        said: list[str] = []

        def listen(_level: int, text: bytes, _data: object) -> None:
            said.append(text.decode("utf-8", "replace").strip())
            del said[:-_NOISE_KEPT]

        self._listener = llama_cpp.llama_log_callback(listen)  # C holds no reference
        llama_cpp.llama_log_set(self._listener, ctypes.c_void_p(0))
        try:
            self._llama: Any = llama_cpp.Llama(
                path,
                embedding=True,
                n_ctx=CONTEXT,
                n_batch=CONTEXT,
                n_ubatch=CONTEXT,
                n_threads=threads,
                n_threads_batch=threads,
                n_gpu_layers=-1,
                verbose=False,
            )
        except ValueError as error:
            raise _Unusable(_reason(said) or str(error)) from error
        pooling = self._llama.pooling_type()
        if pooling in {llama_cpp.LLAMA_POOLING_TYPE_NONE, llama_cpp.LLAMA_POOLING_TYPE_RANK}:
            kind = "a reranking model" if pooling == llama_cpp.LLAMA_POOLING_TYPE_RANK else "a language model"
            raise _Unusable(f"it is {kind}, not an embedding model")
        self._limit = min(CONTEXT, self._llama._model.n_ctx_train())

    def card(self) -> dict[str, object]:
        metadata = self._llama.metadata
        keys = ("general.name", "general.basename", "general.architecture")
        return {
            "limit": self._limit,
            "dimensions": self._llama.n_embd(),
            "names": [str(metadata[key]) for key in keys if key in metadata],
        }

    def embed(self, texts: list[str]) -> tuple[list[int], bytes]:
        sound = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        tokens = [len(self._llama.tokenize(text.encode("utf-8"))) for text in sound]
        rows = array("f")
        for text, count in zip(sound, tokens, strict=True):
            if 0 < count <= self._limit:  # one by one: on a processor, eight together take twice as long
                rows.extend(self._llama.embed(text, truncate=False))
        if sys.byteorder == "big":
            rows.byteswap()
        return tokens, rows.tobytes()


def _reason(said: list[str]) -> str:
    """What llama.cpp gave as the cause, among all that it logged."""
    causes = [line.partition("error loading model: ")[2] for line in said]
    return next((cause for cause in causes if cause), "")


def _leave_with_parent(requests: SimpleQueue[bytes], stream: IO[bytes]) -> None:
    """Pass requests on until the parent is gone, and end this process then, whatever it is computing.

    Not PR_SET_PDEATHSIG: that signal comes when the thread ends which started this process.
    """
    while (request := read_frame(stream)) is not None:
        requests.put(request)
    os._exit(0)


def _leave_orphaned(parent: int) -> None:
    """End this process when another one, forked from the parent, still holds the pipe open."""
    waiting = threading.Event()
    while os.getppid() == parent:
        waiting.wait(1.0)
    os._exit(0)


def main() -> None:
    """Serve one parent until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints does not print into the answers
    os.environ["GGML_NO_BACKTRACE"] = "1"  # a failed assertion would start a debugger
    requests: SimpleQueue[bytes] = SimpleQueue()
    asked = os.fdopen(os.dup(0), "rb")
    threading.Thread(target=_leave_with_parent, args=(requests, asked), daemon=True).start()
    threading.Thread(target=_leave_orphaned, args=(os.getppid(),), daemon=True).start()

    def answer(message: dict[str, Any], rows: bytes | None = None) -> None:
        write_frame(answers, json.dumps(message).encode())
        if rows is not None:
            write_frame(answers, rows)

    try:
        model = _Model(sys.argv[1], int(sys.argv[2]))
    except (ImportError, OSError, RuntimeError) as error:
        return answer({"error": f"llama.cpp does not run here: {error}"})
    except (_Unusable, ValueError) as error:
        return answer({"error": str(error)})
    answer(model.card())
    while True:
        texts = json.loads(requests.get())["texts"]
        try:
            tokens, rows = model.embed(texts)
        except (RuntimeError, ValueError) as error:
            answer({"error": str(error)})
        else:
            answer({"tokens": tokens}, rows)


if __name__ == "__main__":
    main()
