"""The provider `local`: a GGUF embedding model on this machine, run by llama.cpp in a process of its own."""

from __future__ import annotations

from pathlib import Path

from ...errors import ProviderUnavailable
from ...events import Observer
from .embedder import LocalEmbedder
from .model_file import HubFile, find_model


def local_embedder(
    model_path: str, cache_dir: Path, *, observer: Observer, threads: int | None = None
) -> LocalEmbedder:
    """The embedder of `local.modelPath`, with downloads and what is remembered of models in `cache_dir`.

    Nothing is loaded yet, and nothing downloaded: a model that is not here is asked for by name, size and
    hash (one small request), and fetched when documents are first embedded, with progress through `observer`
    as stage `download`. `threads` is how many llama.cpp may use, by default one less than processors.

    Raises ProviderUnavailable where the extra is not installed, the file is missing or no GGUF, or the hub
    cannot be asked.
    """
    from importlib.util import find_spec

    if find_spec("llama_cpp") is None:
        raise ProviderUnavailable(
            "llama.cpp is not installed",
            hint="pip install 'memlane[local]'; that takes a C++ compiler and some minutes",
        )
    return LocalEmbedder(find_model(model_path, cache_dir, observer), threads=threads)


__all__ = ["HubFile", "LocalEmbedder", "local_embedder"]
