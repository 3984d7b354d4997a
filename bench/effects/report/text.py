"""Hostile text made harmless to look at: for HTML (with autoescape on top), for Markdown, for one line of a console.

Nothing is dropped. What a reader could not see, or would see in another order than it stands in, is shown by its code.
"""

from __future__ import annotations

import re
import unicodedata

_COMMAND = re.compile(r"^(\s*)::(?=[A-Za-z])", re.MULTILINE)
"""Where a CI runner reads a command (`::error …`) from printed text: at the start of a line."""
_OLD_COMMAND = re.compile(r"##\[")
"""The older form, read anywhere in a line."""
_UNUSUAL = re.compile(r"[^ -~]+")
"""Everything but printable ASCII, of which most texts have little."""
_MARKDOWN = re.compile(r"[\\`*\[\]#!|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;"}
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Co"})


def _shown(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if 0xD800 <= code <= 0xDFFF:
        return f"\\u{code:04x}"
    return f"⟦U+{code:04X}⟧"


def visible(text: object, keep: str = "\n\t") -> str:
    """The text with every control, format, bidirectional, private and lone surrogate character shown by its code.

    `keep` are control characters left as they are; line ends are brought to `\\n` first.
    """
    return _UNUSUAL.sub(lambda found: _codes(found[0], keep), str(text).replace("\r\n", "\n"))


def _codes(stretch: str, keep: str) -> str:
    return "".join(character if character in keep or _is_plain(character) else _shown(character) for character in stretch)


def _is_plain(character: str) -> bool:
    return unicodedata.category(character) not in _HIDDEN and ord(character) & 0xFFFE != 0xFFFE


def quiet(text: str, *, colon: str = ":\\", hashes: str = "#\\#[") -> str:
    """Text in which no CI runner finds a command: the first colon, or the hashes, of one are replaced."""
    return _OLD_COMMAND.sub(lambda _: hashes, _COMMAND.sub(lambda found: f"{found[1]}{colon}:", text))


def line(text: object) -> str:
    """One line for a console or a log: line ends and other control characters shown, CI commands made quiet."""
    return quiet(visible(text, keep=""))


def markdown(text: object) -> str:
    """One Markdown line or table cell in which nothing of the text acts as markup, link, mention or CI command."""
    escaped = _MARKDOWN.sub(lambda found: "\\" + found[0], line(text))
    escaped = "".join(_ENTITIES.get(character, character) for character in escaped)
    return re.sub(r"(?i)\bwww\.", "www&#46;", escaped.replace("://", "&#58;//"))
