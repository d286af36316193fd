"""Reads a refusal: what a service means by a status and a body. Pure.

A status alone says too little: a wrong key is a 400 at Gemini, a wrong model a 404 at one provider and a 400
at another, a text that is too long a 500 at llama.cpp's server, and a 429 may pass in a second or next month.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, Literal

from ...values import Value
from .client import Answer

Kind = Literal[
    "key", "model", "address", "dimensions", "input_length", "item_count", "request_size", "rate", "quota",
    "server", "other",
]  # fmt: skip

LONG_PAUSE = 300.0
"""A service that asks for a longer pause has taken its share for now: work stops and says when to go on."""
_PAGE_BYTES = 16_384
"""So much of a body that is no JSON is read for its words."""
_DAY = timedelta(days=1)
_PACIFIC = timezone(timedelta(hours=-8))
"""Gemini's daily quotas end at midnight there; an hour late in summer."""


class Refusal(Value, frozen=True):
    """Why a service did not do what it was asked for."""

    kind: Kind
    status: int
    detail: str = ""
    """The service's own words, in one line; may hold what was sent."""
    pause: float | None = None
    """Seconds to wait, where it says so."""
    retry_at: datetime | None = None
    """When a used-up quota is there again, where that is known."""
    limit: int | None = None
    """How many inputs it takes, where it says so."""


def read_refusal(answer: Answer, now: datetime) -> Refusal:
    """What an answer that is not a good one means. `now` is aware."""
    document = _document(answer.body)
    detail = _detail(document, answer.body)
    about = " ".join((detail, *_codes(document))).lower()
    pause = _pause(answer.headers, document, detail, now)
    kind = _kind(answer.status, about, document)
    if kind == "rate" and pause is not None and pause > LONG_PAUSE:
        kind = "quota"
    retry_at = None
    if kind == "quota":
        retry_at = _quota_end(pause, document, now)
    limit = _number_in(detail) if kind == "item_count" else None
    return Refusal(kind, answer.status, detail, pause, retry_at, limit)


# ---- the kind ----------------------------------------------------------------------------------------

_KEY = r"api[_ ]key[_ ](not valid|invalid|expired)|incorrect api key|invalid api key"
_QUOTA = r"insufficient_quota|billing_hard_limit|credit balance|no credit"
_MODEL = (
    r"model_not_found|invalid[_ ]model|unknown model|no such model"
    r"|model\b.{0,120}\b(not found|does not exist|is not supported|not available|not loaded)"
    r"|models/\S+ is not found"
)
_ITEMS = (
    r"array_above_max_length|array too long|at most \d+ (requests|inputs|items|texts)"
    r"|too many (inputs|items|texts)|batch size (limit|is|exceeds|must|too|\d|should)"
    r"|maximum (allowed )?batch size"
    r"|(list|number of) (of )?(inputs|texts|items)\b.{0,60}(exceed|at most|maximum|larger)"
)
_REQUEST = (
    r"max_tokens_per_request|tokens per (request|submitted batch)|too many tokens (overall|in batch)"
    r"|payload size exceeds|request (entity |body )?too large|request is too large"
)
_LENGTH = (
    r"context[_ ]length|too (long|large)|exceeds? the (maximum|max|model|limit|context)"
    r"|exceeding (the )?(model )?max|maximum (input |sequence )?length|(token|input) count|too many tokens"
    r"|max(imum)? .{0,30}tokens"
)
_DIMENSIONS = r"dimension"
_BY_WORDS: tuple[tuple[str, Kind], ...] = (
    (_KEY, "key"),
    (_QUOTA, "quota"),
    (_MODEL, "model"),
    (_ITEMS, "item_count"),
    (_REQUEST, "request_size"),
    (_DIMENSIONS, "dimensions"),
    (_LENGTH, "input_length"),
)
_BY_STATUS: Mapping[int, Kind] = {
    401: "key", 402: "quota", 403: "key", 408: "server", 409: "server", 413: "request_size", 425: "server",
    429: "rate",
}  # fmt: skip


def _kind(status: int, about: str, document: Any) -> Kind:  # noqa: ANN401 - any JSON
    if status == 429:
        daily = any("perday" in _words(each.get("quotaId")) for each in _violations(document))
        return "quota" if daily or re.search(_QUOTA, about) else "rate"
    if status >= 500:
        # One server answers so to a text that is longer than its batch; any other 500 passes.
        return "input_length" if "too large to process" in about else "server"
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status == 404:
        return "model" if re.search(_MODEL, about) else "address"
    if status in {400, 422}:
        return next((kind for words, kind in _BY_WORDS if re.search(words, about)), "other")
    return "other"


# ---- its parts ---------------------------------------------------------------------------------------


def _document(body: bytes) -> Any:  # noqa: ANN401 - any JSON
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _error(document: Any) -> Mapping[str, Any]:  # noqa: ANN401
    """The object that says what is wrong: OpenAI and Google nest it, others do not. Empty when missing."""
    if isinstance(document, list) and document:
        document = document[0]
    if not isinstance(document, dict):
        return {}
    inner = document.get("error")
    return inner if isinstance(inner, dict) else document


def _detail(document: Any, body: bytes) -> str:  # noqa: ANN401
    """The service's words, whichever field it puts them in."""
    error = _error(document)
    for name in ("message", "detail", "error", "error_message"):
        if words := error.get(name):
            return _one_line(words if isinstance(words, str) else json.dumps(words, ensure_ascii=False))
    return _one_line(_plain(body[:_PAGE_BYTES].decode("utf-8", "replace"))) if document is None else ""


def _codes(document: Any) -> Iterator[str]:  # noqa: ANN401
    error = _error(document)
    yield from (str(error[name]) for name in ("code", "type", "status") if error.get(name))
    yield from (str(each["reason"]) for each in _details(document) if each.get("reason"))


def _details(document: Any) -> list[Mapping[str, Any]]:  # noqa: ANN401
    """Google's typed details."""
    details = _error(document).get("details")
    return [each for each in details if isinstance(each, dict)] if isinstance(details, list) else []


def _violations(document: Any) -> list[Mapping[str, Any]]:  # noqa: ANN401
    found: list[Mapping[str, Any]] = []
    for each in _details(document):
        listed = each.get("violations")
        found += [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    return found


def _words(value: Any) -> str:  # noqa: ANN401
    return value.lower() if isinstance(value, str) else ""


def _plain(text: str) -> str:
    """The words of a web page, which proxies answer with; any other text as it is."""
    if not re.match(r"\s*<(!doctype html|html)\b", text, re.IGNORECASE):
        return text
    from html import unescape

    unseen = r"<(script|style)\b.*?(</\1>|$)|<!--.*?(-->|$)|<[^>]*(>|$)"
    return f"a web page: {unescape(re.sub(unseen, ' ', text, flags=re.IGNORECASE | re.DOTALL))}"


def _one_line(text: str) -> str:
    return " ".join(text.split())[:400]


def _number_in(detail: str) -> int | None:
    """The limit that a refusal of too many inputs names."""
    words = r"(?:at most|maximum length|limit is|larger than|max(?:imum)?(?: batch size)?(?: is| of)?)"
    found = re.search(rf"{words}\s*:?\s*(\d{{1,6}})\b", detail, re.IGNORECASE)
    return int(found[1]) or None if found else None


# ---- pauses ------------------------------------------------------------------------------------------


def _pause(headers: Mapping[str, str], document: Any, detail: str, now: datetime) -> float | None:  # noqa: ANN401
    """Seconds to wait: from the headers, from Google's RetryInfo, or from the words."""
    seconds = _number(headers.get("retry-after-ms", ""))
    if seconds is not None:
        return seconds / 1000
    if header := headers.get("retry-after", "").strip():
        seconds = _number(header)
        return seconds if seconds is not None else _until(header, now)
    for each in _details(document):
        if "RetryInfo" in str(each.get("@type")) and (found := _number(_words(each.get("retryDelay"))[:-1])):
            return found
    words = re.search(r"(?:try again|retry) in (\d+(?:\.\d+)?) ?(ms|s)\b", detail, re.IGNORECASE)
    if words:
        return float(words[1]) / (1000 if words[2].lower() == "ms" else 1)
    return None


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\s*\d{1,9}(\.\d+)?\s*", text, re.ASCII) else None


def _until(header: str, now: datetime) -> float | None:
    """Seconds until an HTTP date."""
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, TypeError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())


def _quota_end(pause: float | None, document: Any, now: datetime) -> datetime | None:  # noqa: ANN401
    if any("perday" in _words(each.get("quotaId")) for each in _violations(document)):
        tomorrow = now.astimezone(_PACIFIC) + _DAY
        return tomorrow.replace(hour=0, minute=0, second=0, microsecond=0).astimezone(now.tzinfo)
    return now + timedelta(seconds=pause) if pause is not None else None
