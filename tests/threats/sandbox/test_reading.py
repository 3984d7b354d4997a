"""A session that reads the oracle has solved nothing, and one that reads the host has stolen. Incidents behind these:

a harness whose environment and mount arguments showed through bubblewrap's own pid 1, a mountinfo that named user and
project, an interpreter whose files named its owner's home, an oracle left in a readable directory beside the workspace.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench.effects.sandbox import Bind, Limits, Spec, Workspace, runner, view
from bench.effects.sandbox.bwrap import Guards
from tests.threats.sandbox.probing import BARE, OPENED, PLAIN, Attempt, Probe, as_root, numbers, shown

MARKER = "oracle-3f1c-expected-answer"
SECRET = "https://user:hunter2-7d1e@index.invalid/simple"
KEY = "assay-threat-suite"
FOREIGN_INIT = Guards(own_init=False, undumpable=False, empty_environment=False)
UNMASKED = Guards(masked=False)
DUMPABLE = Guards(undumpable=False)
ABSENT = "FileNotFoundError"
PREFIX = str(Path(sys.base_exec_prefix))
NAMELESS = "no prefix that could name anybody"

ATTEMPTS = {
    "oracle_by_its_host_path": Attempt(ABSENT, (BARE, OPENED)),
    "oracle_through_own_root": Attempt(ABSENT, (BARE, OPENED)),
    "oracle_through_root_of_pid_1": Attempt("PermissionError", (BARE,)),
    "oracle_through_cwd_of_pid_1": Attempt("PermissionError", (BARE,)),
    "oracle_by_climbing": Attempt(ABSENT, (BARE, OPENED)),
    "oracle_through_a_planted_link": Attempt(ABSENT, (BARE, OPENED)),
    "oracle_through_the_stage": Attempt("None", (Guards(stage_unseen=False),)),
    "oracle_through_inherited_descriptors": Attempt("[]", (BARE,)),
    "oracle_by_searching_everything": Attempt("[]", (OPENED,)),
    "oracle_by_handle": Attempt("PermissionError", as_root(BARE), kernel=True, not_shown="only root opens by handle"),
    "home_of_the_host": Attempt(ABSENT, (BARE, OPENED)),
    "homes_of_others": Attempt("[]", (BARE,)),
    "secret_in_own_environment": Attempt("[]", (BARE,)),
    "secret_in_anyone_s_environment": Attempt("[]", (FOREIGN_INIT,)),
    "environment_of_pid_1": Attempt("PermissionError", (DUMPABLE, FOREIGN_INIT)),
    "memory_of_pid_1": Attempt("PermissionError", (DUMPABLE,)),
    "mappings_of_pid_1": Attempt("PermissionError", (DUMPABLE,)),
    "descriptors_of_pid_1": Attempt("PermissionError", (DUMPABLE,)),
    "mount_arguments_in_a_command_line": Attempt("[]", (PLAIN,)),
    "processes_of_the_host": Attempt("False", (BARE,)),
    "more_processes_than_one_s_own": Attempt("None", (BARE,)),
    "host_name": Attempt("[]", (BARE, Guards(unshare_uts=False))),
    "project_and_user_in_mountinfo": Attempt("[]", (Guards(neutral_mounts=False),)),
    "project_and_user_in_any_account_file": Attempt("[]", (BARE,)),
    "home_of_the_interpreter_in_its_files": Attempt("None", (BARE,), kernel=True),
    "packages_of_the_host": Attempt("[]", (BARE,)),
    "what_somebody_installed_in_usr_local": Attempt("[]", (UNMASKED,), kernel=True),
    "boot_parameters_of_the_host": Attempt("''", (UNMASKED,)),
    "identity_of_this_boot": Attempt("''", (UNMASKED,)),
    "disks_of_the_host": Attempt("''", (UNMASKED,)),
    "kernel_log": Attempt("PermissionError", (BARE,), kernel=True),
    "devices_of_the_host": Attempt("[]", (BARE,)),
    "hardware_in_sys": Attempt(ABSENT, (BARE,)),
    "settings_of_the_machine": Attempt("[]", (BARE,)),
    "keys_of_the_session": Attempt("PermissionError", (Guards(seccomp=False, own_keyring=False),)),
    "keys_of_this_user_by_listing": Attempt("''", (Guards(masked=False, own_keyring=False),), kernel=True),
    "control_groups_of_the_host": Attempt("[]", (Guards(unshare_cgroup=False),), kernel=True),
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
        "prefix": PREFIX if len(PREFIX) > len("/opt/python") else NAMELESS,
        "python": "/opt/python",
        "key": KEY,
        "handle": _handle(home / "oracle.txt").hex(),
    }
    workspace = Workspace(home / "template", home / "upper", runner.choose_backing(home))
    runner.prepare(workspace)
    _add_key()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_INDEX_URL", SECRET)
        spec = Spec((), workspace, limits=Limits(seconds=120))
        opened = replace(spec, readonly=(Bind(home, str(home)),))
        yield Probe(("reading",), ATTEMPTS, facts, home, spec, opened, bare_facts={"python": f"{PREFIX}/bin"})
    runner.discard(workspace)


def _add_key() -> None:
    # In this process's session keyring, which every child inherits that does not join another.
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(ctypes.c_long(numbers()["add_key"]), b"user", KEY.encode(), b"value", ctypes.c_size_t(5), ctypes.c_long(-3))


def _handle(path: Path) -> bytes:
    # What name_to_handle_at gives for it; any handle where the file system has none.
    handle, mount = ctypes.create_string_buffer(struct.pack("I", 128), 8 + 128), ctypes.c_int()
    if ctypes.CDLL(None).name_to_handle_at(-100, os.fsencode(path), handle, ctypes.byref(mount), 0) != 0:
        return struct.pack("IiI", 8, 1, 2) + bytes(4)
    return handle.raw


@pytest.mark.parametrize("name", ATTEMPTS)
def test_refused(probe: Probe, name: str) -> None:
    probe.refused(name)


@pytest.mark.parametrize("name", shown(ATTEMPTS))
def test_succeeds_without_its_guard(probe: Probe, name: str) -> None:
    probe.succeeds(name)
