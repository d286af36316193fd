"""The maps of the rooms: what a docstring lists is all there is, in the order in which it may be imported."""

from __future__ import annotations

import ast
import pkgutil
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src/memlane"
_LISTED = re.compile(r"^ *((?:[a-z_]+, )*[a-z_]+)(?:,$| {2,})", re.MULTILINE)


def listed(room: Path) -> list[str]:
    """The modules that the docstring of a package lists, in its order."""
    text = ast.get_docstring(ast.parse((room / "__init__.py").read_text("utf-8"))) or ""
    return [name for match in _LISTED.finditer(text) for name in match[1].split(", ")]


def modules(room: Path) -> set[str]:
    return {module.name for module in pkgutil.iter_modules([str(room)])} - {"__main__"}


def rooms() -> list[Path]:
    return [PACKAGE, *sorted(path.parent for path in PACKAGE.glob("*/__init__.py"))]


def test_every_map_is_read() -> None:
    assert {room.name for room in rooms() if listed(room)} == {
        *(
            "memlane",
            "sessions",
            "transcripts",
            "tombstones",
            "forget",
            "workspace",
            "doctor",
            "evaluate",
            "calls",
        )
    }


@pytest.mark.parametrize("room", [room for room in rooms() if listed(room)], ids=lambda room: room.name)
def test_a_map_names_each_module_once(room: Path) -> None:
    assert sorted(listed(room)) == sorted(modules(room))


def test_each_room_imports_only_those_before_it() -> None:
    configured = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    layers = configured["tool"]["importlinter"]["contracts"][0]["layers"]
    height = {
        name.strip().removeprefix("memlane."): number
        for number, layer in enumerate(reversed(layers))
        for name in layer.split("|")
    }
    heights = [height[name] for name in listed(PACKAGE) if name in height]
    assert len(heights) > 25
    assert heights == sorted(heights)
