"""How gitnexus is found and what becomes of its runs, without it; the real program is in the conformance suite."""

import json

import pytest

from bench.effects.indexers import gitnexus
from bench.effects.sandbox import Finished
from bench.errors import MissingPart, StepFailed


def installation(root, version="1.2.3"):
    """An npm installation in outline, and the path of its program."""
    package = root / "node_modules/gitnexus"
    (package / "dist/cli").mkdir(parents=True)
    dependencies = {"tree-sitter": "*", "absent": "*"}
    (package / "package.json").write_text(json.dumps({"version": version, "dependencies": dependencies}))
    (root / "node_modules/tree-sitter").mkdir()
    (root / "node_modules/tree-sitter/package.json").write_text('{"version": "0.21.1"}')
    (package / "dist/cli/index.js").write_text("")
    programs = root / "node_modules/.bin"
    programs.mkdir()
    (programs / "gitnexus").symlink_to("../gitnexus/dist/cli/index.js")
    (programs / "node").write_text("#!/bin/sh\necho v22.18.0\n")
    (programs / "node").chmod(0o755)
    return programs / "gitnexus"


def test_the_identity_holds_its_version_those_of_its_packages_and_nodes(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_GITNEXUS", str(installation(tmp_path)))
    assert gitnexus.GitNexus().identity() == {"gitnexus": "1.2.3", "node": "22.18.0", "tree-sitter": "0.21.1"}


def test_it_is_found_on_the_path(tmp_path, monkeypatch):
    monkeypatch.delenv("BENCH_GITNEXUS", raising=False)
    program = installation(tmp_path)
    (program.resolve()).chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    assert gitnexus.GitNexus().identity()["gitnexus"] == "1.2.3"


def test_its_absence_is_named_with_the_remedy(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_GITNEXUS", str(tmp_path / "nowhere"))
    with pytest.raises(MissingPart, match=r"nowhere: no program gitnexus; ONNXRUNTIME_NODE_INSTALL=skip npm i -g gitnexus"):
        gitnexus.GitNexus().identity()
    monkeypatch.delenv("BENCH_GITNEXUS")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingPart, match="PATH: no program gitnexus"):
        gitnexus.GitNexus().identity()


def test_a_program_that_npm_did_not_install_is_refused(tmp_path, monkeypatch):
    (tmp_path / "gitnexus").write_text("#!/bin/sh\n")
    monkeypatch.setenv("BENCH_GITNEXUS", str(tmp_path / "gitnexus"))
    with pytest.raises(MissingPart, match="not an npm installation"):
        gitnexus.GitNexus().identity()


@pytest.mark.parametrize("text", ["", '{"table": "File"}\n', '{"end": true}\n{"table": "File"}\n'])
def test_a_torn_export_is_no_graph(text, tmp_path):
    (tmp_path / "graph.jsonl").write_text(text)
    with pytest.raises(StepFailed, match="torn export"):
        gitnexus.read(Finished(0, None, b"", b"", b"", 1.0), tmp_path / "graph.jsonl")


def test_rows_are_read_as_they_were_written(tmp_path):
    (tmp_path / "graph.jsonl").write_text('{"table": "File", "name": "a\\u2028b"}\n{"end": true}\n')
    rows = gitnexus.read(Finished(0, None, b"", b"", b"", 1.0), tmp_path / "graph.jsonl")
    assert rows == [{"table": "File", "name": "a\u2028b"}, {"end": True}]


def test_it_names_what_another_installation_would_change(tmp_path, monkeypatch):
    program = installation(tmp_path)
    monkeypatch.setenv("BENCH_GITNEXUS", str(program))
    watched = gitnexus.GitNexus().watched()
    modules = tmp_path / "node_modules"
    named = [modules / name / "package.json" for name in ("gitnexus", "tree-sitter", "absent")]
    assert {str(path) for path in (program, program.parent / "node", *named)} <= watched.paths
    assert {"BENCH_GITNEXUS", "PATH"} <= watched.variables
    monkeypatch.setenv("BENCH_GITNEXUS", str(tmp_path / "nowhere"))
    assert str(tmp_path / "nowhere") in gitnexus.GitNexus().watched().paths
