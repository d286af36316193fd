"""Fetching a model from the hub once: resumed where it was cut, checked, by one process at a time.

huggingface-hub knows the hub: addresses, tokens, redirects, offline mode, retries and the HF_* variables. Its
own download throws away what it has when it is interrupted, which at 300 MB matters; so the file is kept
here, and only the parts are asked of it.
"""

from __future__ import annotations

import errno
import logging
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import file_digest
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ...errors import EmbeddingError, ProviderUnavailable
from ...events import Observer

if TYPE_CHECKING:
    from .model_file import HubFile

_MB = 1_000_000
_LOOK_SECONDS = 1.0
_SPARE_BYTES = 50 * _MB
"""Left free on the disk."""


class Download(Struct, frozen=True):
    """A file of the hub, as it is there now."""

    file: HubFile
    url: str
    """Of this very content: it names the commit."""
    size: int
    sha256: str
    target: Path

    @classmethod
    def of(cls, file: HubFile, target: Path, *, endpoint: str | None = None) -> Download:
        """Ask the hub for size and hash. Raises ProviderUnavailable when it has no such file or no answer.

        `endpoint` is the hub's address where it is not the one of the hub's own settings.
        """
        hub = _hub()
        with _translated(file):
            url = hub.hf_hub_url(file.repository, file.name, revision=file.revision, endpoint=endpoint)
            found = hub.get_hf_file_metadata(url, library_name="memlane", endpoint=endpoint)
        if not (found.size and found.commit_hash and re.fullmatch("[0-9a-f]{64}", found.etag or "")):
            raise ProviderUnavailable(
                f"the hub gives no size and hash of {file}", hint="download it, and name the file instead"
            )
        exact = hub.hf_hub_url(file.repository, file.name, revision=found.commit_hash, endpoint=endpoint)
        return cls(file, exact, found.size, found.etag, target)

    def run(self, observer: Observer) -> None:
        """Fetch it, unless another process has. Progress is the stage `download`, in megabytes.

        Raises EmbeddingError when that fails; the next call goes on from where it was. So it does after an
        observer has raised.
        """
        import filelock

        lock = filelock.FileLock(f"{self.target}.lock")
        with _translated(self.file, EmbeddingError):
            self.target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            while True:
                with suppress(filelock.Timeout):
                    lock.acquire(timeout=_LOOK_SECONDS)
                    break
                self._report(observer, self._part.stat().st_size if self._part.exists() else 0)
            try:
                if not self.target.exists():
                    self._fetch(observer)
            finally:
                lock.release()

    @property
    def _part(self) -> Path:
        return self.target.with_name(f"{self.target.name}.{self.sha256[:12]}.part")

    def _fetch(self, observer: Observer) -> None:
        from huggingface_hub.file_download import http_get
        from huggingface_hub.utils._headers import build_hf_headers

        for outdated in self.target.parent.glob(f"{_literal(self.target.name)}.*.part"):
            if outdated != self._part:
                outdated.unlink(missing_ok=True)
        if self._part.exists() and self._part.stat().st_size > self.size:
            self._part.unlink()
        with self._part.open("ab") as file, _heard(observer):
            have = file.tell()
            self._check_space(self.size - have)
            http_get(
                self.url,
                file,
                resume_size=have,
                headers=build_hf_headers(library_name="memlane"),
                expected_size=self.size,
                tqdm_class=_bar(self, observer),
            )
        with self._part.open("rb") as whole:
            actual = file_digest(whole, "sha256").hexdigest()
        if actual != self.sha256:
            self._part.unlink()
            raise EmbeddingError(
                f"what was downloaded of {self.file} does not have its hash, and was deleted",
                hint="try again; a proxy may have changed it",
            )
        self._part.replace(self.target)
        self._report(observer, self.size)

    def _check_space(self, wanted: int) -> None:
        free = shutil.disk_usage(self.target.parent).free
        if free < wanted + _SPARE_BYTES:
            raise OSError(errno.ENOSPC, f"{wanted // _MB} MB are to come, {free // _MB} MB are free")

    def _report(self, observer: Observer, done: int) -> None:
        observer.progress("download", -(-done // _MB), -(-self.size // _MB))


def downloaded_elsewhere(file: HubFile) -> Path | None:
    """The file in the hub library's own cache, where another program has put it."""
    hub = _hub()
    with _translated(file):
        found = hub.try_to_load_from_cache(file.repository, file.name, revision=file.revision)
    return Path(found) if isinstance(found, str) else None


def _hub() -> Any:  # noqa: ANN401 - a module
    try:
        import huggingface_hub
    except ImportError as error:
        raise ProviderUnavailable(
            f"models cannot be downloaded: {error}",
            hint="pip install 'memlane[local]', or let local.modelPath name a file",
        ) from error
    return huggingface_hub


def _literal(name: str) -> str:
    return re.sub(r"([\[*?])", r"[\1]", name)


def _bar(download: Download, observer: Observer) -> Any:  # noqa: ANN401 - what the library takes for a class
    """What the library calls to draw progress; here it goes to the observer."""

    class Bar:
        def __init__(self, *, initial: int = 0, **_: object) -> None:
            self._done = initial

        def update(self, more: int) -> None:
            self._done += more
            download._report(observer, self._done)

        def __enter__(self) -> Bar:
            return self

        def __exit__(
            self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
        ) -> None:
            pass

    return Bar


@contextmanager
def _heard(observer: Observer) -> Iterator[None]:
    """What the library would print of retries goes to the observer."""
    logger = logging.getLogger("huggingface_hub.file_download")

    def tell(record: logging.LogRecord) -> bool:
        if record.levelno >= logging.WARNING:
            observer.warning(record.getMessage().split("\n")[0])
        return False

    logger.addFilter(tell)
    try:
        yield
    finally:
        logger.removeFilter(tell)


@contextmanager
def _translated(file: HubFile, passing: type[EmbeddingError] = ProviderUnavailable) -> Iterator[None]:
    """The hub's, the network's and the system's errors, in words for the user.

    `passing` is raised for what may be over the next time; what the user must mend is ProviderUnavailable.
    """
    import httpx2
    from huggingface_hub import errors as hub

    mendable = (
        (
            hub.GatedRepoError,
            "its owners want their terms accepted",
            f"accept them on the page of {file.repository} at the hub, then set HF_TOKEN to a token of yours",
        ),
        (
            hub.RepositoryNotFoundError,
            f"the hub has no repository {file.repository}, or hides it",
            "check local.modelPath; a private repository takes HF_TOKEN",
        ),
        (hub.RevisionNotFoundError, f"there is no revision {file.revision}", "check local.modelPath"),
        (hub.EntryNotFoundError, "the repository has no such file", "check local.modelPath"),
        (hub.HFValidationError, f"{file.repository} is no name of a repository", "check local.modelPath"),
        (hub.OfflineModeIsEnabled, "HF_HUB_OFFLINE is set", "unset it, or let local.modelPath name a file"),
    )
    try:
        yield
    except (httpx2.HTTPError, OSError, hub.HFValidationError) as error:
        for kind, message, hint in mendable:
            if isinstance(error, kind):
                raise ProviderUnavailable(f"{file} cannot be downloaded: {message}", hint=hint) from error
        reason = (
            f"the hub answered {error.response.status_code}"
            if isinstance(error, hub.HfHubHTTPError)
            else _reason(error)
        )
        raise passing(f"{file} cannot be downloaded: {reason}", hint=_AGAIN) from error


_AGAIN = "try again: what is here already is kept"


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return f"the disk is full ({error.strerror})"
    named = error.strerror if isinstance(error, OSError) else None
    return named or str(error).split("\n")[0] or type(error).__name__
