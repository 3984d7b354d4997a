"""A session that reads the oracle has solved nothing, and one that reads the host has stolen. Incidents behind these:

a harness whose environment and mount arguments showed through bubblewrap's own pid 1, a mountinfo that named user and
project, an interpreter whose files named its owner's home, an oracle left in a readable directory beside the workspace.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.effects.sandbox import Spec, Workspace, runner, view
from bench.effects.sandbox.bwrap import Guards
from tests.threats.sandbox.probing import BARE, Attempt, Probe, numbers, unguarded

MARKER = "oracle-3f1c-expected-answer"
SECRET = "https://user:hunter2-7d1e@index.invalid/simple"
KEY = "assay-threat-suite"
FOREIGN_INIT = Guards(own_init=False, undumpable=False, empty_environment=False)
ABSENT = "FileNotFoundError"

ATTEMPTS = {
    "oracle_by_its_host_path": Attempt(ABSENT, (BARE,)),
    "oracle_through_own_root": Attempt(ABSENT, (BARE,)),
    "oracle_through_root_of_pid_1": Attempt("PermissionError"),
    "oracle_through_cwd_of_pid_1": Attempt("PermissionError"),
    "oracle_by_climbing": Attempt(ABSENT, (BARE,)),
    "oracle_through_a_planted_link": Attempt(ABSENT),
    "oracle_through_the_stage": Attempt("None"),
    "oracle_through_inherited_descriptors": Attempt("[]"),
    "oracle_by_searching_everything": Attempt("[]"),
    "oracle_by_handle": Attempt("PermissionError"),
    "home_of_the_host": Attempt(ABSENT, (BARE,)),
    "homes_of_others": Attempt("[]"),
    "secret_in_own_environment": Attempt("[]", (BARE,)),
    "secret_in_anyone_s_environment": Attempt("[]", (FOREIGN_INIT,)),
    "environment_of_pid_1": Attempt("PermissionError", (Guards(undumpable=False), FOREIGN_INIT)),
    "memory_of_pid_1": Attempt("PermissionError", (Guards(undumpable=False),)),
    "mappings_of_pid_1": Attempt("PermissionError", (Guards(undumpable=False),)),
    "descriptors_of_pid_1": Attempt("PermissionError", (Guards(undumpable=False),)),
    "mount_arguments_in_a_command_line": Attempt("[]"),
    "processes_of_the_host": Attempt("False", (BARE,)),
    "more_processes_than_one_s_own": Attempt("None", (BARE,)),
    "host_name": Attempt("[]", (BARE, Guards(unshare_uts=False))),
    "project_and_user_in_mountinfo": Attempt("[]", (Guards(neutral_mounts=False),)),
    "project_and_user_in_any_account_file": Attempt("[]", (BARE,)),
    "home_of_the_interpreter_in_its_files": Attempt("[]"),
    "packages_of_the_host": Attempt("[]", (BARE,)),
    "what_somebody_installed_in_usr_local": Attempt("[]"),
    "boot_parameters_of_the_host": Attempt("''", (Guards(masked=False),)),
    "identity_of_this_boot": Attempt("''", (Guards(masked=False),)),
    "disks_of_the_host": Attempt("''", (Guards(masked=False),)),
    "kernel_log": Attempt("PermissionError"),
    "devices_of_the_host": Attempt("[]", (BARE,)),
    "hardware_in_sys": Attempt(ABSENT, (BARE,)),
    "machine_identity": Attempt(ABSENT),
    "keys_of_the_session": Attempt("PermissionError", (Guards(seccomp=False, own_keyring=False),)),
    "keys_of_this_user_by_listing": Attempt("''"),
    "control_groups_of_the_host": Attempt("[]"),
}


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Probe]:
    home = tmp_path_factory.mktemp("project-of-somebody")
    (home / "oracle.txt").write_text(MARKER)
    (home / "private").write_text("private")
    (home / "template").mkdir()
    facts = {
        "oracle": str(home / "oracle.txt"),
        "folder": str(home),
        "marker": MARKER,
        "secret": SECRET,
        "pid": os.getpid(),
        "host": os.uname().nodename,
        "names": ["project-of-somebody", str(Path.home()) + "/"],
        "accounts": [line.split(":")[0] for name in ("passwd", "group") for line in view.ETC[name].decode().split()],
        "prefix": str(Path(sys.base_exec_prefix)) if len(sys.base_exec_prefix) > 12 else "no prefix that could name anybody",
        "python": "/opt/python",
        "key": KEY,
    }
    workspace = Workspace(home / "template", home / "upper", runner.choose_backing(home))
    runner.prepare(workspace)
    _add_key()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_INDEX_URL", SECRET)
        yield Probe("reading", facts, ATTEMPTS, home, Spec((), workspace))
    runner.discard(workspace)


def _add_key() -> None:
    # In this process's session keyring, which every child inherits that does not join another.
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(ctypes.c_long(numbers()["add_key"]), b"user", KEY.encode(), b"value", ctypes.c_size_t(5), ctypes.c_long(-3))


@pytest.mark.parametrize("name", ATTEMPTS)
def test_nothing_is_read(probe: Probe, name: str) -> None:
    probe.fails(name)


@pytest.mark.parametrize(("name", "index"), unguarded(ATTEMPTS))
def test_the_attempt_succeeds_without_its_guard(probe: Probe, name: str, index: int) -> None:
    probe.succeeds_without(name, index)
