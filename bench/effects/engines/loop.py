"""A small agent: a model, one `bash` tool, Agent Skills read on demand. It runs every command in the session's sandbox.

The agent's and the model's failures are values in the outcome. It never runs anything on the host, never decides whether
the work is good, and never replaces a cassette's missing answer by another.
"""

from __future__ import annotations

import importlib.resources
import json
import string
from collections.abc import Mapping
from typing import Any

from bench.effects import clock
from bench.effects.cassette_requests import STATUS
from bench.effects.engines import Ours, Outcome, Room, Work
from bench.effects.engines.skill_use import SkillWatch, listing
from bench.effects.engines.transcript import Transcript, cut, preview
from bench.effects.engines.upstream import SAMPLING, End, Upstream
from bench.errors import CorpusError

SETTINGS: dict[str, Any] = {
    "provider": "auto",
    "base_url": None,
    "retries": 4,
    "backoff_s": 1.0,
    "command_s": 300.0,
    "output_chars": 16_000,
} | dict.fromkeys(SAMPLING)
"""What an arm's `params` may hold, with defaults: seconds; characters of one command's output that the model is shown; the
model's own parameters."""

TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "bash",
        "description": "Run a command with bash in /workspace; gives its exit status and its output.",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string", "description": "what to run"}},
            "required": ["command"],
        },
    },
}

# One stream, in the order in which the command wrote; the command itself stays an argument of its own.
_SHELL = ("sh", "-c", 'exec bash -c "$1" 2>&1', "sh")
_LONGEST_COMMAND = 100_000
"""Characters; the kernel refuses a single argument of 128 KiB."""


class Loop(Ours):
    """One session. `protocol` stands for the prompts, the tool and its output: it changes with them."""

    protocol = 2
    places: Mapping[str, str] = {"skills": "/opt/skills"}

    def __init__(self) -> None:
        self._upstream: Upstream | None = None
        self._transcript = Transcript()
        self._counts: dict[str, int] = {}
        self._turns = 0
        self._watch: SkillWatch | None = None
        self._deadline = 0.0

    def open(self, work: Work, room: Room) -> None:
        """Raises CorpusError for an unknown setting or a damaged cassette, MissingPart when there is no key."""
        for name in sorted(set(work.params) - set(SETTINGS)):
            raise CorpusError(f"the loop engine has no setting {name!r}", remedy="one of " + ", ".join(SETTINGS))
        self._work, self._room = work, room
        self._settings = SETTINGS | dict(work.params)
        self._upstream = Upstream(work, room, [TOOL], self._settings)

    def run(self) -> Outcome:
        """The session from first prompt to last answer."""
        assert self._upstream is not None, "open comes before run"
        work = self._work
        self._deadline = clock.monotonic() + float(work.limits.get("session_s") or 600)
        for skill in work.skills:
            if skill.name == work.expected_skill:
                self._watch = SkillWatch(skill)
        system = system_prompt(work)
        names = [skill.name for skill in work.skills]
        self._transcript.add("system", subtype="init", content=system, skills=names, model=work.model)
        self._transcript.message("user", [{"type": "text", "text": work.prompt}])
        messages: list[dict[str, Any]] = [{"role": "system", "content": system}, {"role": "user", "content": work.prompt}]
        try:
            self._upstream.check_parameters()
            while True:
                self._turn(self._upstream, messages)
        except End as end:
            return self._outcome(self._upstream, end)

    def close(self) -> None:
        """Releases the model."""
        if self._upstream is not None:
            self._upstream.close()

    def _turn(self, upstream: Upstream, messages: list[dict[str, Any]]) -> None:
        self._check_limits(upstream)
        reply = upstream.ask(messages, self._deadline)
        self._turns += 1
        messages.append(dict(reply.message))
        calls = reply.message.get("tool_calls") or []
        said = reply.message.get("content") or ""
        blocks: list[dict[str, Any]] = [{"type": "text", "text": said}] if said or not calls else []
        self._transcript.message("assistant", blocks + [_block(call) for call in calls])
        if not calls:
            if reply.finish == "length":
                raise End("session-error", "output-truncated", "the model's answer was cut at its greatest length")
            raise End(None, None)
        messages.extend([self._use(upstream, call) for call in calls])

    def _check_time(self) -> None:
        if self._room.cancel.is_set():
            raise End("cancelled", "cancelled", "cancelled between two steps")
        if clock.monotonic() >= self._deadline:
            raise End("session-error", "session-timeout", f"not done within {self._work.limits.get('session_s')} s")

    def _check_limits(self, upstream: Upstream) -> None:
        """A session over a limit is no evidence about its arm (spec 3.4: any result that says error): it is unusable."""
        self._check_time()
        limits, left = self._work.limits, self._room.left()
        if left is not None and left <= 0:
            raise End("session-error", "budget-limit", "its suite's budget was spent")
        if limits.get("turns") and self._turns >= limits["turns"]:
            raise End("session-error", "turn-limit", f"not done within {limits['turns']} turns")
        if limits.get("tokens") and sum((upstream.usage or {}).values()) >= limits["tokens"]:
            raise End("session-error", "token-limit", f"not done within {limits['tokens']} tokens")
        if self._transcript.full:
            raise End("evidence-unverified", "transcript-limit", "the transcript is longer than can be kept")

    def _use(self, upstream: Upstream, call: dict[str, Any]) -> dict[str, Any]:
        """One tool call: run it, note it, and give the message that answers it."""
        self._check_time()
        name, command = call["function"]["name"], _command(call["function"]["arguments"])
        # The name of a tool that we do not have is the model's text: it is counted, not made a key.
        counted = name if name == "bash" else "unknown"
        self._counts[counted] = self._counts.get(counted, 0) + 1
        if name != "bash" or command is None:
            status, output = "none", "The only tool is bash, with one argument: command, a string of ordinary characters."
        else:
            self._room.log(preview(upstream.redactor.text(f"$ {command}"), 200))
            status, output = self._run(command)
        text = f"{STATUS}{status}\n{output}"
        failed = status != "0"
        result = {"type": "tool_result", "tool_use_id": call["id"], "is_error": failed, "content": text}
        self._transcript.message("user", [result])
        if self._watch and command is not None:
            self._watch.saw(command, output, ok=not failed)
        return {"role": "tool", "tool_call_id": call["id"], "content": text}

    def _run(self, command: str) -> tuple[str, str]:
        """`(status, output)` of a command in the sandbox; status is a number, or what stopped it."""
        left = max(0.1, self._deadline - clock.monotonic())
        seconds = min(left, float(self._settings["command_s"]))
        done = self._room.execute((*_SHELL, command), seconds=seconds)
        output = cut((done.stdout + done.stderr).decode("utf-8", "replace"), int(self._settings["output_chars"]))
        if done.limit == "cancelled":
            raise End("cancelled", "cancelled", "cancelled during a command")
        if done.limit == "time":
            return f"stopped after {seconds:.0f} s", output
        if done.limit is not None or done.exit is None:
            return f"stopped, limit of {done.limit or 'the sandbox'}", output
        return str(done.exit), output

    def _outcome(self, upstream: Upstream, end: End) -> Outcome:
        subtype = "success" if end.cls is None else "error_" + end.cls.replace("-", "_")
        detail = None if end.cls is None else upstream.redactor.text(f"{end.cls}: {end.detail}")
        self._transcript.add(
            "result",
            subtype=subtype,
            is_error=end.kind is not None,
            num_turns=self._turns,
            usage=upstream.usage,
            detail=detail,
        )
        kind = end.kind
        if kind is None and upstream.usage is None:
            # The reference's rule: a session whose usage is not known in full is no measurement.
            kind, detail = "session-error", "usage-unknown: the provider did not say what was used"
        recording = upstream.recording()
        return Outcome(
            transcript=self._transcript.to_bytes(upstream.redactor),
            usage=upstream.usage,
            turns=self._turns,
            error_kind=kind,
            error_detail=detail,
            error_class=None if detail is None else detail.split(":", 1)[0],
            skill_used=self._watch.used if self._watch else None,
            tool_counts=self._counts,
            calls=tuple(upstream.calls),
            diagnostics=tuple(dict.fromkeys(upstream.notes)),
            spent_usd=upstream.dollars,
            spent_exact=upstream.exact,
            replayed=upstream.replayed,
            recording=recording,
            outage=upstream.outage,
            effort_sent=upstream.effort_sent,
        )


def system_prompt(work: Work) -> str:
    """The system prompt: from the data files, with names, descriptions and paths of the skills, never their bodies."""
    skills = _prompt("skills").substitute(list=listing(work.skills)) if work.skills else ""
    graph = _prompt("graph").substitute(path=work.graph) if work.graph else ""
    return _prompt("loop").substitute(skills=skills, graph=graph).strip() + "\n"


def _prompt(name: str) -> string.Template:
    folder = importlib.resources.files("bench.effects.engines").joinpath("prompts")
    return string.Template(folder.joinpath(f"{name}.md").read_text("utf-8"))


def _block(call: dict[str, Any]) -> dict[str, Any]:
    """A tool call as it stands in the transcript: with the command, or with whatever the model gave instead."""
    given, command = call["function"]["arguments"], _command(call["function"]["arguments"])
    shown: Any = given if command is None else {"command": command}
    return {"type": "tool_use", "id": call["id"], "name": call["function"]["name"], "input": shown}


def _command(arguments: str) -> str | None:
    """The command of a tool call, or None when it is not one that can be run."""
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError, TypeError):
        return None
    command = given.get("command") if isinstance(given, dict) else None
    if not isinstance(command, str) or "\0" in command or len(command) > _LONGEST_COMMAND:
        return None
    # A lone surrogate has no bytes that an argument could hold.
    return command if command.isascii() or _encodable(command) else None


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
