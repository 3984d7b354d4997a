"""Prompts are data; a change of what models are told is a change of the engine's protocol."""

from __future__ import annotations

import json

from bench.core import digest
from bench.effects.engines import Skill, Work
from bench.effects.engines.loop import TOOL, Loop, system_prompt

SAID = {
    1: "b3:c6941282390086b9c58ba081c110c184561e2cad68118da9cd6817e5f2185fe1",
    2: "b3:92e7e74e2a3ed02c363f988d76bd10da4a6378e00617292d54213f25e94c2ada",
}
"""Protocol → digest of everything that its models are told. Add a line, never change one that was released."""


def test_what_models_are_told_belongs_to_the_protocol() -> None:
    skill = Skill("s", "What s is for.", "/opt/skills/s/SKILL.md", "body")
    plain = Work("p", "m", None, 0, {})
    full = Work("p", "m", None, 0, {}, skills=(skill,), graph="/opt/graph/graph.json")
    told = digest.of("test/told/1", [system_prompt(plain), system_prompt(full), json.dumps(TOOL, sort_keys=True)])
    assert told == SAID[Loop.protocol]


def test_only_what_an_arm_has_is_mentioned() -> None:
    plain = system_prompt(Work("p", "m", None, 0, {}))
    assert "$" not in plain
    assert "Skills" not in plain
    assert "graph" not in plain
