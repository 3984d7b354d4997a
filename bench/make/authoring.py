"""`python -m bench cassette SCRIPT`: writes a cassette from a readable script of moves, for demos and tests of one's own.

The format is that of corpus/cassettes/demo.script.yaml. Token counts are worked out from the lengths of what
is said: they are as made up as the words, and the same for the same script.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.core import corpus, yamlmap
from bench.effects import files
from bench.effects.cassette_author import authored
from bench.errors import CorpusError

LIMIT = 1 << 20
SYSTEM_TOKENS = 420
"""About what the loop's system prompt takes; a skill's line in it adds `SKILL_TOKENS`."""
SKILL_TOKENS = 70
CHARS_PER_TOKEN = 4


def write(script: Path) -> Path:
    """Write `<name>.json` beside `<name>.script.yaml` and give its path. Raises CorpusError."""
    target = script.with_name(script.name.removesuffix(".script.yaml") + ".json")
    files.write_atomic(target, cassette(script), mode=0o644)
    return target


def cassette(script: Path) -> bytes:
    """The cassette of a script that lies in corpus/cassettes/."""
    home = script.resolve().parent.parent
    said = yamlmap.load(files.read_regular(script, LIMIT).decode("utf-8"), script.name).plain()
    prompts = _prompts(home, said["suite"])
    try:
        conversations = [talk for entry in said["conversations"] for talk in _talks(said, entry, prompts, home)]
    except KeyError as error:
        raise CorpusError(f"{error} is not defined", where=script.name, remedy="name a task, move or skill of it") from None
    return authored(said["model"], said["format"], conversations)


def _prompts(home: Path, suite: str) -> dict[str, str]:
    arms = home / "arms.yaml"
    text = files.read_regular(home / f"{suite}.yaml", LIMIT).decode("utf-8")
    arms_text = files.read_regular(arms, LIMIT).decode("utf-8") if arms.is_file() else None
    parsed = corpus.parse_suite(text, path=f"{suite}.yaml", arms_text=arms_text, arms_path=arms.name)
    return {task.id: task.prompt for task in parsed.tasks}


def _talks(
    said: Mapping[str, Any], entry: Mapping[str, Any], prompts: Mapping[str, str], home: Path
) -> Iterator[dict[str, Any]]:
    offers = said["skills"][entry["offers"]] if "offers" in entry else {}
    texts = {name: files.read_regular(home / path, LIMIT).decode("utf-8") for name, path in offers.items()}
    prompt = prompts[entry["task"]]
    for take, moves in enumerate(entry["takes"]):
        cached, fresh = 0, SYSTEM_TOKENS + SKILL_TOKENS * len(texts) + len(prompt) // CHARS_PER_TOKEN
        turns = []
        for name in moves:
            move = said["moves"][name]
            spoken = (len(move["text"]) + len(move["run"])) // CHARS_PER_TOKEN + 30
            command = {"run": move["run"]} | ({"fails": True} if move.get("fails") else {})
            turns.append({"text": move["text"], "commands": [command], "usage": _usage(cached, fresh, spoken)})
            cached, fresh = cached + fresh, spoken + int(move["back"])
        final = {"text": f"Done: {said['moves'][moves[-1]]['text']}", "usage": _usage(cached, fresh, 60)}
        yield {"prompt": prompt, "skills": sorted(texts), "offer": texts, "take": take, "turns": turns, "final": final}


def _usage(cached: int, fresh: int, spoken: int) -> dict[str, int]:
    return {
        "input_tokens": 4,
        "cache_creation_input_tokens": fresh,
        "cache_read_input_tokens": cached,
        "output_tokens": spoken,
    }
