"""Questions to the agent on a card: bounded on every platform, whatever is written."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from adapters.discord.outgoing import render as discord
from adapters.slack.outgoing import render as slack
from adapters.telegram.outgoing import render as telegram
from runtime.chat.cards import open_cards
from runtime.chat.cards.exchanges import (
    PLAIN_QUESTION,
    QUESTION_MAX_CHARS,
    QUESTIONS_MAX,
    USED_UP,
    exchanges,
    question_of,
    used_up,
    with_answer,
    with_question,
    without_open,
)
from runtime.chat.forms import form_of
from runtime.contract import Address, Choice, Content, Delivery, DeliveryId, Form, Kind, Wire
from runtime.domain.approvals import Approval
from tests.drawings.situations import ASKED, OFFERED

NASTY = ["*" * 5_000, "a\n" * 3_000, "\u202e" * 4_000, "`_[x](y)_` " * 400, "> # - 1. | ~~\n" * 400, "word " * 1_000]


def asked_and_answered(times: int, words: str) -> Approval:
    card = OFFERED.card
    for number in range(1, times + 1):
        card, made = with_question(card, "Zoë *the* [Approver] of all", words[:QUESTION_MAX_CHARS] or "Why?")
        card = with_answer(card, made.number, words)
        assert made.number == number
    return replace(OFFERED, card=card)


def wires(channel: str, content: Content) -> list[Wire]:
    account = {"slack": "T1", "telegram": "7", "discord": "9"}[channel]
    delivery = Delivery(DeliveryId("d1"), "approval:a1", 0, Kind.APPROVAL, Address(channel, account, "C1"), content)
    render = {"slack": slack.render, "telegram": telegram.render, "discord": discord.render}[channel]
    return render(delivery)


@pytest.mark.parametrize("channel", ["slack", "telegram", "discord"])
@pytest.mark.parametrize("words", NASTY)
def test_a_card_stays_one_message_whatever_the_agent_writes(words: str, channel: str) -> None:
    card = open_cards.pending(asked_and_answered(QUESTIONS_MAX, words), ASKED)
    assert len(wires(channel, card)) == 1
    assert [button.choice for button in card.buttons][:4] == [Choice.APPROVE, Choice.DENY, Choice.EDIT, Choice.WHY]


@pytest.mark.parametrize("words", NASTY)
def test_what_it_writes_leaves_its_quotation_by_no_mark_up(words: str) -> None:
    text = open_cards.pending(asked_and_answered(1, words), ASKED).text
    beneath = text[text.rindex("The agent answered:") :].splitlines()[2:]
    assert beneath
    assert all(line.startswith(">") for line in beneath if line)
    assert "more characters, in a message of its own" in beneath[-1]


def test_questions_are_counted_without_those_that_failed() -> None:
    card = OFFERED.card
    for _ in range(QUESTIONS_MAX * 2):
        card, made = with_question(card, "Ada", "Why?")
        card = with_answer(card, made.number, "", "it was away.")
    assert (used_up(card), len(exchanges(card))) == (None, 1)
    for _ in range(QUESTIONS_MAX):
        assert used_up(card) is None
        card, made = with_question(card, "Ada", "Why?")
        card = with_answer(card, made.number, "Because.")
    assert used_up(card) == USED_UP.format(number=QUESTIONS_MAX)
    assert form_of(replace(OFFERED, card=card), Choice.WHY) == USED_UP.format(number=QUESTIONS_MAX)
    assert len({one.number for one in exchanges(card)}) == QUESTIONS_MAX


def test_all_else_that_a_card_keeps_stays() -> None:
    card, _ = with_question(OFFERED.card, "Ada", "Why?")
    kept = json.loads(without_open(card))
    assert kept.pop("asked_back") == []
    assert kept == json.loads(OFFERED.card)


@pytest.mark.parametrize("typed", ["", "   ", "?", "…", "???\n"])
def test_a_form_without_words_asks_the_plain_question(typed: str) -> None:
    assert question_of({"question": typed}, "question") == PLAIN_QUESTION


def test_a_question_is_one_line_and_bounded() -> None:
    assert question_of({"question": " What\n for? "}, "question") == "What for?"
    assert len(question_of({"question": "x" * 9_000}, "question")) == QUESTION_MAX_CHARS


def test_the_form_may_be_sent_empty() -> None:
    form = form_of(OFFERED, Choice.WHY)
    assert isinstance(form, Form)
    [field] = form.fields
    assert (field.optional, field.text, field.hint) == (True, "", PLAIN_QUESTION)
