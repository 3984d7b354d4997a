"""`sdist` sources: one release of a project as its own archive, pinned by SHA-256. Nothing of it is built or run."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.effects import registry
from bench.effects.sources import Fetched
from bench.effects.store import open_store
from bench.layout import Layout


class Sdist:
    """Files of a source distribution."""

    def fetch(self, spec: Mapping[str, Any], root: Path, scratch: Path, cancel: threading.Event) -> Fetched:
        """Unpack it in memory; the archive is downloaded once for ever. `revision` is its SHA-256 (hex)."""
        sha256 = str(spec.get("sha256") or "").lower()
        return Fetched(registry.sdist_entries(open_store(Layout(root).store), str(spec["sdist"]), sha256), sha256)

    def resolve(self, spec: Mapping[str, Any], root: Path) -> dict[str, Any]:
        """{sha256}: the suite's own, if it states one, else what the index states."""
        name, version = registry.split_pin(str(spec["sdist"]))
        stated = str(spec.get("sha256") or "").lower()
        return {"sha256": stated or registry.resolve_sdist(name, version)}
