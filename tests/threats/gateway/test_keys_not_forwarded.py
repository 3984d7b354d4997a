"""Reference failure 25: the proxy's environment is made from nothing, and the variables that it needs were not named."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from bench.effects.gateway import routes
from bench.effects.gateway.process import Proxy


def environment(program: str, keys: dict[str, str]) -> dict[str, str]:
    proxy = Proxy(keys, program=program)
    try:
        told: dict[str, str] = json.loads(proxy.log.read_text().splitlines()[0])
        return told
    finally:
        proxy.close()


def test_it_gets_what_it_needs_and_nothing_else(stand_in: Callable[[str], str], monkeypatch: pytest.MonkeyPatch):
    for name in ("GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "PYTHONPATH", "LITELLM_LOG"):
        monkeypatch.setenv(name, "planted")
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("SSL_CERT_FILE", "/etc/own-ca.pem")
    program = stand_in("import json; print(json.dumps(dict(os.environ)), flush=True)")
    got = environment(program, {"ANTHROPIC_API_KEY": "sk-ant-planted"})
    assert got["ANTHROPIC_API_KEY"] == "sk-ant-planted"
    assert got["https_proxy"] == "http://proxy.example:3128"
    assert "127.0.0.1" in got["no_proxy"]  # cassettes and local models are not asked through it
    assert got["SSL_CERT_FILE"] == "/etc/own-ca.pem"
    assert got["LITELLM_LOCAL_MODEL_COST_MAP"] == "True"
    assert got["ASSAY_USAGE"].startswith(got["HOME"])
    assert got["LITELLM_MASTER_KEY"].startswith("sk-")
    assert not {"GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "PYTHONPATH", "LITELLM_LOG"} & set(got)


def test_every_alias_ends_as_the_name_that_litellm_reads(monkeypatch: pytest.MonkeyPatch):
    for name in ("BENCH_ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY", "BENCH_OPENAI_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GITNEXUS_BENCH_ANTHROPIC_API_KEY", "sk-ant-alias")
    monkeypatch.setenv("BENCH_OPENAI_API_KEY", "sk-ours")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-theirs")
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-1")
    found = routes.provider_keys()
    assert found["ANTHROPIC_API_KEY"] == "sk-ant-alias"
    assert found["OPENAI_API_KEY"] == "sk-ours"
    assert found["OPENROUTER_API_KEY"] == "sk-or-1"
    assert not any(name.startswith(("BENCH_", "GITNEXUS_")) for name in found)
