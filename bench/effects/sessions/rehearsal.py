"""The scene of a rehearsal: a small project, a skill, a graph and a script, laid out as a session's are, all of our own.

Everything goes through the parts that a real session uses (`playing`, `shown`, `handed_in`, the engine, its cassette), so
that what is broken for sessions is broken here. Nothing of a suite is used, nothing is paid, and nothing is judged here.
"""

from __future__ import annotations

import http.client
import json
import socket
from dataclasses import dataclass
from pathlib import Path

from bench.core import digest
from bench.core.records import FINAL, Record
from bench.effects import files, trees
from bench.effects.cassette_author import authored
from bench.effects.changes import Changes
from bench.effects.context import Context
from bench.effects.engines import Engine, Room, Skill, Work
from bench.effects.engines.claude import command
from bench.effects.engines.claude.engine import DOOR, relay
from bench.effects.gateway import SOCKET, Ask, Door
from bench.effects.grading import staging, verifiers
from bench.effects.grading.artifacts import HandIn
from bench.effects.grading.staging import Stage
from bench.effects.grading.verifiers import Hidden
from bench.effects.sandbox import PYTHON, Bind, Finished, Workspace, runner
from bench.effects.sessions import handed_in, playing, shown
from bench.effects.sessions.playing import Table
from bench.effects.sessions.shown import Shown
from bench.effects.trees import Entry

NAME = "rehearsal"
SKILL = "rehearse"
TEXT = f"""---
name: {SKILL}
description: How to rehearse. Use it when you are asked to rehearse.
---

Write the file that you are told to hand in: first beside its place, then moved there. Then ask the graph where `greet` is.
"""
PROMPT = "Rehearse: hand in what the skill says, then ask the program graph for the definition of `greet`."
PROJECT = {"greet.py": b'def greet(name):\n    return f"hello {name}"\n'}
HANDED_IN = b'{"rehearsed": true}\n'
MODEL = "anthropic/claude-sonnet-4-5"
"""Whose answers the script imitates. Nobody is asked."""
SECONDS = 150.0
"""Of the whole session: a client that hangs is to be named soon, and a busy machine starts one in half a minute."""
PROBE_S = 20.0
"""Until a gateway that was asked directly counts as deaf."""
GRAPH = {
    "schema": 1,
    "language": "python",
    "nodes": [
        {"id": "greet.py", "kind": "module", "name": "greet", "path": "greet.py", "line": 1, "end_line": 2},
        {"id": "greet.py::greet", "kind": "function", "name": "greet", "path": "greet.py", "line": 1, "end_line": 2},
    ],
    "edges": [{"from": "greet.py", "to": "greet.py::greet", "kind": "contains"}],
    "unparsed": [],
}
PATH = "/v1/messages"
HEADERS = {"content-type": "application/json", "anthropic-version": "2023-06-01"}
_CALLER = """
import json, sys, urllib.request
asked = json.loads(sys.argv[1])
call = urllib.request.Request(asked["url"], asked["body"].encode(), asked["headers"])
urllib.request.urlopen(call, timeout=asked["seconds"]).read()
"""
_USAGE = {"input_tokens": 4, "cache_read_input_tokens": 900, "output_tokens": 40}


@dataclass(frozen=True, slots=True)
class Scene:
    """Laid out and not yet played."""

    table: Table
    shown: Shown
    stage: Stage
    folder: Path
    """Host directory of what is handed in."""
    room: Room
    work: Work


def build(context: Context, engine: Engine, hand_in: HandIn) -> Scene:
    """Lay everything out below the scratch directory; a fault leaves none of the layers."""
    lower = context.scratch / "project"
    for name, data in PROJECT.items():
        files.write_atomic(lower / name, data, mode=0o644)
    lower.chmod(0o755)
    workspace = Workspace(lower, context.scratch / "layers" / "upper", runner.choose_backing(context.scratch))
    try:
        runner.prepare(workspace)
        return _laid(context, engine, hand_in, workspace)
    except BaseException:
        _take_away(workspace)
        raise


def _laid(context: Context, engine: Engine, hand_in: HandIn, workspace: Workspace) -> Scene:
    stage = Stage(workspace.template, "", None, (), context.scratch, context.cancel)
    table = playing.table(context, workspace, stage)
    told = shown.of(_records(context), engine, context.store, context.scratch)
    folder = handed_in.lay(workspace.upper.parent / "handed-in")
    room = playing.room(
        table,
        told,
        {"session_s": SECONDS},
        (Bind(folder, hand_in.folder),),
        {hand_in.variable: hand_in.path},
    )
    return Scene(table, told, stage, folder, room, _work(engine, told, hand_in))


def discard(scene: Scene) -> None:
    """Take the layers away."""
    _take_away(scene.table.workspace)


def _take_away(workspace: Workspace) -> None:
    runner.discard(workspace)
    files.remove_tree(workspace.upper.parent)


def _records(context: Context) -> dict[str, Record]:
    """A skill and a graph as their steps would record them."""
    tree = context.store.put(trees.pack([Entry(f"{SKILL}/SKILL.md", "100644", TEXT.encode())]))
    graph = context.store.put(digest.canonical(GRAPH))
    skill = {"skills": [{"name": SKILL, "description": "How to rehearse."}]}

    return {
        "skill": Record("skill", NAME, "", {}, {}, FINAL, None, {"tree": tree}, skill),
        "graph": Record("graph", NAME, "", {}, {}, FINAL, None, {"graph": graph}, {}),
    }


def _work(engine: Engine, told: Shown, hand_in: HandIn) -> Work:
    prompt = command.prompt(PROMPT, SKILL) if engine.client else PROMPT
    return Work(
        prompt=PROMPT,
        model=f"replay/{NAME}",
        effort=None,
        run=0,
        limits={"session_s": SECONDS, "turns": 10, "tokens": None},
        skills=told.skills,
        expected_skill=SKILL,
        hand_in=hand_in.path,
        cassette=_cassette(engine, prompt, told.skills, hand_in.variable),
        cassette_name=NAME,
        graph=told.graph,
        session=NAME,
        phase="review",
        graph_server=told.server,
    )


def _cassette(engine: Engine, prompt: str, skills: tuple[Skill, ...], variable: str) -> bytes:
    """Skill, artifact, graph: one tool call a turn, in this order."""
    place = f'"${variable}"'
    write = f"printf '%s\\n' '{HANDED_IN.decode().strip()}' > {place}.part && mv {place}.part {place}"
    path = skills[0].path if skills else ""
    if engine.client:
        calls = [
            {"tool": "Skill", "input": {"skill": SKILL}},
            {"tool": "Bash", "input": {"command": write, "description": "Hand in"}},
            {"tool": "mcp__graph__definition", "input": {"target": "greet"}},
        ]
        turns = [{"text": "Next.", "calls": [call], "usage": _USAGE} for call in calls]
    else:
        commands = [f"cat {path}", write, "graph definition greet"]
        turns = [{"text": "Next.", "commands": [line], "usage": _USAGE} for line in commands]
    talk = {"prompt": prompt, "skills": [SKILL], "turns": turns, "final": {"text": "Rehearsed.", "usage": _USAGE}}
    return authored(MODEL, "anthropic", [talk])


def stands(scene: Scene) -> str | None:
    """Whether the sandbox alone works: the project is there and can be written to; what is wrong, or None."""
    line = f"cat {' '.join(PROJECT)} > /dev/null && : > probe && rm probe"
    done = scene.room.execute(("sh", "-c", line), seconds=60.0)
    return None if done.ok else _ended(done)


def ask(scene: Scene) -> Ask:
    """What the engine asks of the gateway, for a call of ours."""
    work = scene.work
    texts = {skill.name: skill.text for skill in work.skills}
    return Ask(f"{NAME}-probe", str(work.model), cassette=work.cassette, cassette_name=NAME, skills=texts)


def knock(door: Door) -> str | None:
    """Call a door as the relay does, from outside of any sandbox; what is wrong with its answer, or None."""
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(PROBE_S)
        connection = http.client.HTTPConnection("localhost")
        connection.sock = line
        try:
            line.connect(str(door.folder / SOCKET))
            connection.request("POST", PATH, _body(door), HEADERS | {"x-api-key": door.placeholder})
            answer = connection.getresponse()
            said = answer.read(1 << 20).decode("utf-8", "replace")
        except TimeoutError:
            return f"no answer within {PROBE_S:g} s"
        except (OSError, http.client.HTTPException) as error:
            return f"no answer ({type(error).__name__})"
    return None if answer.status == 200 else f"it answered {answer.status}: {said[:200]}"


def through_relay(scene: Scene, door: Door) -> str | None:
    """The same call from inside the sandbox, by the relay, without the client; what is wrong, or None."""
    order = {"key": door.placeholder, "socket": f"{DOOR}/{SOCKET}", "port": command.PORT, "linger_s": 1.0}
    asked = {"url": f"http://127.0.0.1:{command.PORT}{PATH}", "body": _body(door), "headers": HEADERS, "seconds": PROBE_S}
    order["argv"] = [PYTHON, "-I", "-S", "-c", _CALLER, json.dumps(asked)]
    done = scene.room.execute(
        (PYTHON, "-I", "-S", "-c", relay()),
        stdin=json.dumps(order).encode() + b"\n",
        seconds=3 * PROBE_S,
        readonly=(Bind(door.folder, DOOR),),
    )
    return None if done.ok else _ended(done)


def oracle(scene: Scene) -> str | None:
    """Grade the untouched project with an oracle that reads one hidden file; what is wrong, or None."""
    hidden = Hidden({"expected": b"rehearsed\n"}, command='test "$(cat "$BENCH_ORACLE_ROOT/expected")" = rehearsed')
    stage = scene.stage
    with staging.view(stage, Changes()) as view:
        run = verifiers.hidden(view, hidden, seconds=60.0, scratch=stage.scratch, cancel=stage.cancel)
    return None if run.exit == 0 else f"its command ended with {run.limit or f'exit status {run.exit}'}"


def _body(door: Door) -> str:
    message = {"role": "user", "content": command.prompt(PROMPT, SKILL)}
    return json.dumps({"model": door.model, "max_tokens": 64, "messages": [message]})


def _ended(done: Finished) -> str:
    tail = " ".join(done.stderr.decode("utf-8", "replace").split())[-200:]
    return f"{f'limit of {done.limit}' if done.limit else f'exit status {done.exit}'}{f': {tail}' if tail else ''}"
