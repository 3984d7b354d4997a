"""Reference failure 25: LiteLLM loads a callback by its path, where a relative import, or one of ours, fails.

Sync hooks were missing too, so that failures on the synchronous path left no line.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bench.effects.gateway import keys

PLUGIN = Path(keys.__file__).with_name("plugin.py")
DRIVE = """
import asyncio, datetime, importlib.util, json, os, sys
spec = importlib.util.spec_from_file_location("assay_gateway", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
hooks, now = module.hooks, datetime.datetime.now()
class Failed(Exception):
    status_code = 429
    message = 'litellm.RateLimitError: {"type": "error", "error": {"type": "rate_limit_error", "message": "later"}}'
    litellm_response_headers = {"Retry-After": "7", "set-cookie": "secret", "x-ratelimit-limit-requests": "1"}
told = {
    "model": "m", "custom_llm_provider": "p", "call_type": "acompletion", "litellm_call_id": "1", "exception": Failed(),
    "litellm_params": {"metadata": {"user_api_key_metadata": {"assay": {"session": "s", "model": "p/m", "call": "0"}}}},
}
given = {"kwargs": told, "response_obj": None, "start_time": now, "end_time": now}
hooks.log_failure_event(**given)
hooks.log_success_event(**given)
asyncio.run(hooks.async_log_failure_event(**given))
asyncio.run(hooks.async_log_success_event(**given))
for odd in (None, 3, {"litellm_params": 3}, {"standard_logging_object": []}, {"exception": 3, "litellm_params": None}):
    hooks.log_failure_event(kwargs=odd, response_obj=object(), start_time=None, end_time="x")
class Odd:
    id, model, usage = "r", "m", {"prompt_tokens": float("nan")}
hooks.log_success_event(told, Odd(), now, now)
for place in ("/nonexistent/usage", "/dev/full"):
    os.environ["ASSAY_USAGE"] = place
    hooks.log_success_event(**given)
"""


def test_it_imports_nothing_of_ours():
    tree = ast.parse(PLUGIN.read_bytes())
    relative = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level]
    named = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    named |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    outside = {name.split(".")[0] for name in named} - set(sys.stdlib_module_names)
    assert relative == []
    assert outside == {"litellm"}


@pytest.mark.slow
def test_all_four_hooks_write_a_line_from_where_it_is_copied_to(tmp_path: Path):
    copied = tmp_path / "assay_gateway.py"
    shutil.copyfile(PLUGIN, copied)
    usage = tmp_path / "usage.jsonl"
    environment = {
        "PATH": os.defpath,
        "HOME": str(tmp_path),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_MASTER_KEY": "sk-m",
        "ASSAY_USAGE": str(usage),
    }
    done = subprocess.run(
        [sys.executable, "-I", "-c", DRIVE, str(copied)], env=environment, cwd=tmp_path, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    lines = [json.loads(line) for line in usage.read_text().splitlines() if line]
    assert [line["status"] for line in lines[:4]] == ["failed", "ok", "failed", "ok"]
    assert lines[0] | {"started_at": 0, "completed_at": 0} == {
        "schema_version": 1,
        "status": "failed",
        "requested_model": "p/m",
        "actual_model": "m",
        "provider": "p",
        "response_id": None,
        "call_type": "acompletion",
        "effort": None,
        "session_id": "s",
        "call": "0",
        "upstream_id": "1",
        "started_at": 0,
        "completed_at": 0,
        "native_usage": None,
        "list_price_usd": None,
        "http_status": 429,
        "error_class": "Failed",
        "error_type": "rate_limit_error",
        "headers": {"retry-after": "7", "x-ratelimit-limit-requests": "1"},
        "answered": True,
    }
    assert len(lines) == 10
    assert lines[-1] == {"schema_version": 1, "status": "unreadable", "fault": "ValueError"}
