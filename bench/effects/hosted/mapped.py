"""Paths of the sandbox written as those of the host and back, in commands and in what they print. Pure, and lossless.

Only a whole path is replaced: one that begins where no path goes on, and ends at a slash or where a name ends. So
`/review-output` in `/private/review-output/review-output.json` stays what it is, and so does `/workspaces`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_BEFORE = r"(?<![\w.~/\\)}\]*?-])"
_AFTER = r"(?![\w~-]|\.+[\w~-])"


@dataclass(frozen=True, slots=True)
class Mapped:
    """Absolute directories: the sandbox's name → the host's; none of the host's lies below another of them."""

    places: Mapping[str, str]

    def to_host(self, text: str) -> str:
        """What an agent wrote, with the host's directories."""
        return _replaced(text, self.places)

    def to_sandbox(self, text: str) -> str:
        """What a command on the host gave, with the sandbox's directories."""
        return _replaced(text, {host: name for name, host in self.places.items()})

    def bytes_to_sandbox(self, data: bytes) -> bytes:
        """The same for bytes of any kind; those that are no UTF-8 stay as they are."""
        return self.to_sandbox(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _replaced(text: str, places: Mapping[str, str]) -> str:
    if not places:
        return text
    # The longest first: a shorter one may be its beginning. One pass: what was put in is not looked at again.
    names = "|".join(re.escape(name) for name in sorted(places, key=len, reverse=True))
    return re.sub(f"{_BEFORE}({names}){_AFTER}", lambda found: places[found[1]], text)
