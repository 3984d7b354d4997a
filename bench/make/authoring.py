"""`python -m bench cassette SCRIPT`: writes a cassette from a readable script of moves, for demos and tests of one's own.

The formats are those of corpus/cassettes/demo.script.yaml, and of claude-demo.script.yaml where conversations name an arm:
then its skills, its overlay and what each phase is told come from the corpus. Token counts are worked out from the lengths
of what is said: they are as made up as the words, and the same for the same script.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.core import corpus, phases, review_artifact, schema, yamlmap
from bench.core.arm_rules import HEADLESS
from bench.core.skills import INSTALLED, MANIFEST
from bench.core.suite import Arm, Suite
from bench.effects import files
from bench.effects.cassette_author import authored
from bench.effects.engines.claude import command
from bench.effects.sandbox import WORKSPACE
from bench.effects.sessions import prompts
from bench.errors import CorpusError

LIMIT = 1 << 20
SYSTEM_TOKENS = 420
"""About what the loop's system prompt takes; a skill's line in it adds `SKILL_TOKENS`."""
CLIENT_TOKENS = 9_000
"""About what Claude Code's system prompt and the descriptions of its tools take."""
SKILL_TOKENS = 70
CHARS_PER_TOKEN = 4
PLACES = {
    "plan": f"{WORKSPACE}/{phases.PLAN_FILE}",
    "review": f"{review_artifact.FOLDER}/{review_artifact.NAME}",
    "variable": review_artifact.VARIABLE,
}
"""What a session's phases are told to write to, as the session step says it."""


def write(script: Path) -> Path:
    """Write `<name>.json` beside `<name>.script.yaml` and give its path. Raises CorpusError."""
    target = script.with_name(script.name.removesuffix(".script.yaml") + ".json")
    files.write_atomic(target, cassette(script), mode=0o644)
    return target


def cassette(script: Path) -> bytes:
    """The cassette of a script that lies in corpus/cassettes/."""
    home = script.resolve().parent.parent
    document = yamlmap.load(files.read_text(script, LIMIT), script.name)
    schema.check(document, "script", script.name)
    said = document.plain()
    suite = _suite(home, said["suite"])
    try:
        conversations = [talk for entry in said["conversations"] for talk in _talks(said, entry, suite, home)]
    except KeyError as error:
        remedy = "name a task, arm, phase, move or skill that there is"
        raise CorpusError(f"{error} is not defined", where=script.name, remedy=remedy) from None
    return authored(said["model"], said["format"], conversations)


def _suite(home: Path, name: str) -> Suite:
    arms = home / "arms.yaml"
    text = files.read_text(home / f"{name}.yaml", LIMIT)
    arms_text = files.read_text(arms, LIMIT) if arms.is_file() else None
    return corpus.parse_suite(text, path=f"{name}.yaml", arms_text=arms_text, arms_path=arms.name)


def _talks(said: Mapping[str, Any], entry: Mapping[str, Any], suite: Suite, home: Path) -> Iterator[dict[str, Any]]:
    arm = suite.arm(entry["arm"]) if "arm" in entry else None
    offers = _offers(arm, home) if arm else said["skills"][entry["offers"]] if "offers" in entry else {}
    texts = {name: files.read_text(home / path, LIMIT) for name, path in offers.items()}
    prompt = entry["asks"] if "asks" in entry else _prompt(suite, entry, arm)
    client = arm is not None and arm.engine == HEADLESS
    start = CLIENT_TOKENS if client else SYSTEM_TOKENS
    for take, moves in enumerate(entry["takes"]):
        cached, fresh = 0, start + SKILL_TOKENS * len(texts) + len(prompt) // CHARS_PER_TOKEN
        turns = []
        for name in moves:
            move = said["moves"][name]
            does = _calls(move) if client else _commands(move)
            spoken = (len(move["text"]) + _length(does)) // CHARS_PER_TOKEN + 30
            turns.append({"text": move["text"], **does, "usage": _usage(cached, fresh, spoken)})
            cached, fresh = cached + fresh, spoken + move["back"]
        final = {"text": f"Done: {said['moves'][moves[-1]]['text']}", "usage": _usage(cached, fresh, 60)}
        yield {"prompt": prompt, "skills": sorted(texts), "offer": texts, "take": take, "turns": turns, "final": final}


def _offers(arm: Arm, home: Path) -> dict[str, str]:
    """Skill → its SKILL.md relative to corpus/, that of the overlay where it has one."""
    found = {}
    for folder in arm.skills:
        name = Path(folder).name
        above = [f"{arm.overlay}/{prefix}{name}/{MANIFEST}" for prefix in ("", INSTALLED)] if arm.overlay else []
        found[name] = next((path for path in above if (home / path).is_file()), f"{folder}/{MANIFEST}")
    return found


def _prompt(suite: Suite, entry: Mapping[str, Any], arm: Arm | None) -> str:
    """What the first message of a conversation says."""
    text = {task.id: task.prompt for task in suite.tasks}[entry["task"]]
    if arm is None:
        return text
    phase = entry.get("phase", arm.phases[-1])
    if phase not in arm.phases:
        raise KeyError(phase)
    if arm.phases != (phases.WORK,):
        text = prompts.of_phase(phase, text, PLACES)
    return command.prompt(text, arm.expects.get(phase)) if arm.engine == HEADLESS else text


def _calls(move: Mapping[str, Any]) -> dict[str, Any]:
    """A move of Claude Code: `run` is a command in its Bash."""
    if "run" not in move:
        return {"calls": move["calls"]}
    given = {"command": move["run"], "description": move["text"]}
    return {"calls": [{"tool": "Bash", "input": given} | ({"fails": True} if move.get("fails") else {})]}


def _commands(move: Mapping[str, Any]) -> dict[str, Any]:
    return {"commands": [{"run": move["run"]} | ({"fails": True} if move.get("fails") else {})]}


def _length(does: Mapping[str, Any]) -> int:
    """Characters of what is called."""
    commands = sum(len(command["run"]) for command in does.get("commands", ()))
    return commands + sum(len(str(value)) for call in does.get("calls", ()) for value in call["input"].values())


def _usage(cached: int, fresh: int, spoken: int) -> dict[str, int]:
    return {
        "input_tokens": 4,
        "cache_creation_input_tokens": fresh,
        "cache_read_input_tokens": cached,
        "output_tokens": spoken,
    }
