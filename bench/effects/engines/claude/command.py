"""How Claude Code is called: arguments, settings and environment, made from nothing. Pure.

Every choice was found by trying the installed client (docs/claude.md). Nothing of a user's or a project's own configuration
is read, tools are approved one by one and never by a mode that bypasses the question, and no variable holds a credential:
the key that the client sends comes from a helper command and is worth nothing; the relay puts another in its place.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

PROGRAM = "/opt/claude/claude"
CONFIG = "/home/agent/.claude"
SKILLS = f"{CONFIG}/skills"
PLUGIN = "/opt/plugin"
SERVER = "graph"
"""Name of the MCP server of the graph tools; their names begin with `mcp__graph__`."""
PORT = 8377
"""Of the sandbox's own loopback interface, which no other process can use before the session."""
DUMMY = "no-key-is-needed-here"

TOOLS = ("Bash", "Edit", "Glob", "Grep", "Read", "Skill", "Task", "Write")
EFFORTS = ("low", "medium", "high", "xhigh", "max")
"""What the client takes; another word would be dropped without a word of its own (tried)."""
WEB = ("WebFetch", "WebSearch")
API_TIMEOUT_MS = 1_800_000
MCP_TIMEOUT_MS = 60_000
"""For the graph's server to start. The client would wait 5 s and go on without its tools (tried, on a busy machine)."""
BASH_TIMEOUT_MS = 1_200_000


@dataclass(frozen=True, slots=True)
class Call:
    """What differs from one session to the next."""

    model: str
    effort: str | None = None
    phase: str = "work"
    turns: int | None = None
    skill_tool: bool = True
    plugin: bool = False
    server: tuple[str, ...] = ()
    """Command of the graph's MCP server inside the sandbox; empty = no graph tools."""
    folders: tuple[str, ...] = ()
    """Beside the workspace, where the client may read and write."""


def tools(call: Call) -> tuple[str, ...]:
    """Built-in tools that the agent has. A review edits nothing; without the Skill tool no skill can be loaded."""
    left_out = {"Edit"} if call.phase == "review" else set()
    if not call.skill_tool:
        left_out.add("Skill")
    return tuple(name for name in TOOLS if name not in left_out)


def settings(call: Call) -> dict[str, Any]:
    """The client's settings, given on the command line; they win over every file."""
    approved = [*tools(call), *([f"mcp__{SERVER}"] if call.server else [])]
    refused = [*WEB, *(name for name in TOOLS if name not in tools(call))]
    return {
        "apiKeyHelper": f"echo {DUMMY}",
        "disableAllHooks": True,
        "disableBundledSkills": True,
        "includeCoAuthoredBy": False,
        "cleanupPeriodDays": 3650,
        "permissions": {"allow": approved, "deny": refused, "disableBypassPermissionsMode": "disable"},
        # Ours is the outer sandbox; it lets nobody make another one inside.
        "sandbox": {"enabled": False},
    }


def servers(call: Call) -> dict[str, Any]:
    """The MCP configuration: the graph's server, or none."""
    if not call.server:
        return {"mcpServers": {}}
    first, *rest = call.server
    return {"mcpServers": {SERVER: {"type": "stdio", "command": first, "args": rest, "env": {}}}}


def argv(call: Call) -> list[str]:
    """The whole command line; the prompt comes on standard input."""
    options = ["-p", "--input-format", "text", "--output-format", "stream-json", "--verbose", "--no-session-persistence"]
    options += ["--model", call.model, "--permission-mode", "dontAsk", "--no-chrome"]
    options += ["--effort", call.effort] if call.effort else []
    options += ["--max-turns", str(call.turns)] if call.turns else []
    options += ["--setting-sources", "user", "--settings", _line(settings(call))]
    options += ["--strict-mcp-config", "--mcp-config", _line(servers(call))]
    options += ["--plugin-dir", PLUGIN] if call.plugin else []
    options += ["--tools", ",".join(tools(call))]
    for folder in call.folders:
        options += ["--add-dir", folder]
    return [PROGRAM, *options]


def environment(model: str) -> dict[str, str]:
    """Beside the sandbox's neutral environment. Every model that the client may name by itself is the session's."""
    aliases = ("HAIKU", "SONNET", "OPUS", "FABLE")
    return {
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{PORT}",
        "ANTHROPIC_MODEL": model,
        "ANTHROPIC_SMALL_FAST_MODEL": model,
        "CLAUDE_CODE_SUBAGENT_MODEL": model,
        **{f"ANTHROPIC_DEFAULT_{alias}_MODEL": model for alias in aliases},
        "API_TIMEOUT_MS": str(API_TIMEOUT_MS),
        "BASH_MAX_TIMEOUT_MS": str(BASH_TIMEOUT_MS),
        "CLAUDE_CONFIG_DIR": CONFIG,
        "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
        "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
        "CLAUDE_CODE_DISABLE_BUNDLED_SKILLS": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
        "CLAUDE_CODE_DISABLE_TERMINAL_TITLE": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_TELEMETRY": "1",
        "ENABLE_TOOL_SEARCH": "false",
        "MCP_CONNECTION_NONBLOCKING": "false",
        "MCP_CONNECT_TIMEOUT_MS": str(MCP_TIMEOUT_MS),
        "MCP_TIMEOUT": str(MCP_TIMEOUT_MS),
    }


def prompt(task: str, skill: str | None) -> str:
    """What the client is told: the phase's text, and which skill is asked for."""
    return f"{task.rstrip()}\n\nUse the skill `{skill}` for this.\n" if skill else task


def _line(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
