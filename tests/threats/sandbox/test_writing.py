"""What the agent may not write: the template, which the next session gets; the tools; its own instructions.

Incident behind one of these: a read-only skill below a writable home was renamed away with its parent, and replaced.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench.effects.sandbox import Bind, Limits, Spec, Workspace, execution, runner
from bench.effects.sandbox.bwrap import ALL, Guards

SETTING_ROOT = "/home/agent/.claude"


@pytest.fixture
def spec(tmp_path: Path) -> Iterator[Spec]:
    template = tmp_path / "template"
    (template / "folder").mkdir(parents=True)
    (template / "a.txt").write_text("a")
    (template / "folder" / "b.txt").write_text("b")
    for name in ("skills", "deps", "home"):
        (tmp_path / name).mkdir()
    (tmp_path / "skills" / "SKILL.md").write_text("skill")
    (tmp_path / "deps" / "lib.py").write_text("lib")
    (tmp_path / "settings.json").write_text("{}")
    workspace = Workspace(template, tmp_path / "upper", runner.choose_backing(tmp_path))
    runner.prepare(workspace)
    yield Spec(
        (),
        workspace,
        readonly=(
            Bind(tmp_path / "skills", f"{SETTING_ROOT}/skills"),
            Bind(tmp_path / "settings.json", f"{SETTING_ROOT}/settings.json"),
            Bind(tmp_path / "skills", "/workspace/.skills/inner"),
        ),
        home=tmp_path / "home",
        dependencies=tmp_path / "deps",
        limits=Limits(seconds=60),
    )
    runner.discard(workspace)


def attempt(spec: Spec, script: str, guards: Guards = ALL) -> bool:
    """Whether a shell script, which ends well if it got its way, got its way."""
    return execution.execute(replace(spec, argv=("sh", "-c", script)), None, None, guards).exit == 0


def state(folder: Path) -> str:
    """Names, modes, times and bytes of a tree."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        found.update(repr((str(path), status.st_mode, status.st_mtime_ns, status.st_nlink, status.st_uid)).encode())
        found.update(path.read_bytes() if path.is_file() else b"")
    return found.hexdigest()


MAPPED = 'import mmap; f = open("a.txt", "r+b"); m = mmap.mmap(f.fileno(), 0); m[0] = 120; m.flush()'
TEMPLATE = {
    "overwriting a file": "echo x > a.txt",
    "appending to a file": "echo x >> folder/b.txt",
    "truncating a file": "truncate -s 0 a.txt",
    "deleting a folder": "rm -rf folder",
    "changing a mode": "chmod 777 a.txt folder",
    "changing a time": "touch -d 2001-01-01 a.txt folder/b.txt",
    "writing through a hard link": "ln a.txt twin; echo x > twin",
    "writing through a mapping": f"python -c '{MAPPED}'",
    "replacing by renaming": "echo x > new; mv new a.txt",
    "exchanging names": "mv a.txt c; mv folder/b.txt a.txt",
    "a descriptor that was opened for reading": "exec 3< a.txt; echo x > /proc/self/fd/3",
}


@pytest.mark.parametrize("name", TEMPLATE)
def test_the_template_of_the_next_session_stays_as_it_is(spec: Spec, name: str) -> None:
    """Guard: the template is a lower layer, or was copied."""
    assert spec.workspace is not None
    before = state(spec.workspace.template)
    attempt(spec, TEMPLATE[name])
    assert state(spec.workspace.template) == before


READ_ONLY = {
    "a file in the root": "echo x > /x",
    "a folder in the root": "mkdir /x",
    "a program": "echo x > /usr/bin/x",
    "replacing a program": "cp /bin/true /tmp/sh && mv /tmp/sh /usr/bin/dash",
    "an account": "echo x >> /etc/passwd",
    "a host": "echo '1.2.3.4 localhost' >> /etc/hosts",
    "the interpreter": "echo x > /opt/python/lib/x.py",
    "the dependencies": "echo x > /opt/deps/lib.py",
    "a new dependency": "echo x > /opt/deps/new.py",
    "a device": "echo x > /dev/x",
    "taking a device away": "rm /dev/null",
    "the loader's list": "echo /workspace/evil.so > /etc/ld.so.preload",
    "git's configuration of the system": "mkdir -p /etc/git && echo x > /etc/gitconfig",
    "a certificate": "echo x > /etc/ssl/certs/x.pem",
    "a skill": f"echo x > {SETTING_ROOT}/skills/SKILL.md",
    "a further skill": f"mkdir {SETTING_ROOT}/skills/mine",
    "deleting a skill": f"rm {SETTING_ROOT}/skills/SKILL.md",
    "the settings": f"echo x > {SETTING_ROOT}/settings.json",
    "replacing the settings": f"echo x > /tmp/s && mv /tmp/s {SETTING_ROOT}/settings.json",
    "deleting the settings": f"rm {SETTING_ROOT}/settings.json",
    "linking over the settings": f"ln -sf /tmp/s {SETTING_ROOT}/settings.json",
    "a skill's mode": f"chmod 777 {SETTING_ROOT}/skills/SKILL.md",
    "a skill in the workspace": "echo x > .skills/inner/SKILL.md",
}


@pytest.mark.parametrize("name", READ_ONLY)
def test_what_is_shown_read_only_stays_as_it_is(spec: Spec, name: str, tmp_path: Path) -> None:
    """Guards: read-only mounts, and a root that is remounted read-only last."""
    before = [state(tmp_path / folder) for folder in ("skills", "deps")]
    assert not attempt(spec, READ_ONLY[name])
    assert [state(tmp_path / folder) for folder in ("skills", "deps")] == before
    assert (tmp_path / "settings.json").read_text() == "{}"


@pytest.mark.parametrize("name", ["a file in the root", "a folder in the root", "a device"])
def test_the_root_could_be_written_without_its_guard(spec: Spec, name: str) -> None:
    assert attempt(spec, READ_ONLY[name], Guards(readonly_root=False))


AWAY = f"mv {SETTING_ROOT} /home/agent/.old && mkdir -p {SETTING_ROOT}/skills"
MOVED_AWAY = {
    "renaming the parent": f"{AWAY} && echo x > {SETTING_ROOT}/skills/SKILL.md",
    "renaming the parent in the workspace": "mv .skills .old && mkdir -p .skills/inner && echo x > .skills/inner/SKILL.md",
    "exchanging the parent": 'python -c \'import os; os.rename(".skills", "gone"); os.mkdir(".skills")\'',
}


@pytest.mark.parametrize("name", MOVED_AWAY)
def test_no_parent_of_a_read_only_mount_is_moved_away(spec: Spec, name: str) -> None:
    """Guard: every parent of a read-only mount inside a writable place is a mount of its own."""
    assert not attempt(spec, MOVED_AWAY[name])


@pytest.mark.parametrize("name", MOVED_AWAY)
def test_it_would_be_without_its_guard(spec: Spec, name: str) -> None:
    assert attempt(spec, MOVED_AWAY[name], Guards(parents_mounted=False))


LAYER_TRICKS = {
    "an opaque mark": "setxattr('folder', 'user.overlay.opaque', b'y')",
    "a redirection": "setxattr('folder', 'user.overlay.redirect', b'/../../../etc')",
    "a redirection of a new folder": "mkdir('new'); os.setxattr('new', 'user.overlay.redirect', b'/folder')",
    "an origin": "setxattr('a.txt', 'user.overlay.origin', b'x' * 32)",
    "a copy without data": "setxattr('a.txt', 'user.overlay.metacopy', b'')",
    "a mark of the trusted kind": "setxattr('a.txt', 'trusted.overlay.redirect', b'/etc')",
    "a whiteout": "mknod('a-new-whiteout', 0o20000, 0)",
    "a mark on what a whiteout means": "setxattr('folder', 'user.overlay.whiteout', b'')",
}


@pytest.mark.parametrize("name", LAYER_TRICKS)
def test_no_mark_of_the_overlay_s_own_changes_the_view(spec: Spec, name: str) -> None:
    """Guard: redirect_dir=nofollow, and the kernel keeps its marks out of reach through the mount."""
    script = f"import os\ntry:\n    os.{LAYER_TRICKS[name]}\nexcept OSError:\n    pass\n"
    attempt(spec, f"python - <<'END'\n{script}\nEND")
    assert attempt(
        spec, 'test "$(cat a.txt)" = a && test "$(ls folder)" = b.txt && test ! -e new/b.txt && test ! -e new/passwd'
    )
