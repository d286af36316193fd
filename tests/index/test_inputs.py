from __future__ import annotations

from pathlib import Path

import pytest
from tests import media_files as made
from tests.media_embedder import MediaEmbedder

from memlane.embed.base import Media, NoVector
from memlane.errors import EmbeddingError
from memlane.index.identity import media_digest, text_digest
from memlane.index.inputs import Draft, draft_of, input_for, vectors_of
from memlane.index.store import UnembeddedChunk
from memlane.markdown import estimate_tokens
from memlane.testing import HashEmbedder
from memlane.workspace import inspect_media

RED, BLUE, BAD = made.png((255, 0, 0)), made.png((0, 0, 255)), made.png((1, 2, 3))


def stored(path: Path) -> UnembeddedChunk:
    digest = media_digest(b"Image file: a.png", inspect_media(str(path), "image").digest.encode())
    return UnembeddedChunk(1, digest, "", "Image file: a.png", str(path), "image", path.stat().st_size)


def picture(data: bytes) -> Media:
    return Media("Image file: a.png", "image/png", data)


def drafts(folder: Path, *inputs: str | bytes) -> list[Draft]:
    """Texts as they are, and files with these bytes."""
    made_of: list[Draft] = []
    for number, one in enumerate(inputs):
        if isinstance(one, bytes):
            path = folder / f"{number}.png"
            path.write_bytes(one)
            made_of.append(waiting(stored(path)))
        else:
            made_of.append(one)
    return made_of


def waiting(chunk: UnembeddedChunk) -> Draft:
    drafted = draft_of(chunk, MediaEmbedder({}))
    assert not isinstance(drafted, NoVector)
    return drafted[0]


def test_the_input_of_a_picture_is_its_label_type_and_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(RED)
    assert input_for(waiting(stored(path))) == picture(RED)
    assert draft_of(stored(path), HashEmbedder()) == NoVector("words takes no images and no audio")


def test_a_picture_that_changed_since_it_was_read_is_not_sent(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(RED)
    known = waiting(stored(path))
    path.write_bytes(BLUE)
    assert len(RED) == len(BLUE)
    assert input_for(known) == NoVector("changed while it was indexed")
    path.write_bytes(RED + b"more")
    assert input_for(known) == NoVector("changed while it was indexed")
    path.unlink()
    assert input_for(known) == NoVector("no longer there")
    embedder = MediaEmbedder({})
    assert vectors_of(embedder, [known]) == [NoVector("no longer there")]
    assert embedder.calls == []


def test_the_draft_of_a_note_is_its_text_within_the_limit() -> None:
    embedder = HashEmbedder()
    note = UnembeddedChunk(1, text_digest("tea"), "Drinks", "tea")
    assert draft_of(note, embedder) == ("Drinks\ntea", estimate_tokens("Drinks\ntea"))
    long = UnembeddedChunk(1, b"", "", "字" * 9000)
    assert draft_of(long, embedder) == NoVector("longer than the 8192 tokens that words takes")


def test_the_same_bytes_under_another_name_are_embedded_anew() -> None:
    assert media_digest(b"Image file: a.png", b"ff") != media_digest(b"Image file: b.png", b"ff")
    assert media_digest(b"a", b"ff") not in {text_digest("a ff"), text_digest("aff")}


def test_each_draft_has_its_vector_or_the_reason_in_its_place(tmp_path: Path) -> None:
    embedder = MediaEmbedder({RED: "red", BLUE: "blue"}, refused=[BAD])
    waiting_ones = drafts(tmp_path, "one", RED, "two", BAD, BLUE)
    (tmp_path / "1.png").unlink()
    made_of = vectors_of(embedder, waiting_ones)
    refusal = NoVector("gemini does not take image/png: Unable to process input")
    words = [embedder.embed_query(text) for text in ("one", "two", "blue")]
    assert made_of == [words[0], NoVector("no longer there"), words[1], refusal, words[2]]
    assert embedder.calls == [4]


def test_what_a_failing_call_has_made_is_handed_on_in_its_place(tmp_path: Path) -> None:
    class Failing(MediaEmbedder):
        def embed_documents(self, inputs):
            raise EmbeddingError("gone", made={1: self.embed_query("red")})

    embedder = Failing({})
    waiting_ones = drafts(tmp_path, BLUE, "one", RED)
    (tmp_path / "0.png").unlink()
    with pytest.raises(EmbeddingError, match="gone") as caught:
        vectors_of(embedder, waiting_ones)
    assert caught.value.made == {0: NoVector("no longer there"), 2: embedder.embed_query("red")}
