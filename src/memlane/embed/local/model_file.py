"""Which file `local.modelPath` means: one on this machine, or one of the hub that is fetched when needed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ...errors import ProviderUnavailable
from ...events import Observer
from ...values import Value
from .records import Record, keep_record, record_of

_MAGIC = b"GGUF"
_HUB = "hf:"


class HubFile(Value, frozen=True):
    """A file of a repository of the hub, such as `hf:organisation/repository/folder/file.gguf@revision`."""

    repository: str
    name: str
    """With its folders inside the repository."""
    revision: str | None = None
    """A branch, tag or commit; None takes the newest."""

    @classmethod
    def parse(cls, text: str) -> HubFile:
        """Read the reference. Raises ProviderUnavailable where it is none."""
        path, _, revision = text.removeprefix(_HUB).partition("@")
        parts = path.strip("/").split("/")
        if len(parts) < 3 or any(part in {"", ".", ".."} or "\\" in part or "\0" in part for part in parts):
            raise ProviderUnavailable(
                f"local.modelPath {text!r} names no file of the hub",
                hint="write hf:organisation/repository/file.gguf, if need be with @revision behind it",
            )
        return cls("/".join(parts[:2]), "/".join(parts[2:]), revision or None)

    def within(self, cache_dir: Path) -> Path:
        """Where it is kept once it is fetched."""
        revision = (self.revision or "").replace("/", "-")
        folder = self.repository.replace("/", "--") + (f"@{revision}" if revision else "")
        return cache_dir / folder / self.name

    def __str__(self) -> str:
        """As in the configuration."""
        return f"{_HUB}{self.repository}/{self.name}" + (f"@{self.revision}" if self.revision else "")


class ModelFile:
    """One model's file, here or still to be fetched.

    Attributes:
        path: where it lies or will lie.
        sha256: of its content, known before it is fetched.
    """

    def __init__(
        self, path: Path, sha256: str, cache_dir: Path, fetch: Callable[[], None] | None = None
    ) -> None:
        self.path = path
        self.sha256 = sha256
        self._cache_dir = cache_dir
        self._fetch = fetch

    @property
    def is_here(self) -> bool:
        """Whether it need not be fetched any more."""
        return self._fetch is None or self.path.exists()

    def fetch(self) -> None:
        """Have it here. Raises EmbeddingError when it cannot be fetched."""
        if not self.is_here and self._fetch is not None:
            self._fetch()

    def record(self) -> Record:
        """What is known of the file. Raises ProviderUnavailable when it is not here, or has changed."""
        if not self.is_here:
            raise ProviderUnavailable(
                f"the model {self.path.name} is not downloaded yet", hint="memlane index downloads it"
            )
        record = _known(self.path, self._cache_dir)
        if record.sha256 != self.sha256:
            raise ProviderUnavailable(
                f"{self.path} has changed since it was first read", hint="start again to use the new file"
            )
        return record

    def remember(self, record: Record) -> None:
        """Keep more that was learned of the file."""
        keep_record(record, self.path, self._cache_dir)


def find_model(model_path: str, cache_dir: Path, observer: Observer) -> ModelFile:
    """The file of `local.modelPath`. Raises ProviderUnavailable where there is none."""
    if model_path.startswith(_HUB):
        return _hub_model(HubFile.parse(model_path), cache_dir, observer)
    if "://" in model_path:
        raise ProviderUnavailable(
            f"local.modelPath {model_path!r} is an address",
            hint="write hf:organisation/repository/file.gguf, or download it and name the file",
        )
    path = Path(model_path)
    return ModelFile(path, _known(path, cache_dir).sha256, cache_dir)


def _hub_model(file: HubFile, cache_dir: Path, observer: Observer) -> ModelFile:
    path = file.within(cache_dir)
    if path.exists():
        return ModelFile(path, _known(path, cache_dir).sha256, cache_dir)
    from .download import Download, downloaded_elsewhere

    if (elsewhere := downloaded_elsewhere(file)) is not None:
        return ModelFile(elsewhere, _known(elsewhere, cache_dir).sha256, cache_dir)
    download = Download.of(file, path)
    return ModelFile(path, download.sha256, cache_dir, lambda: download.run(observer))


def _known(path: Path, cache_dir: Path) -> Record:
    """The record of a file that may be missing or something else. Raises ProviderUnavailable."""
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
        if magic == _MAGIC:
            return record_of(path, cache_dir)
    except FileNotFoundError as error:
        raise ProviderUnavailable(
            f"the model {path} does not exist", hint="set local.modelPath to a GGUF file or to hf:…"
        ) from error
    except (OSError, ValueError) as error:  # a NUL in the path is a ValueError
        reason = getattr(error, "strerror", None) or error
        raise ProviderUnavailable(f"the model {path} cannot be read: {reason}") from error
    raise ProviderUnavailable(
        f"the model {path} is not a GGUF file", hint="set local.modelPath to a GGUF file or to hf:…"
    )
