"""What an agent leaves behind for the harness to follow, to block on, or to run. Incident behind one of these: a tree so
deep that deleting the session's layer overflowed Python's stack, so that the step died instead of the agent's attempt.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench.effects.removal import remove_tree
from bench.effects.sandbox import BACKINGS, Bind, Finished, Limits, Spec, Workspace, runner
from tests.threats.sandbox.probing import ROOT, plain


def python(script: str) -> str:
    """As a shell command."""
    return f"python -c {shlex.quote(f'import os{chr(10)}{script}')}"


LEFT_BEHIND = {
    "a link to a file of the host": "ln -s {host}/precious link; ln -s {host}/precious a.txt.new; mv a.txt.new a.txt",
    "a link to a directory of the host": "ln -s {host} folder-of-the-host; rm -rf folder; ln -s {host} folder",
    "a link to the root": "ln -s / root; ln -s .. up; ln -s ../../../../../.. further",
    "a link to itself": "ln -s loop loop; ln -s b a; ln -s a b",
    "a link of the proc kind": "ln -s /proc/self/root/{host} r; ln -s /proc/1/cwd c",
    "a FIFO": "mkfifo pipe; mkfifo folder/pipe; rm a.txt; mkfifo a.txt",
    "a socket": "python -c 'import socket; socket.socket(1).bind(\"s\")'",
    "folders without modes": "mkdir -p x/y/z; touch x/y/z/f; chmod 0 x/y/z/f x/y/z x/y x",
    "files without modes": "touch n; chmod 0 n; chmod 4777 a.txt; chmod 1777 folder",
    "names that are no text": python(r'for name in (b"\xff\xfe", b"new\nline", b"-rf", b" "): open(name, "w").close()'),
    "names of the greatest length": python('os.makedirs("/".join(["n" * 255] * 12))'),
    "a file of holes": "truncate -s 900M sparse",
    "many links": python('for i in range(2000): os.link("a.txt", f"l{i}")'),
    "a tree too deep for any path": python('for _ in range(3000): os.mkdir("d"); os.chdir("d")'),
    "a tree too deep without modes": python('for _ in range(1500): os.mkdir("d"); os.chdir("d")\nos.chmod("..", 0)'),
    "marks of the overlay's kind": python('os.setxattr("folder", "user.overlay.opaque", b"y")') + " || true",
    "a whiteout of one's own": python('os.mknod("w", 0o20000, 0)') + " || true",
}


@pytest.fixture(params=sorted(BACKINGS))
def workspace(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workspace]:
    (tmp_path / "template" / "folder").mkdir(parents=True)
    (tmp_path / "template" / "a.txt").write_text("a")
    (tmp_path / "template" / "folder" / "b.txt").write_text("b")
    (tmp_path / "host").mkdir()
    (tmp_path / "host" / "precious").write_text("precious")
    made = Workspace(tmp_path / "template", tmp_path / "upper", request.param)
    runner.prepare(made)
    yield made
    runner.discard(made)


def plant(name: str, workspace: Workspace, host: Path) -> Finished:
    script = LEFT_BEHIND[name].replace("{host}", str(host))
    return runner.run(Spec(("sh", "-c", script), workspace, limits=Limits(seconds=120)))


@pytest.mark.parametrize("name", LEFT_BEHIND)
def test_what_is_left_behind_is_deleted_and_nothing_else(workspace: Workspace, tmp_path: Path, name: str) -> None:
    """Guards: links are not followed, owner bits come back first, and deletion never recurses."""
    planted = plant(name, workspace, tmp_path / "host")
    assert planted.exit == 0 or planted.limit == "disk", planted.stderr
    runner.discard(workspace)
    assert not workspace.upper.exists()
    assert (tmp_path / "host" / "precious").read_text() == "precious"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["host", "template"]


@pytest.mark.parametrize("name", LEFT_BEHIND)
def test_a_frozen_view_of_it_can_still_be_taken(workspace: Workspace, tmp_path: Path, name: str) -> None:
    """Guards: nothing is opened to be copied but regular files; holes stay holes; what is too deep is left out."""
    plant(name, workspace, tmp_path / "host")
    frozen = replace(workspace, frozen=True, remove=("a.txt/x", "folder/pipe", "root/etc", "loop/x"))
    done = runner.run(Spec(("sh", "-c", "ls > /dev/null && echo seen"), frozen, limits=Limits(seconds=120)))
    assert done.stdout == b"seen\n", done.stderr
    assert (tmp_path / "host" / "precious").read_text() == "precious"


REMOVED = {
    "through a link to a directory": ("rm -rf folder; ln -s {host} folder", "folder/precious"),
    "through two links": ("rm -rf folder; ln -s one folder; ln -s {host} one", "folder/precious"),
    "through a link to the root": ("rm -rf folder; ln -s / folder", "folder/etc/passwd"),
    "through a file": ("rm -rf folder; echo x > folder", "folder/b.txt"),
    "a directory full of links": ("ln -s {host} folder/h; ln -s / folder/r", "folder"),
}


CARELESS = """
import json, os, shutil, sys
source, target = sys.argv[1:]
json.dumps(sorted(os.listdir(source)), ensure_ascii=False).encode()
seen = 0
for folder, names, entries in os.walk(source, followlinks=True):
    seen += len(names) + len(entries)
    assert seen < 1000, 'too many'
    for name in entries:
        assert os.path.getsize(os.path.join(folder, name)) < 1 << 20, 'too large'
        open(os.path.join(folder, name), 'rb').read()
shutil.copytree(source, target)
"""
"""What a harness does that trusts a workspace: list it, walk it, read its files, copy it."""
HARMLESS = {
    "names of the greatest length": "each step alone is short enough for Python's own functions",
    "marks of the overlay's kind": "they mean something in a layer alone (see test_writing)",
    "a whiteout of one's own": "it is an empty device, which reads as nothing",
}
"""Not shown: left behind in vain even where a harness is careless."""
OF_MODES = {"folders without modes", "files without modes"}
"""Root reads those anyway."""


SLOW = {name for name in LEFT_BEHIND if "tree" in name or "FIFO" in name}
FALLEN_FOR = {*LEFT_BEHIND} - {*HARMLESS} - (OF_MODES if ROOT else set())


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in SLOW)) for n in sorted(FALLEN_FOR)])
def test_a_careless_harness_falls_for_what_is_left_behind(tmp_path: Path, name: str) -> None:
    """The same in a plain directory of the host: whoever reads it fails, hangs, or has taken what is the host's."""
    place, host, copied = tmp_path / "place", tmp_path / "host", tmp_path / "copied"
    (place / "folder").mkdir(parents=True)
    (place / "a.txt").write_text("a")
    host.mkdir()
    (host / "precious").write_text("precious")
    script = LEFT_BEHIND[name].replace("{host}", str(host)).replace("python -c", f"{sys.executable} -c")
    script = script.replace("3000", "1200").replace("1500", "1200")  # deep enough, and made sooner
    subprocess.run(["sh", "-c", script], cwd=place, check=True)
    try:
        done = subprocess.run(
            [sys.executable, "-X", "utf8", "-c", CARELESS, str(place), str(copied)],
            capture_output=True,
            timeout=3,
            check=False,
        )
        taken = [p for p in copied.rglob("*") if p.is_file() and p.read_bytes() == b"precious"] if copied.exists() else []
        assert done.returncode != 0 or taken
    except subprocess.TimeoutExpired:
        pass
    finally:
        remove_tree(copied)
        remove_tree(place)


@pytest.mark.parametrize("name", REMOVED)
def test_taking_paths_out_of_the_view_follows_no_planted_link(workspace: Workspace, tmp_path: Path, name: str) -> None:
    """Guard: pid 1 opens each directory on the way without following links, before the command starts."""
    script, removed = REMOVED[name]
    assert runner.run(Spec(("sh", "-c", script.replace("{host}", str(tmp_path / "host"))), workspace)).ok
    frozen = replace(workspace, frozen=True, remove=(removed,))
    done = runner.run(Spec(("sh", "-c", "cat /etc/passwd > /dev/null && cat a.txt"), frozen))
    assert (done.exit, done.stdout) == (0, b"a")
    assert (tmp_path / "host" / "precious").exists()


@pytest.mark.parametrize("name", ["through a link to a directory", "through two links"])
def test_taking_a_path_away_by_its_name_follows_them(tmp_path: Path, name: str) -> None:
    """Without: a harness that joins the workspace's path and the path to be removed."""
    (tmp_path / "host").mkdir()
    (tmp_path / "host" / "precious").write_text("precious")
    (tmp_path / "folder").mkdir()
    script, removed = REMOVED[name]
    subprocess.run(["sh", "-c", script.replace("{host}", str(tmp_path / "host"))], cwd=tmp_path, check=True)
    (tmp_path / removed).unlink()
    assert not (tmp_path / "host" / "precious").exists()


POINTS = ["a link", "a chain of links", "a FIFO", "a file"]


def planted_point(tmp_path: Path, name: str) -> None:
    """Something else than a directory where the mount point of the skills should be."""
    for folder in ("home", "skills", "host"):
        (tmp_path / folder).mkdir()
    (tmp_path / "skills" / "SKILL.md").write_text("skill")
    (tmp_path / "host" / "precious").write_text("precious")
    planted = tmp_path / "home" / ".claude"
    if name == "a link":
        planted.symlink_to(tmp_path / "host")
    elif name == "a chain of links":
        (tmp_path / "home" / "x").symlink_to(tmp_path / "host")
        planted.symlink_to("x")
    elif name == "a FIFO":
        os.mkfifo(planted)
    else:
        planted.write_text("file")


@pytest.mark.parametrize("name", POINTS)
def test_a_mount_point_follows_no_planted_link(tmp_path: Path, name: str) -> None:
    """Guard: every directory on the way to a mount point is made anew where an agent put something else."""
    planted_point(tmp_path, name)
    binds = (
        Bind(tmp_path / "skills", "/home/agent/.claude/skills"),
        Bind(tmp_path / "skills" / "SKILL.md", "/home/agent/.claude/s"),
    )
    done = runner.run(
        Spec(("sh", "-c", "cat ~/.claude/skills/SKILL.md ~/.claude/s"), home=tmp_path / "home", readonly=binds)
    )
    assert done.stdout == b"skillskill"
    assert [p.name for p in (tmp_path / "host").iterdir()] == ["precious"]


@pytest.mark.parametrize("name", POINTS)
def test_a_mount_point_made_by_its_name_does(tmp_path: Path, name: str) -> None:
    """Without: bubblewrap makes the directory for the mount, through the link; or cannot, and there is no run at all."""
    planted_point(tmp_path, name)
    command = [*plain("/mnt")[:-1], "--bind", str(tmp_path / "skills"), str(tmp_path / "home" / ".claude" / "skills")]
    done = subprocess.run([*command, "--", "true"], capture_output=True, check=False)
    assert done.returncode != 0 or (tmp_path / "host" / "skills").exists()


GIT_TRICKS = {
    "a monitor of the file system": "git config core.fsmonitor 'touch /tmp/ran /workspace/ran; false'",
    "an editor": "git config core.editor 'touch /workspace/ran; true'",
    "a hook": "printf '#!/bin/sh\\ntouch /workspace/ran' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
}


@pytest.mark.parametrize("name", GIT_TRICKS)
def test_no_program_of_the_host_runs_in_a_planted_repository(workspace: Workspace, tmp_path: Path, name: str) -> None:
    """Guard: making, freezing and deleting layers runs no program of the host's at all, git least of all."""
    script = f"git init -q . && {GIT_TRICKS[name]}"
    assert runner.run(Spec(("sh", "-c", script), workspace)).ok
    done = runner.run(Spec(("ls",), replace(workspace, frozen=True)))
    assert b"ran" not in done.stdout.split()
    assert not Path("/tmp/ran").exists()


@pytest.mark.parametrize("name", GIT_TRICKS)
def test_git_itself_runs_what_was_planted(workspace: Workspace, name: str) -> None:
    """Without: a harness that asks git there. (In a sandbox; on the host it would have run on the host.)"""
    who = "-c user.name=a -c user.email=a@b"
    script = f"git init -q . && {GIT_TRICKS[name]}; git status; git {who} commit --allow-empty; ls"
    assert b"ran" in runner.run(Spec(("sh", "-c", script), workspace)).stdout.split()


def test_deleting_takes_a_link_for_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "host").mkdir()
    (tmp_path / "host" / "precious").write_text("precious")
    (tmp_path / "link").symlink_to(tmp_path / "host")
    remove_tree(tmp_path / "link")
    remove_tree(tmp_path / "absent")
    assert [p.name for p in tmp_path.iterdir()] == ["host"]
    assert (tmp_path / "host" / "precious").exists()
