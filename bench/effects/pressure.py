"""How hard-pressed the machine was while a session ran: a slow agent on a crowded machine is not a slow agent.

Recorded beside the session's evidence, never judged here. What a machine does not tell is null.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from bench.effects import clock

PRESSURE = Path("/proc/pressure")


class PressureWatch:
    """From the moment of its making until `told`. `folder` is the kernel's pressure stall information."""

    def __init__(self, folder: Path = PRESSURE) -> None:
        self._folder = folder
        self._began = clock.monotonic()
        self._before = {name: _stalled(folder / name) for name in ("cpu", "memory")}

    def told(self) -> dict[str, Any]:
        """{cpu_some_pct, memory_some_pct}: share of the time (0-100) in which some process waited for it; {load, cores}:
        processes runnable over the last minute at the end, and processors."""
        elapsed = clock.monotonic() - self._began
        out: dict[str, Any] = {}
        for name, before in self._before.items():
            after = _stalled(self._folder / name)
            share = None if before is None or after is None or elapsed <= 0 else 100 * (after - before) / elapsed
            out[f"{name}_some_pct"] = None if share is None else round(min(100.0, share), 1)
        try:
            load: float | None = round(os.getloadavg()[0], 2)
        except OSError:
            load = None
        return out | {"load": load, "cores": os.cpu_count()}


def _stalled(path: Path) -> float | None:
    """Seconds since boot in which some process was stalled."""
    try:
        lines = path.read_text("ascii").splitlines()
    except (OSError, ValueError):
        return None
    for line in lines:
        if line.startswith("some "):
            for field in line.split():
                name, _, value = field.partition("=")
                if name == "total" and value.isdigit():
                    return int(value) / 1e6
    return None
