"""What a key allows, in words, from its annotation. Loaded only when a value is refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

Step = int | str


def steps_of(message: str) -> list[Step]:
    """The way into the value in a msgspec message: `$[2].match.channel` gives 2, "match", "channel".

    The value of some unnamed key of a map is `...`.
    """
    found = re.search(r" - at `\$(.*)`$", message, re.DOTALL)
    parts = re.findall(r"\[(?:(\d+)|\.\.\.)\]|\.(\w+)", found[1]) if found else ()
    return [int(index) if index else name or "..." for index, name in parts]


def allowed_at(annotation: object, steps: Sequence[Step] = ()) -> str:
    """What stands for a value of `annotation`, or for the part of it that `steps` lead to."""
    (schema,), definitions = msgspec.json.schema_components([annotation], ref_template="{name}")
    for step in steps:
        schema = _below(_resolved(schema, definitions), step, definitions)
    return _words(schema, definitions)


def _resolved(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = definitions[schema["$ref"]]
    return schema


def _below(schema: dict[str, Any], step: Step, definitions: dict[str, Any]) -> dict[str, Any]:
    wanted = "array" if isinstance(step, int) else "object"
    for part in schema.get("anyOf", [schema]):
        choice = _resolved(part, definitions)
        if choice.get("type") == wanted:
            schema = choice
            break
    if isinstance(step, int):
        return dict(schema.get("items") or {})
    return dict(schema.get("properties", {}).get(step) or schema.get("additionalProperties") or {})


def _words(schema: dict[str, Any], definitions: dict[str, Any]) -> str:
    schema = _resolved(schema, definitions)
    if "anyOf" in schema:
        return " or ".join(_words(part, definitions) for part in schema["anyOf"])
    if "enum" in schema:
        return _listed([f'"{value}"' for value in schema["enum"]])
    kind = schema.get("type")
    if kind in {"integer", "number"}:
        return _number(schema)
    if kind == "array":
        few = "a list" if not schema.get("minItems") else "a list of at least one"
        return f"{few} of {_words(schema.get('items') or {}, definitions)}"
    if kind == "string" and schema.get("minLength"):
        return "a string that is not empty"
    names = {"boolean": "true or false", "string": "a string", "null": "null", "object": "an object"}
    return names.get(str(kind), "a value")


def _number(schema: dict[str, Any]) -> str:
    noun = "a whole number" if schema["type"] == "integer" else "a number"
    low, high, above = (_digits(schema.get(name)) for name in ("minimum", "maximum", "exclusiveMinimum"))
    if low and high and schema["maximum"] < 10**9:
        return f"{noun} from {low} to {high}"
    bound = f" above {above}" if above else f" at least {low}" if low else ""
    return f"{noun}{bound}, at most {high}" if high else f"{noun}{bound}"


def _digits(number: float | None) -> str:
    return "" if number is None else f"{int(number):,}" if number == int(number) else f"{number:g}"


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
