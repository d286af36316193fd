"""Trees of made-up notes of a realistic shape: headings, bullets, identifiers, a few languages."""

from __future__ import annotations

import random
from datetime import date, timedelta
from pathlib import Path

_WORDS = (  # noqa: SIM905
    "router harbour budget garden meeting decision release kitchen library contract invoice winter bridge"
    " schedule customer database migration incident vendor holiday doctor recipe window ticket battery"
    " paint engine meadow concert deposit ladder battle signal copper velvet marble pocket orchard"
).split()
_VERBS = "moved checked replaced agreed measured cancelled promised repaired counted explained".split()  # noqa: SIM905
_OTHERS = (
    "오늘 회의에서 예산을 정했다",
    "今天讨论了部署方案",
    "今日は港を散歩した",
    "ayer cambiamos el router",
)


def write_notes(folder: Path, count: int, *, characters: int = 2400, seed: int = 7) -> int:
    """Write `count` notes of about this size below `folder/memory`; gives the bytes written."""
    numbers = random.Random(seed)
    written = 0
    for number in range(count):
        day = date(2023, 1, 1) + timedelta(days=number)
        dated = number % 3 == 0
        path = folder / "memory" / (f"{day}.md" if dated else f"topics/{number % 40}/note-{number}.md")
        path.parent.mkdir(parents=True, exist_ok=True)
        text = _note(numbers, number, day, characters)
        path.write_text(text, "utf-8")
        written += len(text.encode())
    return written


def _note(numbers: random.Random, number: int, day: date, characters: int) -> str:
    lines = [f"# {numbers.choice(_WORDS).title()} notes of {day}", ""]
    while sum(map(len, lines)) < characters:
        lines += [f"## {numbers.choice(_WORDS).title()} {numbers.choice(_WORDS)}", ""]
        for _ in range(numbers.randint(2, 6)):
            words = " ".join(numbers.choice(_WORDS) for _ in range(numbers.randint(6, 14)))
            lines.append(
                f"- {numbers.randint(8, 19):02}:{numbers.randint(0, 59):02} {numbers.choice(_VERBS)} {words}."
            )
        lines.append(
            f"- Ticket OPS-{number}-{numbers.randint(100, 999)}, commit {numbers.getrandbits(28):07x}."
        )
        if numbers.random() < 0.2:
            lines.append(f"- {numbers.choice(_OTHERS)}")
        lines.append("")
    return "\n".join(lines)
