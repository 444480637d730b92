"""The checker knows that one press on a card that lists several calls answers each of them, and forgives nothing else."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from runtime.domain.approvals import LISTED_CALLS, LISTED_WITH
from tests.soak.diary import Note
from tests.soak.evidence import Evidence
from tests.soak.plan import ADA, Plan
from tests.soak.promises import each_question_is_decided_once

ROOM: Final = {"place": "main", "room": "r1"}
LISTED: Final = {"lead": LISTED_CALLS, "second": LISTED_WITH, "third": LISTED_WITH}


def evidence(*, pressed: str = "lead", choice: str = "deny", who: str = ADA, given: str = "deny") -> Evidence:
    """A card lists three calls, all denied in one instant; somebody pressed something."""
    cards: dict[str, dict[str, Any]] = {name: {key: "lead"} for name, key in LISTED.items()}
    questions = [
        {"id": name, "state": "denied", "choice": "deny", "card": json.dumps(card)} for name, card in cards.items()
    ]
    tables = {
        "approvals": questions,
        "votes": [{"approval_id": name, "choice": given} for name in cards],
        "deliveries": [{"origin": "approval:lead", "address": "key:main/r1"}],
    }
    press = Note(1.0, "clicked", {"approval": pressed, "choice": choice, "who": who, **ROOM})
    return Evidence(Plan("one press", {}, []), {}, [press], tables, [], {}, [])


def test_one_press_denies_all_that_its_card_lists() -> None:
    assert list(each_question_is_decided_once(evidence())) == []


@pytest.mark.parametrize("press", [{"choice": "approve"}, {"who": "bob"}, {"pressed": "second"}])
def test_no_other_press_answers_a_list(press: dict[str, str]) -> None:
    assert len(list(each_question_is_decided_once(evidence(**press)))) == len(LISTED)
