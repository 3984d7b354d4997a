"""A real browser opens the report: it renders, and it asks no address for anything, whatever a transcript holds.

A browser is a required part: without one this test fails, it does not step aside. Every host name is mapped to a server of
the test's own; a page that does ask shows that a request would have been seen.
"""

from __future__ import annotations

import http.server
import json
import shutil
import struct
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.steps.evidence import Evidence, transcript

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOST = "beacon.example"
MARKUP = f"<img src='http://{HOST}/a'><script src='http://{HOST}/b'></script><link rel=stylesheet href=http://{HOST}/c>"

pytestmark = pytest.mark.slow


class Listener(http.server.ThreadingHTTPServer):
    """Counts what is asked of HOST; what a browser asks of its maker on its own account is not the page's doing."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        super().__init__(("127.0.0.1", 0), Handler)


class Handler(http.server.BaseHTTPRequestHandler):
    server: Listener

    def do_GET(self) -> None:
        if self.headers.get("Host", "").startswith(HOST):
            self.server.asked.append(self.path)
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def listener() -> Iterator[Listener]:
    server = Listener()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def browse(page: Path, listener: Listener, scratch: Path, *more: str) -> str:
    """Open a page in a fresh profile and return what `more` makes it print."""
    found = next((path for path in map(shutil.which, BROWSERS) if path), None)
    assert found, f"the report must be seen in a browser; none of {', '.join(BROWSERS)} is installed"
    profile = scratch / "profile"
    argv = [found, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    argv += ["--disable-dev-shm-usage", "--disable-component-update", "--no-default-browser-check", "--hide-scrollbars"]
    argv += [f"--user-data-dir={profile}", f"--host-resolver-rules=MAP * 127.0.0.1:{listener.server_port}"]
    done = subprocess.run([*argv, *more, page.as_uri()], capture_output=True, timeout=120, check=False)
    shutil.rmtree(profile, ignore_errors=True)
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")[-2000:]
    return done.stdout.decode("utf-8", "replace")


def laid_out(folder: Path) -> Path:
    evidence = Evidence(folder)
    evidence.fill()
    evidence.cell(
        "list-filter",
        "candidate",
        1,
        transcript(MARKUP),
        **evidence.outcome("candidate", 2) | {"authored_test_output": MARKUP},
    )
    return evidence.lay_out(evidence.reported(), folder / "report")


def test_the_report_renders_and_asks_no_address_for_anything(tmp_path: Path, listener: Listener) -> None:
    index = laid_out(tmp_path)
    picture = tmp_path / "index.png"
    browse(index, listener, tmp_path, f"--screenshot={picture}", "--window-size=1280,1800")
    data = picture.read_bytes()
    assert struct.unpack(">II", data[16:24]) == (1280, 1800)
    assert len(data) > 40_000
    shown = browse(index.parent / "cells" / "list-filter-candidate-1.html", listener, tmp_path, "--dump-dom")
    assert "&lt;img src='http://beacon.example/a'&gt;" in shown
    assert "turn 2" in shown
    assert listener.asked == []


def test_a_page_without_our_escaping_would_have_been_seen(tmp_path: Path, listener: Listener) -> None:
    page = tmp_path / "raw.html"
    page.write_text(f"<!doctype html><title>x</title>{MARKUP}")
    browse(page, listener, tmp_path, "--dump-dom")
    assert "/a" in listener.asked, json.dumps(listener.asked)


def test_the_policy_stops_what_escaping_would_have_missed(tmp_path: Path, listener: Listener) -> None:
    index = laid_out(tmp_path)
    index.write_text(index.read_text().replace("</main>", f"{MARKUP}<script>document.title='owned'</script></main>"))
    shown = browse(index, listener, tmp_path, "--dump-dom")
    assert "<title>owned" not in shown
    assert listener.asked == []
