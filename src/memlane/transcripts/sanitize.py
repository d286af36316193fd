"""Secrets masked before anything is derived from a text: indexed, embedded, cached, exported or logged. Pure.

Masked is what has the shape of a secret, or is a value in force in the configuration; nothing by its wording
alone. Own code, because scanners such as detect-secrets report suspicious lines of files, by entropy too,
which takes commit hashes and UUIDs for keys, and give no places to mask.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

MASK = "[masked]"
_SHORTEST_CONFIGURED = 6
"""A shorter configured value would be found within ordinary words."""

_TOKENS = (
    r"sk-(?=[A-Za-z_-]{0,64}[0-9A-Z])[A-Za-z0-9_-]{10,}",  # OpenAI, Anthropic, OpenRouter, DeepSeek
    r"[rsp]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9]{16,}",  # Stripe
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}",  # AWS
    r"gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,}",  # GitHub
    r"glpat-[A-Za-z0-9_-]{16,}",  # GitLab
    r"xox[a-z]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,}",  # Slack
    r"AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}",  # Google
    r"eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,8192}\.[A-Za-z0-9_-]{6,}",  # JSON web tokens
    r"hf_[A-Za-z0-9]{20,}|gsk_[A-Za-z0-9]{20,}|xai-[A-Za-z0-9]{20,}|pplx-[A-Za-z0-9]{20,}",
    r"npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{40,}|jina_[A-Za-z0-9_]{20,}|tvly-[A-Za-z0-9-]{16,}",
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|dop_v1_[a-f0-9]{40,}|AGE-SECRET-KEY-1[A-Z0-9]{40,}",
    r"[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}",  # Telegram bots
    r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",  # Discord bots
)
_TOKEN = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(_TOKENS)})", re.ASCII)

_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]+-----")
_END = "-----END "
_LONGEST_PEM = 20_000
_PEM_BODY = re.compile(r"(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{16,})+")

_USER_INFO = re.compile(r"(?<=://)[^\s/?#@:\"'<>]*:[^\s/?#\"'<>]+@")

_SCHEME = r"(?:bearer|basic|token|apikey|digest)"
_HEADER = re.compile(rf"(?i)(\bauthorization[\"']?\s*[:=]\s*[\"']?{_SCHEME}\s+)([^\s\"',;]+)")
_BEARER = re.compile(r"(?i)(\b(?:bearer|basic)\s+)(?=[a-z._~+/=-]*[0-9])([a-z0-9._~+/=-]{16,})")

_NAME = (
    r"(?:[A-Za-z0-9_.-]*[_.-])?(?:password|passwd|pwd|passphrase|secret|api[ _-]?key"
    r"|access[ _-]?key(?:[_-]?id)?|(?:secret|private|encryption|signing|account)[_-]?key"
    r"|(?:auth|access|refresh|bearer|bot|session|id)[_-]?token|client[_-]?secret|token)"
    r"|[A-Za-z0-9]+_pass|[A-Za-z]*(?:Password|Secret|ApiKey|AccessKey|SecretKey|PrivateKey|AccountKey|Token)"
)
_LOCAL_NAME = "密码|密碼|口令|パスワード|비밀번호|contraseña|passwort"
_VALUE = r"(?:\"(?P<double>(?:[^\"\\\n]|\\.)*)\"|'(?P<single>(?:[^'\\\n]|\\.)*)'|(?P<bare>[^\s\"'`,;]+))"
_ASSIGNMENT = re.compile(
    rf"(?<![A-Za-z0-9_.-])(?P<name>(?i:{_NAME}))(?P<sign>[\"']?\s{{0,3}}(?:=>|:=|[=:])\s{{0,3}}){_VALUE}"
)
_LOCAL_ASSIGNMENT = re.compile(rf"(?P<name>(?i:{_LOCAL_NAME}))(?P<sign>\s?[:：=]\s?){_VALUE}")
_FLAG = re.compile(
    rf"(?<!\S)(?P<name>--(?i:{_NAME}))(?P<sign>[ =]){_VALUE}",
)
_BASIC_FLAG = re.compile(r"(?<!\S)(-u|--user)( |=)(?![0-9]+:[0-9]+\b)[^\s:'\"]+:[^\s'\"]+")
_HINTS = ("pass", "pwd", "secret", "key", "token")
_LOCAL_HINTS = tuple(_LOCAL_NAME.split("|"))

_NOTHING = frozenset({"none", "null", "nil", "true", "false", "undefined", "str", "string", "bool", "int"})
_REFERENCE = re.compile(
    r"\$|%|\*+\Z|<|\{\{|\[masked\]|…|\.\.\.|process\.env|os\.(?:environ|getenv)|(?:self|settings|config|args)\."
)
_SHORTEST_TOKEN = 8
_TELLING = re.compile(r"[0-9]")


class Sanitizer:
    """Masks secrets in texts, with the configured values given."""

    def __init__(self, configured: Iterable[str] = ()) -> None:
        """`configured` are values in force, such as API keys, which are masked wherever they stand."""
        values = {value for value in configured if len(value) >= _SHORTEST_CONFIGURED and value != MASK}
        # The longest first: one value may be the beginning of another.
        ordered = sorted(values, key=lambda value: (-len(value), value))
        self._configured = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def __call__(self, text: str) -> str:
        """The text with every secret replaced by `[masked]`; done twice, the same."""
        if self._configured is not None:
            text = self._configured.sub(MASK, text)
        return masked(text)


def masked(text: str) -> str:
    """The text with everything that has the shape of a secret replaced by `[masked]`.

    What shows that there was one stays: the name in `password=`, the scheme and host of an address.
    """
    if "-----BEGIN " in text:
        text = _without_pem(text)
    if "://" in text:
        text = _USER_INFO.sub(f"{MASK}@", text)
    lowered = text.lower()
    if "authorization" in lowered:
        text = _HEADER.sub(rf"\1{MASK}", text)
    if "bearer" in lowered or "basic" in lowered:
        text = _BEARER.sub(rf"\1{MASK}", text)
    if "-u" in lowered:
        text = _BASIC_FLAG.sub(rf"\1\2{MASK}", text)
    text = _TOKEN.sub(MASK, text)
    if any(hint in lowered for hint in _HINTS):
        text = _ASSIGNMENT.sub(_assigned(_is_value), text)
        if "--" in text:
            text = _FLAG.sub(_assigned(_is_flag_value), text)
    if any(hint in lowered for hint in _LOCAL_HINTS):
        text = _LOCAL_ASSIGNMENT.sub(_assigned(_is_value), text)
    return text


def _without_pem(text: str) -> str:
    """The text without PEM blocks, ended or broken off. In one walk, whatever is in the text."""
    parts: list[str] = []
    done = 0
    end = -1  # of the last end that was looked for
    for begin in _BEGIN.finditer(text):
        if begin.start() < done:
            continue
        if end < begin.end():
            end = text.find(_END, begin.end())
            if end < 0:
                end = len(text) + _LONGEST_PEM
        stop = text.find("-----", end + len(_END)) if end - begin.end() <= _LONGEST_PEM else -1
        body = _PEM_BODY.match(text, begin.end())
        if stop >= 0:
            stop += len("-----")
        elif body is not None:
            stop = body.end()
        else:
            continue  # somebody speaks of one
        parts += (text[done : begin.start()], MASK)
        done = stop
    return "".join((*parts, text[done:]))


def _assigned(is_secret: Callable[[re.Match[str], str, bool], bool]) -> Callable[[re.Match[str]], str]:
    def replaced(found: re.Match[str]) -> str:
        bare = found["bare"]
        value = bare if bare is not None else found["double"] or found["single"] or ""
        if not is_secret(found, value, bare is not None):
            return found[0]
        quote = "" if bare is not None else found[0][-1]
        return f"{found['name']}{found['sign']}{quote}{MASK}{quote}"

    return replaced


def _is_value(found: re.Match[str], value: str, bare: bool) -> bool:
    """Whether what is assigned to a name of secrets is one, not a type, a reference or the next word."""
    name = found["name"].lower()
    if not value or value.lower() in _NOTHING or value.lower() == name or _REFERENCE.match(value):
        return False
    if name.endswith("token"):
        return len(value) >= _SHORTEST_TOKEN and _TELLING.search(value) is not None
    if not bare or "=" in found["sign"]:
        return True
    # After a colon a sentence may go on: a value stands alone, or does not look like a word.
    after = found.string[found.end() : found.end() + 1]
    alone = after in {"", "\n", "\r"} and not value.endswith((".", "?", "!"))
    return alone or _TELLING.search(value) is not None


def _is_flag_value(_: re.Match[str], value: str, bare: bool) -> bool:
    """Whether what follows a flag of a command is a secret."""
    return bool(value) and not value.startswith("-") and not _REFERENCE.match(value) and (bare or bool(value))
