"""Writes the reference pages from the code: `python docs/generate.py`, or `--check` to compare only."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from memlane.config import json_schema
from memlane.surfaces.cli.run import cli

DOCS = Path(__file__).resolve().parent


def configuration_page() -> str:
    """Every key of the schema with type, default and reason."""
    schema = json_schema()
    lines = [
        "# Configuration",
        "",
        "Generated from the schema; `memlane config schema` prints it, `memlane config check` shows what is",
        "in force and where each value comes from. JSON5 in `~/.openclaw/openclaw.json` by default.",
        "",
    ]
    for title, path in (
        ("`agents.defaults`", ("agents", "defaults")),
        ("`memory`", ("memory",)),
        ("`plugins`", ("plugins",)),
    ):
        section = schema
        for name in path:
            section = _resolved(section, schema)["properties"][name]
        lines += [f"## {title}", "", "| key | type | default | |", "| --- | --- | --- | --- |"]
        lines += [
            f"| `{key}` | {_type(node, schema)} | {_default(node)} | {node.get('description', '')} |"
            for key, node in _leaves(section, schema, "")
        ]
        lines.append("")
    return "\n".join(lines)


def command_page() -> str:
    """The help of every command."""
    lines = ["# Command line", "", "Generated from the commands themselves.", ""]
    for name, command, context in _commands(cli, click.Context(cli, info_name="memlane")):
        lines += [f"## {name}", "", "```text", command.get_help(context).rstrip(), "```", ""]
    return "\n".join(lines)


PAGES = {"configuration.md": configuration_page, "command-line.md": command_page}


def _commands(
    group: click.Group, context: click.Context
) -> Iterator[tuple[str, click.Command, click.Context]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context, terminal_width=100)
        yield inner.command_path, command, inner
        if isinstance(command, click.Group):
            yield from _commands(command, inner)


def _resolved(node: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in node:
        target: Any = schema
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    return node


def _leaves(
    node: dict[str, Any], schema: dict[str, Any], prefix: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    node = _resolved(node, schema)
    for name, reference in node.get("properties", {}).items():
        child = _resolved(reference, schema)
        key = f"{prefix}{name}"
        if child.get("properties"):
            yield from _leaves(child, schema, f"{key}.")
        else:
            yield key, child


def _type(node: dict[str, Any], schema: dict[str, Any]) -> str:
    node = _resolved(node, schema)
    if "enum" in node:
        return ", ".join(f"`{value}`" for value in node["enum"])
    if "anyOf" in node:
        kinds = [_type(option, schema) for option in node["anyOf"]]
        return " or ".join(dict.fromkeys(kind for kind in kinds if kind != "null")) or "null"
    kind = str(node.get("type", "any"))
    if kind == "array":
        return f"list of {_type(node.get('items', {}), schema)}"
    bounds = [
        f"{sign} {node[name]}"
        for name, sign in (("minimum", "≥"), ("exclusiveMinimum", ">"), ("maximum", "≤"))
        if name in node and node[name] < 10**9
    ]
    return f"{kind} {', '.join(bounds)}".rstrip()


def _default(node: dict[str, Any]) -> str:
    return f"`{node['default']}`" if "default" in node and node["default"] is not None else ""


def main() -> int:
    """Write the pages, or tell which are out of date."""
    stale = []
    for name, make in PAGES.items():
        page = DOCS / name
        text = make()
        if "--check" in sys.argv[1:]:
            if not page.is_file() or page.read_text("utf-8") != text:
                stale.append(name)
        else:
            page.write_text(text, "utf-8")
    for name in stale:
        print(f"docs/{name} is out of date: run make docs")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
