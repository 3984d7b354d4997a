"""A sandbox is as good as its smallest hole. Incident behind one of these: run by root, the agent's user was root's own, and
without a single capability it could have written /proc/sys/kernel/core_pattern, that is, run any program on the host.
"""

from __future__ import annotations

import os

import pytest

from bench.effects.sandbox.bwrap import Guards
from tests.threats.sandbox.probing import BARE, Attempt, Probe, unguarded

UNFILTERED = Guards(seccomp=False)
NESTED = Guards(seccomp=False, disable_userns=False)
AS_ROOT = (Guards(readonly_sysctl=False, masked=False),) if os.getuid() == 0 else ()
"""An ordinary user's agent may not write there anyway."""
REFUSED = "PermissionError"

ATTEMPTS = {
    "mounting_a_tmpfs": Attempt(REFUSED),
    "mounting_the_host_s_disk": Attempt(REFUSED),
    "mounting_proc_again": Attempt(REFUSED),
    "mounting_control_groups": Attempt(REFUSED),
    "remounting_writable": Attempt(REFUSED),
    "unmounting_what_covers": Attempt(REFUSED),
    "a_mount_of_the_new_kind": Attempt(REFUSED),
    "cloning_a_mount": Attempt(REFUSED),
    "lifting_read_only": Attempt(REFUSED),
    "listing_mounts_by_call": Attempt(REFUSED, (UNFILTERED,), kernel=True),
    "changing_root": Attempt(REFUSED),
    "pivoting": Attempt(REFUSED),
    "a_user_namespace": Attempt(REFUSED, (NESTED,)),
    "a_user_namespace_by_clone": Attempt(REFUSED, (NESTED,)),
    "a_user_namespace_by_clone3": Attempt("Function not implemented", (NESTED,)),
    "a_mount_namespace": Attempt(REFUSED),
    "a_process_namespace": Attempt(REFUSED),
    "namespaces_of_pid_1": Attempt(REFUSED),
    "namespaces_of_pid_1_by_pidfd": Attempt(REFUSED),
    "a_new_map_of_users": Attempt(REFUSED),
    "becoming_root": Attempt("OSError"),
    "becoming_somebody": Attempt(REFUSED),
    "capabilities": Attempt("[]"),
    "regaining_privileges_by_exec": Attempt("[]"),
    "a_set_user_id_program": Attempt("None"),
    "a_mount_without_nosuid": Attempt("[]", (BARE,)),
    "a_capability_on_a_file": Attempt(REFUSED),
    "a_device_node": Attempt(REFUSED),
    "memory_of_the_machine": Attempt("FileNotFoundError"),
    "a_program_for_core_dumps": Attempt("core_pattern", AS_ROOT),
    "any_setting_of_the_kernel": Attempt("[]", AS_ROOT),
    "anything_else_of_the_machine_in_proc": Attempt("[]", AS_ROOT),
    "magic_system_request": Attempt("Error"),
    "typing_into_a_terminal": Attempt(REFUSED, (UNFILTERED,), kernel=True),
    "typing_into_a_terminal_with_high_bits": Attempt(REFUSED, (UNFILTERED,), kernel=True),
    "the_terminal_of_the_harness": Attempt("No such device or address"),
    "a_kernel_program": Attempt(REFUSED),
    "asynchronous_calls_around_the_filter": Attempt(REFUSED, (UNFILTERED,), kernel=True),
    "page_faults_in_user_space": Attempt(REFUSED, (UNFILTERED,), kernel=True),
    "performance_counters": Attempt(REFUSED),
    "a_kernel_module": Attempt(REFUSED),
    "another_kernel": Attempt(REFUSED),
    "restarting_the_machine": Attempt(REFUSED),
    "setting_the_clock": Attempt(REFUSED),
    "naming_the_host": Attempt(REFUSED),
    "another_personality": Attempt(REFUSED, (UNFILTERED,), kernel=True),
    "quotas": Attempt(REFUSED),
    "accounting": Attempt(REFUSED),
    "watching_every_file": Attempt(REFUSED, (UNFILTERED,), kernel=True),
    "keyrings": Attempt(REFUSED, (UNFILTERED,), kernel=True),
    "a_local_descriptor_table": Attempt(REFUSED, (UNFILTERED,), kernel=True),
    "ports_of_the_machine": Attempt(REFUSED),
    "calls_of_the_32_bit_kind": Attempt("killed", (UNFILTERED,), kernel=True),
    "calls_of_the_x32_kind": Attempt("Function not implemented"),
    "climbing_out_by_an_open_directory": Attempt("False"),
    "a_nested_sandbox_of_one_s_own": Attempt("False", (NESTED,)),
    "real_time_priority": Attempt(REFUSED),
    "a_better_place_in_the_queue": Attempt(REFUSED),
    "safety_from_the_memory_killer": Attempt(REFUSED),
    "higher_limits": Attempt("not allowed to raise"),
}


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Probe:
    return Probe("escape", {}, ATTEMPTS, tmp_path_factory.mktemp("host"))


@pytest.mark.parametrize("name", ATTEMPTS)
def test_there_is_no_way_out(probe: Probe, name: str) -> None:
    probe.fails(name)


@pytest.mark.parametrize(("name", "index"), unguarded(ATTEMPTS))
def test_the_attempt_succeeds_without_its_guard(probe: Probe, name: str, index: int) -> None:
    probe.succeeds_without(name, index)
