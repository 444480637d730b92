"""The door: a call goes through it without its secrets, as JSON, and its true arguments are sealed; findings are told, within bounds."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

import pytest

from runtime.contract import Call
from runtime.guard.door import KNOWN_MOST, OPEN_DOOR, TOLD_MOST, Door
from runtime.guard.findings import Detector, Finding, Gate, Strictness
from runtime.guard.guard import Checked, Guard, GuardRules
from runtime.guard.own_rules import OwnRule, of_words
from tests.unit.guard.secrets import IN_PLACE, SECRETS

IN_TEXT = {name: {"text": secret} for name, (_, secret) in SECRETS.items()}
IN_TEXT |= {name: {"text": form.format(secret)} for name, (_, form, secret) in IN_PLACE.items()}
BY_FIELD = {"aws key by its field": {"aws_secret_access_key": IN_PLACE["aws key"][2], "region": "eu"}}


@pytest.mark.parametrize("arguments", [*IN_TEXT.values(), *BY_FIELD.values()], ids=[*IN_TEXT, *BY_FIELD])
def test_a_call_is_seen_without_its_secret_and_made_with_it(arguments: dict[str, str]) -> None:
    written = json.dumps(arguments, separators=(",", ":"))
    seen = OPEN_DOOR.call(Call("c1", "tool", written))
    shown = json.loads(seen.arguments)
    assert shown.keys() == arguments.keys()
    assert "[redacted: " in seen.arguments
    assert OPEN_DOOR.clean(seen.arguments, Gate.TOOL_ARGUMENTS) == seen.arguments
    assert OPEN_DOOR.true_arguments(seen) == written


ESCAPED = "".join(f"\\u{ord(letter):04x}" for letter in SECRETS["github"][1])


@pytest.mark.parametrize(
    "written",
    [
        f'{{"text": "see {ESCAPED}"}}',
        f'{{"{ESCAPED}": 1}}',
        f'{{"text": "{ESCAPED}", "text": "x"}}',
        f'{{"text": "{ESCAPED}',
        f'{{"text": {"[" * 3_000}"{ESCAPED}"{"]" * 3_000}}}',
        f'{{"text": {"[" * 3_000}"{SECRETS["github"][1]}"{"]" * 3_000}}}',
    ],
    ids=["a value", "a name", "a name twice", "no JSON", "too deep", "too deep and plain"],
)
def test_a_call_is_seen_without_a_secret_in_escapes(written: str) -> None:
    seen = OPEN_DOOR.call(Call("c1", "tool", written))
    assert not {ESCAPED, SECRETS["github"][1]} & set(seen.arguments.split('"'))
    assert ESCAPED not in seen.arguments
    assert OPEN_DOOR.true_arguments(seen) == written


@pytest.mark.parametrize("action", [Strictness.WARN, Strictness.REDACT, Strictness.ENFORCE])
def test_a_text_with_thousands_of_findings_fills_neither_the_record_nor_a_chat(action: Strictness) -> None:
    told: list[Finding] = []
    door = Door(Guard(GuardRules({Detector.SHAPE: action})), told=lambda _gate, _room, finding: told.append(finding))
    clean = door.clean(" ".join(f"ghp_{number:036}" for number in range(2_000)), Gate.MESSAGE_IN)
    assert len(told) == TOLD_MOST
    if action is Strictness.ENFORCE:
        assert clean.count("GitHub token") == 3
        assert clean.endswith(" more]")


Look = Callable[[Door, str, Gate, str], str]
LATER: Final = "a-token-that-was-renewed-later"
LOOKS_RANDOM: Final = "see kD8sQ2xV9mZ4pL7wT1yB6nR3cF5hJ0gA"


@pytest.mark.parametrize("look", [Door.clean, Door.known])
def test_a_clean_text_is_looked_at_again_once_another_secret_is_known(look: Look) -> None:
    guard = Guard(GuardRules())
    door = Door(guard)
    assert [look(door, f"It is {LATER}.", Gate.MODEL_REPLY, room) for room in ("one", "other")] == [
        f"It is {LATER}."
    ] * 2
    guard.know("hook.secret", LATER)
    assert LATER not in look(door, f"It is {LATER}.", Gate.MODEL_REPLY, "one")


@pytest.mark.parametrize("look", [Door.clean, Door.known])
def test_a_text_that_is_clean_in_one_room_is_looked_at_where_rules_are_tighter(look: Look) -> None:
    tighter = [("web:main/desk", {Detector.ENTROPY: Strictness.REDACT})]
    door = Door(Guard(GuardRules({Detector.ENTROPY: Strictness.OFF}, tighter)))
    assert look(door, LOOKS_RANDOM, Gate.DELIVERY, "web:main/elsewhere") == LOOKS_RANDOM
    assert look(door, LOOKS_RANDOM, Gate.DELIVERY, "web:main/desk") != LOOKS_RANDOM


@pytest.mark.parametrize("look", [Door.clean, Door.known])
def test_a_text_that_is_clean_at_one_gate_is_looked_at_where_a_rule_holds(look: Look) -> None:
    rule = OwnRule("code name", of_words(("bluebird",)), gates=frozenset({Gate.DELIVERY}))
    door = Door(Guard(GuardRules(own=[rule])))
    assert look(door, "bluebird", Gate.MESSAGE_IN, "") == "bluebird"
    assert look(door, "bluebird", Gate.DELIVERY, "") != "bluebird"


def test_a_warning_about_rows_is_told_once_in_each_room() -> None:
    told: list[str] = []
    guard = Guard(GuardRules({Detector.ENTROPY: Strictness.WARN}))
    door = Door(guard, told=lambda _gate, room, _finding: told.append(room))
    for room in ("one", "one", "other"):
        assert door.known(LOOKS_RANDOM, Gate.MESSAGE_IN, room) == LOOKS_RANDOM
    assert told == ["one", "other"]


def test_as_many_clean_texts_are_known_as_may_be() -> None:
    looked_at = 0

    class Looking(Guard):
        def check(self, text: str, gate: Gate, room: str = "") -> Checked:
            nonlocal looked_at
            looked_at += 1
            return super().check(text, gate, room)

    door = Door(Looking(GuardRules()))
    for number in (*range(KNOWN_MOST), *range(KNOWN_MOST)):
        door.clean(f"text {number}", Gate.MESSAGE_IN)
    assert looked_at == KNOWN_MOST
    door.clean("one more", Gate.MESSAGE_IN)
    assert len(door._known) == 1
