"""What an agent says must never act on who reads it.

Incidents: tool output parsed as CI annotations; reports that ran a transcript's markup; lone surrogates that broke log
writing twice (reports on other harnesses); text reordered by bidirectional controls; task ids with quotes and snowmen.
"""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from bench.core import summary
from tests.steps.evidence import Evidence

BEACON = "http://beacon.example/x"
HOSTILE = (
    f"<script>document.title='owned';fetch('{BEACON}')</script><img src={BEACON} onerror=alert(1)>"
    f"</pre></div><iframe src='{BEACON}'></iframe><style>@import '{BEACON}'</style><base href='{BEACON}'>"
    f"\n::error file=x::boo\n##[error]boo | a | `b` | [c]({BEACON}) ![d]({BEACON}) {{{{ 7*7 }}}} {{% raw %}}"
    "\u202eesrever\u2066\u200b\ufeff \x1b[31mred\x07\x00 \ud800 &amp; \" ' \u2028 -->]]> @everyone"
)
TAGS = frozenset(
    [
        "html",
        "head",
        "meta",
        "link",
        "title",
        "style",
        "body",
        "header",
        "main",
        "section",
        "footer",
        "div",
        "span",
        "p",
        "b",
        "strong",
        "h1",
        "h2",
        "h3",
        "a",
        "ul",
        "li",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "figure",
        "figcaption",
        "svg",
        "text",
        "rect",
        "line",
        "circle",
        "dl",
        "dt",
        "dd",
        "pre",
        "code",
        "details",
        "summary",
        "i",
    ]
)


class Reader(HTMLParser):
    """Collects what a browser would act on."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.addresses: set[str] = set()
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            self.attributes.add(name)
            if name in ("href", "src", "action", "data", "srcset", "xlink:href"):
                self.addresses.add(value or "")

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A report whose every free text is hostile."""
    evidence = Evidence(tmp_path_factory.mktemp("hostile"))
    task = 'snow ☃ "quoted" <b> it\'s'
    evidence.params |= {"model": HOSTILE, "effort": HOSTILE, "profile": HOSTILE}
    blocks = [
        {"type": "text", "text": HOSTILE},
        {"type": "thinking", "thinking": HOSTILE},
        {"type": "tool_use", "id": "1", "name": HOSTILE, "input": {"command": HOSTILE}},
    ]
    events: list[Any] = [
        {"type": "assistant", "message": {"content": blocks}},
        {"type": "user", "message": {"content": [{"type": "tool_result", "content": HOSTILE, "is_error": True}]}},
        {"type": HOSTILE, "subtype": HOSTILE, "data": HOSTILE},
    ]
    talked = b"".join(json.dumps(event).encode() + b"\n" for event in events) + b"<script>alert(1)</script>\n\xff\n"
    kept = HOSTILE.replace("\ud800", "")
    facts = {
        "error_detail": kept,
        "error_class": kept,
        "authored_test_output": kept,
        "alarms": [{"kind": kept, "detail": kept}],
        "model": kept,
        "backing": kept,
        "tool_use_counts": {kept: 1},
        "cost_usd": 0.5,
        "diff_files": 1,
    }
    evidence.cell(task, "incumbent", 0, talked, **facts)
    evidence.cell(task, "incumbent", 1, talked, "unusable", **facts | {"error_kind": "session-error"})
    evidence.cell(task, "baseline", 0, talked, **facts)
    evidence.cell(task, "candidate", 0, talked, resolved=True, **facts)
    made = evidence.reported(evidence.aggregated((kept,), {task: kept}))
    found = {name: evidence.store.get(blob.blob) for name, blob in made.outputs.items()}
    return found | {"summary": "\n".join(summary.lines(made.body["summary"])).encode()}


def pages(files: dict[str, bytes]) -> dict[str, str]:
    return {name: data.decode() for name, data in files.items() if name.endswith(".html")}


def test_a_browser_finds_nothing_to_act_on(files: dict[str, bytes]) -> None:
    for name, page in pages(files).items():
        reader = Reader()
        reader.feed(page)
        assert reader.tags <= TAGS, name
        assert not [a for a in reader.attributes if a.startswith("on") or a in ("style", "srcdoc", "formaction")]
        for address in reader.addresses:
            assert re.fullmatch(r"data:,|#turn-\d+|#statistics|\.\./index\.html|cells/[A-Za-z0-9._-]+\.html", address), (
                address
            )


def test_the_text_is_all_there_as_text(files: dict[str, bytes]) -> None:
    page = next(page for name, page in pages(files).items() if name.startswith("cells/") and "incumbent-0" in name)
    reader = Reader()
    reader.feed(page)
    said = "".join(reader.words)
    assert said.count("<script>document.title='owned'") >= 4
    assert "::error file=x::boo" in said
    assert "{{ 7*7 }}" in said
    assert "⟦U+202E⟧esrever" in said
    assert "\\ud800" in said
    assert "␛[31mred" in said


def test_nothing_hidden_or_reordering_is_left_in_any_file_for_people(files: dict[str, bytes]) -> None:
    for name in [*pages(files), "report.md", "summary"]:
        text = files[name].decode()
        assert not re.search(
            "[\u202a-\u202e\u2066-\u2069\u200b-\u200f\u2028\u2029\ufeff\x00-\x08\x0b-\x1f\x7f-\x9f]", text
        ), name


def test_no_line_of_any_file_is_a_command_to_a_ci_runner(files: dict[str, bytes]) -> None:
    for name in [*pages(files), "report.md", "summary", "results.jsonl"]:
        text = files[name].decode()
        assert not re.search(r"(?m)^\s*::[A-Za-z]", text), name
        assert "##[" not in text, name


def test_markdown_stays_a_table_of_text(files: dict[str, bytes]) -> None:
    report = files["report.md"].decode()
    assert "<script" not in report
    assert "://beacon" not in report
    assert not re.search(r"(?<!\\)\[c\]\(", report)
    tables = re.findall(r"(?m)(?:^\|.*\n)+", report)
    assert len(tables) >= 3
    for table in tables:
        assert [n for n, line in enumerate(table.splitlines()) if not line.strip("|-:")] == [1], "it begins where it began"
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(widths) == 1


def test_rows_and_console_lines_survive_any_encoding(files: dict[str, bytes]) -> None:
    assert files["results.jsonl"].isascii()
    for line in files["results.jsonl"].splitlines():
        json.loads(line)
    for line in files["summary"].decode().splitlines():
        line.encode("latin-1", "backslashreplace")
