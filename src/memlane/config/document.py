"""The configuration file as a plain dictionary: found, decoded, parsed. Nothing here knows a key.

Three readers, from fast to thorough, that agree wherever they both accept: the standard library for plain
JSON; a rewriting of everyday JSON5 (comments, trailing commas, bare keys, single quotes) into JSON, because
the json5 library takes a second for 30 kB; and that library for the rest and for its error positions.
"""

from __future__ import annotations

import re
import stat
from pathlib import Path
from typing import Any

from ..errors import ConfigError

# Compiled on use: plain JSON and a missing file, the common cases, need neither.
_LEXICON = r"""
      (?P<space>   [ \t\r\n]+ | //[^\n\r\u2028\u2029]* | /\*.*?\*/ )
    | (?P<string>  "(?:[^"\\\r\n]|\\["\\/bfnrtu])*" )
    | (?P<single>  '(?P<inner>[^'\\\r\n]*)' )
    | (?P<key>     [A-Za-z_$][A-Za-z0-9_$]* (?=[ \t\r\n]*:) )
    | (?P<number>  -?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![.\w$]) )
    | (?P<other>   (?:true|false|null)\b | [{}\[\]:,] )
"""
_POSITION = r"<string>:(\d+) (.*) at column (\d+)$"


def read_document(path: Path) -> dict[str, Any] | None:
    """The top-level object of the JSON5 file at `path`, or None when there is no such file.

    Raises ConfigError, naming the file and where it applies line and column, for a file that cannot be
    read, is not UTF-8 or not JSON5, or holds something else than an object. A byte order mark is ignored.
    """
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            raise _no_file(path, mode)  # a pipe would be waited for
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ConfigError(f"{path} cannot be read: {reason}", hint="check its permissions") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"{path}, line {line}: byte 0x{data[error.start]:02x} is not UTF-8", hint="save the file as UTF-8"
        ) from error
    document = parse_json5(text, name=str(path))
    if not isinstance(document, dict):
        raise ConfigError(
            f"{path} holds {_kind(document)} at its top level; an object is needed",
            hint='such as { agents: { defaults: { memorySearch: { provider: "auto" } } } }',
        )
    return document


def _no_file(path: Path, mode: int) -> ConfigError:
    if stat.S_ISDIR(mode):
        hint = f"did you mean {path / 'openclaw.json'}?"
        return ConfigError(f"{path} is a folder, not a configuration file", hint=hint)
    hint = "put the configuration into a file and name that"
    return ConfigError(f"{path} is a pipe, device or socket, not a configuration file", hint=hint)


def parse_json5(text: str, *, name: str) -> object:
    """The value that JSON5 `text` stands for. Raises ConfigError naming `name`, line and column."""
    import json  # here, because without a file there is nothing to read

    if not text.strip():
        raise ConfigError(f"{name} is empty", hint="write {} into it, or delete it to have all defaults")
    try:
        try:
            return json.loads(text)
        except ValueError:
            rewritten = _as_json(text)
        if rewritten is not None:
            try:
                return json.loads(rewritten)
            except ValueError:
                pass  # the thorough reader says what is wrong with it, and where
        return _thorough(text, name)
    except RecursionError as error:
        raise ConfigError(f"{name} is nested too deeply to be read") from error


def _as_json(text: str) -> str | None:
    """Everyday JSON5 as JSON, or None when it uses anything else. May give invalid JSON for invalid input."""
    import json

    scan = re.compile(_LEXICON, re.VERBOSE | re.DOTALL).match
    tokens: list[str] = []
    position = 0
    while position < len(text):
        token = scan(text, position)
        if token is None:
            return None
        position = token.end()
        kind = token.lastgroup
        if kind == "space":
            continue
        if kind == "key":
            tokens.append(f'"{token.group()}"')
        elif token["single"] is not None:
            tokens.append(json.dumps(token["inner"]))
        else:
            if token.group() in "]}" and len(tokens) > 1 and tokens[-1] == "," and tokens[-2] not in "[{,:":
                tokens.pop()
            tokens.append(token.group())
    return " ".join(tokens)


def _thorough(text: str, name: str) -> object:
    import json5  # 30 ms at start-up, and slow beyond that

    try:
        return json5.loads(text)
    except ValueError as error:
        found = re.search(_POSITION, str(error), re.DOTALL)
        if found is None:
            raise ConfigError(f"{name} is not valid JSON5: {error}") from error
        line, problem, column = found.groups()
        raise ConfigError(
            f"{name}, line {line}, column {column}: {problem[0].lower()}{problem[1:]}",
            hint="the file is JSON5: check commas, quotes and brackets just before that place",
        ) from error


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "true or false"
    names = {list: "a list", str: "a string", int: "a number", float: "a number", type(None): "null"}
    return names[type(value)]
