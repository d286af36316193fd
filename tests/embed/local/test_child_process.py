"""The model's process crashes, hangs and prints, and outlives nobody. A stand-in for llama.cpp does so."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memlane.embed.base import CheckedEmbedder, NoVector, Vector, cosine, dimensions_of, unpack
from memlane.embed.local import LocalEmbedder
from memlane.errors import EmbeddingError, ProviderUnavailable

MakeEmbedder = Callable[..., LocalEmbedder]
posix = pytest.mark.skipif(os.name != "posix", reason="signals")


def is_vector(answer: Vector | NoVector) -> bool:
    return isinstance(answer, bytes) and len(answer) == 4 * 26


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def await_end(pids: list[int], seconds: float) -> list[int]:
    deadline = time.monotonic() + seconds
    while (left := [pid for pid in pids if is_running(pid)]) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def test_texts_get_vectors_in_order(fake: CheckedEmbedder) -> None:
    vectors = fake.embed_documents([f"{letter * 3} x" for letter in "abcdefghij"])
    assert [max(range(26), key=unpack(vector).__getitem__) for vector in vectors] == list(range(10))
    assert fake.dimensions == 26


def test_nothing_is_started_before_the_first_text(make_fake: MakeEmbedder) -> None:
    embedder = make_fake()
    assert embedder.pid is None
    embedder.embed_query("tea")
    assert embedder.pid is not None


@posix
def test_a_text_that_crashes_the_process_loses_its_own_vector_alone(fake: CheckedEmbedder) -> None:
    vectors = fake.embed_documents(["tea", "CRASH", "coffee", "cocoa", "milk", "CRASH again"])
    assert [is_vector(vector) for vector in vectors] == [True, False, True, True, True, False]
    assert vectors[1] == NoVector("twice, llama.cpp's process was ended by SIGSEGV")


@posix
def test_a_text_that_crashes_it_once_is_embedded(fake: CheckedEmbedder) -> None:
    assert is_vector(fake.embed_query("ONCE"))


@posix
def test_a_query_that_crashes_it_has_no_vector(fake: CheckedEmbedder) -> None:
    assert isinstance(fake.embed_query("CRASH"), NoVector)
    assert is_vector(fake.embed_query("tea"))


@posix
def test_a_killed_process_is_started_again(make_fake: MakeEmbedder) -> None:
    embedder = make_fake()
    before = embedder.embed_query("tea")
    assert embedder.pid is not None
    os.kill(embedder.pid, signal.SIGKILL)
    assert embedder.embed_query("tea") == before


def test_a_process_that_hangs_is_ended(make_fake: MakeEmbedder) -> None:
    embedder = make_fake(answer_seconds=0.5)
    vectors = embedder.embed_documents(["tea", "HANG", "milk"])
    assert vectors[1] == NoVector("twice, llama.cpp's process took longer than 0.5 s")
    assert is_vector(vectors[0])
    assert is_vector(vectors[2])


@posix
def test_where_every_text_crashes_no_text_is_blamed(make_fake: MakeEmbedder, tmp_path: Path) -> None:
    embedder = make_fake()
    embedder.embed_query("tea")  # known by now, so that loading asks it nothing
    embedder.close()
    source = (Path(__file__).parent / "fake_llama" / "llama_cpp.py").read_text("utf-8")
    worse = tmp_path / "worse"
    worse.mkdir()
    (worse / "llama_cpp.py").write_text(source.replace('"CRASH" in text', "True"), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(worse))
        with pytest.raises(
            EmbeddingError, match=r"fails with model\.gguf: its process was ended by SIGSEGV"
        ) as failure:
            make_fake().embed_documents(["tea", "milk"])
    assert failure.value.made == {}


def test_what_was_made_before_a_failure_is_kept(fake: CheckedEmbedder) -> None:
    with pytest.raises(EmbeddingError, match=r"llama\.cpp failed: llama_decode returned -3") as failure:
        fake.embed_documents(["a", "b", "c", "d", "e FAIL"])
    assert sorted(failure.value.made) == [0, 1, 2, 3]
    assert is_vector(fake.embed_query("and it goes on"))


@posix
def test_a_process_that_crashes_while_loading_says_its_last_words(make_fake: MakeEmbedder) -> None:
    with pytest.raises(
        ProviderUnavailable, match=r"its process was ended by SIGABRT: GGML_ASSERT\(tensor\) failed"
    ):
        make_fake("crash").embed_query("tea")


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        ("refuse", "cannot be used: unknown architecture: 'parrot'"),
        ("0", "cannot be used: it is a language model, not an embedding model"),
        ("4", "cannot be used: it is a reranking model, not an embedding model"),
    ],
)
def test_a_file_without_embeddings_is_refused_with_the_reason(
    make_fake: MakeEmbedder, order: str, reason: str
) -> None:
    embedder = make_fake(order)
    with pytest.raises(ProviderUnavailable, match=reason):
        embedder.verify()
    assert embedder.pid is None


def test_what_llama_cpp_prints_is_not_heard(fake: CheckedEmbedder, capfd: pytest.CaptureFixture[str]) -> None:
    assert is_vector(fake.embed_query("PRINT"))
    assert is_vector(fake.embed_documents(["PRINT", "tea"])[1])
    assert capfd.readouterr() == ("", "")


def test_a_text_that_is_too_long_is_the_mean_of_its_parts(fake: CheckedEmbedder) -> None:
    long = "aaaa bbbb " * 40
    (vector,) = fake.embed_documents([long])
    (short,) = fake.embed_documents(["aaaa bbbb"])
    assert cosine(unpack(vector), unpack(short)) > 0.99  # type: ignore[arg-type]


def test_texts_of_any_kind(fake: CheckedEmbedder) -> None:
    texts = [
        "",
        "  \n",
        "a\0b",
        "lone \ud800 surrogate",
        "x" * 5000,
        "안녕 a" * 300,
        "👩‍👩‍👧‍👦z",
        "\r\n\ufeffa",
    ]
    vectors = fake.embed_documents(texts)
    assert vectors[:2] == [NoVector("the text holds no word")] * 2
    assert all(is_vector(vector) for vector in vectors[2:])


def test_closing_ends_the_process_and_whoever_waits_for_it(make_fake: MakeEmbedder) -> None:
    embedder = make_fake()
    embedder.embed_query("tea")
    pid = embedder.pid
    assert pid is not None
    outcomes: list[EmbeddingError] = []

    def wait() -> None:
        try:
            embedder.embed_query("HANG")
        except EmbeddingError as error:
            outcomes.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    embedder.close()
    thread.join(20)
    assert [str(error) for error in outcomes] == ["the local model was closed"]
    assert await_end([pid], 10) == []
    with pytest.raises(EmbeddingError, match="was closed"):
        embedder.embed_documents(["tea"])


def test_the_thread_that_started_it_may_end(make_fake: MakeEmbedder) -> None:
    embedder = make_fake()
    thread = threading.Thread(target=embedder.embed_query, args=("tea",))
    thread.start()
    thread.join()
    pid = embedder.pid
    embedder.embed_query("tea")
    assert embedder.pid == pid is not None


def test_the_models_scale_is_measured_once(make_fake: MakeEmbedder) -> None:
    first = make_fake()
    assert first.unrelated_cosine == 0.3
    first.embed_query("tea")
    measured = first.unrelated_cosine
    assert 0.3 < measured < 0.95
    assert make_fake().unrelated_cosine == pytest.approx(measured, abs=0.001)


def test_a_file_that_changes_meanwhile_is_not_mixed_in(make_fake: MakeEmbedder, tmp_path: Path) -> None:
    embedder = make_fake()
    (tmp_path / "model.gguf").write_text("GGUF another", "utf-8")
    with pytest.raises(ProviderUnavailable, match="has changed since it was first read"):
        embedder.embed_query("tea")


_PARENT = """
import sys
from pathlib import Path
from memlane.embed.local import local_embedder
from memlane.testing import RecordingObserver
embedder = local_embedder(sys.argv[1], Path(sys.argv[2]), observer=RecordingObserver())
embedder.embed_query("tea")
print(embedder.pid, flush=True)
if sys.argv[3] == "busy":
    embedder.embed_query("HANG")
sys.stdin.read()
"""


def start_parent(model: Path, cache: Path, how: str) -> tuple[subprocess.Popen[str], int]:
    command = [sys.executable, "-c", _PARENT, str(model), str(cache), how]
    parent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    return parent, int(parent.stdout.readline())


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.usefixtures("with_fake")
def test_no_process_outlives_a_parent_that_is_killed(tmp_path: Path) -> None:
    model = tmp_path / "model.gguf"
    model.write_text("GGUF ordinary", "utf-8")
    children = []
    for round_ in range(20):
        parent, child = start_parent(model, tmp_path / "cache", "busy" if round_ % 2 else "idle")
        parent.kill()
        parent.communicate()
        children.append(child)
    assert await_end(children, 10) == []


@posix
@pytest.mark.usefixtures("with_fake")
def test_ctrl_c_ends_the_wait_and_the_process(tmp_path: Path) -> None:
    model = tmp_path / "model.gguf"
    model.write_text("GGUF ordinary", "utf-8")
    parent, child = start_parent(model, tmp_path / "cache", "busy")
    parent.send_signal(signal.SIGINT)
    parent.communicate(timeout=20)
    assert parent.returncode != 0
    assert await_end([child], 10) == []


@posix
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_starts_a_process_of_its_own(make_fake: MakeEmbedder) -> None:
    embedder = make_fake()
    before = embedder.embed_query("tea")
    mine = embedder.pid
    fork = os.fork()
    if not fork:
        good = embedder.embed_query("tea") == before and embedder.pid != mine
        embedder.close()
        os._exit(0 if good else 1)
    assert os.waitpid(fork, 0)[1] == 0
    assert embedder.embed_query("tea") == before
    assert embedder.pid == mine


def test_dimensions_are_those_of_the_model(fake: CheckedEmbedder) -> None:
    vector = fake.embed_query("tea")
    assert isinstance(vector, bytes)
    assert dimensions_of(vector) == 26
