"""The checker sees a posted message that is there twice, missing, elsewhere, or not on screen."""

from __future__ import annotations

from typing import Any, Final

import pytest

from runtime.contract import Content
from tests.soak.clerk import sent
from tests.soak.evidence import Evidence
from tests.soak.plan import Line, Plan, Want
from tests.soak.posted import each_call_posts_one_message

TAG: Final = "w01001"
TOLD: Final = "It is posted as message 0123. delivery_status tells whether it is shown."


def delivery(**more: Any) -> dict[str, Any]:
    row = {"id": "d", "origin": "posted:k:1", "address": "fake:bot-lookup/lookupboard", "state": "shown"}
    return {**row, "content": Content(sent(TAG)).to_json(), **more}


def complaints(*deliveries: dict[str, Any], result: str = TOLD) -> list[str]:
    step = {"run_id": "r", "call_id": f"{TAG}-1", "number": 2, "result": result}
    tables = {"steps": [step], "deliveries": list(deliveries)}
    lines = {TAG: Line(TAG, Want.SEND)}
    return [
        one.words for one in each_call_posts_one_message(Evidence(Plan("posts", {}, []), lines, [], tables, [], {}, []))
    ]


def test_one_message_for_the_call_is_well() -> None:
    assert complaints(delivery()) == []


@pytest.mark.parametrize(
    "rows",
    [
        (),
        (delivery(), delivery(id="e", origin="posted:k:2")),
        (delivery(address="fake:bot-key/keyboard"),),
        (delivery(state="open"),),
        (delivery(state="held"),),
        (delivery(content=Content("something else").to_json()),),
    ],
    ids=["missing", "twice", "elsewhere", "not shown", "held", "other words"],
)
def test_anything_else_is_seen(rows: tuple[dict[str, Any], ...]) -> None:
    assert complaints(*rows) != []


def test_a_call_that_was_cut_and_stopped_may_have_posted_or_not() -> None:
    assert complaints(result="") == complaints(delivery(), result="") == []
