"""The embedded models keep the contract of every provider."""

from __future__ import annotations

from tests.embed.embedder_contract import check_contract

from memlane.embed.bundled import BundledEmbedder
from memlane.embed.e5 import E5Embedder


def test_the_static_model_keeps_the_contract() -> None:
    check_contract(BundledEmbedder())


def test_e5_keeps_the_contract() -> None:
    check_contract(E5Embedder())
