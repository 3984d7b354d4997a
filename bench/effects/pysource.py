"""Python source as a syntax tree, in one thread at a time.

CPython 3.11 counts how deep it is in all conversions together: two threads that parse at once end in a SystemError ("AST
constructor recursion depth mismatch"). Nothing of the source is run.
"""

from __future__ import annotations

import ast
import threading

_ONE_AT_A_TIME = threading.Lock()


def tree(source: str | bytes) -> ast.Module:
    """Raises what `ast.parse` does: SyntaxError, ValueError, RecursionError, MemoryError."""
    with _ONE_AT_A_TIME:
        return ast.parse(source)
