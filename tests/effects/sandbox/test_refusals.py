"""A machine that cannot is told what to change."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bench.effects.sandbox import refusals
from bench.errors import SandboxRefused


def test_what_was_said_is_passed_on_in_one_line() -> None:
    refused = refusals.explain("bwrap: setting up uid map:\n Permission denied\n")
    assert isinstance(refused, SandboxRefused)
    assert refused.exit_code == 3
    assert "bwrap: setting up uid map: Permission denied" in str(refused)
    assert "\n" not in str(refused)


def test_silence_is_named_too() -> None:
    assert "ended before its command began" in str(refusals.explain(""))


def test_every_setting_comes_with_the_command_that_changes_it() -> None:
    for path, value, remedy in refusals.SETTINGS:
        name = path.removeprefix("/proc/sys/").replace("/", ".")
        assert f"{name}=" in remedy
        assert f"{name}={value}" not in remedy


def test_a_machine_without_user_namespaces_is_refused_and_the_setting_named() -> None:
    script = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$0" -c "$1"'
    asking = "from bench.effects.sandbox import runner\nrunner.check()"
    command = ["unshare", "--user", "--map-root-user", "sh", "-c", script, sys.executable, asking]
    done = subprocess.run(command, cwd=Path(__file__).parents[3], capture_output=True, check=False)
    said = done.stderr.decode().splitlines()[-1]
    assert said.startswith("bench.errors.SandboxRefused: /proc/sys/user/max_user_namespaces: ")
    assert said.endswith("sudo sysctl -w user.max_user_namespaces=10000")
