"""What doit's own parser and loader refuse is one line in our words too: no object dumps, no remedy that does not apply."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.make.workspaces import Bench, tiny


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--nosuch",), "command line: option --nosuch not recognized; see `doit help`"),
        (("plan", "--nosuch"), "command line: option --nosuch not recognized; see `doit help`"),
        (("gc", "--older-than"), "command line: option --older-than requires argument; see `doit help`"),
        (("-n", "x"), "command line: --process: not a number: 'x'"),
    ],
)
def test_an_option_that_does_not_parse(tmp_path: Path, words: tuple[str, ...], said: str):
    done = Bench(tiny(tmp_path / "w")).doit(*words)
    assert (done.code, done.stdout, done.stderr) == (2, "", f"error: {said}\n")


@pytest.mark.parametrize("words", [(), ("plan",), ("verify",)])
def test_outside_of_a_workspace(tmp_path: Path, words: tuple[str, ...]):
    done = Bench(tmp_path).doit(*words)
    assert done.code == 2
    remedy = "no such file; run doit in a workspace, or make one with `python -m bench init DIR`"
    assert done.stderr == f"error: {tmp_path}/dodo.py: {remedy}\n"


@pytest.mark.parametrize("words", [("gc", "--older-than", "0", "template:adder"), ("verify", "template:adder")])
def test_a_step_given_to_a_command_on_everything_is_not_taken_for_a_limit(tmp_path: Path, words: tuple[str, ...]):
    done = Bench(tiny(tmp_path / "w")).doit(*words)
    said = f"{words[0]} is about the whole workspace and takes no step; doit help {words[0]}"
    assert (done.code, done.stdout, done.stderr) == (2, "", f"error: {said}\n")
