from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("huggingface_hub", reason="models are downloaded with huggingface-hub")

from tests.embed.local.hub_server import COMMIT, Hub, running_hub

from memlane.embed.local import download
from memlane.embed.local.download import Download
from memlane.embed.local.model_file import HubFile, find_model
from memlane.errors import EmbeddingError, Interrupted, ProviderUnavailable
from memlane.testing import RecordingObserver

REFERENCE = "hf:org/repo/tiny.gguf"
CONTENT = b"GGUF" + bytes(range(256)) * 12_000  # 3.1 MB


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 500_000)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "no-token"))
    monkeypatch.setattr("huggingface_hub.file_download.time", SimpleNamespace(sleep=lambda _seconds: None))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    with running_hub(CONTENT) as server:
        monkeypatch.setattr(constants, "ENDPOINT", server.endpoint)
        template = server.endpoint + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        yield server


def asked(hub: Hub, cache: Path, reference: str = REFERENCE) -> Download:
    file = HubFile.parse(reference)
    return Download.of(file, file.within(cache), endpoint=hub.endpoint)


def test_a_model_is_downloaded_once(hub: Hub, tmp_path: Path) -> None:
    observer = RecordingObserver()
    model = find_model(REFERENCE, tmp_path / "models", observer)
    assert not model.is_here
    assert hub.count("BLOB") == 0
    with pytest.raises(ProviderUnavailable, match=r"the model tiny\.gguf is not downloaded yet"):
        model.record()
    model.fetch()
    assert model.path == tmp_path / "models" / "org--repo" / "tiny.gguf"
    assert model.path.read_bytes() == CONTENT
    assert model.record().sha256 == model.sha256 == hub.etag
    assert observer.stages[-1] == ("download", 4, 4)
    assert {stage for stage, _, _ in observer.stages} == {"download"}
    assert [done for _, done, _ in observer.stages] == sorted(done for _, done, _ in observer.stages)
    assert observer.warnings == []
    requests = len(hub.asked)
    again = find_model(REFERENCE, tmp_path / "models", observer)
    again.fetch()
    assert (again.path, again.sha256, len(hub.asked)) == (model.path, model.sha256, requests)
    assert [path.name for path in model.path.parent.iterdir() if path.suffix != ".lock"] == ["tiny.gguf"]


def test_the_commit_that_was_described_is_the_one_downloaded(hub: Hub, tmp_path: Path) -> None:
    asked(hub, tmp_path, f"{REFERENCE}@v1").run(RecordingObserver())
    assert [path for method, path, _ in hub.asked if method != "BLOB"] == [
        "/org/repo/resolve/v1/tiny.gguf",
        f"/org/repo/resolve/{COMMIT}/tiny.gguf",
    ]
    assert (tmp_path / "org--repo@v1" / "tiny.gguf").exists()


def test_a_cut_connection_is_taken_up_again(hub: Hub, tmp_path: Path) -> None:
    hub.cut_after = [1_000_000, 700_000]
    observer = RecordingObserver()
    wanted = asked(hub, tmp_path)
    wanted.run(observer)
    assert wanted.target.read_bytes() == CONTENT
    ranges = [range_ for method, _, range_ in hub.asked if method == "BLOB"]
    assert ranges[0] == ""
    starts = [int(range_.removeprefix("bytes=").removesuffix("-")) for range_ in ranges[1:]]
    assert len(starts) == 2
    assert 0 < starts[0] <= 1_000_000 < starts[1] <= 1_700_000
    assert len(observer.warnings) == 2
    assert all(warning.startswith("Error while downloading") for warning in observer.warnings)


def test_an_interrupted_download_goes_on_the_next_time(hub: Hub, tmp_path: Path) -> None:
    class Stopping(RecordingObserver):
        def progress(self, stage: str, done: int, total: int) -> None:  # type: ignore[override]
            if done >= 2:
                raise Interrupted("enough")

    wanted = asked(hub, tmp_path)
    with pytest.raises(Interrupted):
        wanted.run(Stopping())
    (part,) = wanted.target.parent.glob("*.part")
    have = part.stat().st_size
    assert have > 0
    wanted.run(RecordingObserver())
    assert wanted.target.read_bytes() == CONTENT
    assert hub.asked[-1][2] == f"bytes={have}-"
    assert not part.exists()


def test_a_server_that_knows_no_ranges_sends_it_all_again(hub: Hub, tmp_path: Path) -> None:
    wanted = asked(hub, tmp_path)
    wanted.target.parent.mkdir(parents=True)
    wanted._part.write_bytes(CONTENT[:1000])
    hub.ignores_ranges = True
    wanted.run(RecordingObserver())
    assert wanted.target.read_bytes() == CONTENT


@pytest.mark.parametrize("part", [CONTENT, CONTENT + b"more"])
def test_a_part_that_is_whole_or_longer(hub: Hub, tmp_path: Path, part: bytes) -> None:
    wanted = asked(hub, tmp_path)
    wanted.target.parent.mkdir(parents=True)
    wanted._part.write_bytes(part)
    wanted.run(RecordingObserver())
    assert wanted.target.read_bytes() == CONTENT


def test_the_part_of_an_outdated_file_goes(hub: Hub, tmp_path: Path) -> None:
    wanted = asked(hub, tmp_path)
    wanted.target.parent.mkdir(parents=True)
    outdated = wanted.target.with_name("tiny.gguf.aaaaaaaaaaaa.part")
    outdated.write_bytes(b"GGUF of yesterday")
    wanted.run(RecordingObserver())
    assert not outdated.exists()


def test_what_does_not_have_its_hash_is_deleted(hub: Hub, tmp_path: Path) -> None:
    wanted = asked(hub, tmp_path)
    hub.content = CONTENT[:-1] + b"?"
    with pytest.raises(EmbeddingError, match="does not have its hash, and was deleted"):
        wanted.run(RecordingObserver())
    assert not wanted.target.exists()
    hub.content = CONTENT
    wanted.run(RecordingObserver())
    assert wanted.target.read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("reference", "refusal", "message", "hint"),
    [
        (REFERENCE, (403, "GatedRepo"), "its owners want their terms accepted", "HF_TOKEN"),
        (REFERENCE, (401, "RepoNotFound"), "the hub has no repository org/repo, or hides it", "HF_TOKEN"),
        ("hf:org/other/tiny.gguf", None, "the hub has no repository org/other, or hides it", "modelPath"),
        ("hf:org/repo/other.gguf", None, "the repository has no such file", "modelPath"),
        (f"{REFERENCE}@v9", None, "there is no revision v9", "modelPath"),
        ("hf:o--rg/re..po/tiny.gguf", None, "o--rg/re..po is no name of a repository", "modelPath"),
        (REFERENCE, (500, ""), "the hub answered 500", "try again"),
    ],
)
def test_a_refusal_says_why(
    hub: Hub, tmp_path: Path, reference: str, refusal: tuple[int, str] | None, message: str, hint: str
) -> None:
    hub.refusal = refusal
    with pytest.raises(ProviderUnavailable) as failure:
        find_model(reference, tmp_path, RecordingObserver())
    assert str(failure.value) == f"{reference} cannot be downloaded: {message}"
    assert hint in failure.value.hint


def test_the_token_goes_to_the_hub_and_not_to_its_storage(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.token = "hf_secret"
    with pytest.raises(ProviderUnavailable, match="terms accepted"):
        asked(hub, tmp_path)
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    asked(hub, tmp_path).run(RecordingObserver())
    assert not hub.storage_saw_token


def test_a_hub_without_a_hash_is_not_believed(hub: Hub, tmp_path: Path) -> None:
    hub.etag = "W/abc"
    with pytest.raises(ProviderUnavailable, match="the hub gives no size and hash"):
        asked(hub, tmp_path)


def test_offline_nothing_is_asked(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import close_session, constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    close_session()
    try:
        with pytest.raises(ProviderUnavailable, match="cannot be downloaded: HF_HUB_OFFLINE is set"):
            find_model(REFERENCE, tmp_path, RecordingObserver())
        there = tmp_path / "org--repo" / "tiny.gguf"
        there.parent.mkdir()
        there.write_bytes(CONTENT)
        assert find_model(REFERENCE, tmp_path, RecordingObserver()).path == there
    finally:
        close_session()
    assert hub.asked == []


def test_no_hub_at_all(hub: Hub, tmp_path: Path) -> None:
    file = HubFile.parse(REFERENCE)
    with pytest.raises(ProviderUnavailable, match=r"cannot be downloaded: .*refused"):
        Download.of(file, file.within(tmp_path), endpoint="http://127.0.0.1:1")


def test_a_full_disk_is_named(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = asked(hub, tmp_path)
    monkeypatch.setattr(download.shutil, "disk_usage", lambda _folder: SimpleNamespace(free=51_000_000))
    with pytest.raises(EmbeddingError, match=r"the disk is full \(3 MB are to come, 51 MB are free\)"):
        wanted.run(RecordingObserver())
    monkeypatch.undo()

    def no_space(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("huggingface_hub.file_download.http_get", no_space)
    with pytest.raises(EmbeddingError, match="the disk is full"):
        wanted.run(RecordingObserver())


def test_the_hubs_own_cache_is_looked_at_first(hub: Hub, tmp_path: Path) -> None:
    snapshot = tmp_path / "hub" / "models--org--repo" / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (snapshot / "tiny.gguf").write_bytes(CONTENT)
    refs = snapshot.parent.parent / "refs"
    refs.mkdir()
    (refs / "main").write_text(COMMIT, "utf-8")
    model = find_model(REFERENCE, tmp_path / "models", RecordingObserver())
    assert (model.is_here, model.path) == (True, snapshot / "tiny.gguf")
    assert hub.asked == []


def test_one_process_downloads_and_the_others_wait(hub: Hub, tmp_path: Path) -> None:
    hub.waits = threading.Event()
    hub.cut_after = [2_000_000]
    observers = [RecordingObserver() for _ in range(3)]
    wanted = asked(hub, tmp_path)
    threads = [threading.Thread(target=wanted.run, args=(observer,)) for observer in observers]
    for thread in threads:
        thread.start()
    while not any(done == 2 for observer in observers for _, done, _ in observer.stages):
        threads[0].join(0.01)
    hub.waits.set()
    for thread in threads:
        thread.join(30)
    assert wanted.target.read_bytes() == CONTENT
    assert hub.count("BLOB") == 2  # one that was cut, and its other half


def test_the_hubs_own_variable_names_its_address(hub: Hub, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from memlane.embed.local.model_file import find_model\n"
        "from memlane.testing import RecordingObserver\n"
        "find_model(sys.argv[1], Path(sys.argv[2]), RecordingObserver()).fetch()\n"
    )
    environ = {**os.environ, "HF_ENDPOINT": hub.endpoint, "HF_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-c", code, REFERENCE, str(tmp_path)]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "org--repo" / "tiny.gguf").read_bytes() == CONTENT


@pytest.mark.parametrize("path", ["", "org", "org/repo", "org/repo/", "org/repo/../x", "org//x", "../../x"])
def test_a_reference_that_names_no_file(tmp_path: Path, path: str) -> None:
    with pytest.raises(ProviderUnavailable, match="names no file of the hub"):
        find_model(f"hf:{path}", tmp_path, RecordingObserver())


def test_a_reference_reads_back() -> None:
    for text in ("hf:a/b/c.gguf", "hf:a/b/deep/er/c.gguf@v1"):
        assert str(HubFile.parse(text)) == text


def test_an_address_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ProviderUnavailable, match="is an address"):
        find_model("https://example.org/x.gguf", tmp_path, RecordingObserver())
