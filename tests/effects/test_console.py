"""pydoit 59 and others: printing that died on an encoding, on a closed pipe, on a control character."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.effects import console

HOME = str(Path(console.__file__).parents[2])


def run(code: str, *, encoding: str = "utf-8", **more: object) -> subprocess.CompletedProcess[bytes]:
    env = os.environ | {"PYTHONPATH": HOME, "PYTHONIOENCODING": encoding}
    command = [sys.executable, "-c", f"from bench.effects import console\n{code}"]
    return subprocess.run(command, env=env, capture_output=True, check=False, **more)


@pytest.mark.parametrize(("encoding", "expected"), [("latin-1", b"\\u2603 \xe9\n"), ("ascii", b"\\u2603 \\xe9\n")])
def test_what_a_terminal_cannot_show_is_escaped(encoding: str, expected: bytes):
    done = run("console.say('☃ é')", encoding=encoding)
    assert (done.stdout, done.returncode) == (expected, 0)


def test_a_lone_surrogate_is_shown_not_raised():
    done = run(r"console.say('a\udcffb')")
    assert (done.stdout, done.returncode) == (b"a\\udcffb\n", 0)


def test_doits_own_printing_is_tolerant_too():
    done = run("console.tolerate(); print('☃')", encoding="latin-1")
    assert (done.stdout, done.returncode) == (b"\\u2603\n", 0)


@pytest.mark.parametrize("target", ["/dev/full"])
def test_a_full_disk_behind_stdout_does_not_end_the_work(target: str):
    code = "import sys\nfor _ in range(3): console.say('x' * 10000)\nsys.exit(7)"
    with open(target, "wb") as out:
        env = os.environ | {"PYTHONPATH": HOME}
        command = [sys.executable, "-c", f"from bench.effects import console\n{code}"]
        done = subprocess.run(command, env=env, stdout=out, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (7, b"")


def test_a_reader_that_has_gone_does_not_end_the_work():
    read, write = os.pipe()
    os.close(read)
    code = "import sys\nfor _ in range(3): console.say('x' * 10000)\nsys.exit(7)"
    env = os.environ | {"PYTHONPATH": HOME}
    command = [sys.executable, "-c", f"from bench.effects import console\n{code}"]
    done = subprocess.run(command, env=env, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (7, b"")


def test_no_stdout_at_all():
    done = run("import sys; sys.stdout = None; console.say('x'); sys.exit(7)")
    assert (done.returncode, done.stderr) == (7, b"")


@given(st.text())
def test_foreign_text_stays_on_its_line(text: str):
    shown = console.visible(text)
    assert shown.isprintable() or shown == ""
    if text.isprintable():
        assert shown == text


def test_control_characters_are_escapes():
    assert console.visible("a\x1b[31m\nb\u2028\u202e") == "a\\x1b[31m\\nb\\u2028\\u202e"
