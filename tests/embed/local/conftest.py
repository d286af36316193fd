from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memlane.embed.base import CheckedEmbedder
from memlane.embed.local import LocalEmbedder, local_embedder
from memlane.testing import RecordingObserver

FAKE = Path(__file__).parent / "fake_llama"

MakeEmbedder = Callable[..., LocalEmbedder]


@pytest.fixture
def with_fake(monkeypatch: pytest.MonkeyPatch) -> None:
    """Child processes find the stand-in for llama_cpp, whether or not the real one is installed."""
    monkeypatch.syspath_prepend(FAKE)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(FAKE), os.environ.get("PYTHONPATH", "")]))


@pytest.fixture
def make_fake(with_fake: None, tmp_path: Path) -> Iterator[MakeEmbedder]:
    """An embedder over the stand-in. `order` is what the model's file says."""
    made: list[LocalEmbedder] = []

    def make(order: str = "ordinary", **options: object) -> LocalEmbedder:
        model = tmp_path / "model.gguf"
        if not model.exists():
            model.write_text(f"GGUF {order}", "utf-8")
        found = local_embedder(str(model), tmp_path / "cache", observer=RecordingObserver())
        made.append(LocalEmbedder(found._file, **options) if options else found)  # type: ignore[arg-type]
        return made[-1]

    yield make
    for embedder in made:
        embedder.close()


@pytest.fixture
def fake(make_fake: MakeEmbedder) -> CheckedEmbedder:
    return CheckedEmbedder(make_fake())
