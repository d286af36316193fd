"""Questions with the places that answer them, read from JSON Lines, a JSON array, CSV or TSV.

A question has `question` (or `query`) and either `path` with optional `lines`, or `expected`: a path, an
object with `path` and `lines`, or a list of those. A path may end in `#L3-L9` or `#L3`. An empty list says
that the notes do not answer the question and that nothing should be found. `since`, `until`, `source` and
`glob` limit the search as they do on the command line. Further keys are left alone.

In CSV and TSV the first row names the columns; `expected` holds paths joined by `;`, and an empty cell is the
empty list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, cast

from ..errors import UsageError
from ..values import Source, Value

Record = tuple[str, int, Any]
"""Where a question stands (in words), the same as a number, and what stands there."""

_LINES = re.compile(r"(\d{1,9})(?:\s*-\s*(\d{1,9}))?")
_PATH_LINES = re.compile(r"#L(\d{1,9})(?:-L?(\d{1,9}))?$")


class Target(Value, frozen=True):
    """A place that answers a question: a note, or some lines of it (1-based, inclusive)."""

    path: str
    start_line: int | None = None
    end_line: int | None = None

    def __str__(self) -> str:
        if self.start_line is None:
            return self.path
        lines = f"#L{self.start_line}"
        return f"{self.path}{lines}" + (f"-L{self.end_line}" if self.end_line != self.start_line else "")

    def reached_by(self, path: str, start_line: int, end_line: int) -> bool:
        """Whether a passage is of this note and, where lines are given, shares one with them."""
        if path != self.path:
            return False
        first, last = self.start_line or 1, self.end_line or end_line
        return self.start_line is None or (start_line <= last and end_line >= first)


class Question(Value, frozen=True):
    """One question and where its answer stands."""

    text: str
    targets: tuple[Target, ...]
    """Empty: the notes hold no answer, and nothing should be found."""
    since: date | None = None
    until: date | None = None
    source: Source | None = None
    glob: str | None = None
    """Limits the search to paths that match."""
    number: int = 0
    """The line of the file, or the place in its list, counted from 1."""


class BadQuestion(UsageError):  # noqa: N818 - reads as a statement of fact
    """A question that cannot be meant; the message says what is wrong with it."""


def read_questions(file: Path) -> tuple[Question, ...]:
    """The questions of a file, in its order.

    Raises UsageError naming the file, the line and what is wrong with it; further bad lines are in the hint.
    """
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise UsageError(
            f"cannot read the questions {file}: {error.strerror or error}", hint=_FORMS
        ) from error
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{file}, line {line}: not UTF-8 (byte 0x{raw[error.start]:02x})", hint="save it as UTF-8"
        ) from error
    return parse_questions(text, name=str(file), suffix=file.suffix)


def parse_questions(text: str, *, name: str, suffix: str = ".jsonl") -> tuple[Question, ...]:
    """The questions in a text. `suffix` tells CSV and TSV from JSON; `name` stands in the errors.

    Raises UsageError as `read_questions` does. Pure.
    """
    questions: list[Question] = []
    bad: list[tuple[str, BadQuestion]] = []
    for place, number, record in _records(text, suffix.lower()):
        try:
            if isinstance(record, BadQuestion):
                raise record
            questions.append(_question(record, number))
        except BadQuestion as error:
            bad.append((place, error))
    if bad:
        place, first = bad[0]
        others = [place for place, _ in bad[1:]]
        shown = ", ".join(others[:10]) + (", …" if len(others) > 10 else "")
        hint = f"{first.hint}; also wrong: {shown}" if others else first.hint
        raise UsageError(f"{name}, {place}: {first}", hint=hint)
    if not questions:
        raise UsageError(f"{name} holds no questions", hint=_FORMS)
    return tuple(questions)


_FORMS = 'a line is such as {"question": "who feeds the cat?", "path": "memory/bori.md#L3-L9"}'


# ---- the forms of a file -------------------------------------------------------------------------------


def _records(text: str, suffix: str) -> Iterator[Record]:
    if suffix in {".csv", ".tsv"}:
        yield from _rows(text, "\t" if suffix == ".tsv" else ",")
    elif text.lstrip().startswith("["):
        yield from _elements(text)
    else:
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                yield f"line {number}", number, _decoded(line)


def _decoded(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        what = f"{error.msg} at character {error.colno}" if isinstance(error, json.JSONDecodeError) else error
        return BadQuestion(f"not JSON: {what}", hint=_FORMS)


def _elements(text: str) -> Iterator[Record]:
    try:
        elements = json.loads(text)
    except json.JSONDecodeError as error:
        fault = BadQuestion(f"not JSON: {error.msg} at character {error.colno}", hint=_FORMS)
        yield f"line {error.lineno}", error.lineno, fault
    except (ValueError, RecursionError) as error:
        yield "line 1", 1, BadQuestion(f"not JSON: {error}", hint=_FORMS)
    else:
        for number, element in enumerate(elements, start=1):
            yield f"question {number}", number, element


def _rows(text: str, delimiter: str) -> Iterator[Record]:
    import csv
    import io

    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    columns: list[str] | None = None
    line = 1
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            yield f"line {rows.line_num}", rows.line_num, BadQuestion(f"not a table: {error}")
            return
        if row is None:
            return
        at, line = line, rows.line_num + 1  # a cell may hold line ends; the row stands where it begins
        if not any(cell.strip() for cell in row):
            continue
        if columns is None:
            columns = [cell.strip().lower() for cell in row]
        else:
            yield f"line {at}", at, _row(columns, row)


def _row(columns: list[str], row: list[str]) -> object:
    if len(row) > len(columns):
        return BadQuestion(
            f"{len(row)} cells under {len(columns)} columns", hint="put quotes around a cell with a separator"
        )
    if len(row) < len(columns):
        return BadQuestion(
            f"{len(row)} cells under {len(columns)} columns",
            hint="leave a cell empty, but keep its separator, where nothing should be found",
        )
    cells = {column: cell.strip() for column, cell in zip(columns, row, strict=False) if cell.strip()}
    record: dict[str, object] = dict(cells)
    if not {"path", "expected"} & set(columns):
        return BadQuestion(
            f"there is no column path or expected, only {', '.join(columns)}",
            hint="the first row names the columns: question,path",
        )
    if "path" not in cells:
        record["expected"] = [part.strip() for part in cells.get("expected", "").split(";") if part.strip()]
    return record


# ---- one question --------------------------------------------------------------------------------------


def _question(record: object, number: int) -> Question:
    if not isinstance(record, Mapping):
        raise BadQuestion(f"a question must be an object, not {_shown(record)}", hint=_FORMS)
    text = record.get("question", record.get("query"))
    if text is None:
        raise BadQuestion("there is no question", hint=_FORMS)
    since, until = _day(record, "since"), _day(record, "until")
    if since and until and since > until:
        raise BadQuestion(f"since ({since}) is later than until ({until})")
    source, glob = record.get("source"), record.get("glob")
    if source not in {None, "memory", "sessions"}:
        raise BadQuestion(f"source must be memory or sessions, not {_shown(source)}")
    return Question(
        _text(text, "question"),
        _targets(record),
        since,
        until,
        cast("Source | None", source),
        None if glob is None else _text(glob, "glob"),
        number,
    )


def _targets(record: Mapping[str, Any]) -> tuple[Target, ...]:
    path, expected = record.get("path"), record.get("expected")
    if (path is None) == (expected is None):
        found = "neither path nor expected" if path is None else "both path and expected"
        raise BadQuestion(
            f"there is {found}", hint='"expected": [] says that the notes hold no answer to the question'
        )
    if path is not None:
        return (_target(path, record.get("lines")),)
    listed = expected if isinstance(expected, list) else [expected]
    return tuple(dict.fromkeys(_listed(item) for item in listed))


def _listed(item: object) -> Target:
    if isinstance(item, Mapping):
        if "path" not in item:
            raise BadQuestion("an expected place has no path", hint=_FORMS)
        return _target(item["path"], item.get("lines"))
    return _target(item, None)


def _target(raw: object, lines: object) -> Target:
    path = _text(raw, "path")
    marked = _PATH_LINES.search(path)
    if marked is not None:
        if lines is not None:
            raise BadQuestion(f"{path} names lines already; leave lines out")
        return _spanned(path[: marked.start()], int(marked[1]), int(marked[2] or marked[1]))
    if lines is None:
        return Target(_plain(path))
    first, last = _span(lines)
    return _spanned(path, first, last)


def _spanned(path: str, first: int, last: int) -> Target:
    if not path.strip():
        raise BadQuestion("a path is blank")
    if not 1 <= first <= last:
        raise BadQuestion(f"there are no lines {first}-{last}; they count from 1")
    return Target(_plain(path), first, last)


def _span(lines: object) -> tuple[int, int]:
    if isinstance(lines, int) and not isinstance(lines, bool):
        return lines, lines
    if isinstance(lines, list) and len(lines) == 2 and all(type(line) is int for line in lines):
        return lines[0], lines[1]
    if isinstance(lines, str) and (found := _LINES.fullmatch(lines.strip())):
        return int(found[1]), int(found[2] or found[1])
    raise BadQuestion(f'lines must be such as 7, "3-9" or [3, 9], not {_shown(lines)}')


def _plain(path: str) -> str:
    return re.sub(r"^(?:\./+)+", "", path)


def _day(record: Mapping[str, Any], name: str) -> date | None:
    raw = record.get(name)
    if raw is None:
        return None
    try:
        return date.fromisoformat(raw)
    except (ValueError, TypeError) as error:
        raise BadQuestion(f"{name} must be a date such as 2026-02-10, not {_shown(raw)}") from error


def _text(raw: object, what: str) -> str:
    if not isinstance(raw, str):
        raise BadQuestion(f"{what} must be text, not {_shown(raw)}")
    if not raw.strip():
        raise BadQuestion(f"a {what} is blank")
    if any("\ud800" <= sign <= "\udfff" for sign in raw):
        raise BadQuestion(f"{what} holds half a character: {_shown(raw)}")
    return raw


def _shown(raw: object) -> str:
    text = json.dumps(raw, ensure_ascii=True, default=str)
    return text if len(text) <= 60 else text[:59] + "…"
