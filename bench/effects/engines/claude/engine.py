"""One session of Claude Code: a door to the model, the client in the sandbox, and what both sides say of it.

Usage and dollars are what the gateway counted, subagents and failed calls included; the client's own figures stand beside.
Nothing that the agent could write is read as evidence. It never judges the work.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bench.core.records import TOKENS
from bench.effects.engines import UNKNOWN_COST, Outcome, Room, Work
from bench.effects.engines.claude import binary, command, effort, evidence
from bench.effects.engines.claude.progress import Progress, Stopped
from bench.effects.engines.claude.stream import Stream, parse
from bench.effects.engines.claude.verdict import End, Told, judge
from bench.effects.engines.transcript import lines, preview
from bench.effects.gateway import SOCKET, Ask, Door, Traffic
from bench.effects.programs import Watched
from bench.effects.redact import Redactor, known_secrets
from bench.effects.sandbox import PYTHON, Bind, Finished, Spec
from bench.errors import Cancelled, CorpusError, IntegrityError, MissingPart

DOOR = "/run/model"
AGENT = "claude-cli/"
"""How the client's User-Agent begins (seen with 2.1.197, subagents included)."""
LINGER_S = 5.0
"""Seconds that the client may go on after its result."""
SETTINGS: dict[str, Any] = {"base_url": None, "provider": "auto"}
"""What an arm's `params` may hold, with defaults."""


class Claude:
    """One session. `protocol` stands for the command line, the relay and the reading of the stream."""

    protocol = 1
    places: Mapping[str, str] = {"skills": command.SKILLS, "plugin": command.PLUGIN}
    client = True

    def __init__(self) -> None:
        self._door: Door | None = None
        self._traffic: Traffic | None = None

    def identity(self) -> Mapping[str, str]:
        """The program's digest."""
        return binary.identity()

    def watched(self) -> Watched:
        """The program, and where it is looked for."""
        return binary.watched()

    def version(self, run: Callable[[Spec], Finished]) -> str:
        """What the program says of itself."""
        return binary.version(run)

    def open(self, work: Work, room: Room) -> None:
        """Raises CorpusError for an unknown setting, MissingPart without client or gateway, and what the gateway raises."""
        for name in sorted(set(work.params) - set(SETTINGS)):
            raise CorpusError(f"the claude engine has no setting {name!r}", remedy="one of " + ", ".join(SETTINGS))
        if work.model is None:
            raise CorpusError("the claude engine needs a model", remedy="set `model:`")
        if work.effort is not None and work.effort not in command.EFFORTS:
            known = ", ".join(command.EFFORTS)
            raise CorpusError(f"Claude Code takes no effort {work.effort!r}", remedy=f"one of {known}, or none")
        if room.gateway is None:
            raise MissingPart("there is no model gateway", remedy="run it by doit")
        if room.cancel.is_set():
            raise Cancelled("the session was cancelled")
        self._work, self._room = work, room
        self._program = binary.program()
        door: Door = room.gateway().open(self._ask(work, work.model))
        self._door = door
        self._redactor = Redactor([*known_secrets(), door.placeholder], room.hide)

    def _ask(self, work: Work, model: str) -> Ask:
        settings = SETTINGS | dict(work.params)
        return Ask(
            session=work.session,
            model=model,
            effort=work.effort,
            run=work.run,
            cassette=work.cassette,
            cassette_name=work.cassette_name,
            skills={skill.name: skill.text for skill in work.skills},
            spent=self._room.spent,
            left=self._room.left,
            base_url=settings["base_url"],
            record=work.cassette is None,
            provider=str(settings["provider"]),
            client=AGENT,
        )

    def run(self) -> Outcome:
        """The session from its prompt to the client's end."""
        assert self._door is not None, "open comes before run"
        work, seconds = self._work, float(self._work.limits.get("session_s") or 600)
        progress = Progress(self._room.log, self._redactor, work.limits.get("tokens"))
        call = self._call(self._door.model)
        order = {
            "key": self._door.placeholder,
            "socket": f"{DOOR}/{SOCKET}",
            "port": command.PORT,
            "argv": command.argv(call),
            "linger_s": LINGER_S,
        }
        text = command.prompt(work.prompt, work.expected_skill).encode("utf-8", "replace")
        stopped = None
        done = Finished(None, None, b"", b"", b"", 0.0)
        try:
            done = self._room.execute(
                (PYTHON, "-I", "-S", "-c", relay()),
                stdin=json.dumps(order).encode() + b"\n" + text,
                seconds=seconds,
                env=command.environment(call.model),
                readonly=(Bind(self._program, command.PROGRAM), Bind(self._door.folder, DOOR)),
                watch=progress,
            )
        except Stopped:
            stopped = "token"
        traffic = self._closed()
        said = done.stderr.decode("utf-8", "replace")
        end = End(done.exit, done.limit, seconds, self._redactor.text(said), stopped)
        return self._outcome(parse(bytes(progress.kept) or done.stdout), end, traffic)

    def _call(self, model: str) -> command.Call:
        work = self._work
        return command.Call(
            model=model,
            effort=work.effort,
            phase=work.phase,
            turns=work.limits.get("turns"),
            skill_tool=work.skill_tool,
            plugin=work.plugin is not None,
            server=work.graph_server,
            folders=(posixpath.dirname(work.hand_in),) if work.hand_in else (),
        )

    def close(self) -> None:
        """Ends the session's way to the model; safe to call twice, and before `open`."""
        if self._door is not None:
            self._closed()

    def _closed(self) -> Traffic:
        if self._traffic is None:
            assert self._door is not None, "only an open door is closed"
            self._traffic = self._door.close()
        return self._traffic

    def _outcome(self, stream: Stream, end: End, traffic: Traffic) -> Outcome:
        kind, cls, detail = judge(stream, end, _said(traffic))
        state = evidence.unserved(stream, command.SERVER) if self._work.graph_server else None
        if state and kind != "cancelled":
            # It came first, whatever followed from it.
            kind, cls, detail = (
                "infra-error",
                "graph-tools-missing",
                f"the graph's server was {state} when the session began",
            )
        transcript, unkept = kept(stream, self._redactor)
        if unkept and kind is None:
            kind, cls, detail = "evidence-unverified", "transcript-unkept", unkept[0]
        left_out = effort.dropped(self._work.effort, traffic)
        if left_out and kind is None:
            kind, cls, detail = "session-error", "effort-dropped", left_out
        used: bool | None = None
        unclear: tuple[str, ...] = ()
        if self._work.expected_skill:
            used, unclear = evidence.skill_used(stream, self._work.expected_skill)
        unclear = (*unclear, *effort.notes(self._work.effort, traffic))
        if traffic.unrecorded is not None:
            unclear = (*unclear, traffic.unrecorded)
        if not traffic.exact:
            unclear = (*unclear, UNKNOWN_COST)
        return Outcome(
            transcript=transcript,
            usage=traffic.usage,
            turns=stream.turns,
            error_kind=kind,
            error_detail=detail if detail is None else preview(self._redactor.text(detail), 600),
            skill_used=used,
            tool_counts=evidence.tool_counts(stream),
            calls=tuple(_timeless(call) for call in traffic.calls),
            diagnostics=(*stream.faults, *unkept, *unclear),
            spent_usd=traffic.spent_usd,
            spent_exact=traffic.exact,
            replayed=traffic.replayed,
            error_class=cls,
            recording=traffic.recording,
            effort_sent=effort.sent(self._work.effort, traffic),
            outage=traffic.outage or evidence.rejected(stream) if cls and cls.startswith("outage-") else None,
            gateway=_told(stream, traffic),
        )


def kept(stream: Stream, redactor: Redactor) -> tuple[bytes, tuple[str, ...]]:
    """The transcript, and why events of it cannot be kept: an object whose keys become the same by redaction.

    Such an event is the agent's doing and its session's loss. Nothing but its type is kept of it.
    """
    out, faults = [], []
    for number, event in enumerate(evidence.plain(stream), 1):
        try:
            out.append(lines([event], redactor))
        except IntegrityError as error:
            faults.append(f"event {number} cannot be kept: {error.what}")
            out.append(lines([{"type": event["type"], "unkept": True}], redactor))
    return b"".join(out), tuple(faults)


def _said(traffic: Traffic) -> Told:
    return Told(
        traffic.spent_usd if traffic.exact or traffic.spent_usd else None,
        traffic.outage,
        traffic.mismatch,
        tuple(str(call.get("why")) for call in traffic.refused),
        traffic.broken,
    )


def _told(stream: Stream, traffic: Traffic) -> dict[str, Any]:
    """What the gateway and the client say of the same session, side by side."""
    usage, own = traffic.usage, stream.total or stream.usage
    return {
        "usage": dict(usage) if usage is not None else None,
        "cost_usd": traffic.list_price_usd,
        "cli_usage": own,
        "cli_cost_usd": stream.cost_usd,
        "foreign_calls": traffic.foreign,
        "refused": [{"why": str(call.get("why"))} for call in traffic.refused],
        "calls": len(traffic.calls),
        "apart": _apart(usage, own),
    }


def _apart(usage: Mapping[str, int] | None, own: Mapping[str, int] | None) -> float | None:
    """How far apart the two counts are, field by field (tokens read from a cache cost a tenth of others), as a share of the
    greater total; None where one is unknown. Dollars follow from them: the client has no prices but its own provider's."""
    if usage is None or own is None:
        return None
    most = max(sum(counts[name] for name in TOKENS) for counts in (usage, own))
    return round(max(abs(usage[name] - own[name]) for name in TOKENS) / most, 4) if most else 0.0


def _timeless(call: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in call.items() if name not in ("started_at", "completed_at")}


def relay() -> str:
    """Source of the program that stands between the client and the door."""
    return Path(__file__).with_name("inside").joinpath("relay.py").read_text("utf-8")
