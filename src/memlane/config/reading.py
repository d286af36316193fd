"""One value of the file, read: variables put in, type and range checked, put into its final form."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, cast, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from ..errors import ConfigError
from .kinds import HIDDEN, KINDS, Kind, Place, Unusable, without_credentials
from .locate import Surroundings
from .section import Section

_SHOWN = 60
"""Characters of a value that an error message shows."""


class MissingVariable(ConfigError):  # noqa: N818 - reads as a statement of fact
    """A `${NAME}` that the environment does not have."""


class Key(Struct, frozen=True):
    """One key of a section, as its class declares it."""

    name: str
    """As in the file."""
    attribute: str
    type: Any
    """In the file, which for some kinds is not that of the final value."""
    kind: Kind | None
    secret: bool
    section: type[Section] | None
    """The class of the group when the key holds one."""


def keys_of(section: type[Section]) -> list[Key]:
    """The keys of a section in the order of their declaration."""
    hints = get_type_hints(section, include_extras=True)
    names = zip(section.__struct_encode_fields__, section.__struct_fields__, strict=True)
    return [_key(name, attribute, hints[attribute]) for name, attribute in names]


def _key(name: str, attribute: str, hint: object) -> Key:
    kind_name, bare = "", hint
    if get_origin(hint) is Annotated:
        bare, *metas = get_args(hint)
        for meta in metas:
            kind_name = (meta.extra or {}).get("kind", kind_name)
    section = bare if isinstance(bare, type) and issubclass(bare, Section) else None
    kind = KINDS.get(kind_name)
    taken = hint if kind is None or kind.takes is None else kind.takes
    return Key(name, attribute, taken, kind, kind_name in {"secret", "headers"}, section)


class Reader(Struct, frozen=True):
    """Reads values of one file. Relative paths in it start at its own folder."""

    file: Path
    surroundings: Surroundings

    def read(self, key: Key, raw: object, place: str) -> object:
        """The final form of `raw`, which stands at `place`.

        Raises ConfigError naming file, place, value and what is allowed, MissingVariable among them.
        """
        try:
            value = self._with_variables(raw, place)
            unclean = _unclean(value)
        except RecursionError as error:
            raise self.error(f"{place} is nested too deeply to be read") from error
        if unclean is not None:
            allowed = "finite numbers, and text without NUL or broken characters"
            raise self._refusal_at(unclean, raw, place, allowed, key)
        try:
            value = _convert(value, key.type)
        except msgspec.ValidationError as error:
            raise self._mismatch(key, raw, place, str(error)) from error
        if key.kind is None:
            return value
        try:
            return key.kind.read(value, Place(self.file.parent, self.surroundings))
        except Unusable as error:
            raise self._refusal_at(error.steps, raw, place, str(error) or key.kind.allowed, key) from error

    def error(self, message: str) -> ConfigError:
        """The error that says `message` of the file, to be raised by the caller."""
        return ConfigError(f"{self.file}: {message}")

    def refusal(self, place: str, raw: object, allowed: str, key: Key | None = None) -> ConfigError:
        """The error for a value that is not allowed, to be raised by the caller."""
        shown = HIDDEN if key is not None and key.secret else shorten(raw)
        return self.error(f"{place} is {shown}; allowed: {allowed}")

    def _refusal_at(
        self, steps: Sequence[int | str], raw: object, place: str, allowed: str, key: Key
    ) -> ConfigError:
        """The error for the part of a value that `steps` lead to."""
        place, raw = _followed(steps, raw, place)
        return self.refusal(place, raw, allowed, key)

    def _mismatch(self, key: Key, raw: object, place: str, message: str) -> ConfigError:
        """What msgspec found wrong, told with the place inside lists and objects and what would be right."""
        from .explain import allowed_at, steps_of

        steps = steps_of(message)
        place, raw = _followed(steps, raw, place)
        if missing := re.search(r"missing required field `(\w+)`", message):
            return self.error(f"{place} is {shorten(raw)}, without the {missing[1]} it needs")
        whole = key.kind is not None and not steps
        allowed = key.kind.allowed if whole and key.kind else allowed_at(key.type, steps)
        return self.refusal(place, raw, allowed, key)

    def _with_variables(self, raw: object, place: str) -> object:
        if isinstance(raw, str):
            return self.substituted(raw, place) if "${" in raw else raw
        if isinstance(raw, list):
            return [self._with_variables(item, f"{place}[{index}]") for index, item in enumerate(raw)]
        if isinstance(raw, dict):
            return {name: self._with_variables(item, f"{place}.{name}") for name, item in raw.items()}
        return raw

    def substituted(self, text: str, place: str) -> str:
        """`text` with each `${NAME}` replaced; `$${NAME}` gives `${NAME}`. Raises MissingVariable."""

        def value(found: re.Match[str]) -> str:
            if found[1]:  # the dollar before it says that the text itself is meant
                return found[0][1:]
            if found[2] not in self.surroundings.environ:
                raise MissingVariable(
                    f"{self.file}: {place} needs the environment variable {found[2]}, which is not set",
                    hint=f"set {found[2]}, or write $${{{found[2]}}} where the text itself is meant",
                )
            return self.surroundings.environ[found[2]]

        return re.sub(r"(\$?)\$\{([A-Za-z_][A-Za-z0-9_]*)\}", value, text)


def shorten(raw: object) -> str:
    """A value of the file as JSON, cut where it is long. Groups, which may hold secrets, are not shown."""
    if isinstance(raw, list | dict):
        return ("a" if raw else "an empty") + " list" if isinstance(raw, list) else "an object"
    import json

    shown = without_credentials(raw) if isinstance(raw, str) else raw
    text = json.dumps(shown, ensure_ascii=False, default=str).encode("utf-8", "replace").decode()
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _followed(steps: Sequence[int | str], raw: object, place: str) -> tuple[str, object]:
    """The place and the value at the end of `steps`; `...` stands for an unnamed key and ends the way."""
    for step in steps:
        place += f"[{step}]" if isinstance(step, int) else f".{step}"
        raw = cast("Any", raw)[step] if step != "..." else raw
    return place, raw


def _unclean(raw: object) -> list[int | str] | None:
    """The way to the first part that no value may hold: NUL, broken characters, endless numbers; or None."""
    if isinstance(raw, list | dict):
        if isinstance(raw, dict) and any(_unclean(name) is not None for name in raw):
            return []
        for step, item in raw.items() if isinstance(raw, dict) else enumerate(raw):
            if (below := _unclean(item)) is not None:
                return [step, *below]
        return None
    if isinstance(raw, str):
        broken = "\0" in raw or any("\ud800" <= character <= "\udfff" for character in raw)
        return [] if broken else None
    return [] if isinstance(raw, float) and not math.isfinite(raw) else None


def _convert(value: object, wanted: Any) -> object:  # noqa: ANN401 - a type form, not only a class
    """`value` as `wanted`; 6.0 passes for 6, since JSON has only one sort of number."""
    try:
        return msgspec.convert(value, wanted)
    except msgspec.ValidationError:
        if isinstance(value, float) and value.is_integer():
            return msgspec.convert(int(value), wanted)
        raise
