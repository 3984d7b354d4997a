"""Rendering: every value is escaped, the policy allows nothing from outside, and the same view gives the same bytes."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys

from bench.core import cellview
from bench.effects.report.render import Renderer

VIEW = {
    "suite": "<b>&",
    "task": "t",
    "class": "c",
    "arm": "a",
    "role": "incumbent",
    "run": 0,
    "state": "not_run",
    "verdict": "not_run",
    "error_kind": None,
    "reason": "::error::x",
    "replayed": False,
    "checks": [],
    "phases": [],
    "model_calls": {},
    "facts": dict.fromkeys(cellview.FACTS),
    "alarms": [],
    "diagnostics": [],
    "pressure": {},
    "output": None,
    "setup": {},
    "prompt": None,
    "patch": [],
    "patch_cut": 0,
    "turns": [],
    "digests": {},
}


def test_values_are_escaped_and_the_only_style_is_the_one_the_policy_names() -> None:
    page = Renderer().cell(VIEW).decode()
    assert "&lt;b&gt;&amp;" in page
    assert "<b>&" not in page
    assert "&#58;:error::x" in page
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert style
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in page.replace("&#39;", "'")
    assert not re.search(r"\sstyle=", page)


def test_the_same_view_gives_the_same_bytes() -> None:
    assert Renderer().cell(VIEW) == Renderer().cell(VIEW)


def test_the_template_engine_is_imported_by_nothing_but_a_renderer() -> None:
    code = "import sys, bench.steps.report, bench.effects.report.render; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
