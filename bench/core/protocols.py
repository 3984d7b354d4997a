"""Versions of what costly steps mean. Raising one makes every step of that kind anew; a refactor leaves it alone.

Kinds that are not listed are cheap: they are keyed on the code that makes them instead.
"""

from __future__ import annotations

PROTOCOLS = {
    "template": 2,  # 2: without the bytecode that some releases carry
    "graph": 1,
    "assets": 1,
    "oracle": 1,
    "gold": 2,  # 2: as template
    "expected": 1,
    "skill": 1,
    "runtime": 1,
    "session": 1,
    "canary": 1,
}
CHEAP = ("preflight", "cell", "aggregate", "health", "promotion", "report")
