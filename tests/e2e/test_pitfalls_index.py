"""What users of such systems report most about indexing and freshness: each case with the right answer."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from memlane import Memory
from memlane.markdown import estimate_tokens
from memlane.testing import HashEmbedder, RecordingObserver

Write = Callable[[str, str], Path]
Open = Callable[..., Memory]


class Limited(HashEmbedder):
    """A model that takes 512 tokens at most."""

    max_input_tokens = 512


def paths(memory: Memory, query: str) -> list[str]:
    return [hit.path for hit in memory.search(query, max_results=20)]


def test_over_long_lines_never_stop_the_index_and_every_input_fits_the_model(
    write: Write, open_memory: Open
) -> None:
    write("memory/line.md", "x" * 50_000 + "needle\n")
    write("memory/colons.md", "：" * 2000 + "\n")
    write("memory/emoji.md", "👨‍👩‍👧" * 700 + "\n")
    write("memory/good.md", "a good note about bridges\n")
    embedder = Limited()
    memory = open_memory(embedder=embedder, chunking={"tokens": 4000, "overlap": 80})
    report = memory.sync()
    assert report.indexed == 4
    assert not report.failed
    assert max(map(estimate_tokens, embedder.documents)) <= 512
    assert paths(memory, "bridges")[0] == "memory/good.md"


def test_long_headings_cost_no_chunk_its_vector(write: Write, open_memory: Open) -> None:
    title = "部署方案与预算讨论" * 20
    write("memory/long.md", f"# {title}\n\n## {title}\n\n" + "部署方案与预算。" * 120 + "\n")
    embedder = Limited()
    report = open_memory(embedder=embedder).sync()
    assert report.chunks > 1
    assert report.without_vector == 0
    assert max(map(estimate_tokens, embedder.documents)) <= 512


def test_a_huge_line_gives_as_many_chunks_vectors_and_keyword_rows(write: Write, open_memory: Open) -> None:
    write("memory/line.md", " ".join(f"word{number}" for number in range(1200)) + "\n")
    memory = open_memory(embedder=HashEmbedder())
    report = memory.sync()
    statistics = memory.status().statistics
    assert report.chunks == statistics.chunks == statistics.vectors > 3
    for word in ("word0", "word600", "word1199"):
        (hit,) = memory.search(word, max_results=1)
        assert word in hit.snippet
        assert (hit.start_line, hit.end_line) == (1, 1)


def test_one_bad_file_blocks_no_other(
    write: Write, notes: Path, open_memory: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(7):
        write(f"memory/good-{number}.md", f"note {number}\n")
    (notes / "memory/nul.md").write_bytes(b"abc\x00def\n")
    (notes / "memory/latin.md").write_bytes("Müller\n".encode("latin-1"))
    unreadable = write("memory/unreadable.md", "secret\n")
    real_open = os.open

    def refusing(path: object, *arguments: object, **options: object) -> int:
        if str(path).endswith(unreadable.name):
            raise PermissionError(13, "Permission denied")
        return real_open(path, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", refusing)
    memory = open_memory()
    report = memory.sync()
    reasons = {failure.path: failure.reason for failure in report.failed}
    assert report.indexed == 7
    assert set(reasons) == {"memory/nul.md", "memory/latin.md", "memory/unreadable.md"}
    assert "NUL at byte 3" in reasons["memory/nul.md"]
    assert "invalid UTF-8 at byte 1" in reasons["memory/latin.md"]
    assert "Permission denied" in reasons["memory/unreadable.md"]
    again = memory.sync()
    assert {failure.path for failure in again.failed} == set(reasons)
    monkeypatch.undo()
    mended = memory.sync()
    assert mended.indexed == 1, "a file is tried again when its permissions may have changed"
    assert {failure.path for failure in mended.failed} == {"memory/nul.md", "memory/latin.md"}


def test_indexing_and_searching_change_no_note(write: Write, notes: Path, open_memory: Open) -> None:
    write("memory/letter.md", "---\n**LETTERHEAD**\n---\nDear reader of the letter\n")
    write("memory/front.md", "---\ntitle: Harbour\ntags: [sea]\n---\n# Harbour\n\ntext\n")
    write("memory/crlf.md", "one\r\ntwo\r\n")

    def state() -> dict[str, tuple[str, int]]:
        return {
            str(file): (sha256(file.read_bytes()).hexdigest(), file.stat().st_mtime_ns)
            for file in notes.rglob("*")
            if file.is_file()
        }

    before = state()
    memory = open_memory()
    memory.sync(force=True)
    assert paths(memory, "LETTERHEAD")[0] == "memory/letter.md"
    assert paths(memory, "Harbour")[0] == "memory/front.md"
    memory.get("memory/crlf.md")
    assert state() == before


def test_line_ends_and_byte_order_marks_make_no_difference(
    write: Write, notes: Path, open_memory: Open
) -> None:
    text = "# Title\n\nfirst line\n\n## Part\n\nsecond line\n"
    file = write("memory/a.md", text)
    embedder = HashEmbedder()
    memory = open_memory(embedder=embedder)
    memory.sync()
    before = [(hit.start_line, hit.end_line, hit.snippet) for hit in memory.search("line", min_score=0.0)]
    embedded = len(embedder.documents)
    for data in (text.replace("\n", "\r\n").encode(), b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()):
        file.write_bytes(data)
        report = memory.sync()
        assert (report.files_read, report.indexed, report.embedded) == (1, 0, 0)
        after = [(hit.start_line, hit.end_line, hit.snippet) for hit in memory.search("line", min_score=0.0)]
        assert after == before
    assert len(embedder.documents) == embedded


def test_unchanged_files_are_not_read_and_unchanged_chunks_not_embedded(
    write: Write, open_memory: Open
) -> None:
    long = "".join(f"## Part {number}\n\n{'A sentence on the matter. ' * 12}\n\n" for number in range(6))
    file = write("memory/a.md", long)
    write("memory/b.md", "another\n")
    embedder = HashEmbedder()
    memory = open_memory(embedder=embedder, cache={"enabled": False})
    memory.sync()
    assert memory.sync().files_read == 0
    embedded = len(embedder.documents)
    file.write_text(long + "## New part\n\nsomething new\n", "utf-8")
    report = memory.sync()
    assert (report.files_read, report.indexed, report.embedded) == (1, 1, 1)
    assert len(embedder.documents) == embedded + 1
    os.utime(file)
    report = memory.sync()
    assert (report.files_read, report.indexed, report.embedded) == (1, 0, 0)


def test_a_deleted_note_is_never_returned(write: Write, notes: Path, open_memory: Open) -> None:
    only = write("memory/a.md", "the lighthouse keeper\n")
    memory = open_memory()
    memory.sync()
    only.unlink()
    result = memory.search("lighthouse", sync=False)
    assert not result.hits
    assert result.why is not None
    assert result.why.code == "file_gone"
    report = memory.sync()
    assert report.removed == 1
    statistics = memory.status().statistics
    assert (statistics.files, statistics.chunks, statistics.vectors) == (0, 0, 0)


def test_a_tree_that_vanishes_is_doubted_once(write: Write, notes: Path, open_memory: Open) -> None:
    for number in range(30):
        write(f"memory/{number}.md", f"note {number}\n")
    memory = open_memory(embedder=HashEmbedder())
    memory.sync()
    hidden = notes / "elsewhere"
    (notes / "memory").rename(hidden)
    report = memory.sync()
    assert report.removed == 0
    assert report.warning is not None
    assert "30 indexed files have vanished" in report.warning
    assert memory.status().statistics.chunks == 30
    hidden.rename(notes / "memory")
    assert memory.sync().embedded == 0
    (notes / "memory").rename(hidden)
    memory.sync()
    assert memory.sync().removed == 30


def test_a_small_tree_that_vanishes_is_doubted_and_an_emptied_one_is_not(
    write: Write, notes: Path, tmp_path: Path, open_memory: Open
) -> None:
    write("MEMORY.md", "the lighthouse\n")
    write("memory/a.md", "green tea\n")
    team = tmp_path / "team"
    team.mkdir()
    (team / "b.md").write_text("black coffee\n")
    embedder = HashEmbedder()
    memory = open_memory(embedder=embedder, extraPaths=["../team"])
    memory.sync()
    for folder in (notes / "memory", team):
        folder.rename(tmp_path / "away")
        report = memory.sync()
        assert (report.removed, "1 indexed files have vanished" in (report.warning or "")) == (0, True)
        (tmp_path / "away").rename(folder)
        assert memory.sync().indexed == 0
    assert len(embedder.documents) == 3
    (notes / "memory/a.md").unlink()
    assert memory.sync().removed == 1


def test_a_doubt_that_is_over_is_forgotten(write: Write, notes: Path, open_memory: Open) -> None:
    write("memory/a.md", "green tea\n")
    memory = open_memory()
    memory.sync()
    for _ in range(3):
        (notes / "memory").rename(notes / "elsewhere")
        assert memory.sync().removed == 0
        (notes / "elsewhere").rename(notes / "memory")
        assert memory.sync().complete


def test_a_path_that_appears_later_and_the_home_folder(
    write: Write, tmp_path: Path, open_memory: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    write("memory/a.md", "inside\n")
    later = tmp_path / "team"
    memory = open_memory(extraPaths=[str(later), "~/notes"])
    memory.sync()
    assert set(memory.status().missing_roots) == {str(later), str(tmp_path / "home/notes")}
    later.mkdir()
    (later / "shared.md").write_text("shared lighthouse\n")
    (tmp_path / "home/notes").mkdir()
    (tmp_path / "home/notes/own.md").write_text("own windmill\n")
    memory.sync()
    assert paths(memory, "lighthouse") == [f"{later}/shared.md"]
    assert paths(memory, "windmill") == [f"{tmp_path}/home/notes/own.md"]
    (hit,) = memory.search("windmill")
    assert memory.get(hit.path).text == "own windmill"


def test_half_written_files_are_left_alone(write: Write, notes: Path, open_memory: Open) -> None:
    memory = open_memory()
    half = write("memory/x.tmp", "half a lighthou")
    assert memory.sync().indexed == 0
    half.write_text("the lighthouse keeper\n")
    half.rename(notes / "memory/x.md")
    report = memory.sync()
    assert (report.indexed, report.failed) == (1, ())
    assert paths(memory, "lighthouse") == ["memory/x.md"]


def test_links_are_skipped_and_named(write: Write, notes: Path, tmp_path: Path, open_memory: Open) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("outside lighthouse\n")
    (notes / "memory/linked").symlink_to(outside)
    memory = open_memory()
    assert memory.sync().skipped_links == ("memory/linked",)
    assert memory.status().skipped_links == ("memory/linked",)
    assert paths(memory, "lighthouse") == []


def test_a_wiped_index_is_rebuilt_kept_aside_and_nothing_is_paid_again(
    write: Write, tmp_path: Path, open_memory: Open, observer: RecordingObserver
) -> None:
    write("memory/a.md", "the lighthouse keeper\n")
    embedder = HashEmbedder()
    memory = open_memory(embedder=embedder)
    memory.sync()
    store = Path(memory.status().store_path)
    memory.close()
    with store.open("r+b") as file:
        file.write(b"\x00" * 4096)
    again = open_memory(embedder=embedder)
    assert paths(again, "lighthouse") == ["memory/a.md"]
    assert len(embedder.documents) == 1
    assert len(list(store.parent.glob("main.sqlite.corrupt-*"))) >= 1
    assert any("built again from the notes" in warning for warning in observer.warnings)


@pytest.mark.parametrize("page", [1, 2, 3, 5, 8, 13, 21])
def test_damage_to_any_page_is_mended(write: Write, open_memory: Open, page: int) -> None:
    for number in range(40):
        write(f"memory/{number}.md", f"note {number} about topic{number}\n" + "filler words " * 40)
    memory = open_memory()
    memory.sync()
    store = Path(memory.status().store_path)
    memory.close()
    with store.open("r+b") as file:
        file.seek(page * 8192)
        file.write(os.urandom(8192))
    again = open_memory()
    assert again.sync(force=True).complete
    for number in (0, 17, 39):
        assert paths(again, f"topic{number}")[0] == f"memory/{number}.md"


def test_another_programs_database_is_left_alone(
    write: Write, tmp_path: Path, open_memory: Open, observer: RecordingObserver
) -> None:
    import apsw

    foreign = tmp_path / "state/memory/main.sqlite"
    foreign.parent.mkdir(parents=True)
    with apsw.Connection(str(foreign)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = foreign.read_bytes()
    write("memory/a.md", "the lighthouse keeper\n")
    memory = open_memory()
    assert paths(memory, "lighthouse") == ["memory/a.md"]
    memory.close()
    assert foreign.read_bytes() == before
    assert (foreign.parent / "main.memlane.sqlite").exists()
    assert len([warning for warning in observer.warnings if "left untouched" in warning]) == 1


def test_what_is_made_is_private(write: Write, tmp_path: Path, open_memory: Open) -> None:
    write("memory/a.md", "tea\n")
    memory = open_memory(embedder=HashEmbedder())
    memory.sync()
    made = list((tmp_path / "state/memory").rglob("*"))
    assert {file.name for file in made} >= {"main.sqlite", "main.embeddings.sqlite"}
    assert {stat.S_IMODE(file.stat().st_mode) for file in made} == {0o600}
    assert stat.S_IMODE((tmp_path / "state/memory").stat().st_mode) == 0o700


def test_a_model_change_with_a_warm_cache_embeds_nothing(write: Write, open_memory: Open) -> None:
    write("memory/a.md", "tea\n")
    first, second = HashEmbedder(4), HashEmbedder(6)
    open_memory(embedder=first).sync()
    open_memory(embedder=second).sync()
    report = open_memory(embedder=first).sync()
    assert (report.embedded, report.from_cache) == (0, 1)


def test_a_new_chunk_size_rebuilds_without_embedding_known_texts(write: Write, open_memory: Open) -> None:
    write("memory/short.md", "a short note\n")
    write("memory/long.md", "A sentence on one matter. " * 60 + "\n")
    embedder = HashEmbedder()
    open_memory(embedder=embedder, cache={"enabled": False}).sync()
    before = embedder.documents.count("a short note")
    memory = open_memory(embedder=embedder, cache={"enabled": False}, chunking={"tokens": 100, "overlap": 10})
    report = memory.sync()
    assert report.indexed == 2
    assert embedder.documents.count("a short note") == before
    assert memory.status().statistics.chunks > 3


def test_odd_names_survive(write: Write, open_memory: Open) -> None:
    for name in ("naïve café.md", "日记 📓.md", "a'b\"c.md", "UPPER.MD", "회의록.md"):
        write(f"memory/{name}", f"lighthouse in {name}\n")
    memory = open_memory()
    assert memory.sync().indexed == 5
    for hit in memory.search("lighthouse", min_score=0.0, max_results=9):
        assert "lighthouse" in memory.get(hit.path).text
