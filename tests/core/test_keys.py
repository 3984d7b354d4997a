"""Keys: pinned literals, and what must and must not move them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.core import keys, protocols
from bench.layout import FOLDERS

SIGNED = "b3:55d110f0c0f04ec2835796e7b62794a112b1a38ff6165385a5fb29b74843c249"
ZERO, ONE = "b3:" + "0" * 64, "b3:" + "1" * 64
NAMES = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([ZERO, ONE]))


def test_a_signature_and_a_key_are_pinned():
    assert keys.signature("session", 1, {"a": 1}, ["template", "graph"], None) == SIGNED
    found = keys.key(SIGNED, {"template": ZERO}, {"x": ONE})
    assert found == "b3:0c35b885f586056407f7b8fa199ccbddd825a88ae434272d7a0bd9beef718c28"


@pytest.mark.parametrize(
    ("kind", "protocol", "params", "roles", "code"),
    [
        ("cell", 1, {"a": 1}, ["template", "graph"], None),
        ("session", 2, {"a": 1}, ["template", "graph"], None),
        ("session", 1, {"a": 2}, ["template", "graph"], None),
        ("session", 1, {"a": 1, "b": None}, ["template", "graph"], None),
        ("session", 1, {"a": 1}, ["template"], None),
        ("session", 1, {"a": 1}, ["template", "graph"], ZERO),
    ],
)
def test_each_part_moves_the_signature(kind: str, protocol: int, params: dict[str, Any], roles: list[str], code: str | None):
    assert keys.signature(kind, protocol, params, roles, code) != SIGNED


def test_the_order_of_roles_and_params_does_not_matter():
    one = keys.signature("cell", 1, {"a": 1, "b": 2}, ["x", "y"], None)
    assert keys.signature("cell", 1, {"b": 2, "a": 1}, ["y", "x"], None) == one


@given(NAMES, NAMES, NAMES, NAMES)
def test_keys_are_equal_only_for_equal_inputs_and_files(
    a: dict[str, str], b: dict[str, str], c: dict[str, str], d: dict[str, str]
):
    assert (keys.key(SIGNED, a, b) == keys.key(SIGNED, c, d)) == ((a, b) == (c, d))


def test_a_record_and_a_raw_file_under_one_role_are_told_apart():
    assert keys.key(SIGNED, {"x": ZERO}, {}) != keys.key(SIGNED, {}, {"x": ZERO})


def test_every_kind_is_costly_or_cheap():
    cheap = {kind for kind in FOLDERS if protocols.known(kind) == (0,)}
    assert cheap == {"preflight", "cell", "aggregate", "health", "promotion", "report"}
    assert set(protocols.PROTOCOLS) == set(FOLDERS) - cheap


def test_what_an_earlier_protocol_made_is_known_beside_todays():
    assert protocols.known("template") == tuple(range(protocols.PROTOCOLS["template"], 0, -1))
