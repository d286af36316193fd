from __future__ import annotations

import importlib.util
import threading
from pathlib import Path

import pytest

from memlane.embed.local import local_embedder
from memlane.embed.local.records import record_of
from memlane.embed.local.turns import Turns
from memlane.errors import ProviderUnavailable
from memlane.testing import RecordingObserver


def test_without_the_extra_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "llama_cpp" else find(name))
    with pytest.raises(ProviderUnavailable, match=r"llama\.cpp is not installed") as failure:
        local_embedder(str(tmp_path / "x.gguf"), tmp_path, observer=RecordingObserver())
    assert failure.value.hint.startswith("pip install 'memlane[local]'")


def test_a_file_is_hashed_again_when_it_changes_and_only_then(tmp_path: Path) -> None:
    model, cache = tmp_path / "model.gguf", tmp_path / "cache"
    model.write_bytes(b"GGUF one")
    first = record_of(model, cache)
    (kept,) = (cache / "known").iterdir()
    kept.write_text(kept.read_text("utf-8").replace(first.sha256, "f" * 64), "utf-8")
    assert record_of(model, cache).sha256 == "f" * 64
    model.write_bytes(b"GGUF other")
    assert record_of(model, cache).sha256 not in {first.sha256, "f" * 64}


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"size": "x"}', b"\xff\xfe"])
def test_a_damaged_record_is_made_again(tmp_path: Path, content: bytes) -> None:
    model = tmp_path / "model.gguf"
    model.write_bytes(b"GGUF one")
    first = record_of(model, tmp_path / "cache")
    (kept,) = (tmp_path / "cache" / "known").iterdir()
    kept.write_bytes(content)
    assert record_of(model, tmp_path / "cache") == first


def test_a_record_that_cannot_be_kept_costs_nothing_but_time(tmp_path: Path) -> None:
    model, blocked = tmp_path / "model.gguf", tmp_path / "cache"
    model.write_bytes(b"GGUF one")
    blocked.write_text("a file where a folder should be", "utf-8")
    assert record_of(model, blocked).size == 8


def test_whoever_is_in_a_hurry_goes_first() -> None:
    turns, order = Turns(), []
    waiting = [threading.Event() for _ in range(3)]

    def take(number: int, *, hurried: bool) -> None:
        waiting[number].set()
        with turns.one(hurried=hurried):
            order.append(number)

    with turns.one(hurried=False):
        threads = [
            threading.Thread(target=take, args=(number,), kwargs={"hurried": number == 2})
            for number in range(3)
        ]
        for thread, event in zip(threads, waiting, strict=True):
            thread.start()
            event.wait(10)
        while turns._hurried == 0:
            threads[2].join(0.001)
    for thread in threads:
        thread.join(10)
    assert order[0] == 2
    assert sorted(order) == [0, 1, 2]
