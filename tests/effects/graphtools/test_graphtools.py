"""The tools in the real sandbox: the command as the loop's agent runs it, the server as a client of the SDK starts it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.core import graph_queries, pdg
from bench.effects import graphtools
from bench.effects.sandbox import Bind, Limits, Spec, runner
from tests.core.test_pdg import EXAMPLE

TARGETS = {"definition": "Shape", "callers": "Shape.area", "callees": "area", "slice": "a.py:5", "impact": "LIMIT"}
CLIENT = """
import sys; sys.path.insert(0, {packages!r})
import anyio, json
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
async def main():
    argv = {argv!r}
    async with stdio_client(StdioServerParameters(command=argv[0], args=argv[1:])) as (r, w), ClientSession(r, w) as client:
        await client.initialize()
        tools = (await client.list_tools()).tools
        print(json.dumps([[t.name, t.annotations.read_only_hint, t.input_schema["required"]] for t in tools]))
        for name, arguments in {calls!r}:
            found = await client.call_tool(name, arguments)
            print(json.dumps([found.is_error, found.content[0].text]))
anyio.run(main)
"""


def placed(tmp_path: Path, graph: object = EXAMPLE) -> Bind:
    folder = tmp_path / "graph"
    graphtools.place(folder)
    (folder / "graph.json").write_text(json.dumps(graph), "utf-8")
    return Bind(folder, graphtools.FOLDER)


def command(tmp_path: Path, words: str, graph: object = EXAMPLE):
    spec = Spec(
        ("sh", "-c", words),
        readonly=(placed(tmp_path, graph),),
        env=graphtools.environment(),
        cwd="/tmp",
        limits=Limits(seconds=60),
    )
    return runner.run(spec)


def test_nothing_of_the_harness_is_in_what_the_sandbox_is_shown(tmp_path):
    texts = [path.read_text("utf-8") for path in placed(tmp_path).source.rglob("*.py")]
    assert len(texts) == 8
    assert not [text for text in texts if "bench" in text or "assay" in text.lower()]


def test_the_command_answers_as_the_query_module_does(tmp_path):
    words = "; ".join(f"graph {name} {target}" for name, target in TARGETS.items())
    done = command(tmp_path, words)
    loaded = pdg.load(EXAMPLE)
    expected = "".join(f"{graph_queries.answer(loaded, name, target).text}\n" for name, target in TARGETS.items())
    assert (done.exit, done.stdout.decode(), done.stderr) == (0, expected, b"")


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("graph", 0, b"usage: graph QUESTION TARGET"),
        ("graph help", 0, b"graph slice TARGET"),
        ("graph callers", 2, b"usage:"),
        ("graph callrs x", 2, b"usage:"),
        ("graph callers nothing", 1, b"the graph has no definition"),
        ("graph callers \"$(printf 'a\\377')\"", 1, b"not printable"),
    ],
)
def test_misuse_of_the_command_is_answered(tmp_path, words, status, said):
    done = command(tmp_path, words)
    assert done.exit == status
    assert said in done.stdout + done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("graph", "said"),
    [({"schema": 9}, b"cannot be read"), ({"schema": 1, "language": "", "nodes": [], "edges": []}, b"the graph is empty")],
)
def test_a_graph_that_says_nothing_says_so(tmp_path, graph, said):
    done = command(tmp_path, "graph callers x", graph)
    assert (done.exit, said in done.stdout, done.stderr) == (1, True, b"")


@pytest.mark.slow
def test_the_server_speaks_to_the_client_of_the_sdk(tmp_path):
    tools = graphtools.server()
    calls = [(name, {"target": target}) for name, target in TARGETS.items()]
    calls += [("callers", {"target": "nothing"}), ("callers", {"of": "x"}), ("neighbours", {"target": "area"})]
    script = CLIENT.format(packages=graphtools.PACKAGES, argv=list(tools.argv), calls=calls)
    readonly = (placed(tmp_path), *tools.binds)
    spec = Spec(("python3", "-ISB", "-"), stdin=script.encode(), readonly=readonly, cwd="/tmp", limits=Limits(seconds=120))
    done = runner.run(spec)
    assert done.exit == 0, done.stderr.decode()
    listed, *found = [json.loads(line) for line in done.stdout.splitlines()]
    assert listed == [[name, True, ["target"]] for name in graph_queries.QUESTIONS]
    loaded = pdg.load(EXAMPLE)
    assert found[: len(TARGETS)] == [
        [False, graph_queries.answer(loaded, name, target).text] for name, target in TARGETS.items()
    ]
    assert [failed for failed, _text in found[len(TARGETS) :]] == [True, True, False]
