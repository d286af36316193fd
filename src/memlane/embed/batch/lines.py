"""JSON lines and form data: the shapes in which files go to and come from a provider."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from .base import Json

# What counts as the end of a line for some readers, though JSON lets it stand as it is.
_LINE_ENDS = str.maketrans({"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"})


def json_line(value: object) -> bytes:
    """A value as one line of UTF-8. Text that is not valid Unicode is replaced."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(_LINE_ENDS)
    return text.encode("utf-8", "replace") + b"\n"


def json_object(data: bytes) -> Json:
    """The object that stands in a line or in the body of an answer. Raises ValueError for anything else."""
    try:
        return as_object(json.loads(data))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def as_object(value: Any) -> Json:  # noqa: ANN401 - any JSON
    """A value that must be an object. Raises ValueError."""
    if not isinstance(value, dict):
        raise ValueError(f"an object was expected, not {type(value).__name__}")  # noqa: TRY004
    return value


def part(entry: Json, key: str) -> Json:
    """The object under a key, an empty one where there is none. Raises ValueError."""
    return as_object(entry.get(key) or {})


def as_text(value: Any) -> str:  # noqa: ANN401 - any JSON
    """A value that must be a text that is not empty. Raises ValueError."""
    if not isinstance(value, str) or not value:
        raise ValueError(f"a name was expected, not {value!r:.40}")
    return value


def as_count(value: Any) -> int:  # noqa: ANN401 - any JSON
    """A count, which one interface writes as a number and another as a text; 0 for anything else."""
    try:
        return max(0, int(value))
    except (TypeError, ValueError):
        return 0


def split_lines(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a file that comes in parts, without their ends. Blank ones are left out."""
    rest: list[bytes] = []
    for part in parts:
        first, *more = part.split(b"\n")
        rest.append(first)
        if not more:
            continue
        yield from filter(None, (b"".join(rest).strip(), *(line.strip() for line in more[:-1])))
        rest = [more[-1]]
    last = b"".join(rest).strip()
    if last:
        yield last


def form_data(boundary: str, fields: dict[str, str], name: str, lines: Iterable[bytes]) -> bytes:
    """A form with some fields and one file (`multipart/form-data`, RFC 7578)."""
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
        for key, value in fields.items()
    ]
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
    parts.append(f"{head}Content-Type: application/jsonl\r\n\r\n".encode())
    return b"".join((*parts, *lines, f"\r\n--{boundary}--\r\n".encode()))


def related_parts(boundary: str, about: object, lines: Iterable[bytes], content_type: str) -> bytes:
    """A description and a file in one body (`multipart/related`, RFC 2387)."""
    head = f"--{boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n".encode()
    middle = f"\r\n--{boundary}\r\nContent-Type: {content_type}\r\n\r\n".encode()
    return b"".join((head, json_line(about), middle, *lines, f"\r\n--{boundary}--\r\n".encode()))
