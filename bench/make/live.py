"""Models that cost money: a key that is missing, a provider that is unknown, a price that a budget needs and nobody knows.

Refused before anything runs where a live session is certain to start, and before the first one starts where only the run can
tell (evidence may lie in the store). Nothing is imported or looked up for runs that only reuse, replay or calibrate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bench.core import model_routes
from bench.effects import env, list_prices, llm, model_keys
from bench.errors import CorpusError, UsageError
from bench.make.decide import decide
from bench.make.step import Step
from bench.make.workspace import Workspace


def check(workspace: Workspace, steps: Iterable[Step]) -> None:
    """Raise what refuses a live session that is certain to start: MissingPart (3), CorpusError or UsageError (2)."""
    starting = {}
    for step in steps:
        if not step.paid or step.terms is None:
            continue
        kind = (step.params.get("engine"), step.params.get("model"), step.terms, str(_settings(step)))
        if kind not in starting and _starts(workspace, step):
            starting[kind] = step
    _check_keys(list(starting.values()))
    for step in starting.values():
        _check_price(step)


def _starts(workspace: Workspace, step: Step) -> bool:
    if workspace.stands(step):
        return False
    verdict = decide(workspace, step)
    if verdict.action == "hold":  # its inputs are to be made; what the store may hold for them is not known yet
        return next(iter(workspace.store.keys()), None) is None
    return verdict.action == "measure"


def refuse(step: Step) -> None:
    """Raise what stands against a live session of this step, if anything does."""
    _check_keys([step])
    _check_price(step)


def _check_price(step: Step) -> None:
    model, terms = step.params.get("model"), step.terms
    if model is None or terms is None or terms.budget_usd is None or terms.expected_usd is not None:
        return
    if not list_prices.known(model):
        raise UsageError(
            f"no price of {model} is known, so no budget can hold it",
            where=f"budget_usd of {terms.suite}",
            remedy="give expected_usd=DOLLARS per session, or budget_usd=none",
        )


def _settings(step: Step) -> dict[str, str | None]:
    given = step.params.get("engine_params") or {}
    return {name: given.get(name, default) for name, default in model_routes.ROUTE.items()}


def _check_keys(steps: Sequence[Step]) -> None:
    """All models at once, so that of two families the one without a key is named beside the other."""
    asked: dict[str, bool] = {}
    for step in steps:
        model, address = step.params.get("model"), _settings(step)["base_url"]
        if model is None:
            continue
        if address is not None and (fault := model_routes.address_fault(str(address))):
            raise CorpusError(
                f"{address!r} {fault}", where=f"base_url of {step.id}", remedy="such as http://127.0.0.1:11434"
            )
        full = _routed(step, model)
        # Others may be reached in ways that only LiteLLM knows; what it says to them is told by the session.
        theirs = full.partition("/")[0] not in model_routes.KEYS
        if not theirs or (step.params.get("engine") != "loop" and address is None):
            asked[full] = address is not None
    model_routes.check_keys(asked, env.names())
    for full, own in asked.items():
        provider = full.partition("/")[0]
        key = model_keys.key_of(provider)
        if key is not None:
            model_routes.check_key(provider, key, own_address=own)


def _routed(step: Step, model: str) -> str:
    """The id with its provider: the gateway's rule, or, for the loop engine where nothing insists, LiteLLM's own."""
    wanted = str(_settings(step)["provider"])
    if step.params.get("engine") != "loop" or wanted != "auto":
        return model_routes.route(model, wanted)
    provider = llm.provider_of(model)
    return model if model.startswith(f"{provider}/") else f"{provider}/{model}"
