"""What the agent may not write: the template, which the next session gets; the tools; its own instructions.

Incident behind one of these: a read-only skill below a writable home was renamed away with its parent, and replaced.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from bench.effects.sandbox import Bind, Limits, Spec, Workspace, execution, runner
from bench.effects.sandbox.bwrap import ALL, Guards
from tests.threats.sandbox.probing import as_root, plain

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


def shared(spec: Spec, script: str) -> bool:
    """Without layers: the template itself is the working directory. Whether it was changed."""
    assert spec.workspace is not None
    template = spec.workspace.template
    before = state(template)
    attempt(replace(spec, workspace=None, readonly=(), writable=(Bind(template, "/workspace"),)), script)
    return state(template) != before


def placed(spec: Spec, script: str) -> bool:
    """Without mounts: skills and settings are files in the agent's home and workspace, as many harnesses put them there."""
    assert spec.home is not None
    assert spec.workspace is not None
    for bind in spec.readonly:
        inside = bind.target.removeprefix("/home/agent/") if "/home/" in bind.target else bind.target
        place = (spec.home if "/home/" in bind.target else spec.workspace.template) / inside.removeprefix("/workspace/")
        place.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if bind.source.is_dir() else shutil.copy2)(bind.source, place)
    return attempt(replace(spec, readonly=()), script)


def overlaid(spec: Spec, script: str) -> bool:
    """Where the system's directories may be written: in a layer that is thrown away, for whoever runs this is root."""
    options = ["--overlay-src", "/usr", "--tmp-overlay", "/usr", "--", "sh", "-c", script]
    return subprocess.run([*plain("/mnt")[:-1], *options], capture_output=True, check=False).returncode == 0


def without(guards: Guards) -> Callable[[Spec, str], bool]:
    """In the sandbox, some guards left out."""
    return lambda spec, script: attempt(spec, script, guards)


@dataclass(frozen=True)
class Write:
    """A script that ends well if it got its way, and where it does."""

    script: str
    elsewhere: Callable[[Spec, str], bool] | None = None
    apart: bool = False
    """Inside it may end well too: what it writes is the session's own."""
    not_shown: str = ""


ROOT_OPEN = without(Guards(readonly_root=False))
BINDS_OPEN = without(Guards(readonly_binds=False))
"""System directories, shown through overlays, stay read-only all the same; /etc is the run's own."""
SOURCES_OPEN = without(Guards(readonly_binds=False, neutral_mounts=False))
PARENTS_OPEN = without(Guards(parents_mounted=False))
AS_ROOT = overlaid if as_root(ALL) else None
ROOTS = "an ordinary user's agent may not do it on the bare host either"

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


AWAY = f"mv {SETTING_ROOT} /home/agent/.old && mkdir -p {SETTING_ROOT}/skills"
ATTEMPTS = {name: Write(script, shared, apart=True) for name, script in TEMPLATE.items()} | {
    "a file in the root": Write("echo x > /x", ROOT_OPEN),
    "a folder in the root": Write("mkdir /x", ROOT_OPEN),
    "a program": Write("echo x > /usr/bin/x", AS_ROOT, not_shown=ROOTS),
    "replacing a program": Write("cp /bin/true /tmp/sh && mv /tmp/sh /usr/bin/dash", AS_ROOT, not_shown=ROOTS),
    "an account": Write("echo x >> /etc/passwd", BINDS_OPEN),
    "a host": Write("echo '1.2.3.4 localhost' >> /etc/hosts", BINDS_OPEN),
    "the interpreter": Write("echo x > /opt/python/lib/x.py && rm /opt/python/lib/x.py", SOURCES_OPEN),
    "the dependencies": Write("echo x > /opt/deps/lib.py", SOURCES_OPEN),
    "a new dependency": Write("echo x > /opt/deps/new.py", SOURCES_OPEN),
    "a device": Write("echo x > /dev/x", ROOT_OPEN),
    "taking a device away": Write("rm /dev/null", not_shown="each device is a mount, which nobody can unlink"),
    "the loader's list": Write("echo /workspace/evil.so > /etc/ld.so.preload", BINDS_OPEN),
    "git's configuration of the system": Write("mkdir -p /etc/git && echo x > /etc/gitconfig", BINDS_OPEN),
    "a certificate": Write("echo x > /etc/ssl/certs/x.pem", BINDS_OPEN),
    "a skill": Write(f"echo x > {SETTING_ROOT}/skills/SKILL.md", SOURCES_OPEN),
    "a further skill": Write(f"mkdir {SETTING_ROOT}/skills/mine", SOURCES_OPEN),
    "deleting a skill": Write(f"rm {SETTING_ROOT}/skills/SKILL.md", SOURCES_OPEN),
    "the settings": Write(f"echo x > {SETTING_ROOT}/settings.json", SOURCES_OPEN),
    "replacing the settings": Write(f"echo x > /tmp/s && mv /tmp/s {SETTING_ROOT}/settings.json", placed),
    "deleting the settings": Write(f"rm {SETTING_ROOT}/settings.json", placed),
    "linking over the settings": Write(f"ln -sf /tmp/s {SETTING_ROOT}/settings.json", placed),
    "a skill's mode": Write(f"chmod 777 {SETTING_ROOT}/skills/SKILL.md", SOURCES_OPEN),
    "a skill in the workspace": Write("echo x > .skills/inner/SKILL.md", SOURCES_OPEN),
    "renaming the parent": Write(f"{AWAY} && echo x > {SETTING_ROOT}/skills/SKILL.md", PARENTS_OPEN),
    "renaming the parent in the workspace": Write(
        "mv .skills .old && mkdir -p .skills/inner && echo x > .skills/inner/SKILL.md", PARENTS_OPEN
    ),
    "exchanging the parent": Write(
        'python -c \'import os; os.rename(".skills", "gone"); os.mkdir(".skills")\'', PARENTS_OPEN
    ),
}


@pytest.mark.parametrize("name", ATTEMPTS)
def test_refused(spec: Spec, name: str, tmp_path: Path) -> None:
    """Guards: layers, read-only mounts, every parent of one a mount itself, and a root that is remounted read-only last."""
    places = [tmp_path / name for name in ("template", "skills", "deps")]
    before = [state(place) for place in places]
    assert not attempt(spec, ATTEMPTS[name].script) or ATTEMPTS[name].apart
    assert [state(place) for place in places] == before
    assert (tmp_path / "settings.json").read_text() == "{}"


def test_the_table_says_why_where_nothing_is_shown() -> None:
    assert all(write.elsewhere or write.not_shown for write in ATTEMPTS.values())


@pytest.mark.parametrize("name", [name for name, write in ATTEMPTS.items() if write.elsewhere])
def test_succeeds_without_its_guard(spec: Spec, name: str) -> None:
    elsewhere = ATTEMPTS[name].elsewhere
    assert elsewhere is not None
    assert elsewhere(spec, ATTEMPTS[name].script)


MARKS = {
    "an opaque mark": "setxattr('folder', 'user.overlay.opaque', b'y')",
    "a redirection": "setxattr('folder', 'user.overlay.redirect', b'/../../../etc')",
    "a redirection of a new folder": "mkdir('new'); os.setxattr('new', 'user.overlay.redirect', b'/folder')",
    "an origin": "setxattr('a.txt', 'user.overlay.origin', b'x' * 32)",
    "a copy without data": "setxattr('a.txt', 'user.overlay.metacopy', b'')",
    "a mark of the trusted kind": "setxattr('a.txt', 'trusted.overlay.redirect', b'/etc')",
    "a whiteout": "mknod('a.txt.new', 0o20000, 0); os.rename('a.txt.new', 'a.txt')",
    "a mark on what a whiteout means": "setxattr('folder', 'user.overlay.whiteout', b'')",
}
INERT = ("a redirection of a new folder", "an origin", "a mark of the trusted kind", "a mark on what a whiteout means")
"""Not shown: even in the layer itself the kernel gives them no meaning for an overlay of this kind."""
UNCHANGED = 'test "$(cat a.txt)" = a && test "$(ls folder)" = b.txt && test ! -e new/b.txt && test ! -e new/passwd'


def marking(name: str) -> str:
    return f"import os\ntry:\n    os.{MARKS[name]}\nexcept OSError:\n    pass\n"


@pytest.mark.parametrize("name", MARKS)
def test_no_mark_of_the_overlay_s_own_changes_the_view(spec: Spec, name: str) -> None:
    """Guard: the session sees the merged view, in which the kernel keeps its marks out of reach; redirect_dir=nofollow."""
    attempt(spec, f"python - <<'END'\n{marking(name)}\nEND")
    assert attempt(spec, UNCHANGED)


@pytest.mark.parametrize("name", sorted({*MARKS} - {*INERT}))
def test_a_mark_in_the_layer_itself_would(spec: Spec, name: str) -> None:
    """The same where a session reaches its layer. (There is none to reach where the workspace is a copy.)"""
    assert spec.workspace is not None
    if spec.workspace.backing == "overlay":
        assert attempt(spec, "touch folder/x a.txt && rm folder/x")  # so that both stand in the layer
        subprocess.run([sys.executable, "-c", marking(name)], cwd=spec.workspace.upper / "data", check=True)
        assert not attempt(spec, UNCHANGED)
