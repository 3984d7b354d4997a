"""What both grounds do alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.core.overrides_sandbox import UNSAFE
from bench.effects.grading.staging import stage
from bench.effects.sessions import grounds
from bench.effects.sessions.grounds import Ground
from bench.errors import StepFailed
from tests.steps.making import context_at
from tests.steps.test_session import template_of

PATCH = b"--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-one\n+two\n"


@pytest.fixture(params=[None, UNSAFE])
def ground(tmp_path: Path, request: pytest.FixtureRequest) -> Ground:
    context = context_at(tmp_path)
    template = template_of(context, {"src/a.py": b"one\n"})
    staged = stage(context.store, template, None, scratch=context.scratch, cancel=context.cancel)
    made = grounds.create(request.param, staged, context)
    made.prepare()
    return made


def test_a_patch_is_laid_over_the_source(ground: Ground) -> None:
    grounds.lay_patch(ground, PATCH, 60)
    (entry,) = ground.seen().entries
    assert (entry.path, entry.data) == ("src/a.py", b"two\n")
    ground.discard()


@pytest.mark.parametrize(
    ("patch", "said"),
    [(b" ", "it is empty"), (b"nonsense", "No valid patches"), (PATCH.replace(b"one", b"six"), "patch failed: src/a.py:1")],
)
def test_a_patch_that_does_not_apply_is_a_broken_task(ground: Ground, patch: bytes, said: str) -> None:
    with pytest.raises(StepFailed, match=f"the task's patch does not apply: .*{said}.*mend the task's"):
        grounds.lay_patch(ground, patch, 60)
    assert not ground.seen().any
    ground.discard()
