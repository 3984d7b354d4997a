"""Paths of the sandbox and of the host: whole paths alone, and back again without a loss."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.effects.hosted.mapped import Mapped

HOST = "/private/review-output/s1"
"""As in the reference's incident: the sandbox's name stands in the host's path, and at the end of the file's name again."""
MAPPED = Mapped(
    {
        "/workspace": f"{HOST}/clone",
        "/review-output": f"{HOST}/handed-in",
        "/tmp": f"{HOST}/tmp",
        "/opt/skills": f"{HOST}/shown-0",
        "/opt/skills-more": f"{HOST}/shown-1",
    }
)
PIECES = [
    "/workspace",
    "/review-output",
    "/tmp",
    "/opt/skills",
    "-more",
    "/",
    ".",
    " ",
    "'",
    '"',
    "=",
    ":",
    "a",
    "é",
    "\n",
    "$",
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cat /workspace/a.py", f"cat {HOST}/clone/a.py"),
        ("/review-output/review-output.json", f"{HOST}/handed-in/review-output.json"),
        ('cd "/workspace"; ls /workspace.', f'cd "{HOST}/clone"; ls {HOST}/clone.'),
        ("--out=/review-output PATH=/tmp:/workspace", f"--out={HOST}/handed-in PATH={HOST}/tmp:{HOST}/clone"),
        ("/opt/skills-more/x /opt/skills/x", f"{HOST}/shown-1/x {HOST}/shown-0/x"),
        ("/workspaces /workspace-old /workspace.git /workspace_1", "/workspaces /workspace-old /workspace.git /workspace_1"),
        ("a/workspace ./workspace ~/workspace $(pwd)/workspace //workspace", None),
        (f"{HOST}/review-output.json", None),
    ],
)
def test_only_whole_paths_are_replaced(text: str, expected: str | None) -> None:
    assert MAPPED.to_host(text) == (text if expected is None else expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{HOST}/handed-in/review-output.json: No such file", "/review-output/review-output.json: No such file"),
        (f"{HOST}/clone-2 {HOST}/clones x{HOST}/clone", None),
        (f"{HOST}/clone", "/workspace"),
    ],
)
def test_the_way_back_is_as_strict(text: str, expected: str | None) -> None:
    assert MAPPED.to_sandbox(text) == (text if expected is None else expected)


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=12).map("".join)))
def test_there_and_back_again(text: str) -> None:
    assert MAPPED.to_sandbox(MAPPED.to_host(text)) == text


@given(st.binary())
def test_bytes_of_any_kind_are_kept(data: bytes) -> None:
    assert MAPPED.bytes_to_sandbox(data) == data
    assert MAPPED.bytes_to_sandbox(data + f" {HOST}/clone/x ".encode()) == data + b" /workspace/x "


def test_nothing_is_mapped_where_nothing_is_to_be() -> None:
    assert Mapped({}).to_host("/workspace") == "/workspace"
