"""`bench/core/gate.py` is held by `tests/core/test_gate.py`. What has no mirror says here which tests hold it instead."""

from __future__ import annotations

from pathlib import Path

import bench

TESTS = Path(__file__).parent
HOME = Path(bench.__file__).parent

ELSEWHERE = {
    "core/model_access": "core/test_model_routes.py",
    "core/promotion_facts": "core/test_promotion.py",
    "core/promotion_sides": "core/test_promotion.py",
    "core/promotion_text": "core/test_promotion.py",
    "core/protocols": "core/test_keys.py",
    "core/schema_plain": "core/test_schema.py",
    "core/stats/levels": "core/stats/test_compared.py",
    "core/suite": "core/test_corpus.py",
    "effects/clock": "make/test_execute.py",
    "effects/context": "make/test_execute.py",
    "effects/engines/claude/inside/": "effects/engines/claude/test_relay.py",
    "effects/env": "effects/test_git.py",
    "effects/executors/": "make/test_execute.py",
    "effects/gateway/calls": "effects/gateway/test_door.py",
    "effects/gateway/keys": "threats/gateway/test_proxy_reached_without_its_door.py",
    "effects/gateway/plugin": "threats/gateway/test_callback_loaded_by_path.py",
    "effects/gateway/process": "threats/gateway/test_proxy_that_ends_early.py",
    "effects/gateway/supervisor": "threats/gateway/test_proxy_outliving_its_harness.py",
    "effects/grading/artifacts": "effects/sessions/test_rehearsal.py",
    "effects/grading/inside/": "effects/grading/test_verifiers.py",
    "effects/grading/on_host": "make/test_unsafe_host.py",
    "effects/grading/programs": "effects/grading/test_staging.py",
    "effects/graphtools/inside/": "effects/graphtools/test_graphtools.py",
    "effects/interpreter": "effects/test_wheels.py",
    "effects/list_prices": "effects/test_llm.py",
    "effects/programs": "make/test_stamp.py",
    "effects/sandbox/": "conformance/test_sandbox.py",
    "effects/sessions/playing": "steps/test_session.py",
    "effects/sources/sdist": "effects/sources/test_archive.py",
    "effects/swap/": "effects/swap/test_swap.py",
    "layout": "test_layers.py",
    "make/backend": "make/test_doit_contract.py",
    "make/cells": "make/test_pipeline.py",
    "make/checker": "make/test_doit_contract.py",
    "make/commands/": "make/test_commands.py",
    "make/conduct": "make/test_run.py",
    "make/costs": "make/test_admission.py",
    "make/decide": "threats/test_reuse_without_proof.py",
    "make/gateways": "make/test_gates.py",
    "make/laid_out": "make/test_promotions.py",
    "make/load": "test_dodo.py",
    "make/plugged": "make/test_plugin_arms.py",
    "make/progress": "make/test_run.py",
    "make/recheck": "make/test_promotions.py",
    "make/recording": "threats/test_recorded_sweep.py",
    "make/reporter": "make/test_run.py",
    "make/rows": "make/test_pipeline.py",
    "make/step": "make/test_pipeline.py",
    "make/variables": "make/test_commands.py",
    "make/verdicts": "make/test_promotions.py",
    "steps/preflight": "threats/test_broken_layers.py",
}
"""Module, or folder with `/` at its end → a file below tests/: for what is one thing with its caller, or runs elsewhere."""


def modules() -> list[str]:
    paths = [path.relative_to(HOME).with_suffix("") for path in HOME.rglob("*.py")]
    return sorted(path.as_posix() for path in paths if path.name not in ("__init__", "__main__"))


def mirror(module: str) -> Path:
    return TESTS / Path(module).parent / f"test_{Path(module).name}.py"


def held_elsewhere(module: str) -> list[str]:
    return [name for name in ELSEWHERE if module == name or (name.endswith("/") and module.startswith(name))]


def test_every_module_has_its_tests() -> None:
    assert [module for module in modules() if not mirror(module).is_file() and not held_elsewhere(module)] == []


def test_what_is_said_of_other_places_holds() -> None:
    assert [name for name, place in ELSEWHERE.items() if not (TESTS / place).is_file()] == []
    without = [module for module in modules() if not mirror(module).is_file()]
    assert [name for name in ELSEWHERE if not any(name in held_elsewhere(module) for module in without)] == []
