"""What phases of a test amount to, and which stacks are the runner's own."""

from __future__ import annotations

import sys
import types

import pytest

from bench.effects.grading.inside import keeper

GOOD, RED, SKIP, XFAIL = ("passed", False), ("failed", False), ("skipped", False), ("skipped", True)
WORDS = [
    ({"setup": [GOOD], "call": [GOOD], "teardown": [GOOD]}, "passed"),
    ({"setup": [GOOD], "call": [RED], "teardown": [GOOD]}, "failed"),
    ({"setup": [GOOD], "call": [RED, GOOD], "teardown": [GOOD]}, "failed"),
    ({"setup": [RED], "teardown": [GOOD]}, "error"),
    ({"setup": [GOOD], "call": [GOOD], "teardown": [RED]}, "error"),
    ({"setup": [SKIP], "teardown": [GOOD]}, "skipped"),
    ({"setup": [GOOD], "call": [XFAIL], "teardown": [GOOD]}, "xfailed"),
    ({"setup": [GOOD], "call": [("passed", True)], "teardown": [GOOD]}, "xpassed"),
    ({"setup": [GOOD], "teardown": [GOOD]}, "error"),
    ({"setup": [GOOD], "call": [GOOD]}, "error"),
    ({}, "error"),
]


@pytest.mark.parametrize(("phases", "word"), WORDS)
def test_one_word_for_the_phases_of_a_test(phases: keeper.Phases, word: str) -> None:
    assert keeper.one_word(phases) == word


RUNNER = """
def send(judge, code): return judge(__import__('sys')._getframe(), code)
def outer(call): return call()
def launch(call): return call()
"""


def runner() -> types.ModuleType:
    module = types.ModuleType("runner")
    exec(compile(RUNNER, "runner", "exec"), vars(module))
    return module


def test_only_the_runners_own_code_between_sender_and_launcher_is_believed() -> None:
    module = runner()
    judge = keeper.genuine(keeper.homes([module]), module.launch.__code__)
    code = module.send.__code__
    assert module.send(judge, code) is False, "nobody launched"
    # The lambdas belong to this test: foreign code on the stack.
    assert module.launch(lambda: module.send(judge, code)) is False
    exec("def between(judge, code): return outer(lambda: send(judge, code))", vars(module))
    known = keeper.genuine(keeper.homes([module]), module.launch.__code__)
    exec("def begin(judge, code): return launch(lambda: between(judge, code))", vars(module))
    assert keeper.genuine(keeper.homes([module]), module.begin.__code__)(sys._getframe(), code) is False
    assert module.begin(known, code) is False, "a function that came later"
    begun = keeper.genuine(keeper.homes([module]), module.begin.__code__)
    assert module.begin(begun, code) is True
    assert module.begin(begun, module.outer.__code__) is False, "another sender"


def test_the_runners_code_over_other_globals_is_not_believed() -> None:
    module = runner()
    exec("def begin(judge, code): return send(judge, code)", vars(module))
    judge = keeper.genuine(keeper.homes([module]), module.begin.__code__)
    assert module.begin(judge, module.send.__code__) is True
    forged = types.FunctionType(module.outer.__code__, dict(vars(module)))
    exec("def begin2(judge, code, over): return over(lambda: send(judge, code))", vars(module))
    second = keeper.genuine(keeper.homes([module]), module.begin2.__code__)
    assert module.begin2(second, module.send.__code__, module.outer) is True
    assert module.begin2(second, module.send.__code__, forged) is False
