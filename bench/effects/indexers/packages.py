"""The installed packages that an indexer needs: their closure, their versions, and read-only mounts of just them.

Found through the metadata of this environment; nothing is imported, nothing is downloaded, no other package is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bench.effects.sandbox import Bind
from bench.errors import MissingPart


def closure(root: str, without: frozenset[str] = frozenset()) -> dict[str, metadata.Distribution]:
    """Normalised name → installed distribution, of `root` and all that it requires here; `without` are passed over.

    Raises MissingPart naming the distribution that is not installed.
    """
    found: dict[str, metadata.Distribution] = {}
    pending = [(canonicalize_name(root), "")]
    seen = set()
    while pending:
        name, extra = asked = pending.pop()
        if asked in seen or name in without:
            continue
        seen.add(asked)
        try:
            found[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            raise MissingPart(f"package {name} is not installed", remedy=f"pip install {root}") from None
        for text in found[name].requires or ():
            needed = Requirement(text)
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                pending += [(canonicalize_name(needed.name), wanted) for wanted in ("", *sorted(needed.extras))]
    return dict(sorted(found.items()))


def versions(distributions: dict[str, metadata.Distribution]) -> dict[str, str]:
    """Name → version."""
    return {name: distribution.version for name, distribution in distributions.items()}


def mounts(distributions: dict[str, metadata.Distribution], below: str) -> tuple[Bind, ...]:
    """One bind for each top-level package, module and metadata directory of the distributions, under its name in `below`.

    Raises MissingPart when a distribution does not say what it consists of.
    """
    binds: dict[str, Bind] = {}
    for name, distribution in distributions.items():
        for top in _tops(name, distribution.files):
            binds[top] = Bind(Path(str(distribution.locate_file(top))), f"{below}/{top}")
    return tuple(binds[top] for top in sorted(binds))


def _tops(name: str, files: Sequence[metadata.PackagePath] | None) -> set[str]:
    if files is None:
        raise MissingPart(f"package {name} has no list of its files", remedy="install it with pip")
    # Scripts lie outside (`../../bin/…`), and caches of top-level modules are not needed.
    return {file.parts[0] for file in files} - {"..", "__pycache__"}
