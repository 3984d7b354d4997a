"""inspect_ai 5296: a configuration with its defaults spelt out had another digest than the same one without them."""

from __future__ import annotations

import json
from typing import Any

from bench.core import keys, session_params
from tests.core import suites

EXPLICIT: dict[str, Any] = {
    "profile": "implementation",
    "effort": None,
    "retries": 1,
    "graph": "none",
    "env_aliases": {},
    "default": False,
}


def signatures(**changes: Any) -> list[str]:
    suite = suites.parse(suites.SUITE | changes)
    found = []
    for task in suite.tasks:
        for arm in suite.arms:
            params = session_params.of(suite, task, arm)
            found.append(keys.signature("session", 1, json.loads(json.dumps(params)), [], None))
    return found


def test_they_give_the_same_keys():
    assert signatures(**EXPLICIT) == signatures()


def test_whole_numbers_are_one_however_they_are_written():
    assert signatures(limits={"session_s": 600.0, "setup_s": 120.0}) == signatures()


def test_a_limit_on_setups_is_no_part_of_a_session_that_has_none():
    assert signatures(limits={"setup_s": 30}) == signatures()
    for more in ({"setup": "true"}, {"patch": "reviews/case.patch"}):
        tasks = [suites.task(**more)]
        assert signatures(tasks=tasks, limits={"setup_s": 30}) != signatures(tasks=tasks), more
