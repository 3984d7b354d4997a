"""Models that cost money: a key that is missing, a provider that is unknown, a price that a budget needs and nobody knows.

Refused before anything runs where a live session is certain to start, and before the first one starts where only the run can
tell (evidence may lie in the store). Nothing is imported or looked up for runs that only reuse, replay or calibrate.
"""

from __future__ import annotations

from collections.abc import Iterable

from bench.core import model_routes
from bench.effects import env, list_prices, llm
from bench.errors import MissingPart, UsageError
from bench.make.decide import decide
from bench.make.step import Step
from bench.make.workspace import Workspace


def check(workspace: Workspace, steps: Iterable[Step]) -> None:
    """Raise what refuses a live session that is certain to start: MissingPart (3), CorpusError or UsageError (2)."""
    fine = set()
    for step in steps:
        kind = (step.params.get("engine"), step.params.get("model"), step.terms)
        if step.paid and step.terms is not None and kind not in fine and _starts(workspace, step):
            refuse(step)
            fine.add(kind)


def _starts(workspace: Workspace, step: Step) -> bool:
    if workspace.stands(step):
        return False
    verdict = decide(workspace, step)
    if verdict.action == "hold":  # its inputs are to be made; what the store may hold for them is not known yet
        return next(iter(workspace.store.keys()), None) is None
    return verdict.action == "measure"


def refuse(step: Step) -> None:
    """Raise what stands against a live session of this step, if anything does."""
    model, settings = step.params.get("model"), step.params.get("engine_params") or {}
    if model is None:
        return
    if "base_url" not in settings:
        _keys(str(step.params.get("engine")), model, str(settings.get("provider", "auto")))
    terms = step.terms
    if terms is None or terms.budget_usd is None or terms.expected_usd is not None or list_prices.known(model):
        return
    raise UsageError(
        f"no price of {model} is known, so no budget can hold it",
        where=f"budget_usd of {terms.suite}",
        remedy="give expected_usd=DOLLARS per session, or budget_usd=none",
    )


def _keys(engine: str, model: str, provider: str) -> None:
    if engine == "loop":
        own = llm.provider_of(model)
        if own in llm.KEYS and llm.key_of(own) is None:
            raise MissingPart(f"no key for {own}", where=model, remedy=f"set {llm.KEYS[own]}")
        return
    names = [name for pair in model_routes.KEYS.values() for name in pair]
    names += model_routes.key_names(model_routes.provider_of(model, provider))
    model_routes.check_keys([model], {name for name in names if (env.get(name) or "").strip()}, provider)
