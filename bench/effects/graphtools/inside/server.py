"""An MCP server over stdio: one read-only tool per question to the program graph, each with one argument, `target`."""

from __future__ import annotations

import anyio
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from bench.core.graph_queries import MAX_TARGET, QUESTIONS, Answer, Question
from bench.effects.graphtools.inside import reading

INSTRUCTIONS = (
    "A program dependence graph of the project as it was when the session began; it does not follow your changes. "
    "Ask it where things are defined, what calls what, what a line depends on, and what a change can reach."
)


def _tool(name: str, question: Question) -> types.Tool:
    target = {"type": "string", "minLength": 1, "maxLength": MAX_TARGET, "description": question.target}
    return types.Tool(
        name=name,
        description=question.about,
        input_schema={
            "type": "object",
            "properties": {"target": target},
            "required": ["target"],
            "additionalProperties": False,
        },
        annotations=types.ToolAnnotations(
            title=name, read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )


async def _list(context: object, params: object) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[_tool(name, question) for name, question in QUESTIONS.items()])


async def _call(context: object, params: types.CallToolRequestParams) -> types.CallToolResult:
    given = params.arguments or {}
    target = given.get("target")
    if set(given) != {"target"} or not isinstance(target, str):
        found = Answer("give exactly one argument, target, a text", ok=False)
    else:
        found = reading.answer(params.name, target)
    return types.CallToolResult(content=[types.TextContent(type="text", text=found.text)], is_error=not found.ok)


async def _serve() -> None:
    server = Server("graph", version="1", instructions=INSTRUCTIONS, on_list_tools=_list, on_call_tool=_call)
    async with stdio_server() as (reading_end, writing_end):
        await server.run(reading_end, writing_end, server.create_initialization_options())


def main() -> None:
    """Serve until the client closes its end."""
    anyio.run(_serve)
