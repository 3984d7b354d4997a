"""What may not be kept is hidden; everything else stays as it was, to the last lone surrogate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.effects import redact
from bench.effects.redact import HIDDEN, Redactor
from bench.errors import IntegrityError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet="abc \n\ud800é"),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet="abc"), inner),
    max_leaves=20,
)


@settings(deadline=None)
@given(JSON)
def test_innocent_values_are_unchanged(value: object) -> None:
    assert Redactor(["planted-secret"], {"/home/someone": "<home>"}).value(value) == value


@pytest.mark.parametrize(
    "secret",
    [
        "sk-ant-api03-abcdefghijklmnop",
        "ghp_abcdefghijklmnopqrst",
        "github_pat_abcdefghijklmnopqrst",
        "Bearer abcdef.ghijkl.mnopqr",
        "AKIAABCDEFGHIJKLMNOP",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_secrets_are_known_by_their_form(secret: str) -> None:
    shown = Redactor().value({"a": [f"before {secret} after"]})["a"][0]
    assert secret.split()[-1] not in shown
    assert shown.startswith("before ")
    assert shown.endswith(" after")


@pytest.mark.parametrize(
    "text",
    [
        "a basic implementation of the parser",
        "Basic authentication is off; the bearer presented nothing",
        "cat src/task-management-dashboard.py disk-utilization-report-monthly flask-sqlalchemy-migrations",
    ],
)
def test_ordinary_words_are_no_secrets(text: str) -> None:
    # A recorded `cat src/task-management-dashboard.py` would be replayed as another command.
    assert Redactor().text(text) == text


@pytest.mark.parametrize(
    "header", ["Authorization: Basic abcdef==", '"Authorization": f"Bearer abcdef"', "authorization=token abcd"]
)
def test_what_an_authorization_header_holds_is_hidden_whatever_it_looks_like(header: str) -> None:
    assert "abcd" not in Redactor().text(header)


def test_a_secret_that_was_set_with_a_line_end_is_hidden_within_a_line() -> None:
    assert Redactor(["planted-secret\n"]).text("a planted-secret b") == f"a {HIDDEN} b"


def test_credentials_in_an_address_are_hidden() -> None:
    assert Redactor().text("git clone https://me:pw@example.org/x") == f"git clone https://{HIDDEN}@example.org/x"


def test_sensitive_keys_hide_what_they_hold_and_counts_of_tokens_stay() -> None:
    value = {"Authorization": "x", "API-Key": {"a": 1}, "token": None, "input_tokens": 3, "passwords": "kept"}
    assert Redactor().value(value) == {
        "Authorization": HIDDEN,
        "API-Key": HIDDEN,
        "token": None,
        "input_tokens": 3,
        "passwords": "kept",
    }


def test_two_keys_that_become_one_are_an_error() -> None:
    with pytest.raises(IntegrityError, match="the same after redaction"):
        Redactor(["secret-one", "secret-two"]).value({"secret-one": 1, "secret-two": 2})


def test_short_words_are_no_secrets() -> None:
    assert Redactor(["test"]).text("run the test") == "run the test"


def test_host_paths_are_hidden_at_a_boundary_and_the_longest_first() -> None:
    hide = Redactor((), {"/data/ws": "<host>", "/data/ws/tmp": "<tmp>"})
    assert hide.text("/data/ws/tmp/x /data/ws/y /data/wsx") == "<tmp>/x <host>/y /data/wsx"


def test_places_that_every_sandbox_has_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/root")
    paths = redact.host_paths(Path("/workspace"), Path("/data/ws"))
    assert "/workspace" not in paths
    assert "/root" not in paths
    assert paths["/data/ws"] == "<host>"


def test_secrets_of_our_own_environment_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_VENDOR_API_KEY", "planted-0123")
    monkeypatch.setenv("SOME_TOKEN", "short")
    assert "planted-0123" in redact.known_secrets()
    assert "short" not in redact.known_secrets()


def test_values_stay_json() -> None:
    value = Redactor(["planted-secret"]).value({"a": ("planted-secret", 1.5, True)})
    assert json.loads(json.dumps(value)) == {"a": [HIDDEN, 1.5, True]}
