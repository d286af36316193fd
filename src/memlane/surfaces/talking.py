"""A conversation at a prompt: lines in, commands with a slash, Ctrl-C for the answer and not the session."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from ..errors import MemlaneError, SessionError
from ..memory import Memory
from ..sessions.agent import Agent, Notice, flush_notices, notices
from ..sessions.agent_library import StopSign
from ..sessions.life import Life
from ..values import SessionKind
from .render import result_text
from .talk import Voice

HELP = """\
/new              begin a new conversation; the old one is put away
/compact          summarise older turns now
/memory           the notes that this session started with
/memory QUERY     search the memory
/status           model, session, how full the context is
/help             this
/quit             leave; the conversation goes on next time (also Ctrl-D)
//…               a message that begins with a slash
Ctrl-C stops an answer; twice at the prompt it leaves."""


class Talk:
    """One sitting of a conversation."""

    def __init__(self, memory: Memory, agent: Agent, voice: Voice, stop: StopSign, *, model: str) -> None:
        self._memory = memory
        self._agent = agent
        self._voice = voice
        self._stop = stop
        self._model = model
        self.failed = False
        """Whether any turn so far came to no answer."""
        self._commands: dict[str, Callable[[str], bool]] = {
            "/new": self._new,
            "/reset": self._new,
            "/compact": self._compact,
            "/memory": self._search,
            "/status": self._status,
            "/help": self._help,
            "/quit": self._quit,
            "/exit": self._quit,
        }

    @property
    def _life(self) -> Life:
        return self._agent.life

    def begin(self, *, anew: bool) -> None:
        """Start or resume the session, and say which. Raises WorkspaceError, SessionError."""
        start = self._life.session_start()
        if anew and start.resumed:
            self._new("")
        elif start.resumed:
            self._tell(f"goes on: {self._life.session.key}, {self._life.tokens:,} tokens")
        if self._life.session.kind is SessionKind.UNKNOWN:
            self._tell("it is not known who is in this session: MEMORY.md is not read, memory not flushed")
        if start.unsaved:
            self._tell(f"earlier flushes left {start.unsaved} pieces, which the next one saves")

    def take(self, line: str) -> bool:
        """Answer one line of the user; False when they leave. Raises what stops the whole session."""
        text = line.strip()
        if not text:
            return True
        word, _, rest = text.partition(" ")
        with interruptible(self._stop):
            if word in self._commands:
                return self._command(word, rest.strip())
            if word.startswith("/") and word[1:].isalpha():
                self._voice.say(f"There is no {word}; /help tells what there is.")
                return True
            answer = self._agent.turn(text[1:] if text.startswith("//") else text, self._voice.hear)
        self.failed = self.failed or answer.ended != "answered"
        self._voice.answered(answer, tokens=self._life.tokens, window=self._life.keeping.budget.window)
        return True

    def _command(self, word: str, rest: str) -> bool:
        try:
            return self._commands[word](rest)
        except SessionError:
            raise
        except MemlaneError as error:
            self.failed = True
            self._tell(f"{error}. {error.hint}".removesuffix(" "))
            return True

    def _new(self, _: str) -> bool:
        report = self._life.new()
        for notice in flush_notices(report):
            self._voice.hear(notice)
        self._tell("a new conversation; the old one is put away")
        return True

    def _compact(self, _: str) -> bool:
        turn = self._life.compact()
        for notice in notices(turn):
            self._voice.hear(notice)
        if turn.compacted != "yes":
            self._tell("there is nothing to summarise yet")
        return True

    def _search(self, query: str) -> bool:
        if query:
            result = self._memory.search(query, session=self._life.session.key)
            self._voice.say(result_text(result, colour=False))
        else:
            text = self._memory.context(self._life.session.key).text
            self._voice.say(text or "There are no notes for this session to start with.")
        return True

    def _status(self, _: str) -> bool:
        life, budget = self._life, self._life.keeping.budget
        data = life.keeping.conversation.data()
        reported = "reported" if life.keeping.conversation.usage else "estimated"
        rows = (
            ("model", self._model),
            ("session", life.session.key),
            ("transcript", str(life.transcript)),
            ("context", f"{life.tokens:,} of {budget.window:,} tokens ({reported})"),
            ("flush from", f"{budget.flush_at:,} tokens; compaction from {budget.compact_at:,}"),
            ("compactions", str(data.get("compactionCount", 0))),
        )
        self._voice.say("\n".join(f"{name:<12} {value}" for name, value in rows))
        return True

    def _help(self, _: str) -> bool:
        self._voice.say(HELP)
        return True

    def _quit(self, _: str) -> bool:
        return False

    def _tell(self, text: str) -> None:
        self._voice.hear(Notice(text))


@contextmanager
def interruptible(stop: StopSign) -> Iterator[None]:
    """Have the first Ctrl-C set the sign, and the second end whatever does not heed it."""

    def interrupted(signum: int, frame: FrameType | None) -> None:
        if stop.is_set:
            signal.default_int_handler(signum, frame)
        stop.set()

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        stop.clear()


def piped_lines() -> Iterator[str]:
    """The lines of standard input, whatever their bytes are."""
    for number, line in enumerate(sys.stdin.buffer):
        yield line.decode("utf-8-sig" if number == 0 else "utf-8", "replace")


def typed_lines(prompt: str, tell: Callable[[str], None]) -> Iterator[str]:
    """Lines typed at a prompt, with line editing, until Ctrl-D or Ctrl-C twice in a row."""
    with suppress(ImportError):  # not on every system
        import readline  # noqa: F401 - `input` edits lines by it
    interrupted = False
    while True:
        try:
            # Not what was there before: a process may be started with Ctrl-C ignored.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            line = input(prompt)
        except EOFError:
            sys.stdout.write("\n")
            return
        except KeyboardInterrupt:
            sys.stdout.write("\n")
            if interrupted:
                return
            interrupted = True
            tell("Ctrl-C again, Ctrl-D or /quit leaves")
            continue
        except UnicodeDecodeError:
            tell("that line was not valid UTF-8")
            continue
        interrupted = False
        yield line
