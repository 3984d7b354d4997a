from __future__ import annotations

import importlib.metadata
import platform

from bench.effects import versions


def test_the_parts_of_this_machine_are_noted() -> None:
    found = versions.recorded()
    assert set(found) == {"litellm", "bubblewrap", "kernel"}
    assert found["litellm"] == importlib.metadata.version("litellm")
    assert found["kernel"] == platform.release()
    assert found["bubblewrap"] is not None
    assert tuple(int(part) for part in found["bubblewrap"].split(".")[:2]) >= (0, 11)
