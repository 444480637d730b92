"""The door: a call goes through it without its secrets, as JSON, and its true arguments are sealed; findings are told, within bounds."""

from __future__ import annotations

import json

import pytest

from runtime.contract import Call
from runtime.guard.door import OPEN_DOOR, TOLD_MOST, Door
from runtime.guard.findings import Detector, Finding, Gate, Strictness
from runtime.guard.guard import Guard, GuardRules
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
