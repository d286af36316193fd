from __future__ import annotations

from pathlib import Path

import pytest
from tests import media_files as made
from tests.media_embedder import MediaEmbedder

from memlane.embed.base import Input, Media, NoVector
from memlane.errors import EmbeddingError, InputRefused
from memlane.index.identity import media_digest, text_digest
from memlane.index.inputs import BATCH_BYTES, batches_by_bytes, embed_inputs, input_for
from memlane.index.store import UnembeddedChunk
from memlane.testing import HashEmbedder
from memlane.workspace import inspect_media

RED, BLUE, BAD = made.png((255, 0, 0)), made.png((0, 0, 255)), made.png((1, 2, 3))


def chunk(number: int, *, size: int = 0) -> UnembeddedChunk:
    media = "image" if size else None
    return UnembeddedChunk(number, bytes([number]), "", "text", "/nowhere.png", media, size)


def stored(path: Path) -> UnembeddedChunk:
    digest = media_digest(b"Image file: a.png", inspect_media(str(path), "image").digest.encode())
    return UnembeddedChunk(1, digest, "", "Image file: a.png", str(path), "image", path.stat().st_size)


def picture(data: bytes) -> Media:
    return Media("Image file: a.png", "image/png", data)


def test_files_are_held_as_far_as_one_request_takes_them() -> None:
    half = BATCH_BYTES // 2
    sizes = [0, half, 0, half, 1, 0, BATCH_BYTES + 5, 0, half, half + 1]
    batches = list(batches_by_bytes([chunk(number, size=size) for number, size in enumerate(sizes)]))
    assert [[one.chunk for one in batch] for batch in batches] == [[0, 1, 2, 3], [4, 5], [6, 7], [8], [9]]
    assert list(batches_by_bytes([])) == []


def test_the_input_of_a_picture_is_its_label_type_and_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(RED)
    embedder = MediaEmbedder({})
    assert input_for(stored(path), embedder) == picture(RED)
    assert input_for(stored(path), HashEmbedder()) == NoVector("words takes no images and no audio")


def test_a_picture_that_changed_since_it_was_read_is_not_sent(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(RED)
    known = stored(path)
    path.write_bytes(BLUE)
    assert len(RED) == len(BLUE)
    assert input_for(known, MediaEmbedder({})) == NoVector("changed while it was indexed")
    path.write_bytes(RED + b"more")
    assert input_for(known, MediaEmbedder({})) == NoVector("changed while it was indexed")
    path.unlink()
    assert input_for(known, MediaEmbedder({})) == NoVector("no longer there")


def test_the_input_of_a_note_is_its_text_within_the_limit() -> None:
    embedder = HashEmbedder()
    note = UnembeddedChunk(1, text_digest("tea"), "Drinks", "tea")
    assert input_for(note, embedder) == "Drinks\ntea"
    long = UnembeddedChunk(1, b"", "", "字" * 9000)
    assert input_for(long, embedder) == NoVector("longer than the 8192 tokens that words takes")


def test_the_same_bytes_under_another_name_are_embedded_anew() -> None:
    assert media_digest(b"Image file: a.png", b"ff") != media_digest(b"Image file: b.png", b"ff")
    assert media_digest(b"a", b"ff") not in {text_digest("a ff"), text_digest("aff")}


def test_one_that_is_refused_does_not_keep_the_others_from_their_vectors() -> None:
    embedder = MediaEmbedder({RED: "red", BLUE: "blue"}, refused=[BAD])
    inputs: list[Input] = ["one", picture(RED), "two", picture(BAD), picture(BLUE)]
    made_of = embed_inputs(embedder, inputs)
    assert made_of[3] == NoVector("gemini does not take image/png: Unable to process input")
    expected = ["one", "red", "two", None, "blue"]
    for vector, words in zip(made_of, expected, strict=True):
        assert words is None or vector == embedder.embed_query(words)
    assert embedder.calls == [5, 2, 1, 1, 1]
    assert embed_inputs(embedder, [picture(BAD)]) == [made_of[3]]


def test_what_was_made_before_a_refusal_is_not_sent_again() -> None:
    class Partial(MediaEmbedder):
        def embed_documents(self, inputs):
            try:
                return super().embed_documents(inputs)
            except InputRefused as error:
                if len(inputs) > 1:
                    error.made = {0: self.embed_query("made before")}
                raise

    embedder = Partial({}, refused=[BAD])
    first, second, third = embed_inputs(embedder, [picture(RED), picture(BAD), picture(BLUE)])
    assert first == embedder.embed_query("made before")
    assert isinstance(second, NoVector)
    assert third == embedder.embed_query("Image file: a.png")
    assert embedder.calls == [3, 1, 1]


def test_refused_texts_are_a_failure_of_the_call() -> None:
    class Grumpy(HashEmbedder):
        def embed_documents(self, inputs):
            raise InputRefused("no")

    with pytest.raises(InputRefused):
        embed_inputs(Grumpy(), ["one", "two"])


def test_an_outage_among_single_files_hands_on_what_was_made() -> None:
    class Failing(MediaEmbedder):
        def embed_documents(self, inputs):
            if len(self.calls) == 3:
                raise EmbeddingError("gone")
            return super().embed_documents(inputs)

    embedder = Failing({RED: "red"}, refused=[BAD])
    with pytest.raises(EmbeddingError, match="gone") as caught:
        embed_inputs(embedder, [picture(RED), picture(BAD), picture(BLUE), picture(RED)])
    assert list(caught.value.made) == [0, 1]
    assert caught.value.made[0] == embedder.embed_query("red")
    assert isinstance(caught.value.made[1], NoVector)
