"""A sandbox is as good as its smallest hole. Incident behind one of these: run by root, the agent's user was root's own, and
without a single capability it could have written /proc/sys/kernel/core_pattern, that is, run any program on the host. And it
could have taken /dev/null or /proc/meminfo from everybody, by its mode: what a sandbox shows there is the host's own.

Where a success would harm the machine (another kernel, a restart, the clock), it asks with arguments that the kernel
cannot use: it looks at the right first, so whoever gets as far as the other error would have been let through.
"""

from __future__ import annotations

import pytest

from bench.effects.sandbox.bwrap import Guards
from tests.threats.sandbox.probing import BARE, PLAIN, TERMINAL, Attempt, Probe, as_root, shown

UNFILTERED = Guards(seccomp=False)
NESTED = Guards(seccomp=False, disable_userns=False)
UNMAPPED = Guards(seccomp=False, disable_userns=False, readonly_proc=False)
OPEN_PROC = Guards(readonly_proc=False)
OPEN_DEVICES = Guards(readonly_devices=False)
WRITABLE_PROC = as_root(Guards(readonly_proc=False, readonly_sysctl=False, masked=False))
ROOTS = "an ordinary user's agent may not do it on the bare host either"
REFUSED = "PermissionError"

ATTEMPTS = {
    "mounting_a_tmpfs": Attempt(REFUSED, (PLAIN,)),
    "mounting_the_host_s_disk": Attempt(REFUSED, not_shown="only root of the machine mounts disks, and this one is in use"),
    "mounting_proc_again": Attempt(REFUSED, (PLAIN,), kernel=True),
    "mounting_control_groups": Attempt(REFUSED, (PLAIN,), kernel=True),
    "remounting_writable": Attempt(REFUSED, (PLAIN,)),
    "unmounting_what_covers": Attempt(REFUSED, (PLAIN,)),
    "a_mount_of_the_new_kind": Attempt(REFUSED, (PLAIN,)),
    "cloning_a_mount": Attempt(REFUSED, (PLAIN,)),
    "lifting_read_only": Attempt(REFUSED, (PLAIN,)),
    "listing_mounts_by_call": Attempt(REFUSED, (UNFILTERED,), kernel=True),
    "changing_root": Attempt(REFUSED, (PLAIN,)),
    "pivoting": Attempt(REFUSED, (PLAIN,)),
    "climbing_out_by_an_open_directory": Attempt("False", (PLAIN,)),
    "a_user_namespace": Attempt(REFUSED, (NESTED,)),
    "a_user_namespace_by_clone": Attempt(REFUSED, (NESTED,)),
    "a_user_namespace_by_clone3": Attempt("Function not implemented", (NESTED,)),
    "a_mount_namespace": Attempt(REFUSED, (PLAIN,)),
    "a_process_namespace": Attempt(REFUSED, (PLAIN,)),
    "namespaces_of_pid_1": Attempt(REFUSED, (PLAIN,)),
    "namespaces_of_pid_1_by_pidfd": Attempt(REFUSED, (PLAIN,)),
    "a_new_map_of_users": Attempt("Read-only file system", (UNMAPPED,)),
    "a_nested_sandbox_of_one_s_own": Attempt("False", (UNMAPPED,)),
    "becoming_root": Attempt("OSError", (PLAIN,)),
    "becoming_somebody": Attempt(REFUSED, as_root(BARE), not_shown=ROOTS),
    "capabilities": Attempt("[]", (PLAIN,)),
    "regaining_privileges_by_exec": Attempt("[]", (BARE,)),
    "a_set_user_id_program": Attempt("None", (BARE,), kernel=True),
    "a_mount_without_nosuid": Attempt("[]", (BARE,)),
    "a_capability_on_a_file": Attempt(REFUSED, (PLAIN,)),
    "a_device_node": Attempt(REFUSED, as_root(BARE), kernel=True, not_shown=ROOTS),
    "memory_of_the_machine": Attempt("FileNotFoundError", as_root(BARE), kernel=True, not_shown=ROOTS),
    "a_device_of_the_host_closed_to_all": Attempt("Read-only file system", as_root(OPEN_DEVICES), not_shown=ROOTS),
    "a_file_of_proc_closed_to_all": Attempt("Read-only file system", as_root(OPEN_PROC), not_shown=ROOTS),
    "a_note_in_the_times_of_a_device": Attempt("Read-only file system", (OPEN_DEVICES,)),
    "a_program_for_core_dumps": Attempt("core_pattern", WRITABLE_PROC, not_shown=ROOTS),
    "any_setting_of_the_kernel": Attempt("[]", WRITABLE_PROC, not_shown=ROOTS),
    "anything_else_of_the_machine_in_proc": Attempt("[]", WRITABLE_PROC, not_shown=ROOTS),
    "magic_system_request": Attempt("Error", as_root(BARE), kernel=True, not_shown=ROOTS),
    "naming_the_host": Attempt(REFUSED, (PLAIN,)),
    "real_time_priority": Attempt(REFUSED, as_root(BARE), kernel=True, not_shown=ROOTS),
    "a_better_place_in_the_queue": Attempt(REFUSED, as_root(BARE), kernel=True, not_shown=ROOTS),
    "safety_from_the_memory_killer": Attempt("Read-only file system", as_root(BARE), kernel=True, not_shown=ROOTS),
    "higher_limits": Attempt("not allowed to raise", (BARE,)),
    "typing_into_a_terminal": Attempt(REFUSED, (UNFILTERED,), kernel=True),
    "typing_into_a_terminal_with_high_bits": Attempt(REFUSED, (UNFILTERED,), kernel=True),
    "the_terminal_of_the_harness": Attempt("No such device or address", (TERMINAL,)),
    "a_kernel_program": Attempt(REFUSED, as_root(BARE), kernel=True, not_shown=ROOTS),
    "asynchronous_calls_around_the_filter": Attempt(REFUSED, (UNFILTERED,), kernel=True),
    "page_faults_in_user_space": Attempt(REFUSED, (UNFILTERED,), kernel=True),
    "performance_counters": Attempt(REFUSED, (BARE,), kernel=True),
    "a_kernel_module": Attempt(REFUSED, as_root(BARE), kernel=True, not_shown=ROOTS),
    "another_kernel": Attempt(REFUSED, as_root(BARE), kernel=True, not_shown=ROOTS),
    "restarting_the_machine": Attempt(REFUSED, (PLAIN,)),
    "setting_the_clock": Attempt(REFUSED, as_root(BARE), kernel=True, not_shown=ROOTS),
    "another_personality": Attempt(REFUSED, (UNFILTERED,), kernel=True),
    "quotas": Attempt(REFUSED, (UNFILTERED,), kernel=True),
    "accounting": Attempt(REFUSED, as_root(BARE), kernel=True, not_shown=ROOTS),
    "watching_every_file": Attempt(REFUSED, (UNFILTERED,), kernel=True),
    "keyrings": Attempt(REFUSED, (UNFILTERED,), kernel=True),
    "a_local_descriptor_table": Attempt(REFUSED, (UNFILTERED,), kernel=True),
    "ports_of_the_machine": Attempt(REFUSED, as_root(BARE), kernel=True, not_shown=ROOTS),
    "calls_of_the_32_bit_kind": Attempt("killed", (UNFILTERED,), kernel=True),
    "calls_of_the_x32_kind": Attempt("Function not implemented", (UNFILTERED,), kernel=True),
}


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Probe:
    return Probe(("mounts", "namespaces", "privileges", "kernel"), ATTEMPTS, {}, tmp_path_factory.mktemp("host"))


@pytest.mark.parametrize("name", ATTEMPTS)
def test_refused(probe: Probe, name: str) -> None:
    probe.refused(name)


@pytest.mark.parametrize("name", shown(ATTEMPTS))
def test_succeeds_without_its_guard(probe: Probe, name: str) -> None:
    probe.succeeds(name)
