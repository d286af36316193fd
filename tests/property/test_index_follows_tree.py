"""Whatever happens to the notes and to the process: after a pass, the index is that of the tree.

A pass over a tree with a history must leave exactly what a new index over the same tree holds: files, chunks,
words and vectors. Nothing is embedded twice on the way.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

import apsw
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from memlane import Memory
from memlane.embed.base import NoVector, Vector
from memlane.index.integrity import defects
from memlane.testing import HashEmbedder, RecordingObserver

NAMES = st.sampled_from(
    [
        "MEMORY.md",
        "memory.md",
        "memory/2026-02-10.md",
        "memory/a.md",
        "memory/deep/b.MD",
        "memory/deep/끝말.md",
        "memory/not-a-note.txt",
        "memory/.hidden.md",
        "extra/x.md",
        "extra/deep/y.md",
    ]
)
NUMBERS = st.integers(0, 100)
TEXTS = st.lists(
    st.sampled_from(
        [
            b"# Title\n",
            b"## Section of tea\n",
            b"green tea in the morning\n",
            b"black coffee at noon\r\n",
            "오늘 회의에서 예산을 정했다\n".encode(),
            b"- [ ] call the vet\n",
            b"```\ncode = 1\n```\n",
            b"word " * 300 + b"\n",
            b"\n",
            b"no end of line",
            b"\xef\xbb\xbf",
            b"\xff\xfe broken\n",
            b"nul\x00\n",
        ]
    ),
    max_size=5,
).map(b"".join)


class Killed(BaseException):
    """The process dies here."""


class Mortal(HashEmbedder):
    """Dies when it is asked once too often; what it was not paid for does not count."""

    max_batch_items = 2

    def __init__(self, model: str, paid: list[tuple[str, str]]) -> None:
        super().__init__(16, model=model)
        self._paid = paid
        self.lives: int | None = None

    def embed_documents(self, texts: Sequence[str]) -> list[Vector | NoVector]:
        if self.lives is not None:
            self.lives -= 1
            if self.lives < 0:
                raise Killed
        self._paid.extend((self.model, text) for text in texts)
        return super().embed_documents(texts)


class NotesAndIndex(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.base = Path(tempfile.mkdtemp(prefix="memlane-property-"))
        self.notes = self.base / "notes"
        (self.notes / "memory").mkdir(parents=True)
        self.model = "one"
        self.paid: list[tuple[str, str]] = []
        self.abandoned: list[Memory] = []
        self.memory = self.open(self.base / "state", self.paid)
        for number, name in enumerate(["MEMORY.md", "memory/a.md", "memory/deep/b.MD", "extra/x.md"]):
            self.write(name, b"# Title\n\ngreen tea %d\n\n## Section\n\nblack coffee\n" % number)
        self.sync(force=False)

    def standing(self, which: int) -> str | None:
        """One of the files that are there, by number."""
        names = sorted(
            str(path.relative_to(self.notes)) for path in self.notes.rglob("*") if not path.is_dir()
        )
        return names[which % len(names)] if names else None

    def open(self, state: Path, paid: list[tuple[str, str]]) -> Memory:
        state.mkdir(exist_ok=True)
        defaults = {"workspace": str(self.notes), "memorySearch": {"extraPaths": ["extra"]}}
        (state / "openclaw.json").write_text(json.dumps({"agents": {"defaults": defaults}}))
        self.embedder = Mortal(self.model, paid)
        return Memory.open(state_dir=state, environ={}, embedder=self.embedder, observer=RecordingObserver())

    # ---- what happens to the notes -------------------------------------------------------------------

    @rule(name=NAMES, text=TEXTS)
    def write(self, name: str, text: bytes) -> None:
        file = self.notes / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.is_symlink():
            file.unlink()
        file.write_bytes(text)

    @rule(which=NUMBERS, text=TEXTS)
    def append(self, which: int, text: bytes) -> None:
        name = self.standing(which)
        if name and (self.notes / name).is_file():
            with (self.notes / name).open("ab") as stream:
                stream.write(text)

    @rule(which=NUMBERS, old=st.sampled_from([b"tea", b"coffee"]), new=st.sampled_from([b"cake", b"tea"]))
    def edit(self, which: int, old: bytes, new: bytes) -> None:
        name = self.standing(which)
        if name and (self.notes / name).is_file():
            file = self.notes / name
            file.write_bytes(file.read_bytes().replace(old, new))

    @rule(text=st.sampled_from(["tea", "끝말 게임", "- [ ] a task"]), durable=st.booleans())
    def remember(self, text: str, durable: bool) -> None:
        name = "MEMORY.md" if durable else f"memory/{self.memory.clock.today()}.md"
        try:
            (self.notes / name).read_bytes().decode()
        except (FileNotFoundError, UnicodeDecodeError):
            return
        if b"\0" not in (self.notes / name).read_bytes() and not (self.notes / name).is_symlink():
            self.memory.remember(text, durable=durable)

    @rule(which=NUMBERS, new=NAMES)
    def rename(self, which: int, new: str) -> None:
        old = self.standing(which)
        if old and old != new:
            (self.notes / new).parent.mkdir(parents=True, exist_ok=True)
            (self.notes / old).replace(self.notes / new)

    @rule(which=NUMBERS)
    def delete(self, which: int) -> None:
        if name := self.standing(which):
            (self.notes / name).unlink()

    @rule()
    def lose_the_extra_folder(self) -> None:
        shutil.rmtree(self.notes / "extra", ignore_errors=True)

    @rule(which=NUMBERS, moment=st.sampled_from([0, 10**9, 4 * 10**9]))
    def touch(self, which: int, moment: int) -> None:
        name = self.standing(which)
        if name and (self.notes / name).is_file():
            os.utime(self.notes / name, (moment, moment))

    @rule(name=NAMES, at=NAMES)
    def link(self, name: str, at: str) -> None:
        if not os.path.lexists(self.notes / name):
            (self.notes / name).parent.mkdir(parents=True, exist_ok=True)
            (self.notes / name).symlink_to(self.notes / at)

    @rule(which=NUMBERS, mode=st.sampled_from([0o000, 0o600, 0o644]))
    def chmod(self, which: int, mode: int) -> None:
        name = self.standing(which)
        if name and (self.notes / name).is_file():
            (self.notes / name).chmod(mode)

    # ---- what happens to the process -----------------------------------------------------------------

    @rule(query=st.sampled_from(["green tea", "예산", "code", "Title > Section", "nothing at all"]))
    def search(self, query: str) -> None:
        for hit in self.memory.search(query):
            assert (self.notes / hit.path).is_file()

    @rule(after=st.integers(0, 3), force=st.booleans())
    def kill(self, after: int, force: bool) -> None:
        self.embedder.lives = after
        with suppress(Killed):
            self.memory.sync(force=force)
        self.abandoned.append(self.memory)  # never closed while the next one works
        self.memory = self.open(self.base / "state", self.paid)

    @rule(model=st.sampled_from(["one", "two"]))
    def reopen(self, model: str) -> None:
        self.memory.close()
        self.model = model
        self.memory = self.open(self.base / "state", self.paid)

    @rule()
    def sync_again(self) -> None:
        self.sync(force=False)

    @rule()
    def sync_once_more(self) -> None:
        self.sync(force=False)

    @rule(force=st.booleans())
    def sync(self, force: bool) -> None:
        report = self.memory.sync(force=force)
        if "vanished" in (report.warning or ""):
            report = self.memory.sync()
        assert report.complete
        self.compare()

    def compare(self) -> None:
        embedder, found = self.embedder, self.memory.status()
        assert not found.dirty
        with closing(self.open(self.base / "fresh", [])) as fresh:
            fresh.sync()
            expected = contents(fresh.settings.store_path)
        self.embedder = embedder
        shutil.rmtree(self.base / "fresh")
        assert contents(self.memory.settings.store_path) == expected
        twice = {text: count for text, count in Counter(self.paid).items() if count > 1}
        assert not twice, "a text was embedded twice"

    def teardown(self) -> None:
        try:
            self.sync(force=False)
        finally:
            self.end()

    def end(self) -> None:
        for memory in (self.memory, *self.abandoned):
            memory.close()
        shutil.rmtree(self.base)


def contents(path: Path) -> dict[str, object]:
    """Everything an index says, without the numbers that its history gave its rows."""
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        assert [one.message for one in defects(connection, thorough=True)] == []
        (generation,) = connection.execute("SELECT id FROM generations WHERE current").fetchone()
        (space,) = connection.execute("SELECT id FROM spaces WHERE current").fetchone()
        connection.execute(
            f"CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, terms_{generation}, instance)"
        )
        chunks = (
            "SELECT f.path, c.start_line, c.end_line, c.heading, c.text, hex(c.digest), {} FROM chunks c"
            " JOIN files f ON f.id = c.file {}"
        )
        return {
            # A file that failed has no chunks, so it does not matter whom they would be kept from.
            "files": sorted(
                connection.execute(
                    "SELECT path, source, location, digest, size, coalesce(day, ''),"
                    " failure IS NULL AND curated, evergreen, coalesce(failure, '') FROM files"
                )
            ),
            "vectors": sorted(
                connection.execute(
                    chunks.format(
                        "coalesce(hex(v.vector), v.problem)", f"LEFT JOIN vectors_{space} v ON v.chunk = c.id"
                    )
                )
            ),
            "words": sorted(
                connection.execute(
                    chunks.format(
                        'w.term || "/" || w.col || "/" || w.offset', "JOIN temp.words w ON w.doc = c.id"
                    ).replace('"', "'")
                )
            ),
        }


TestNotesAndIndex = NotesAndIndex.TestCase
TestNotesAndIndex.settings = settings(
    max_examples=int(os.environ.get("MEMLANE_PROPERTY_EXAMPLES", "20")),
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
