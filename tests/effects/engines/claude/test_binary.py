from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest
from blake3 import blake3

from bench.effects.engines.claude import binary
from bench.effects.sandbox import Finished
from bench.errors import MissingPart, StepFailed

PROGRAM = b"\x7fELF and the rest"
PACKAGE = {"x86_64": "claude-code-linux-x64", "aarch64": "claude-code-linux-arm64"}[platform.machine()]


def place(path: Path, data: bytes = PROGRAM) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("BENCH_CLAUDE", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path / "cache" / "assay" / "programs"


def test_links_are_followed_to_the_program(tmp_path: Path) -> None:
    real = place(tmp_path / "modules" / "@anthropic-ai" / "claude-code" / "bin" / "claude.exe")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "claude").symlink_to(real)
    assert binary.program() == real


def test_the_variable_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place(tmp_path / "bin" / "claude")
    monkeypatch.setenv("BENCH_CLAUDE", str(place(tmp_path / "other")))
    assert binary.program() == tmp_path / "other"


@pytest.mark.parametrize("nested", [False, True])
def test_a_stub_whose_installation_did_not_run_leads_to_the_platforms_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nested: bool
) -> None:
    scope = tmp_path / "node_modules" / "@anthropic-ai"
    stub = place(scope / "claude-code" / "bin" / "claude.exe", b'echo "Error: native binary not installed." >&2\n')
    home = scope / "claude-code" / "node_modules" / "@anthropic-ai" if nested else scope
    real = place(home / PACKAGE / "claude")
    monkeypatch.setenv("BENCH_CLAUDE", str(stub))
    assert binary.program() == real


@pytest.mark.parametrize("given", [None, "relative/claude", "/nowhere/claude"])
def test_absence_names_the_remedy(given: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if given:
        monkeypatch.setenv("BENCH_CLAUDE", given)
    with pytest.raises(MissingPart, match="npm i -g @anthropic-ai/claude-code"):
        binary.program()
    assert set(binary.identity()) == {"missing"}


def test_a_script_alone_is_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_CLAUDE", str(place(tmp_path / "claude", b"#!/bin/sh\n")))
    with pytest.raises(MissingPart, match="no program for this machine"):
        binary.program()


def test_the_digest_is_remembered_until_the_file_changes(tmp_path: Path, cache: Path) -> None:
    program = place(tmp_path / "claude")
    first = binary.digest_of(program)
    assert first == "b3:" + blake3(PROGRAM).hexdigest()
    [note] = cache.iterdir()
    note.write_text('"b3:' + "1" * 64 + '"')
    assert binary.digest_of(program) == "b3:" + "1" * 64
    note.write_text("torn")
    assert binary.digest_of(program) == first
    status = program.stat()
    place(program, PROGRAM[::-1])
    os.utime(program, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert binary.digest_of(program) == "b3:" + blake3(PROGRAM[::-1]).hexdigest()


def test_the_version_is_the_first_word_that_the_program_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_CLAUDE", str(place(tmp_path / "claude")))
    assert binary.version(lambda spec: Finished(0, None, b"2.1.197 (Claude Code)\n", b"", b"", 0.1)) == "2.1.197"
    with pytest.raises(StepFailed, match="does not run here: cannot execute"):
        binary.version(lambda spec: Finished(126, None, b"", b"cannot execute", b"", 0.1))


def test_it_names_what_another_client_would_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}/early:{tmp_path}/bin:{tmp_path}/late")
    early, found = str(tmp_path / "early" / "claude"), str(tmp_path / "bin" / "claude")
    assert {early, found, str(tmp_path / "late" / "claude")} <= binary.watched().paths, "absent: it may come anywhere"
    real = place(tmp_path / "versions" / "2.1" / "claude")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "claude").symlink_to(real)
    assert binary.watched().paths == {early, found, str(real)}
    assert binary.watched().variables == {"PATH", "BENCH_CLAUDE"}
    monkeypatch.setenv("BENCH_CLAUDE", str(real))
    assert (binary.watched().paths, binary.watched().variables) == ({str(real)}, {"BENCH_CLAUDE"})


def test_it_names_the_programs_place_where_the_installation_did_not_run(tmp_path: Path) -> None:
    scope = tmp_path / "node_modules" / "@anthropic-ai"
    stub = place(scope / "claude-code" / "bin" / "claude.exe", b"#!/bin/sh\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "claude").symlink_to(stub)
    assert str(scope / PACKAGE / "claude") in binary.watched().paths
