"""Views turned into HTML and Markdown by the templates beside this file. Every value is escaped unless a template made it.

HTML: autoescape, hidden characters shown, CI commands broken up, a content policy that allows nothing but our own style.
Markdown: whatever a template prints is escaped as text of one line. Output depends on the view alone.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from bench.effects.report import numbers, text

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"
PAGES = {
    "index.html": (b'\n<section aria-labelledby="arms">', b'\n<section aria-labelledby="how">'),
    "report.md": (b"\n## Arms\n", b"\nMade by Assay from the aggregate "),
}
"""Where the notices of a page end, and where its last section does: text of ours, at which no escaped value can stand."""


class Renderer:
    """Templates compiled once, used for all pages of a report. Jinja2 is imported here and nowhere earlier."""

    def __init__(self) -> None:
        self._style = (TEMPLATES / "style.css").read_text(encoding="utf-8")
        self._html = _environment(html=True)
        self._markdown = _environment(html=False)

    def index(self, view: Mapping[str, Any]) -> bytes:
        """index.html: one self-contained page; only the links to the cells' pages lead out of it."""
        return self._page("index.html", view)

    def cell(self, view: Mapping[str, Any]) -> bytes:
        """The page of one cell."""
        return self._page("cell.html", view)

    def markdown(self, view: Mapping[str, Any]) -> bytes:
        """report.md."""
        return self._markdown.get_template("report.md").render(v=view).encode()

    def regraded(self, name: str, page: bytes, notices: Sequence[Mapping[str, str]], lines: Sequence[str]) -> bytes:
        """A rendered index.html or report.md that also tells, above and below, which sessions were graded again."""
        made, kind = (self._html if name == "index.html" else self._markdown), name.rpartition(".")[2]
        view = {"notices": notices, "regraded": lines}
        above, below = (made.get_template(f"{part}.{kind}").render(v=view).encode() for part in ("notices", "regraded"))
        head, first, rest = page.partition(PAGES[name][0])
        body, last, foot = rest.rpartition(PAGES[name][1])
        return b"".join((head, b"\n", above, first, body, below, last, foot))

    def _page(self, name: str, view: Mapping[str, Any]) -> bytes:
        digest = base64.b64encode(hashlib.sha256(self._style.encode()).digest()).decode()
        policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
        return self._html.get_template(name).render(v=view, style=self._style, policy=policy).encode()


def _trusted(write: Callable[[float | None], str]) -> Callable[[float | None], object]:
    from markupsafe import Markup

    return lambda value: Markup(write(value))


def _environment(*, html: bool) -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup, escape

    def as_html(value: object) -> object:
        if isinstance(value, Markup):
            return value
        shown = str(escape(text.visible("" if value is None else value)))
        return Markup(text.quiet(shown, colon="&#58;", hashes="&#35;#["))

    def as_markdown(value: object) -> object:
        return value if isinstance(value, Markup) else text.markdown("" if value is None else value)

    finalize: Callable[[object], object] = as_html if html else as_markdown
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=html,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    # Numbers are ours: escaping their dollar signs would only make report.md hard to read as it is.
    environment.filters |= {name: _trusted(write) for name, write in numbers.WRITTEN.items()} | numbers.TESTS
    environment.filters["address"] = lambda name: quote(str(name), errors="replace")
    environment.globals["trusted"] = Markup
    return environment
