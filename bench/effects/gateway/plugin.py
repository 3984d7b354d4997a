"""Runs inside the proxy, copied beside its configuration: who may call, which model that is, and one line per upstream call.

Self-contained, since the proxy loads it by path: it imports the standard library and LiteLLM, and nothing of ours. A key
that we minted is its own proof (`keys.mint`): what it says holds the route, so that the proxy needs no database and learns
nothing per session. The hooks that keep the books never raise, whatever LiteLLM hands them and however full the disk is,
for a fault in bookkeeping must not cost a paid call; a call whose line is missing is noticed by the reader of the lines.
"""

from __future__ import annotations

import base64
import contextlib
import datetime
import hashlib
import hmac
import importlib
import json
import os
from collections.abc import Mapping
from typing import Any

import litellm
from litellm.integrations.custom_logger import CustomLogger
from litellm.proxy._types import UserAPIKeyAuth

SCHEMA = 1
ROUTES = ("/v1/messages", "/v1/chat/completions", "/v1/responses")
HEADERS = ("retry-after", "retry-after-ms", "request-id", "x-request-id")
"""Of a failed call's response, kept beside those that speak of rate limits."""
BROKEN = (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)
"""What a shape that nobody foresaw makes the reading of it raise."""
SAID = ("anthropic", "openai")
"""Providers whose word for an effort is known: a request to them without it asks for none."""
PRICED = frozenset(litellm.model_cost)
"""Ids of the price list as it was installed: a router adds every model that it is asked for, at a price of 0."""


def opened(key: str) -> dict[str, Any] | None:
    """What a minted key says, or None when it is none of ours."""
    body, _dot, seal = key.removeprefix("sk-").partition(".")
    secret = os.environ["LITELLM_MASTER_KEY"].encode()
    if not hmac.compare_digest(hmac.new(secret, body.encode(), hashlib.sha256).hexdigest(), seal):
        return None
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(body))
    return found


async def authenticate(request: Any, api_key: str) -> Any:
    """LiteLLM's `custom_auth`: minted keys, on the model routes, and nothing else, the master key included."""
    route = opened(api_key.removeprefix("Bearer "))
    if route is None or request.url.path not in ROUTES or request.method != "POST":
        refusal = importlib.import_module("fastapi").HTTPException
        raise refusal(status_code=401, detail="this key opens nothing here")
    told = {"assay": route | {"call": request.headers.get("x-assay-call")}}
    return UserAPIKeyAuth(api_key=hashlib.sha256(api_key.encode()).hexdigest(), metadata=told)


async def _route(_self: Any, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str) -> dict[str, Any]:
    """Before the call: the session's model and address, whatever the request says."""
    route = user_api_key_dict.metadata["assay"]
    data["model"] = route["model"]
    for name in ("api_base", "api_key"):
        if route.get(name):
            data[name] = route[name]
    if route.get("drop"):
        data["drop_params"] = True
        if (data.get("output_config") or {}).get("effort") and not data.get("thinking"):
            # LiteLLM translates an effort only beside a request to think.
            data["thinking"] = {"type": "adaptive"}
    return data


def _plain(value: Any) -> Any:
    """JSON of whatever LiteLLM calls a usage."""
    dump = getattr(value, "model_dump", None)
    value = dump() if callable(dump) else value
    return json.loads(json.dumps(value, default=str)) if isinstance(value, Mapping) else None


def _session(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    given = kwargs.get("litellm_params") or {}
    for name in ("metadata", "litellm_metadata"):
        found = ((given.get(name) or {}).get("user_api_key_metadata") or {}).get("assay")
        if found:
            return dict(found)
    return {}


def _dollars(kwargs: Mapping[str, Any], route: Mapping[str, Any], usage: Any) -> float | None:
    """LiteLLM's price; None for a model that it does not know, which it would call free."""
    named = str(route.get("priced_as") or route.get("model"))
    if not PRICED & {named, named.partition("/")[2]}:
        return None
    try:
        if route.get("priced_as"):
            return float(sum(litellm.cost_per_token(model=named, usage_object=litellm.Usage(**usage))))
        return float(kwargs["response_cost"])
    except (*BROKEN, litellm.exceptions.ModelNotMappedError):
        return None


def _effort(kwargs: Mapping[str, Any]) -> str | None:
    """The effort that the provider was asked for, out of the request as it was sent: "" where it certainly was asked for
    none, None where that is not known (other providers have other words for it)."""
    sent = (kwargs.get("additional_args") or {}).get("complete_input_dict")
    if not sent and kwargs.get("custom_llm_provider") != "anthropic":
        sent = kwargs.get("optional_params")  # translated by now; Anthropic's own still hold what is dropped later
    sent = json.loads(sent) if isinstance(sent, str | bytes) else sent
    sent = sent if isinstance(sent, Mapping) else {}
    held = sent.get("output_config") or sent.get("reasoning") or {}
    found = held.get("effort") or sent.get("reasoning_effort")
    if isinstance(found, str):
        return found
    return "" if sent and kwargs.get("custom_llm_provider") in SAID else None


def _moment(value: Any) -> str | None:
    if not isinstance(value, datetime.datetime):
        return None
    return value.astimezone(datetime.UTC).isoformat(timespec="milliseconds")


def _failure(kwargs: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
    """Why it failed, in structured fields only: the words of an error may be anyone's."""
    error = kwargs.get("exception")
    headers = getattr(error, "litellm_response_headers", None)
    headers = headers or getattr(getattr(error, "response", None), "headers", None) or {}
    kept = {k.lower(): str(v) for k, v in dict(headers).items() if k.lower() in HEADERS or "ratelimit" in k.lower()}
    status = getattr(error, "status_code", None) or told.get("error_code")
    upstream, kind = bool(headers), _error_type(error)
    if kind == "overloaded_error":
        status = 529  # which LiteLLM calls a 500
    return {
        "http_status": int(str(status)) if str(status or "").isdigit() else None,
        "error_class": type(error).__name__ if error is not None else told.get("error_class"),
        "error_type": kind,
        "headers": kept,
        "answered": upstream,
    }


def _error_type(error: Any) -> str | None:
    """The provider's own `error.type` or `error.code`, out of the JSON body that LiteLLM quotes."""
    text = str(getattr(error, "message", "") or "")
    start = text.find("{")
    if start < 0:
        return None
    try:
        found, _end = json.JSONDecoder().raw_decode(text[start:])
    except ValueError:
        return None
    inner = found.get("error") if isinstance(found, dict) else None
    inner = inner if isinstance(inner, dict) else {}
    kind = inner.get("type") or inner.get("code")
    return kind if isinstance(kind, str) else None


def line(kwargs: Mapping[str, Any], response: Any, began: Any, ended: Any, ok: bool) -> dict[str, Any]:
    """The line of one upstream request. Raises whatever a surprising shape makes it raise."""
    route = _session(kwargs)
    told = kwargs.get("standard_logging_object") or {}
    error = told.get("error_information") or {}
    usage = _plain(getattr(response, "usage", None)) or _plain((told.get("metadata") or {}).get("usage_object"))
    cut = ok and error.get("error_class") == "ClientDisconnected"
    made = {
        "schema_version": SCHEMA,
        "status": "cut" if cut else "ok" if ok else "failed",
        "requested_model": route.get("model"),
        "actual_model": getattr(response, "model", None) or kwargs.get("model"),
        "provider": kwargs.get("custom_llm_provider"),
        "response_id": getattr(response, "id", None),
        "call_type": kwargs.get("call_type"),
        "session_id": route.get("session"),
        "call": route.get("call"),
        "upstream_id": kwargs.get("litellm_call_id"),
        "started_at": _moment(began),
        "completed_at": _moment(ended),
        "effort": _effort(kwargs),
        "native_usage": usage,
        "list_price_usd": _dollars(kwargs, route, usage) if ok else None,
    }
    return made if ok else made | _failure(kwargs, error)


def _append(kwargs: Any, response: Any, began: Any, ended: Any, ok: bool) -> None:
    try:
        text = json.dumps(line(kwargs, response, began, ended, ok), allow_nan=False, default=str)
    except BROKEN as fault:
        text = json.dumps({"schema_version": SCHEMA, "status": "unreadable", "fault": type(fault).__name__})
    with contextlib.suppress(OSError):
        handle = os.open(os.environ["ASSAY_USAGE"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            # One write of one line to a file opened for appending: lines of concurrent calls never mix. It begins with a
            # line end too, so that one that was torn takes no other with it.
            os.write(handle, b"\n" + text.encode() + b"\n")
        finally:
            os.close(handle)


def _succeeded(_self: Any, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
    _append(kwargs, response_obj, start_time, end_time, True)


def _failed(_self: Any, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
    _append(kwargs, response_obj, start_time, end_time, False)


async def _succeeded_later(_self: Any, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
    _append(kwargs, response_obj, start_time, end_time, True)


async def _failed_later(_self: Any, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
    _append(kwargs, response_obj, start_time, end_time, False)


hooks = type(
    "Usage",
    (CustomLogger,),
    {
        "async_pre_call_hook": _route,
        "log_success_event": _succeeded,
        "log_failure_event": _failed,
        "async_log_success_event": _succeeded_later,
        "async_log_failure_event": _failed_later,
    },
)()
"""What `litellm_settings.callbacks` names."""
