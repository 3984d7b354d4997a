"""The plugins of a suite that is about to run: read and checked before anything is built or paid for.

The skill step checks the same bytes again when it seals them; nothing is kept here.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bench.core import overlay_arms
from bench.core import plugins as rules
from bench.core.suite import Arm
from bench.effects import files, plugins
from bench.errors import CorpusError


def check(root: Path, arms: Iterable[Arm]) -> None:
    """Raise CorpusError naming the plugin, its file and what is wrong with it."""
    for arm in arms:
        if arm.plugin is None:
            continue
        expected = sorted(set(arm.expects.values()) - overlay_arms.own(arm))
        read: dict[str, bytes] = {}
        left = rules.MAX_BYTES + 1
        for path, place in plugins.listed(arm.plugin, root).items():
            read[path] = files.read_regular(root / place, rules.MAX_BYTES)
            left -= len(read[path])
            if left <= 0:
                raise CorpusError(f"holds more than {rules.MAX_BYTES} bytes", where=arm.plugin)
        try:
            rules.check(read, str(arm.plugin_version), expected)
        except CorpusError as error:
            raise CorpusError(error.what, where=f"{arm.plugin}/{error.where}", remedy=error.remedy) from None
