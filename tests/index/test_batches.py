from __future__ import annotations

from memlane.index.batches import BATCH_BYTES, Batching
from memlane.index.inputs import Draft, MediaDraft
from memlane.testing import HashEmbedder


def test_files_are_taken_as_far_as_one_request_holds_them() -> None:
    half = BATCH_BYTES // 2
    sizes = [0, half, 0, half, 1, 0, BATCH_BYTES + 5, 0, half, half + 1]
    batching = Batching(HashEmbedder())
    for number, size in enumerate(sizes):
        draft: Draft = MediaDraft("a", "/a.png", "image", size, b"") if size else "text"
        batching.add(bytes([number]), draft, 1)
    assert batching.is_ripe
    taken = []
    while batch := batching.take():
        taken.append([digest[0] for digest in batch])
    assert taken == [[0, 1, 2, 3], [4, 5], [6, 7], [8], [9]]
    assert not batching.is_ripe
