from __future__ import annotations

import json
from dataclasses import replace

from bench.effects.engines.claude import command
from bench.effects.engines.claude.command import Call

PLAIN = Call("claude-sonnet-4-5")


def option(call: Call, name: str) -> str:
    line = command.argv(call)
    return line[line.index(name) + 1]


def test_the_client_is_headless_and_its_stream_is_ours() -> None:
    line = command.argv(PLAIN)
    assert line[:2] == [command.PROGRAM, "-p"]
    assert (option(PLAIN, "--output-format"), option(PLAIN, "--input-format")) == ("stream-json", "text")
    assert option(PLAIN, "--model") == "claude-sonnet-4-5"
    assert "--verbose" in line


def test_no_mode_bypasses_a_question() -> None:
    said = json.dumps(command.argv(PLAIN))
    assert option(PLAIN, "--permission-mode") == "dontAsk"
    assert "--dangerously" not in said
    assert "bypassPermissions" not in said.replace("disableBypassPermissionsMode", "")
    assert "--bare" not in command.argv(PLAIN)


def test_tools_are_restricted_and_approved_one_by_one() -> None:
    settings = command.settings(PLAIN)
    assert option(PLAIN, "--tools").split(",") == list(command.TOOLS)
    assert settings["permissions"]["allow"] == list(command.TOOLS)
    assert settings["permissions"]["deny"] == ["WebFetch", "WebSearch"]


def test_a_review_does_not_edit_and_a_baseline_loads_no_skill() -> None:
    assert "Edit" not in command.tools(replace(PLAIN, phase="review"))
    baseline = replace(PLAIN, skill_tool=False)
    assert "Skill" not in command.tools(baseline)
    assert "Skill" in command.settings(baseline)["permissions"]["deny"]


def test_graph_tools_are_a_server_of_ours_and_no_other_is_read() -> None:
    assert json.loads(option(PLAIN, "--mcp-config")) == {"mcpServers": {}}
    given = replace(PLAIN, server=("/opt/python/bin/python3", "-I", "x.py"))
    [(name, server)] = json.loads(option(given, "--mcp-config"))["mcpServers"].items()
    assert (name, server["command"], server["args"]) == ("graph", "/opt/python/bin/python3", ["-I", "x.py"])
    assert "mcp__graph" in command.settings(given)["permissions"]["allow"]
    assert "--strict-mcp-config" in command.argv(PLAIN)


def test_options_that_an_arm_may_have() -> None:
    full = replace(PLAIN, effort="high", turns=7, plugin=True, folders=("/review-output",))
    assert (option(full, "--effort"), option(full, "--max-turns")) == ("high", "7")
    assert (option(full, "--plugin-dir"), option(full, "--add-dir")) == (command.PLUGIN, "/review-output")
    assert not {"--effort", "--max-turns", "--plugin-dir", "--add-dir"} & set(command.argv(PLAIN))


def test_no_variable_holds_a_credential_and_every_model_is_the_sessions() -> None:
    environment = command.environment("m-1")
    assert not [name for name in environment if any(word in name for word in ("KEY", "TOKEN", "SECRET"))]
    assert {value for name, value in environment.items() if name.endswith("_MODEL")} == {"m-1"}
    assert len([name for name in environment if name.endswith("_MODEL")]) == 7


def test_telemetry_updates_hooks_and_memory_are_off() -> None:
    environment, settings = command.environment("m"), command.settings(PLAIN)
    for name in (
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "DISABLE_AUTOUPDATER",
        "DISABLE_TELEMETRY",
        "DISABLE_ERROR_REPORTING",
        "CLAUDE_CODE_DISABLE_AUTO_MEMORY",
        "CLAUDE_CODE_DISABLE_BUNDLED_SKILLS",
    ):
        assert environment[name] == "1"
    assert (settings["disableAllHooks"], settings["sandbox"]) == (True, {"enabled": False})


def test_the_prompt_names_the_skill_that_is_asked_for() -> None:
    assert command.prompt("Do it.\n", None) == "Do it.\n"
    assert command.prompt("Do it.\n", "plan") == "Do it.\n\nUse the skill `plan` for this.\n"
