"""A session leaves traps for whoever reads its workspace afterwards: the harness must not follow, block on or run them.

Guards: everything is read by a program of ours in a sandbox, through the merged view of a dead session; links are never
followed, special files never opened, sizes bounded; git runs elsewhere, on objects alone.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.effects import changes
from bench.effects.changes import Changes
from bench.effects.grading import patches
from bench.effects.sandbox import Limits, Spec, runner
from tests.effects.grading.rooms import Room

FILES = {"src/m.py": "def f():\n    return 1\n", "a.txt": "a\n", "sub/b.txt": "b\n"}


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path, FILES)


def both(room: Room) -> tuple[Changes, patches.Patch]:
    """What a cell would read and diff."""
    seen = room.collect()
    return seen, patches.of_changes(seen, room.template, room.commit, cancel=room.cancel)


def paths(seen: Changes) -> list[str]:
    return [entry.path for entry in seen.entries]


@pytest.mark.parametrize(
    "where", ["a.txt", "reward.json", "src/__pycache__/m.cpython-311.pyc", ".git/index", ".git/config", ".git/HEAD"]
)
def test_a_fifo_where_the_harness_reads_blocks_nobody(room: Room, where: str) -> None:
    """Guard: lstat first, O_NONBLOCK and O_NOFOLLOW always."""
    room.agent(f"import os\np = {where!r}\nos.makedirs(os.path.dirname(p) or '.', exist_ok=True)\n"
               f"if os.path.lexists(p): os.unlink(p)\nos.mkfifo(p)")  # fmt: skip
    seen, _ = both(room)
    assert where not in paths(seen)


def test_a_socket_is_named_and_not_opened(room: Room) -> None:
    """Guard: only regular files and links are content."""
    room.agent("import socket; s = socket.socket(socket.AF_UNIX); s.bind('door')")
    assert room.collect().oddities == (("door", "socket"),)


@pytest.mark.parametrize(
    "target", ["/etc/passwd", "/", "/proc/self/root/etc/shadow", "../../../../etc/passwd", "/template/a.txt"]
)
def test_a_link_to_the_host_is_read_as_a_link(room: Room, tmp_path: Path, target: str) -> None:
    """Guard: readlink, never open; what is kept is the text."""
    room.agent(f"import os; os.unlink('a.txt'); os.symlink({target!r}, 'a.txt')")
    seen, patch = both(room)
    [entry] = seen.entries
    assert (entry.mode, entry.data) == ("120000", target.encode())
    assert b"root:" not in patch.data


def test_a_directory_that_is_a_link_is_not_entered(room: Room) -> None:
    """Guard: the walk goes by lstat; a folder of the template that became a link counts as deleted."""
    room.agent("import shutil, os; shutil.rmtree('sub'); os.symlink('/etc', 'sub')")
    seen, _ = both(room)
    assert paths(seen) == ["sub"]
    assert seen.deletions == ("sub/b.txt",)
    room.workspace = room.layer("again")
    changes.apply(seen, room.workspace, cancel=room.cancel)
    assert room.collect() == seen


def test_a_link_loop_ends(room: Room) -> None:
    """Guard: no link is followed, so none can loop."""
    room.agent("import os; os.symlink('.', 'loop'); os.symlink('y', 'x'); os.symlink('x', 'y')")
    assert paths(room.collect()) == ["loop", "x", "y"]


RUNS = "touch /workspace/RAN; touch /tmp/RAN; echo RAN >&2; cat"
GIT_TRAPS = {
    "fsmonitor": f"git config core.fsmonitor '{RUNS}'",
    "hooks": "mkdir -p .git/hooks; cd .git/hooks; for h in post-index-change reference-transaction; do"
    f" printf '#!/bin/sh\\n{RUNS}\\n' > $h; chmod +x $h; done",
    "hooks elsewhere": "git config core.hooksPath /workspace/h",
    "external diff": f"git config diff.external '{RUNS}'",
    "textconv": f"git config diff.x.textconv '{RUNS}'; echo '* diff=x' > .gitattributes",
    "clean filter": f"git config filter.x.clean '{RUNS}'; echo '* filter=x' > .gitattributes",
    "its own attributes": f"git config filter.x.clean '{RUNS}'; echo '* filter=x -diff' > .git/info/attributes",
    "an alias": f"git config alias.diff-tree '!{RUNS}'",
    "an included file": f"git config include.path /workspace/evil; printf '[core]\\nfsmonitor = {RUNS}\\n' > evil",
    "another work tree": "git config core.worktree /etc",
    "alternates": "mkdir -p .git/objects/info; echo /etc > .git/objects/info/alternates",
    "a git file": "mv .git /tmp/g; echo 'gitdir: /tmp/g' > .git",
    "a git link": "mv .git /tmp/g; ln -s /tmp/g .git",
    "a nested repository": f"mkdir n; cd n; git init -q; git config core.fsmonitor '{RUNS}'",
    "home settings": f"git config --global core.fsmonitor '{RUNS}'",
}  # fmt: skip
SILENT = {"home settings"}
"""Lives in the session's home, which nothing of the harness ever mounts again."""


@pytest.mark.parametrize("name", sorted(GIT_TRAPS))
def test_what_is_planted_in_git_is_named_and_never_runs(room: Room, name: str) -> None:
    """Guard: git works in a fresh repository of ours, on objects, without a work tree; the trap is an alarm."""
    room.shell(GIT_TRAPS[name] + "\ncd /workspace; printf 'changed\\n' > a.txt")
    seen, patch = both(room)
    assert "a.txt" in paths(seen)
    assert b"+changed" in patch.data
    assert not any("RAN" in path for path in paths(seen))
    assert not list((room.tmp / "session").rglob("RAN"))
    assert name in SILENT or any(what.startswith(("git-", "nested-git")) for _, what in seen.oddities)


def test_the_trap_would_have_run_where_git_is_used_naively(room: Room) -> None:
    """The incident: a harness that asks `git status` in the agent's directory runs what the agent wrote."""
    room.shell(GIT_TRAPS["fsmonitor"])
    seen = runner.run(Spec(("sh", "-c", "git status; ls"), workspace=room.workspace, limits=Limits(seconds=30)))
    assert b"RAN" in seen.stdout


def test_attributes_and_ignore_rules_hide_nothing_from_the_patch(room: Room) -> None:
    """Guard: no attribute, exclude or index flag of the workspace reaches the diff."""
    room.shell(
        "printf '*\\n' > .gitignore; printf '* -diff -text binary\\n' > .gitattributes; mkdir -p .git/info\n"
        "printf '*\\n' > .git/info/exclude; git update-index --assume-unchanged a.txt --skip-worktree src/m.py || true\n"
        "printf 'hidden\\n' > a.txt; printf 'new\\n' > new.txt"
    )
    _, patch = both(room)
    assert b"+hidden" in patch.data
    assert b"+new" in patch.data
    assert b"GIT binary patch" not in patch.data


def test_commits_of_the_session_change_nothing(room: Room) -> None:
    """Guard: files are compared with the template, not with whatever the session's HEAD says."""
    room.shell("printf 'x\\n' > a.txt; git add -A; git commit -qm done; git update-ref refs/heads/main HEAD")
    seen, patch = both(room)
    assert paths(seen) == ["a.txt"]
    assert (patch.files, patch.insertions, patch.deletions) == (1, 1, 1)


def test_a_huge_file_is_named_and_the_rest_is_kept(room: Room) -> None:
    """Guard: bounds on each file and on all, smallest first, so that a dump never displaces a source file."""
    room.agent("open('a.txt', 'w').write('kept')\nf = open('huge', 'wb'); f.truncate(900 << 20); f.close()")
    seen = room.collect()
    assert paths(seen) == ["a.txt"]
    assert seen.oddities == (("huge", "too-large"),)


def test_many_large_files_are_bounded_together(room: Room) -> None:
    """Guard: the bytes of all files together."""
    room.agent("for n in range(6): open(f'b{n}', 'wb').write(bytes([n]) * (15 << 20))\nopen('small', 'w').write('s')")
    seen = room.collect()
    assert sum(len(entry.data) for entry in seen.entries) <= changes.MAX_BYTES
    assert "small" in paths(seen)
    assert {what for _, what in seen.oddities} == {"too-large"}


@pytest.mark.slow
def test_a_flood_of_files_is_bounded(room: Room) -> None:
    """Guard: the number of files."""
    room.agent("import os\nfor n in range(21000): os.close(os.open(f'f{n:05}', os.O_CREAT | os.O_WRONLY))")
    seen = room.collect()
    assert len(seen.entries) == changes.MAX_ENTRIES
    assert seen.oddities


def test_a_deep_path_ends(room: Room) -> None:
    """Guard: what cannot be listed is named, not a crash; whether or not the sandbox ended the session for it."""
    script = "import os\nfor n in range(120):\n    os.mkdir('d' * 40)\n    os.chdir('d' * 40)\nopen('end', 'w').write('x')"
    runner.run(Spec(("python3", "-c", script), workspace=room.workspace, limits=Limits(seconds=60)))
    seen = room.collect()
    assert [what for _, what in seen.oddities] == ["unreadable"]
    assert not seen.deletions


def test_names_that_are_no_text_are_kept(room: Room) -> None:
    """Guard: paths are bytes until they are shown."""
    room.agent("open(b'\\xff\\xfe\\n\\x1b[31m', 'w').write('x'); import os; os.symlink(b'\\xff', b'l\\xff')")
    seen, patch = both(room)
    assert len(seen.entries) == 2
    assert patches.to_changes(patch.data, room.template, room.commit, cancel=room.cancel) == Changes(seen.entries)


def test_a_directory_called_like_the_harness_own_mount_is_only_content(room: Room) -> None:
    """Guard: the template is compared at a place outside the workspace."""
    room.agent("import os; os.makedirs('template/.git'); open('template/x', 'w').write('x')")
    assert paths(room.collect()) == ["template/x"]
