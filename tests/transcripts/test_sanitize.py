"""Secrets go by their shape, and nothing else does."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlane.transcripts.sanitize import MASK, Sanitizer, masked

PEM = (
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7b\nGk3vAbCdEf0123456789\n-----END RSA PRIVATE KEY-----"
)
JWT = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9"
SHAPES = {
    "openai": "sk-TESTabcdefghij0123456789",
    "openai project": "sk-proj-Ab12_cd34-ef56gh78ij90",
    "anthropic": "sk-ant-api03-abcdefghijklmnop_qrstuv-AA",
    "aws": "AKIAIOSFODNN7EXAMPLE",
    "github": "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "github, fine": "github_pat_11ABCDEFG0abcdefghijklmnop",
    "slack": "xoxb-123456789012-abcdefGHIJKL",
    "google": "AIzaSyA1234567890abcdefghijklmnopqrstuv",
    "jwt": JWT,
    "hugging face": "hf_abcdefghijklmnopqrstuvwxyz0123",
    "stripe": "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
    "telegram": "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0",
    "pem": PEM,
}
SECRETS = {
    **{name: (f"before {secret} after", secret) for name, secret in SHAPES.items()},
    "url": ("see postgres://admin:hunter2@db.example.org/x", "hunter2"),
    "url with @": ("redis://:p@ssw@host:6379", "p@ssw"),
    "bearer": ("Authorization: Bearer abcdefgh", "abcdefgh"),
    "bearer alone": ("curl -H 'bearer abcdefghij1234567'", "abcdefghij1234567"),
    "basic": ("authorization: basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
    "password": ("password=hunter2", "hunter2"),
    "password in prose": ("my password: swordfish", "swordfish"),
    "quoted": ('{"apiKey": "a b c"}', "a b c"),
    "environment": ("export OPENAI_API_KEY=abc-def", "abc-def"),
    "prefixed": ("db.password = 'x y'", "x y"),
    "yaml": ("client_secret: q1w2e3r4\nnext: 1", "q1w2e3r4"),
    "flag": ("mysql --password hunter2 -h host", "hunter2"),
    "short name": ("DB_PASS=hunter2", "hunter2"),
    "two words": ("the api key: 12345678", "12345678"),
    "curl": ("curl -u admin:hunter2 https://example.org", "hunter2"),
    "token": ("access_token=a1b2c3d4e5", "a1b2c3d4e5"),
    "korean": ("비밀번호: 바나나99", "바나나99"),
    "chinese": ("密码：abc12345", "abc12345"),
    "torn pem": (
        "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\nASC1BKcwggSjAgEA",
        "ASC1BKcwggSjAgEA",
    ),
    "pem in json": (r"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg12\n-----END PRIVATE KEY-----", "MIIEvQ"),
}
PLAIN = [
    "the keyboard is a good one",
    "token_count=5 and max_tokens: 4000",
    "commit 83378aad7e7412345678901234567890abcdef12",
    "session d703a1a9-1b7b-4fb1-b512-c9738b1fe617",
    "The password: it must be long, and nobody knows it.",
    "bearer authentication, basic understanding",
    "password=None, token=5, secret=$SECRET, api_key=os.environ['KEY'], password: string",
    "https://example.org:8080/path?x=1 and a@b.example",
    "npm install @scope/ui-kit@1.2.3",
    "sk-learn, task-management-with-many-words, scikit-learn",
    "compass=5, bypass: 7, by_pass: seven of them, -u root, set -u; docker -u 1000:1000 run",
    "keys: a, b, c; secrets of the trade; tokenizer=x",
    "-----BEGIN PRIVATE KEY----- is how such a file begins",
    "```python\ndef f(password: str, token: str) -> None: ...\n```",
    "오늘 끝말잇기 게임을 했다. 今天讨论了部署方案",
]


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_masked(name: str) -> None:
    text, secret = SECRETS[name]
    found = masked(text)
    assert secret not in found
    assert MASK in found


@pytest.mark.parametrize("text", PLAIN)
def test_nothing_is_masked_by_its_wording(text: str) -> None:
    assert masked(text) == text


def test_what_stands_around_a_secret_stays() -> None:
    assert masked("a postgres://admin:hunter2@db/x b") == f"a postgres://{MASK}@db/x b"
    assert masked('{"apiKey": "abc", "n": 1}') == f'{{"apiKey": "{MASK}", "n": 1}}'
    assert masked(f"one\n{PEM}\ntwo") == f"one\n{MASK}\ntwo"


def test_configured_values_are_masked_wherever_they_stand() -> None:
    sanitize = Sanitizer(["correct horse", "correct", "short", ""])
    assert sanitize("say correct horse, not correct, in short") == f"say {MASK}, not {MASK}, in short"


WORDS = st.text(alphabet=string.ascii_letters + string.digits + "-_ =:\"'/@.\n", max_size=80)


@given(WORDS, WORDS, st.sampled_from(sorted(SHAPES.values())))
def test_no_shape_survives_wherever_it_stands(before: str, after: str, secret: str) -> None:
    assert secret not in masked(f"{before} {secret} {after}")


@given(st.text() | WORDS | st.sampled_from([text for text, _ in SECRETS.values()]))
def test_masking_twice_is_masking_once(text: str) -> None:
    once = masked(text)
    assert masked(once) == once


@given(st.text(alphabet=string.ascii_lowercase + " ,.\n", max_size=200))
def test_words_stay(text: str) -> None:
    assert masked(text) == text


@given(st.uuids(), st.binary(min_size=20, max_size=20))
def test_hashes_and_uuids_stay(identifier: object, digest: bytes) -> None:
    text = f"{identifier} {digest.hex()} [{digest.hex()[:7]}]"
    assert masked(text) == text


@pytest.mark.parametrize(
    "piece",
    [
        "sk-",
        "-eyJ",
        "-----BEGIN A-----",
        "://a:",
        'password="',
        "bearer ",
        "a-",
        "--token ",
        "AIza",
        "\\n",
        "a",
    ],
)
def test_a_long_text_is_no_trap(piece: str) -> None:
    """Quadratic work on these would run into the suite's limit of time."""
    masked(piece * (1_000_000 // len(piece)) + " password authorization bearer -u")
