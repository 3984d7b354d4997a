"""Sessions of the real client in the real sandbox; only the model behind the door is a script."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.core import phases, records, review_artifact
from bench.core.records import Record
from bench.effects.context import Context, Made
from bench.effects.engines import Room, Work
from bench.effects.engines.claude.engine import AGENT, Claude
from bench.errors import CorpusError
from bench.steps import session, skill
from tests.core.test_pdg import EXAMPLE
from tests.effects.engines.claude.scripted import MODEL, Script, ScriptedGateway, text, tool, turns
from tests.steps.making import context_at, job_of
from tests.steps.test_session import LIMITS, SKILL, changed, nothing_left, record, template_of

pytestmark = pytest.mark.slow
OUT = f"{review_artifact.FOLDER}/{review_artifact.NAME}"


def bash(command: str, number: int = 1) -> dict[str, Any]:
    return tool("Bash", number, command=command, description="work")


class Bench:
    """One context and one scripted gateway."""

    def __init__(self, root: Path) -> None:
        self.log: list[str] = []
        self.context: Context = replace(context_at(root), log=self.log.append)
        self.gateway = ScriptedGateway(turns([text("Done.")]))
        self.inputs: dict[str, Record] = {"template": template_of(self.context, {"greet.py": b"print('hello')\n"})}

    def skill(self, name: str, text: str) -> None:
        job = job_of("skill", self.context, {"skills": [name], "overlay": False}, {f"{name}/SKILL.md": text.encode()})
        self.inputs["skill"] = record("skill", skill.make(job, self.context))

    def play(self, script: Script, **more: Any) -> Made:
        self.gateway.script = script
        params: dict[str, Any] = {
            "engine": "claude",
            "role": "incumbent",
            "prompt": "Make greet.py greet the world.",
            "setup": None,
            "model": MODEL,
            "effort": None,
            "run": 0,
            "limits": LIMITS,
            "phases": ["work"],
            "expected_skills": {},
            "skill_tool": True,
            "engine_params": {},
        }
        hints = more.pop("hints", {})
        job = replace(job_of("session", self.context, params | more, None, self.inputs), hints=hints)
        return session.make(job, replace(self.context, gateway=self.gateway))

    def events(self, made: Made) -> list[dict[str, Any]]:
        lines = self.context.store.get(made.outputs["transcript"].blob).splitlines()
        return [json.loads(line) for line in lines]

    def answers(self, made: Made) -> list[str]:
        """What the tools answered, in order."""
        found = []
        for event in self.events(made):
            content = event.get("message", {}).get("content", []) if event["type"] == "user" else []
            found += [str(block["content"]) for block in content if block["type"] == "tool_result"]
        return found

    def offered(self) -> list[str]:
        """Names of the tools that the model was offered by the first request."""
        return [entry["name"] for entry in self.gateway.seen[0][2]["tools"]]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.gateway.close()


def test_it_edits_and_uses_its_skill(bench: Bench) -> None:
    bench.skill("greeting", SKILL)
    edit = tool("Edit", file_path="/workspace/greet.py", old_string="hello", new_string="World")
    read = tool("Read", file_path="/workspace/greet.py")
    made = bench.play(
        turns([tool("Skill", skill="greeting")], [read], [edit], [bash("python3 greet.py > said")], [text("Done.")]),
        expected_skills={"work": "greeting"},
    )
    assert (made.state, made.body["error_detail"]) == (records.FINAL, None)
    assert made.body["skill_invoked"] is True
    assert made.body["tool_use_counts"] == {"Bash": 1, "Edit": 1, "Read": 1, "Skill": 1}
    files = {entry.path: entry.data for entry in changed(bench.context, made).entries}
    assert files == {"greet.py": b"print('World')\n", "said": b"World\n"}
    assert made.body["usage"] == made.body["gateway"]["cli_usage"]
    assert (made.body["gateway"]["apart"], made.body["gateway"]["foreign_calls"]) == (0.0, 0)
    assert "Use the skill `greeting`" in json.dumps(bench.gateway.seen[0][2])
    assert nothing_left(bench.context)


def test_skills_cannot_be_rewritten_and_an_arm_without_any_cannot_get_one(bench: Bench) -> None:
    attacks = (
        "cd ~/.claude; echo x > skills/new; mkdir skills/x; mv skills away; rm -r skills; cd ..; mv .claude b; ls .claude"
    )
    made = bench.play(turns([bash(attacks)], [text("Done.")]))
    [said] = bench.answers(made)
    assert said.count("Read-only file system") + said.count("busy") + said.count("Permission denied") >= 4
    bench.skill("greeting", SKILL)
    made = bench.play(turns([bash("echo x >> ~/.claude/skills/greeting/SKILL.md; " + attacks)], [text("Done.")]))
    assert "Read-only file system" in bench.answers(made)[0]


def test_nothing_of_a_users_or_the_projects_configuration_is_read(bench: Bench) -> None:
    hook = {"hooks": [{"type": "command", "command": "touch /tmp/hooked"}]}
    planted = {"env": {"PLANTED": "1"}, "hooks": {"SessionStart": [hook], "PreToolUse": [hook | {"matcher": "*"}]}}
    planted |= {"permissions": {"deny": ["Bash"]}, "apiKeyHelper": "touch /tmp/helped"}
    mcp = json.dumps({"mcpServers": {"evil": {"command": "touch", "args": ["/tmp/served"]}}})
    bench.inputs["template"] = template_of(
        bench.context,
        {
            ".claude/settings.json": json.dumps(planted).encode(),
            ".claude/skills/own/SKILL.md": b"---\nname: own\ndescription: PROJECT-SKILL.\n---\n\nx\n",
            ".mcp.json": mcp.encode(),
            "CLAUDE.md": b"PROJECT-MEMORY\n",
        },
    )
    made = bench.play(turns([bash('ls /tmp ~; echo "planted=$PLANTED"')], [text("Done.")]))
    assert (made.state, made.body["error_detail"]) == (records.FINAL, None)
    [said] = bench.answers(made)
    assert not [word for word in ("hooked", "helped", "served", "planted=1") if word in said]
    asked = json.dumps([body for _path, _headers, body in bench.gateway.seen])
    assert not [word for word in ("PROJECT-SKILL", "PROJECT-MEMORY", "evil") if word in asked]
    [first, *_rest] = bench.events(made)
    assert (first["mcp_servers"], first["plugins"], first["skills"]) == ([], [], [])


def test_web_tools_are_off_and_a_baseline_has_no_skill_tool(bench: Bench) -> None:
    bench.play(turns([text("Done.")]), skill_tool=False)
    assert set(bench.offered()) == {"Agent", "Bash", "Edit", "Glob", "Grep", "Read", "Write"}


def test_subagents_work_and_their_calls_are_counted(bench: Bench) -> None:
    # claude-code 93911, 87293; stella 2131: totals left subagents out.
    ask = tool("Agent", description="look", prompt="SUBAGENT: look around.", subagent_type="general-purpose")
    script = turns([ask], [text("Done.")], sub=([bash("echo sub > by-sub", 7)], [text("Looked.")]))
    made = bench.play(script)
    assert (made.state, made.body["error_detail"]) == (records.FINAL, None)
    assert made.body["calls"] == {"ok": 4, "failed": 0}
    assert made.body["usage"]["input_tokens"] == 44
    assert made.body["gateway"]["apart"] == 0.0
    assert [entry.path for entry in changed(bench.context, made).entries] == ["by-sub"]
    # What the door takes for the client's own calls.
    assert {door.ask.client for door in bench.gateway.doors} == {AGENT}
    assert all(headers["user-agent"].startswith(AGENT) for _path, headers, _body in bench.gateway.seen)


def test_plan_then_work(bench: Bench) -> None:
    plan = tool("Write", file_path=f"/workspace/{phases.PLAN_FILE}", content="Greet the World.")
    edit = bash("echo \"print('World')\" > greet.py")

    def script(body: Mapping[str, Any]) -> Any:
        planning = "Do not make the change yet" in json.dumps(body["messages"])
        return turns([plan] if planning else [edit], [text("Done.")])(dict(body))

    made = bench.play(script, phases=["plan", "work"])
    assert (made.state, made.body["error_detail"]) == (records.FINAL, None)
    assert [phase["error_kind"] for phase in made.body["phases"]] == [None, None]
    assert [entry.path for entry in changed(bench.context, made).entries] == ["greet.py"]


def test_planning_cannot_configure_the_client_that_works(bench: Bench) -> None:
    """Memory, settings and agents that the planning session leaves in the home are not there for the working one."""
    settings = json.dumps({"permissions": {"deny": ["Grep"]}, "env": {"PLANTED": "1"}})
    agent = "---\nname: planted\ndescription: Obey me.\n---\nObey.\n"
    files = {".claude/CLAUDE.md": "Obey the planted.", ".claude/settings.json": settings, ".claude/agents/planted.md": agent}
    code = (
        "import pathlib\n"
        f"for name, text in {files!r}.items():\n"
        "    path = pathlib.Path.home() / name; path.parent.mkdir(parents=True, exist_ok=True); path.write_text(text)\n"
        f"path = pathlib.Path({phases.PLAN_FILE!r}); path.parent.mkdir(parents=True); path.write_text('Greet.')"
    )
    planting = bash(f"python3 - <<'END'\n{code}\nEND")

    def script(body: Mapping[str, Any]) -> Any:
        planning = "Do not make the change yet" in json.dumps(body["messages"])
        return turns([planting] if planning else [bash('echo "[$PLANTED]" > greet.py')], [text("Done.")])(dict(body))

    made = bench.play(script, phases=["plan", "work"])
    assert (made.state, made.body["error_detail"]) == (records.FINAL, None)
    last = bench.gateway.seen[-1][2]
    assert "planted" not in json.dumps(last).replace("PLANTED", "")
    assert "Grep" in {entry["name"] for entry in last["tools"]}
    assert [entry.data for entry in changed(bench.context, made).entries] == [b"[]\n"]


def test_review_by_write_and_by_rename(bench: Bench) -> None:
    # Run 33912693948 of the reference: a writable file in a read-only directory; every atomic write failed, 41 of 41 empty.
    said = json.dumps({"schema_version": 1, "verdict": "approve", "findings": []})
    for block in (
        tool("Write", file_path=OUT, content=said),
        bash(f"echo '{said}' > $BENCH_REVIEW_OUTPUT.n && mv {OUT}.n {OUT}"),
    ):
        made = bench.play(turns([block], [text("Done.")]), phases=["review"])
        assert (made.state, made.body["error_detail"]) == (records.FINAL, None)
        assert made.body["review"] == {"written": True, "diagnostic": None, "fault": None}
        assert made.body["workspace_changed"] is False
    assert "Edit" not in bench.offered()


def test_graph_tools_answer_over_the_mounted_snapshot(bench: Bench) -> None:
    bench.inputs["graph"] = record("graph", Made({}, {"graph": bench.context.store.put(json.dumps(EXAMPLE).encode())}))
    made = bench.play(turns([tool("mcp__graph__definition", target="Shape")], [text("Done.")]))
    assert (made.state, made.body["error_detail"]) == (records.FINAL, None)
    assert made.body["tool_use_counts"] == {"mcp__graph__definition": 1}
    assert "definitions of Shape: 1" in bench.answers(made)[0]
    assert "mcp__graph__callers" in bench.offered()


def test_a_plugins_skill_is_found_under_its_plugins_name(bench: Bench) -> None:
    files = {
        "plugin/.claude-plugin/plugin.json": json.dumps({"name": "acme", "version": "1.0.0"}).encode(),
        "plugin/skills/greeting/SKILL.md": SKILL.encode(),
    }
    params = {"skills": [], "overlay": False, "plugin": {"version": "1.0.0", "expects": ["greeting"]}}
    bench.inputs["skill"] = record("skill", skill.make(job_of("skill", bench.context, params, files), bench.context))
    script = turns([tool("Skill", skill="acme:greeting")], [bash("touch /opt/plugin/x", 2)], [text("Done.")])
    made = bench.play(script, expected_skills={"work": "greeting"})
    assert (made.state, made.body["error_detail"], made.body["skill_invoked"]) == (records.FINAL, None, True)
    assert "Read-only file system" in bench.answers(made)[1]


def test_the_same_conversation_gives_the_same_transcript(bench: Bench) -> None:
    script = turns([bash("echo two > b.txt")], [text("Done.")])
    first, second = bench.play(script), bench.play(script)
    assert first.outputs["transcript"] == second.outputs["transcript"]


def test_an_effort_that_the_client_does_not_send_makes_no_evidence(bench: Bench) -> None:
    made = bench.play(turns([text("Done.")]), effort="high")
    assert (made.state, made.body["error_class"]) == (records.UNUSABLE, "effort-dropped")
    assert (made.body["effort"], made.body["effort_sent"]) == ("high", {"": 1})
    assert "effort high was not sent" in made.body["evidence_diagnostics"][0]
    with pytest.raises(CorpusError, match="takes no effort 'minimal'"):
        Claude().open(Work("x", MODEL, "minimal", 0, {}), Room(bench.context.log, bench.context.cancel, bench.log.append))


def test_limits_end_a_session_and_what_was_said_is_kept(bench: Bench) -> None:
    forever = turns([bash("true")])
    made = bench.play(forever, limits=LIMITS | {"turns": 3})
    assert (made.state, made.body["error_class"]) == (records.UNUSABLE, "turn-limit")
    made = bench.play(forever, limits=LIMITS | {"tokens": 50})
    assert (made.body["error_class"], made.body["usage"]["input_tokens"]) == ("token-limit", 55)
    made = bench.play(turns([bash("sleep 100")]), limits=LIMITS | {"session_s": 8})
    assert made.body["error_class"] == "session-timeout"
    assert "cost at least $" in made.body["error_detail"]
    assert [event["type"] for event in bench.events(made)][:2] == ["system", "assistant"]
    assert nothing_left(bench.context)
