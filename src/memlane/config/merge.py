"""Several places of the file become one group of settings, leaf by leaf, each leaf with its origin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar, get_args

from msgspec import Struct, field

from .origin import Origin
from .reading import Key, MissingVariable, Reader, keys_of
from .section import Section

S = TypeVar("S", bound=Section)


class Layer(Struct, frozen=True):
    """One place in the file that may set keys of a section."""

    path: str
    """As the user wrote it: `agents.list[0].memorySearch`."""
    values: Mapping[str, Any]
    level: Literal["flag", "agent", "file"] = "file"
    """`agent` for an agent's own entry, `flag` for what is said outside the file. Two layers of one level are
    two spellings of the same thing."""

    def __repr__(self) -> str:
        return f"Layer({self.path!r})"  # the values hold secrets


class Merger(Struct, frozen=True):
    """Merges layers of one file and takes notes of what it finds."""

    reader: Reader
    origins: dict[str, Origin] = field(default_factory=dict)
    """By resolved key (`memorySearch.query.minScore`). Absent keys have their built-in default."""
    warnings: list[str] = field(default_factory=list)

    def merge(self, section: type[S], layers: Sequence[Layer], name: str = "") -> S:
        """The settings of `section`, whose resolved keys begin with `name`, from layers, strongest first.

        Every layer is checked, also where a stronger one decides. Raises ConfigError.
        """
        if not layers:
            return section()
        keys = keys_of(section)
        chosen: dict[str, object] = {}
        for key in keys:
            present = [layer for layer in layers if key.name in layer.values]
            if not present:
                continue
            resolved = f"{name}.{key.name}" if name else key.name
            if key.section is None:
                chosen[key.attribute] = self._leaf(key, present, resolved)
            else:
                groups = [self.below(layer, key.name) for layer in present]
                chosen[key.attribute] = self.merge(key.section, groups, resolved)
        for layer in layers:
            self._note_unknown(section, keys, layer)
        return section(**chosen)

    def below(self, layer: Layer, name: str) -> Layer:
        """The group `name` of a layer that has it. Raises ConfigError when it is not an object."""
        path, values = f"{layer.path}.{name}" if layer.path else name, layer.values[name]
        if not isinstance(values, dict):
            raise self.reader.refusal(path, values, "an object")
        return Layer(path, values, layer.level)

    def _leaf(self, key: Key, present: Sequence[Layer], resolved: str) -> object:
        """The value of the strongest layer; joined with the other level's where the kind says so."""
        strongest = present[0]
        value = self._read(key, strongest)
        deciding = {strongest.level: f"{strongest.path}.{key.name}"}
        for layer in present[1:]:
            place = f"{layer.path}.{key.name}"
            join = None
            if layer.level in deciding:
                other = deciding[layer.level]
                self.note(f"{place} is ignored, because {other} sets the same; keep one of them")
            else:
                join = key.kind.join if key.kind is not None else None
                deciding[layer.level] = place
            try:
                weaker = self._read(key, layer)
            except MissingVariable:
                if join is not None:
                    raise
                continue  # what nobody uses need not be known
            value = value if join is None else join(weaker, value)
        is_joined = key.kind is not None and key.kind.join is not None
        places = reversed(deciding.values()) if is_joined else [deciding[strongest.level]]
        file = "" if strongest.level == "flag" and not is_joined else str(self.reader.file)
        self.origins[resolved] = Origin(strongest.level, " + ".join(places), file)
        return value

    def note(self, warning: str) -> None:
        """Add a warning about the file."""
        self.warnings.append(f"{self.reader.file}: {warning}")

    def _read(self, key: Key, layer: Layer) -> object:
        raw = layer.values[key.name]
        value = self.reader.read(key, raw, f"{layer.path}.{key.name}")
        if (element := _element(key.type)) is not None and isinstance(raw, list):
            for index, item in enumerate(raw):
                if isinstance(item, dict):
                    self._note_below(element, Layer(f"{layer.path}.{key.name}[{index}]", item))
        return value

    def _note_below(self, section: type[Section], layer: Layer) -> None:
        """Notes the unknown keys of an object whose values have been checked already."""
        keys = keys_of(section)
        self._note_unknown(section, keys, layer)
        for key in keys:
            if key.section is not None and key.name in layer.values:
                self._note_below(key.section, self.below(layer, key.name))

    def _note_unknown(self, section: type[Section], keys: Sequence[Key], layer: Layer) -> None:
        known = {*section.groups, *(key.name for key in keys)}
        for name in layer.values:
            if name in known:
                continue
            hint = _misspelt(name, known) if section.shared else _nearest(name, section, keys)
            if hint:
                self.note(f"{layer.path}.{name} is not known and ignored; {hint}")


def _element(annotation: object) -> type[Section] | None:
    """The section inside a list type, if any."""
    for part in get_args(annotation):
        if isinstance(part, type) and issubclass(part, Section):
            return part
        if (found := _element(part)) is not None:
            return found
    return None


def _misspelt(name: str, known: set[str]) -> str:
    """A hint for a key that differs in case and separators only: elsewhere belong keys that are not ours."""
    bare = name.replace("_", "").replace("-", "").lower()
    return next((f'write "{right}"' for right in known if right.lower() == bare), "")


def _nearest(name: str, section: type[Section], keys: Sequence[Key]) -> str:
    """A hint for any unknown key: the name that was probably meant, deeper ones included, or all names."""
    import difflib

    deep = dict(_deep_names(section))
    lowered = {last.lower(): whole for last, whole in deep.items()}
    bare = name.replace("_", "").replace("-", "").lower()
    if found := difflib.get_close_matches(bare, lowered, n=1, cutoff=0.7):
        return f'did you mean "{lowered[found[0]]}"?'
    return f"known here: {', '.join(key.name for key in keys)}"


def _deep_names(section: type[Section], path: str = "") -> Iterator[tuple[str, str]]:
    """Last part and whole path of every key in and below a section, deepest first."""
    for key in keys_of(section):
        whole = f"{path}.{key.name}" if path else key.name
        if key.section is not None:
            yield from _deep_names(key.section, whole)
        yield key.name, whole
