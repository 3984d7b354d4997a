"""Messages as they are sent to a model library, and an answer put back into the common form. Pure: asks nobody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def cached(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Ask Anthropic to cache the conversation so far, as others do unasked; without it every turn is billed in full."""
    marked = list(messages)
    for place in {0, len(messages) - 1}:
        content = messages[place].get("content")
        if isinstance(content, str) and content:
            block = {"type": "text", "text": content, "cache_control": {"type": "ephemeral"}}
            marked[place] = messages[place] | {"content": [block]}
    return marked


def as_completion(message: Mapping[str, Any], finish: str | None, usage: Mapping[str, int] | None) -> dict[str, Any]:
    """A reply as a chat completion, for upstreams whose own body is of neither cassette format."""
    usage = usage or {}
    cached = usage.get("cache_read_input_tokens", 0)
    written = usage.get("cache_creation_input_tokens", 0)
    prompt = usage.get("input_tokens", 0) + cached + written
    told = {
        "prompt_tokens": prompt,
        "completion_tokens": usage.get("output_tokens", 0),
        "total_tokens": prompt + usage.get("output_tokens", 0),
        "prompt_tokens_details": {"cached_tokens": cached, "cache_creation_tokens": written},
    }
    choice = {"index": 0, "message": dict(message), "finish_reason": finish}
    return {"object": "chat.completion", "created": 0, "choices": [choice], "usage": told}
