"""Which settings of a git configuration are traps. The walk itself is tested through `bench.effects.changes`."""

from __future__ import annotations

import pytest

from bench.effects.grading.inside import collect

TRAPS = {
    b"[core]\n\tfsmonitor = /x\n": [b"core.fsmonitor"],
    b"[CORE] hooksPath=/x": [b"core.hookspath"],
    b'[filter "lfs"]\n clean = x\n smudge = y\n': [b"filter.lfs.clean", b"filter.lfs.smudge"],
    b'[includeIf "gitdir:/"]\npath = /x': [b"includeif.gitdir:/.path"],
    b"[include]\n\tpath=/x": [b"include.path"],
    b"[diff]\n external=x": [b"diff.external"],
    b"[alias]\n st = !rm": [b"alias.st"],
}
HARMLESS = [
    b"",
    b"[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
    b"[user]\n\tname = fsmonitor\n\temail = core.fsmonitor@x\n",
    b'[branch "core.fsmonitor"]\n\tremote = x\n',
    b"\xff\xfe[[[]]]\n=\n",
]


@pytest.mark.parametrize("text", sorted(TRAPS))
def test_settings_that_would_run_or_read_something_are_named(text: bytes) -> None:
    assert collect.settings(text) == TRAPS[text]


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_settings_are_not(text: bytes) -> None:
    assert collect.settings(text) == []
