"""Questions to people on the surfaces that have no card of their own: the list in a room, the console, the form."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from runtime.chat import inbox
from runtime.chat.cards.card_facts import about, labels_of
from runtime.chat.forms import form_of
from runtime.contract import REASON, Address, ApprovalId, ApprovalKind, Asking, Choice, Effect, Field, Form, RunId
from runtime.domain.approvals import Approval, ApprovalState, told

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
QUESTION = Approval(
    ApprovalId("a1"),
    ApprovalKind.ANSWER,
    ApprovalState.PENDING,
    RunId("r1"),
    2,
    "main|web:main/r1",
    Address("web", "main", "r1"),
    "ask_person",
    Effect.READ,
    "{}",
    "",
    "",
    None,
    AT,
    AT + timedelta(hours=12),
)


def card(asking: Asking) -> Approval:
    return replace(QUESTION, card=json.dumps(asking.to_json()))


def test_the_list_of_a_room_says_what_is_asked_and_whom() -> None:
    waiting = [card(Asking("Which `colour`?", ("red", "green"), "Ann")), card(Asking("Tea?", ("yes", "no")))]
    assert inbox.told(inbox.Answer(others=waiting), AT + timedelta(hours=1)).splitlines()[2:] == [
        "- ``Which `colour`? (red / green)`` for Ann, asked 1 hour ago, expires in 11 hours",
        "- `Tea? (yes / no)` for anybody here, asked 1 hour ago, expires in 11 hours",
    ]


def test_the_console_has_the_question_and_its_options_as_labels() -> None:
    question = card(Asking("Which?", ("red", "green"), "Ann"))
    assert about(question) == "Which?"
    assert labels_of(question) == {Choice.FIRST: "red", Choice.SECOND: "green", Choice.TEXT: "Answer…"}


def test_an_answer_in_words_is_written_below_its_question() -> None:
    hint = "I'll read what you write."
    field = Field(REASON, "Which?", hint=hint, lines=True, most=1000)
    assert form_of(card(Asking("Which?")), Choice.TEXT) == Form(ApprovalId("a1"), Choice.TEXT, "Answer", (field,))


def test_how_it_ended_is_told_without_the_word_of_a_button() -> None:
    answered = replace(
        card(Asking("Which?", ("red", "green"))),
        state=ApprovalState.ANSWERED,
        choice=Choice.FIRST,
        decided_name="Ann",
    )
    assert told(answered) == "answered by Ann"
