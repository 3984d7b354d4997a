"""The session step end to end: real store, real template, real sandbox, replayed model."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.core import records
from bench.core.records import Blob, Record, sealed
from bench.effects import changes, git, graphtools, trees
from bench.effects.cassette_author import authored
from bench.effects.context import Context, Made
from bench.effects.trees import Entry
from bench.steps import session, skill
from tests.core.test_pdg import EXAMPLE
from tests.steps.making import context_at, job_of

MODEL = "anthropic/claude-sonnet-4-5"
USAGE = {"input_tokens": 1000, "output_tokens": 50}
SKILLS = "/opt/skills"
PROMPT = "Make greet.py greet the world."
SKILL = "---\nname: greeting\ndescription: How greetings are written here.\n---\n\nGreet the world with a capital W.\n"
LIMITS = {"setup_s": 30, "session_s": 120, "turns": 10, "tokens": None}


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return context_at(tmp_path)


def record(kind: str, made: Made) -> Record:
    return sealed(Record(kind, kind, "b3:" + "1" * 64, {}, {}, made.state, made.reason, made.outputs, made.body))


def template_of(context: Context, files: Mapping[str, bytes]) -> Record:
    entries = [Entry(path, "100644", data) for path, data in files.items()]
    tree = context.store.put(trees.pack(entries))
    return record("template", Made({"commit": git.commit_of(entries)}, {"tree": tree}))


@pytest.fixture
def lower(context: Context) -> Record:
    return template_of(context, {"greet.py": b"print('hello')\n", "old.txt": b"old\n"})


@pytest.fixture
def offered(context: Context) -> Record:
    return skill_of(context)


def skill_of(context: Context) -> Record:
    job = job_of("skill", context, {"skills": ["greeting"], "overlay": False}, {"greeting/SKILL.md": SKILL.encode()})
    return record("skill", skill.make(job, context))


def tape(*commands: Any, skills: tuple[str, ...] = (), prompt: str = PROMPT) -> bytes:
    turns = [{"text": "On it.", "commands": [command], "usage": USAGE} for command in commands]
    final = {"text": "Done.", "usage": USAGE}
    return authored(MODEL, "anthropic", [{"prompt": prompt, "skills": list(skills), "turns": turns, "final": final}])


def play(context: Context, inputs: Mapping[str, Record], cassette: bytes | None = None, **more: Any) -> Made:
    params = {
        "engine": "loop",
        "role": "incumbent",
        "prompt": PROMPT,
        "setup": None,
        "model": "replay/demo",
        "effort": None,
        "run": 0,
        "limits": LIMITS,
        "expected_skills": {},
        "engine_params": {},
    } | more
    files = dict(params.pop("files", {})) | ({"cassette": cassette} if cassette else {})
    return session.make(job_of("session", context, params, files or None, inputs), context)


def changed(context: Context, made: Made) -> changes.Changes:
    return changes.unpack(context.store.get(made.outputs["changes"].blob))


def nothing_left(context: Context) -> bool:
    return not (context.scratch / "layers").exists()


def test_a_session_is_played_and_what_it_did_is_kept(context: Context, lower: Record) -> None:
    made = play(context, {"template": lower}, tape("echo \"print('World')\" > greet.py && rm old.txt", "python greet.py"))
    assert (made.state, made.reason) == (records.FINAL, None)
    body = made.body
    assert (body["error_kind"], body["error_detail"], body["error_class"]) == (None, None, None)
    assert (body["num_turns"], body["tool_use_counts"]) == (3, {"bash": 2})
    assert body["usage"]["input_tokens"] == 3000
    assert (body["replayed"], body["spent_usd"], body["priced_model"]) == (True, 0.0, MODEL)
    assert body["workspace_changed"] is True
    assert body["measured_at"].endswith("Z")
    assert set(body["pressure"]) == {"cpu_some_pct", "memory_some_pct", "load", "cores"}
    did = changed(context, made)
    assert [(e.path, e.data) for e in did.entries] == [("greet.py", b"print('World')\n")]
    assert did.deletions == ("old.txt",)
    assert b"World" in context.store.get(made.outputs["transcript"].blob)
    assert len(context.store.get(made.outputs["calls"].blob).splitlines()) == 3
    assert nothing_left(context)


def test_nop_changes_nothing(context: Context, lower: Record) -> None:
    params = {"engine": "nop", "role": "calibration", "setup": None, "run": 0, "limits": {"setup_s": 30}}
    made = session.make(job_of("session", context, params, None, {"template": lower}), context)
    assert made.state == records.FINAL
    assert (made.body["workspace_changed"], made.body["num_turns"], made.body["spent_usd"]) == (False, 0, 0.0)
    assert not changed(context, made).any


def test_two_sessions_that_went_alike_are_two_pieces_of_evidence(context: Context, lower: Record) -> None:
    params = {"engine": "nop", "role": "calibration", "setup": None, "limits": {}}
    one, other = (
        replace(job_of("session", context, params | {"run": run}, None, {"template": lower}), key=f"b3:{run:064}")
        for run in (0, 1)
    )
    bodies = [{**session.make(job, context).body, "measured_at": "then"} for job in (one, other)]
    assert [body["session_key"] for body in bodies] == [one.key, other.key]
    contents = {records.content_of(Record("session", "s", "k", {}, {}, "final", None, {}, body)) for body in bodies}
    assert len(contents) == 2, "their cells are graded each for itself"


GOLD = b"""diff --git a/greet.py b/greet.py
--- a/greet.py
+++ b/greet.py
@@ -1 +1 @@
-print('hello')
+print('World')
"""


def gold(context: Context, lower: Record, patch: bytes) -> Made:
    given = record("gold", Made({}, {"patch": context.store.put(patch)}))
    params = {"engine": "gold", "role": "calibration", "setup": None, "run": 0, "limits": {"setup_s": 30}}
    return session.make(job_of("session", context, params, None, {"template": lower, "gold": given}), context)


def test_gold_applies_the_patch(context: Context, lower: Record) -> None:
    made = gold(context, lower, GOLD)
    assert made.state == records.FINAL
    assert [(e.path, e.data) for e in changed(context, made).entries] == [("greet.py", b"print('World')\n")]


def test_gold_that_does_not_apply_is_a_broken_task(context: Context, lower: Record) -> None:
    made = gold(context, lower, GOLD.replace(b"hello", b"adieu"))
    assert made.state == records.UNUSABLE
    assert (made.body["error_kind"], made.body["error_class"]) == ("infra-error", "broken-task")
    assert "does not apply" in made.body["error_detail"]
    assert nothing_left(context)


def test_a_skill_is_there_for_the_session_and_cannot_be_changed(context: Context, lower: Record, offered: Record) -> None:
    path = f"{SKILLS}/greeting/SKILL.md"
    attacks = [f"echo x > {path}", f"rm -rf {SKILLS}", f"mv {SKILLS} /tmp/away", "mv /opt /tmp/away"]
    cassette = tape(f"cat {path}", *({"run": a, "fails": True} for a in attacks), f"cat {path}", skills=("greeting",))
    made = play(context, {"template": lower, "skill": offered}, cassette, expected_skills={"work": "greeting"})
    assert (made.state, made.body["error_detail"]) == (records.FINAL, None)
    assert made.body["skill_invoked"] is True
    assert made.body["workspace_changed"] is False


def test_a_skill_that_was_not_read_is_evidence_of_its_own(context: Context, lower: Record, offered: Record) -> None:
    made = play(
        context,
        {"template": lower, "skill": offered},
        tape("true", skills=("greeting",)),
        expected_skills={"work": "greeting"},
    )
    assert (made.state, made.body["error_kind"], made.body["skill_invoked"]) == (records.FINAL, "skill-not-invoked", False)


def test_setup_runs_first_in_the_same_layers_without_the_skills(context: Context, lower: Record, offered: Record) -> None:
    setup = f"ls {SKILLS} && exit 9; echo ready > made-by-setup; echo kept > ~/home-file"
    cassette = tape("cat made-by-setup ~/home-file", skills=("greeting",))
    made = play(context, {"template": lower, "skill": offered}, cassette, setup=setup)
    assert (made.state, made.body["error_detail"]) == (records.FINAL, None)
    assert made.body["setup"]["exit"] == 0


@pytest.mark.parametrize(("setup", "cls"), [("echo broken >&2; exit 3", "setup-failed"), ("sleep 60", "setup-timeout")])
def test_a_failed_setup_is_a_class_of_its_own(context: Context, lower: Record, setup: str, cls: str) -> None:
    # maka PR 2090, stella PR 1308: failures of the setup, of the agent and of the verifier were one class.
    made = play(context, {"template": lower}, tape("true"), setup=setup, limits=LIMITS | {"setup_s": 2})
    assert made.state == records.UNUSABLE
    assert (made.body["error_kind"], made.body["error_class"]) == ("infra-error", cls)
    assert (made.body["num_turns"], made.body["transcript_missing"]) == (0, True)
    assert nothing_left(context)


def test_an_agent_out_of_time_is_a_class_of_its_own_and_its_usage_is_kept(context: Context, lower: Record) -> None:
    made = play(context, {"template": lower}, tape("echo early > early", "sleep 60"), limits=LIMITS | {"session_s": 4})
    assert made.state == records.UNUSABLE
    assert (made.body["error_kind"], made.body["error_class"]) == ("session-error", "session-timeout")
    assert made.body["usage"]["input_tokens"] == 2000
    assert [e.path for e in changed(context, made).entries] == ["early"]


def test_a_cancelled_session_is_not_run(context: Context, lower: Record) -> None:
    threading.Timer(2, context.cancel.set).start()
    made = play(context, {"template": lower}, tape("sleep 60"))
    assert (made.state, made.reason) == (records.NOT_RUN, "cancelled")
    assert nothing_left(context)


def test_a_cassette_that_does_not_match_is_unusable(context: Context, lower: Record) -> None:
    made = play(context, {"template": lower}, tape("true", prompt="Something else."))
    assert made.state == records.UNUSABLE
    assert (made.body["error_kind"], made.body["error_class"]) == ("session-error", "cassette-mismatch")
    assert "field prompt" in str(made.reason)


def test_nothing_of_the_host_is_in_the_record(context: Context, lower: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED_API_KEY", "planted-secret-01234")
    look = "env; cat /proc/self/mountinfo /proc/mounts /proc/self/cmdline /etc/passwd /etc/hosts; ps aux; hostname; id; true"
    made = play(context, {"template": lower}, tape(look), setup=look)
    assert made.state == records.FINAL
    kept = json.dumps(made.body).encode() + b"".join(context.store.get(b.blob) for b in made.outputs.values())
    for word in (str(context.root), context.root.name, f"{Path.home()}/.", "planted-secret"):
        assert word.encode() not in kept
    assert not re.search(rb"(?<![\w-])" + re.escape(os.uname().nodename).encode() + rb"(?![\w-])", kept)


def test_two_sessions_of_one_template_do_not_meet(context: Context, lower: Record) -> None:
    first = play(context, {"template": lower}, tape("echo a > mine"))
    again = play(
        replace(context, scratch=context.root / "other"), {"template": lower}, tape({"run": "cat mine", "fails": True})
    )
    assert first.body["workspace_changed"] is True
    assert (again.state, again.body["workspace_changed"]) == (records.FINAL, False)


def test_dependencies_and_mounts_are_there_and_cannot_be_changed(context: Context, lower: Record) -> None:
    def tree(path: str, data: bytes) -> Blob:
        return context.store.put(trees.pack([Entry(path, "100644", data)]))

    outputs = {"tree": tree("helper.py", b"SAID = 'helped'\n"), "mount/vendor": tree("data.txt", b"mounted\n")}
    assets = record("assets", Made({}, outputs))
    look = "python -c 'import helper; print(helper.SAID)' > said && cat vendor/data.txt >> said"
    attack = {"run": "echo x > vendor/data.txt || mv vendor away || rm -rf vendor/data.txt", "fails": True}
    made = play(context, {"template": lower, "assets": assets}, tape(look, attack), setup="cat vendor/data.txt")
    assert (made.state, made.body["error_detail"]) == (records.FINAL, None)
    assert [(e.path, e.data) for e in changed(context, made).entries] == [("said", b"helped\nmounted\n")]


def test_the_graph_is_there_for_an_arm_that_has_it(context: Context, lower: Record) -> None:
    graph = record("graph", Made({}, {"graph": context.store.put(b'{"nodes":[]}\n')}))
    made = play(context, {"template": lower, "graph": graph}, tape(f"cat {graphtools.GRAPH} > seen"))
    assert (made.state, made.body["error_detail"]) == (records.FINAL, None)
    assert [e.data for e in changed(context, made).entries] == [b'{"nodes":[]}\n']
    assert graphtools.GRAPH.encode() in context.store.get(made.outputs["transcript"].blob)


def test_the_agent_asks_the_graph_by_a_command(context: Context, lower: Record) -> None:
    graph = record("graph", Made({}, {"graph": context.store.put(json.dumps(EXAMPLE).encode())}))
    made = play(context, {"template": lower, "graph": graph}, tape("graph callers Shape.area > seen"))
    assert (made.state, made.body["error_detail"]) == (records.FINAL, None)
    assert b"a.py:11-20 function pkg.a.area" in changed(context, made).entries[0].data
    assert b"graph impact TARGET" in context.store.get(made.outputs["transcript"].blob)


def test_copied_files_are_there_before_the_setup(context: Context, lower: Record) -> None:
    params = {"engine": "nop", "role": "calibration", "setup": 'test "$(cat built/data.txt)" = here', "run": 0}
    limits = {"limits": {"setup_s": 30}}
    job = job_of("session", context, params | limits, {"copy/built/data.txt": b"here"}, {"template": lower})
    made = session.make(job, context)
    assert made.state == records.FINAL, made.reason
    assert [entry.path for entry in changed(context, made).entries] == ["built/data.txt"]
