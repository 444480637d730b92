"""Stored text is cleaned in the form in which its column writes it."""

from __future__ import annotations

import json

import pytest

from runtime.guard.findings import Gate, Strictness
from runtime.guard.guard import Checked, Guard, GuardRules
from runtime.guard.own_rules import OwnRule, of_words
from runtime.guard.stored import Form, looked_at
from tests.unit.guard.secrets import IN_PLACE, SECRETS, letters

KEY = SECRETS["github"][1]
RULE = OwnRule("code name", of_words(("approve", "bluebird")), Strictness.REDACT, frozenset())


def check(text: str) -> Checked:
    return Guard(GuardRules(own=(RULE,))).check(text, Gate.DELIVERY)


@pytest.mark.parametrize("secret", [secret for _, secret in SECRETS.values()], ids=list(SECRETS))
def test_a_call_in_json_in_json_stays_one(secret: str) -> None:
    written = json.dumps([["c1", "shell", json.dumps({"command": f'echo "{secret}" | tee "a.txt"'})]])
    cleaned, found = looked_at(written, Form.JSON, check)
    [[call, tool, arguments]] = json.loads(cleaned)
    assert (call, tool) == ("c1", "shell")
    assert json.loads(arguments)["command"].startswith('echo "[redacted: ')
    assert json.loads(arguments)["command"].endswith('" | tee "a.txt"')
    assert len(found) == 1


def test_a_secret_that_is_known_by_its_field_is_found_in_json() -> None:
    name, _, secret = IN_PLACE["aws key"]
    cleaned, [found] = looked_at(f'{{"aws_secret_access_key":"{secret}"}}', Form.JSON, check)
    assert found.name == name
    assert json.loads(cleaned)["aws_secret_access_key"] == f"[redacted: {found}]"


def test_words_of_ours_stay_where_a_rule_has_the_same_one() -> None:
    card = {"approve": "approve", "text": "approve bluebird"}
    cleaned, [found] = (
        looked_at(json.dumps(card), Form.JSON, check)[0],
        looked_at(json.dumps(card), Form.JSON, check)[1][:1],
    )
    assert found.name == "code name"
    assert json.loads(cleaned).keys() == card.keys()
    assert json.loads(cleaned)["approve"] == "approve"
    assert "bluebird" not in cleaned


def test_what_a_vendor_signed_is_given_up() -> None:
    thought = json.dumps([f"with {KEY}", "m", json.dumps([{"thinking": KEY, "signature": "abc"}])])
    text, model, blocks = json.loads(looked_at(thought, Form.THINKING, check)[0])
    assert text.startswith("with [redacted: ")
    assert (model, blocks) == ("m", "")
    clean = json.dumps(["fine", "m", "[1]"])
    assert looked_at(clean, Form.THINKING, check) == (clean, ())


def test_json_that_is_cut_off_is_cleaned_as_text() -> None:
    cleaned, found = looked_at(f'{{"key": "{KEY}', Form.JSON, check)
    assert cleaned.startswith('{"key": "[redacted: ')
    assert len(found) == 1


def test_what_only_looks_random_is_no_finding() -> None:
    random = f"id {letters(40, 3)}"
    assert looked_at(random, Form.TEXT, check) == (random, ())
