"""Facts of the Python that runs here, and that every sandbox is given."""

from __future__ import annotations

import sys


def minor() -> str:
    """`3.11`: part of the key of dependency trees, since wheels differ by it."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"
