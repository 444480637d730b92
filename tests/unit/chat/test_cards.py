"""What an approval card says."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.chat.cards import listing
from runtime.chat.cards.calls import shown_call
from runtime.chat.cards.open_cards import pending, question
from runtime.chat.cards.settled_cards import outcome, settled
from runtime.chat.cards.verdicts import result_of
from runtime.contract import Address, ApprovalId, ApprovalKind, Choice, Content, Effect, PersonId, RunId
from runtime.domain.approvals import Approval, ApprovalState
from runtime.policy.terms import Terms

ASKED = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
PENDING = Approval(
    ApprovalId("a1"),
    ApprovalKind.CALL,
    ApprovalState.PENDING,
    RunId("run"),
    2,
    "session",
    Address("web", "main", "r1"),
    "shell",
    Effect.DANGER,
    '{"command": "uname -a"}',
    "hash",
    "1",
    PersonId("p1"),
    ASKED,
    ASKED + timedelta(hours=12),
)
ASKED_BY_BOB = replace(
    PENDING,
    requester_name="Bob",
    request="“please look at the kernel”",
    terms=Terms(rule="kernel", quorum=2),
    card='{"room": "#general", "asked": ["Alice", "Otto"]}',
)
DONE = replace(
    ASKED_BY_BOB,
    state=ApprovalState.APPROVED,
    decided_name="Alice and Otto",
    decided_at=ASKED + timedelta(minutes=5),
    choice=Choice.APPROVE,
    outcome=outcome("Linux\nand\nmore\nof\nit\n[exit code 0]", timedelta(seconds=1.24)),
)


def list_of(calls: int) -> Content:
    """The open card of so many calls."""
    group = [replace(PENDING, id=ApprovalId(f"a{number}"), step=number + 1) for number in range(1, calls + 1)]
    listed = listing.frozen(group, "", {one.id: shown_call(one.arguments) for one in group})
    return listing.card(listed, ASKED)


def test_the_card_tells_why_its_rule_asks() -> None:
    terms = Terms(rule="kernel", reason="Kernels are *Ann's*")
    asks = "Why this asks: Kernels are \\*Ann's\\*"
    one = replace(ASKED_BY_BOB, terms=terms)
    assert asks in pending(one, ASKED).text.split("\n\n")
    group = [one, replace(one, id=ApprovalId("a2"), step=3)]
    listed = listing.frozen(group, "", {each.id: shown_call(each.arguments) for each in group})
    assert asks in listing.card(listed, ASKED).text.split("\n\n")


DENIED = replace(
    PENDING,
    state=ApprovalState.DENIED,
    decided_name="Ada",
    decided_at=ASKED + timedelta(minutes=5),
    choice=Choice.DENY,
    reason="not here",
)
ANSWERED = replace(DENIED, kind=ApprovalKind.OUTCOME, state=ApprovalState.ANSWERED, reason="")


def test_a_question_shows_the_call_its_caution_and_its_buttons() -> None:
    card = question(ApprovalId("a1"), ApprovalKind.CALL, "shell", '{"command": "ls"}', "There is no sandbox.")
    assert card.text == "**May I run `shell`?**\n\n```\nls\n```\n\nThere is no sandbox."
    assert [(b.approval_id, b.choice, b.label) for b in card.buttons] == [
        ("a1", Choice.APPROVE, "Approve"),
        ("a1", Choice.DENY, "Deny"),
        ("a1", Choice.EDIT, "Edit…"),
        ("a1", Choice.WHY, "Why?"),
    ]


def test_a_question_about_a_cut_call_has_three_answers() -> None:
    card = question(ApprovalId("a1"), ApprovalKind.OUTCOME, "shell", "{}", "")
    assert card.text.startswith("**`shell` was cut off. Did it finish?**")
    assert [b.label for b in card.buttons] == ["It was done", "Run again", "Skip it"]


def test_a_settled_card_says_who_when_what_and_why_and_has_no_buttons() -> None:
    card = settled(DENIED)
    assert (
        card.text
        == "❌ **Denied** by Ada, [2026-03-01 12:05 UTC](time:2026-03-01T12:05:00Z): `shell`\n\n```\nuname -a\n```\n\n> not here"
    )
    assert card.buttons == ()


@pytest.mark.parametrize(
    ("state", "head"),
    [(ApprovalState.EXPIRED, "⌛ **Expired**"), (ApprovalState.VOID, "⚪ **Withdrawn**")],
)
def test_a_card_that_nobody_decided_names_nobody(state: ApprovalState, head: str) -> None:
    ended = replace(PENDING, state=state, decided_at=ASKED)
    assert settled(ended).text.startswith(f"{head}, [2026-03-01 12:00 UTC](time:2026-03-01T12:00:00Z): `shell`")


def test_a_reason_of_several_lines_stays_a_quotation() -> None:
    card = settled(replace(DENIED, reason="no\n\n**Approved** by Ada"))
    assert card.text.endswith("\n\n> no\n>\n> **Approved** by Ada")


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ('{"command": "ls"}', "```\nls\n```"),
        ('{"path": "a", "content": "b"}', "- path: `a`\n- content: `b`"),
        ('{"count": 3}', "- count: `3`"),
        ("{}", "No arguments"),
        ("not json", "```\nnot json\n```"),
        ('{"word": "größe"}', "```\ngröße\n```"),
    ],
)
def test_arguments_are_shown_as_people_read_them(arguments: str, shown: str) -> None:
    assert shown_call(arguments).text == shown


@given(st.text(alphabet="`a\n ", max_size=40))
def test_no_argument_gets_out_of_its_block(text: str) -> None:
    fence, *inside, end = shown_call(text).text.split("\n")
    assert end == fence
    assert not any(line.strip().startswith(fence) for line in inside)


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        (Choice.DONE, "The call was cut off. Ada says that it was carried out; its output is lost."),
        (Choice.SKIP, "The call was cut off and its outcome is unknown. Ada says to go on without it."),
    ],
)
def test_the_model_is_told_what_a_person_said_about_a_cut_call(choice: Choice, said: str) -> None:
    assert result_of(replace(ANSWERED, choice=choice)) == said


def test_the_model_is_told_of_a_denial_with_its_reason() -> None:
    assert result_of(DENIED).startswith("denied: denied by Ada (not here). It was not run;")


def test_no_sentence_of_ours_on_a_card_is_long() -> None:
    """Twenty words at most; the call and what people wrote are theirs."""
    for card in (
        pending(ASKED_BY_BOB, ASKED, voted=["Alice"]),
        pending(replace(ASKED_BY_BOB, card='{"home": "quiet"}'), ASKED),
        pending(replace(ASKED_BY_BOB, card='{"home": "told", "asked": ["Alice"]}'), ASKED),
        settled(DONE),
    ):
        told = re.sub(r"```.*?```|\(time:[^)]*\)", "", card.text, flags=re.DOTALL)
        assert max(len(sentence.split()) for sentence in re.split(r"[.?!]\W|\n\n", told)) <= 20


def test_a_question_that_was_asked_elsewhere_shows_no_call_at_home() -> None:
    asked = replace(ASKED_BY_BOB, card='{"home": "told", "asked": ["Alice"]}')
    card = pending(asked, ASKED)
    assert (card.text, card.buttons) == ("**May I run `shell`?** I've asked Alice. 2 people must approve this.", ())
    assert "uname" not in settled(replace(DONE, card=asked.card)).text
    assert "uname" in pending(asked, ASKED, home=False).text


@pytest.mark.parametrize(
    ("result", "took", "told"),
    [
        ("", 0, {"state": "done", "seconds": 0, "lines": [], "more": 0}),
        ("error: no", 61, {"state": "failed", "seconds": 61, "lines": ["no"], "more": 0}),
        ("a [exit code 3]\nb", 1, {"state": "done", "seconds": 1, "lines": ["a [exit code 3]", "b"], "more": 0}),
        ("a\n[exit code 3]", 1, {"state": "failed", "seconds": 1, "lines": ["a"], "exit": 3, "more": 0}),
    ],
)
def test_an_outcome_is_read_from_what_the_call_returned(result: str, took: int, told: dict[str, object]) -> None:
    assert json.loads(outcome(result, timedelta(seconds=took))) == told
