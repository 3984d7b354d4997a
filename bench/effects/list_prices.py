"""Whether the installed LiteLLM has a price for a model. A price that is unknown is never taken for 0."""

from __future__ import annotations

from bench.effects import llm

FREE = ("ollama/", "ollama_chat/", "lm_studio/", "llamafile/", "hosted_vllm/")
"""Prefixes of models on the user's own machine, which nobody bills."""


def known(model: str) -> bool:
    """Whether a call of this model can be priced. Imports LiteLLM, which takes seconds."""
    if model.startswith(FREE) or model.endswith(":free"):
        return True
    table = llm.library().model_cost
    names = [model, model.partition("/")[2]] if model.startswith(("anthropic/", "openai/")) else [model]
    return any((table.get(name) or {}).get("input_cost_per_token") is not None for name in names)
