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
    "expected": 2,  # 2: under the suite's `env_aliases`
    "skill": 1,
    "runtime": 1,
    "session": 1,
    "canary": 1,
}


def known(kind: str) -> tuple[int, ...]:
    """Protocols under which records of a kind were made, today's first: evidence that was made before one was raised still
    holds for what it says. (0,) for a cheap kind."""
    return tuple(range(PROTOCOLS.get(kind, 0), 0, -1)) or (0,)
