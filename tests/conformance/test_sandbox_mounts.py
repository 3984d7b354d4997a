"""What a sandbox shows of the host, on every backing, and what its inside looks like."""

from __future__ import annotations

import json
import socket
import sys
import tempfile
from pathlib import Path

import pytest

from bench.effects.interpreter import minor
from bench.effects.sandbox import DEPENDENCIES, PYTHON, Bind, Spec, Workspace, interpreter, runner, view
from bench.errors import StepFailed
from tests.conformance.sandboxing import python, sh


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


def test_devices_work_as_everywhere() -> None:
    done = sh(
        "echo x > /dev/null; head -c 4 /dev/zero | wc -c; head -c 8 /dev/urandom | wc -c; echo x > /dev/full || echo full"
    )
    assert (done.exit, done.stdout) == (0, b"4\n8\nfull\n")
