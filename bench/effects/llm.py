"""Chat completions through LiteLLM: one silent import, one call, failures as values, replays through its custom provider.

LiteLLM takes seconds to import, so nothing here imports it before a model is really asked. It never retries by itself
(the engine counts attempts), sends no telemetry, reads no `.env`, fetches no price list, and gets no callback of ours.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.core import digest
from bench.effects import cassette_requests, cassettes, clock, llm_messages
from bench.effects.gateway.usage import normalised
from bench.errors import MissingPart, StepFailed

REPLAY = "replay"
"""Provider prefix of a model id that is served from a cassette."""

_TRANSIENT = {
    "RateLimitError",
    "Timeout",
    "APIConnectionError",
    "APIError",
    "InternalServerError",
    "ServiceUnavailableError",
    "BadGatewayError",
}
_players: dict[str, cassettes.Player] = {}
_guard = threading.Lock()


@dataclass(frozen=True, slots=True)
class Call:
    """One request: LiteLLM model id, messages and tools in the OpenAI form, seconds until it is given up."""

    model: str
    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]]
    seconds: float
    wanted: Mapping[str, Any] = field(default_factory=dict)
    """Further parameters in LiteLLM's names, such as reasoning_effort or temperature; not sent to a replay."""
    key: str | None = None
    base_url: str | None = None
    cancel: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer. `message` is an OpenAI assistant message; usage as in `Outcome`, None when the provider gave none;
    `dollars` None when LiteLLM knows no price; `raw` the upstream body as LiteLLM received it, None when it was no JSON."""

    message: Mapping[str, Any]
    finish: str | None
    usage: Mapping[str, int] | None
    id: str | None
    dollars: float | None
    raw: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no answer: LiteLLM's class of error, its words, the HTTP status, whether another try may help."""

    kind: str
    detail: str
    status: int | None = None
    transient: bool = False
    after: float | None = None
    """Seconds that the provider asked to wait."""


def library() -> Any:
    """LiteLLM, imported on first use with everything that talks turned off."""
    # Read by LiteLLM while it is imported: prices from the installed release, and no `.env` of the working directory.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LITELLM_MODE"] = "PRODUCTION"
    with _guard:
        import litellm

        if not any(item["provider"] == REPLAY for item in litellm.custom_provider_map):
            logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
            litellm.suppress_debug_info = True
            litellm.telemetry = False
            litellm.drop_params = False
            handler = type("Replay", (litellm.CustomLLM,), {"completion": _replay})()
            litellm.custom_provider_map.append({"provider": REPLAY, "custom_handler": handler})
    return litellm


def open_player(player: cassettes.Player) -> str:
    """Serve a session's replay; the key returned stands for it in `Call.key`."""
    key = f"replay-{secrets.token_hex(8)}"
    _players[key] = player
    return key


def close_player(key: str) -> None:
    """End a session's replay."""
    _players.pop(key, None)


def _replay(_handler: Any, **asked: Any) -> Any:
    """The custom provider's completion: recorded events, made into a response by LiteLLM's own code."""
    litellm = library()
    player = _players[asked["api_key"]]
    cassette = player.cassette
    request = cassette_requests.from_openai(cassette.model, asked["messages"])
    found = player.answer(request)
    if isinstance(found, cassettes.Mismatch):
        raise litellm.llms.custom_llm.CustomLLMError(status_code=400, message=str(found))
    if cassette.format == "openai":
        return litellm.ModelResponse(**cassette_requests.openai_completion(found))
    import httpx

    message = cassette_requests.anthropic_message(found)
    response = litellm.AnthropicConfig().transform_parsed_response(
        completion_response=message, raw_response=httpx.Response(200), model_response=asked["model_response"]
    )
    # LiteLLM makes up an id here; the provider's own is what a replay has in common with the recorded session.
    response.id = message.get("id") or response.id
    return response


def effect_of(model: str, name: str, value: Any, tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The request parameters that LiteLLM makes of one of ours for this model; empty when it would drop it."""
    litellm = library()
    model, provider, _key, _base = litellm.get_llm_provider(model)
    common = {"model": model, "custom_llm_provider": provider, "tools": list(tools), "drop_params": True}
    without = litellm.utils.get_optional_params(**common)
    with_it = litellm.utils.get_optional_params(**common, **{name: value})
    return {key: value for key, value in with_it.items() if without.get(key) != value}


def provider_of(model: str) -> str:
    """The provider that a model id routes to. Raises MissingPart when the installed LiteLLM knows none."""
    if model.startswith(f"{REPLAY}/"):
        return REPLAY
    litellm = library()
    try:
        found: str = litellm.get_llm_provider(model)[1]
    except litellm.exceptions.BadRequestError:
        remedy = "write it as LiteLLM does: provider/model, such as anthropic/claude-sonnet-4-5"
        raise MissingPart("LiteLLM knows no provider of this model", where=model, remedy=remedy) from None
    return found


def complete(call: Call) -> Reply | Failure:
    """Ask once. A cancelled or overdue call is left behind in a daemon thread and reported as `Cancelled` or `Timeout`."""
    library()
    box: list[Reply | Failure] = []
    done = threading.Event()

    def ask() -> None:
        try:
            box.append(_ask(call))
        finally:
            done.set()

    threading.Thread(target=ask, daemon=True, name="model call").start()
    # The library's own time-out should come first; this one covers what it does not, such as a slow name lookup.
    deadline = clock.monotonic() + call.seconds + 5
    while not done.wait(0.05):
        if call.cancel.is_set():
            return Failure("Cancelled", "the session was cancelled during a model call")
        if clock.monotonic() > deadline:
            return Failure("Timeout", f"no answer within {call.seconds:g} s", transient=True)
    return box[0] if box else Failure("CallCrashed", "the model library failed in an unknown way")


def _ask(call: Call) -> Reply | Failure:
    litellm = library()
    seen: list[Any] = []
    replayed = call.model.startswith(f"{REPLAY}/")
    extra: dict[str, Any] = {} if replayed else dict(call.wanted)
    if call.base_url is not None:
        extra["api_base"] = call.base_url
    messages = digest.encodable(call.messages)  # on the wire; the transcript keeps them as they are
    if not replayed and litellm.get_llm_provider(call.model)[1] == "anthropic":
        messages = llm_messages.cached(messages)
    try:
        response = litellm.completion(
            model=call.model,
            messages=messages,
            tools=list(call.tools),
            timeout=call.seconds,
            api_key=call.key,
            num_retries=0,
            max_retries=0,
            logger_fn=lambda details: seen.append(details.get("original_response")),
            **extra,
        )
    except tuple(litellm.exceptions.LITELLM_EXCEPTION_TYPES) as error:
        return _failure(error)
    return _reply(response, seen)


def _failure(error: Any) -> Failure:
    kind = type(error).__name__
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    after = None
    with contextlib.suppress(ValueError):
        after = float(headers.get("retry-after", ""))
    # LiteLLM appends its own traceback, with paths of this machine, to errors that it did not expect.
    detail = " ".join(str(error).split("Traceback (most recent call last)")[0].split())[:400]
    return Failure(kind, detail, getattr(error, "status_code", None), kind in _TRANSIENT, after)


def _reply(response: Any, seen: Sequence[Any]) -> Reply:
    choice = response.choices[0]
    said = choice.message
    message: dict[str, Any] = {"role": "assistant", "content": said.content}
    if said.tool_calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function.name, "arguments": call.function.arguments},
            }
            for call in said.tool_calls
        ]
    # Anthropic refuses a conversation whose thinking blocks were left out.
    if getattr(said, "thinking_blocks", None):
        message["thinking_blocks"] = [dict(block) for block in said.thinking_blocks]
    hidden, raw = getattr(response, "_hidden_params", None) or {}, _raw(seen)
    own = (raw or {}).get("id") or response.id
    return Reply(message, choice.finish_reason, usage_of(response.usage), own, hidden.get("response_cost"), raw)


def _raw(seen: Sequence[Any]) -> Mapping[str, Any] | None:
    for text in seen:
        with contextlib.suppress(ValueError, TypeError):
            body = json.loads(text)
            if isinstance(body, dict):
                return body
    return None


def usage_of(usage: Any) -> dict[str, int] | None:
    """LiteLLM's usage in four disjoint counts of tokens; None when the provider said nothing or what cannot be."""
    told = {} if usage is None else usage.model_dump()
    if not (told.get("prompt_tokens") or told.get("completion_tokens")):
        return None
    try:
        return normalised(told, "chat")
    except StepFailed:
        return None
