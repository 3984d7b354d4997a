"""The process environment, read in one place so that nothing else depends on it unseen."""

from __future__ import annotations

import os
from pathlib import Path


def get(name: str, default: str | None = None) -> str | None:
    """One variable of this process."""
    return os.environ.get(name, default)


def names() -> frozenset[str]:
    """Names of the variables that are set and not blank."""
    return frozenset(name for name, value in os.environ.items() if value.strip())


def debug() -> bool:
    """Whether tracebacks are wanted (`BENCH_DEBUG=1`)."""
    return os.environ.get("BENCH_DEBUG", "") not in ("", "0")


def cache() -> Path | None:
    """Where this user's caches of ours are, None where no variable says so."""
    place = get("XDG_CACHE_HOME") or (f"{get('HOME')}/.cache" if get("HOME") else "")
    return Path(place, "assay") if place else None


def for_tools() -> dict[str, str]:
    """What trusted host programs (git, pip) get: the search path, a neutral locale, certificates and index settings."""
    keep = ("PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "TMPDIR")
    passed = {k: v for k, v in os.environ.items() if k in keep or k.startswith("PIP_") or k.lower().endswith("_proxy")}
    return passed | {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "HOME": "/nonexistent", "GIT_TERMINAL_PROMPT": "0"}
