"""What every backing of the sandbox does with a workspace, and where the two differ. Parametrised over the registry."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from bench.effects.sandbox import Bind, Workspace, runner
from tests.conformance.sandboxing import frozen, python, sh


def test_the_template_is_seen_as_it_is(workspace: Workspace) -> None:
    done = sh("cat a.txt link folder/b.txt; ./tool.sh; readlink out; test -O a.txt && echo mine", workspace)
    assert (done.exit, done.stdout) == (0, b"aabtool\n/etc\nmine\n")


def test_a_session_keeps_what_it_wrote_and_the_template_does_not(workspace: Workspace) -> None:
    before = {p: p.read_bytes() for p in workspace.template.rglob("*.txt")}
    assert sh("echo A > a.txt; rm -r folder; mkdir folder; echo n > folder/new; chmod -x tool.sh", workspace).ok
    done = sh("cat a.txt; ls folder; test -x tool.sh || echo plain", workspace)
    assert done.stdout == b"A\nnew\nplain\n"
    assert {p: p.read_bytes() for p in workspace.template.rglob("*.txt")} == before


def test_two_sessions_on_one_template_do_not_see_each_other(workspace: Workspace, tmp_path: Path) -> None:
    other = replace(workspace, upper=tmp_path / "other")
    runner.prepare(other)
    assert sh("echo mine > a.txt", workspace).ok
    assert sh("cat a.txt", other).stdout == b"a"
    runner.discard(other)


def test_sessions_run_at_the_same_time(workspace: Workspace, tmp_path: Path) -> None:
    rooms = [replace(workspace, upper=tmp_path / f"u{i}") for i in range(4)]

    def work(room: Workspace) -> bytes:
        runner.prepare(room)
        sh(f"echo {room.upper.name} > a.txt", room)
        return sh("cat a.txt", room).stdout

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, rooms)) == [b"u0\n", b"u1\n", b"u2\n", b"u3\n"]
    for room in rooms:
        runner.discard(room)


def test_a_frozen_view_shows_the_session_s_changes_may_be_written_and_forgets(workspace: Workspace) -> None:
    assert sh("echo A > a.txt; rm folder/b.txt; echo n > new", workspace).ok
    done = sh("cat a.txt new; ls folder; echo X > a.txt; rm new; mkdir folder/b.txt; cat a.txt", frozen(workspace))
    assert (done.exit, done.stdout) == (0, b"A\nn\nc.txt\nX\n")
    assert sh("cat a.txt new; ls folder", workspace).stdout == b"A\nn\nc.txt\n"


def test_paths_are_taken_out_of_a_frozen_view_without_following_links(workspace: Workspace) -> None:
    sh(
        "mkdir deep; ln -s ../folder deep/way; ln -s /workspace/folder gate; mkdir shut; touch shut/x; chmod 0 shut",
        workspace,
    )
    removed = ("a.txt", "tool.sh", "shut", "gate/b.txt", "deep/way/c.txt", "missing", "missing/too", "link", "a.txt/below")
    done = sh("ls; ls folder", frozen(workspace, *removed))
    assert done.stdout.split() == [b"deep", b"folder", b"gate", b"out", b"b.txt", b"c.txt"]
    assert sh("cat a.txt", workspace).stdout == b"a"


def test_a_link_itself_can_be_taken_out_and_what_it_points_to_stays(workspace: Workspace) -> None:
    done = sh("cat a.txt; ls /etc/passwd; test -e link || test -e out || echo gone", frozen(workspace, "link", "out"))
    assert done.stdout == b"a/etc/passwd\ngone\n"


def test_nothing_is_left_but_the_session_s_layer(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "out").mkdir()
    spec = {"home": tmp_path / "home", "writable": (Bind(tmp_path / "out", "/out"),)}
    for room in (workspace, frozen(workspace)):
        assert sh("echo 1 > a.txt; echo 2 > ~/x; echo 3 > /out/y", room, **spec).ok
    assert sorted(p.name for p in tmp_path.iterdir()) == ["home", "out", "template", "upper"]
    assert ([p.name for p in (tmp_path / "home").iterdir()], (tmp_path / "out" / "y").read_text()) == (["x"], "3\n")


@pytest.mark.parametrize("script", ["mkdir -p d/e; touch d/e/f; chmod 0 d/e/f d/e d", "chmod 0 ."])
def test_a_layer_is_deleted_whatever_modes_were_left_in_it(workspace: Workspace, script: str) -> None:
    sh(script, workspace)
    runner.discard(workspace)
    assert not workspace.upper.exists()
    runner.discard(workspace)


def test_an_unreadable_folder_does_not_stop_a_frozen_view(workspace: Workspace) -> None:
    sh("mkdir d; echo x > d/f; chmod 0 d/f; chmod 0 d", workspace)
    done = sh("chmod 700 d; chmod 600 d/f; cat d/f a.txt", frozen(workspace))
    assert done.stdout == b"x\na"


def test_git_works_on_the_workspace(workspace: Workspace) -> None:
    commit = "git -c user.name=a -c user.email=a@b commit -qm 1"
    done = sh(f"git init -q . && git add -A && {commit} && echo B > a.txt && git status --short", workspace)
    assert (done.stdout, done.stderr) == (b" M a.txt\n", b"")


DIFFERENCES = {
    "rename a directory of the template": (
        "import os; os.rename('folder', 'moved')",
        {"overlay": (1, b"Invalid cross-device link"), "copy": (0, b"")},
    ),
    "move it as programs do": ("import shutil; shutil.move('folder', 'moved')", {"overlay": (0, b""), "copy": (0, b"")}),
    "rename a directory of the session": (
        "import os; os.mkdir('mine'); os.rename('mine', 'moved')",
        {"overlay": (0, b""), "copy": (0, b"")},
    ),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_directories_of_the_template_are_renamed_by_copying_on_overlay(workspace: Workspace, name: str) -> None:
    script, expected = DIFFERENCES[name]
    done = python(script, workspace)
    status, said = expected[workspace.backing]
    assert done.exit == status
    assert said in done.stderr


def test_hard_links_of_the_template_break_when_one_name_is_written(workspace: Workspace, tmp_path: Path) -> None:
    os.link(workspace.template / "a.txt", workspace.template / "twin")
    room = replace(workspace, upper=tmp_path / "linked")
    runner.prepare(room)
    assert sh("echo A > a.txt; cat twin", room).stdout == b"a"
    runner.discard(room)


def test_hard_links_of_the_session_hold(workspace: Workspace) -> None:
    assert sh("echo 1 > mine; ln mine twin; echo 2 > mine; cat twin", workspace).stdout == b"2\n"
