"""Images and audio over the wire: the real embedder against a loopback server of Gemini's protocol."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests import media_files as made
from tests.loopback.embeddings_api import KEY, Refused, served
from tests.loopback.gemini_api import Gemini2Service

from memlane import Memory


class Seeing(Gemini2Service):
    """Keeps what it was sent, and refuses one picture in the words of `complaint`."""

    refused = b64encode(made.jpeg()).decode()
    complaint = "Unable to process input image. Please retry or report."

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[dict[str, Any]] = []

    def part(self, part: Any, second: bool) -> str:
        if "inlineData" in part:
            if part["inlineData"]["data"] == self.refused:
                raise Refused(self.error(400, self.complaint))
            self.sent.append(part["inlineData"])
            return super().part(part, second)
        return super().part(part, second)


@pytest.fixture
def service() -> Seeing:
    return Seeing()


@pytest.fixture
def memory(tmp_path: Path, service: Seeing) -> Iterator[Memory]:
    (tmp_path / "ws/memory").mkdir(parents=True)
    (tmp_path / "ws/memory/a.md").write_text("A note on tea.\n")
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for number in range(5):
        (pictures / f"{number}.png").write_bytes(made.png((number, 0, 0)))
    (pictures / "bad.jpg").write_bytes(made.jpeg())
    (pictures / "voice.wav").write_bytes(made.wav())
    with served(service) as address:
        settings = {
            "provider": "gemini",
            "model": "gemini-embedding-2",
            "remote": {"baseUrl": f"{address}/v1beta", "apiKey": KEY},
            "extraPaths": [str(pictures)],
            "multimodal": {"enabled": True},
        }
        with Memory.open(
            workspace=tmp_path / "ws", state_dir=tmp_path / "state", environ={}, memory_search=settings
        ) as opened:
            yield opened


@pytest.mark.parametrize(
    "complaint",
    [
        "Unable to process input image. Please retry or report.",
        "Unsupported MIME type: image/jpeg",
        "The model does not support image/jpeg: mime type image/jpeg is not supported.",
        "Image dimensions exceed what can be processed",
        "The input audio exceeds the maximum duration of 80 seconds",
    ],
)
def test_files_travel_and_a_refused_one_keeps_no_other(
    memory: Memory, service: Seeing, complaint: str
) -> None:
    service.complaint = complaint
    report = memory.sync()
    (failure,) = report.failed
    assert failure.path.endswith("bad.jpg")
    assert complaint in failure.reason
    assert KEY not in failure.reason
    assert (report.complete, report.without_vector) == (True, 1)
    assert {(one["mimeType"], one["data"]) for one in service.sent} == {
        *(("image/png", b64encode(made.png((number, 0, 0))).decode()) for number in range(5)),
        ("audio/wav", b64encode(made.wav()).decode()),
    }
    statistics = memory.status().statistics
    assert (statistics.vectors, statistics.without_vector) == (7, 1)
    assert any(hit.path.endswith("voice.wav") for hit in memory.search("voice.wav"))
    sent = len(service.calls)
    assert memory.sync().failed == report.failed
    assert len(service.calls) == sent


def test_a_wrong_key_is_no_refusal_of_the_files(memory: Memory, service: Seeing) -> None:
    service.key_header = ("x-goog-api-key", "another")
    report = memory.sync()
    assert (report.failed, report.complete) == ((), False)
    service.key_header = ("x-goog-api-key", KEY)
    assert len(memory.sync().failed) == 1
