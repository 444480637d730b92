"""Phrases about memory that the demo model understands."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.contract import ModelRequest, UserTurn
from runtime.models.demo import Demo
from runtime.models.demo_phrases import Wish, wish
from runtime.models.phrases.memories import proposed


@pytest.mark.parametrize(
    ("line", "tool", "arguments"),
    [
        (
            "Remember that my dog is called Rex.",
            "remember",
            {"text": "my dog is called Rex", "subject": "the person", "relation": "dog"},
        ),
        (
            "correct: Ada's birthday is 3 May",
            "remember",
            {"text": "Ada's birthday is 3 May", "subject": "Ada", "relation": "birthday"},
        ),
        ("remember for this room that we deploy late", "remember", {"scope": "room", "text": "we deploy late"}),
        ("what do you know about my dog?", "recall", {"query": "my dog"}),
        ("what is my dog called?", "recall", {"query": "my dog called"}),
        ("forget what you know about my dog", "forget", {"words": "my dog"}),
        ("relate Ada -works at-> Acme", "relate", {"a": "Ada", "kind": "works at", "b": "Acme"}),
        ("what belongs to Acme?", "about", {"entity": "Acme"}),
        ("find messages about the offer", "search_messages", {"query": "the offer"}),
    ],
)
def test_a_phrase_is_a_call(line: str, tool: str, arguments: dict[str, Any]) -> None:
    assert wish(line) == Wish(tool, arguments)


def test_a_question_about_schedules_is_none_about_memory() -> None:
    assert wish("what is scheduled?") == Wish("schedule_list", {})


def test_facts_of_whoever_spoke_are_proposed_and_those_that_are_kept_are_not() -> None:
    said = ["My dog is called Rex.", "remember that my cat is called Tom", "the sky is blue", "hello"]
    assert proposed(said) == ["- the person | dog | My dog is called Rex."]


async def test_a_summary_lists_them_where_that_is_asked_for() -> None:
    record = UserTurn("<record>\n[Ada] My dog is called Rex.\n</record>\n\nWrite the record of all this now.")
    plain, listed = [
        (await Demo().reply(ModelRequest(system, [record], ()), lambda _: None)).text
        for system in ("You keep the record.", "You keep the record. Under the heading Keep, list facts.")
    ]
    assert "Keep:" not in plain
    assert listed.endswith("Keep:\n- the person | dog | My dog is called Rex.")


async def test_a_persons_summary_is_made_of_what_is_kept_for_them() -> None:
    facts = "- 2026-03-01, said by Ada (x7Kd2p): my dog is called Rex\n- 2026-03-02 (x7Kd2q): Ada likes tea: green."
    record = UserTurn(f"<record>\nAda wrote:\nI sing.\n\nFacts:\n{facts}\n</record>")
    reply = await Demo().reply(ModelRequest("You add to a short note.", [record], ()), lambda _: None)
    assert reply.text == "my dog is called Rex\nAda likes tea: green."
