"""What an approval card says."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.chat.cards import question, result_of, settled, shown_arguments
from runtime.contract import Address, ApprovalId, ApprovalKind, Choice, Effect, PersonId, RunId
from runtime.domain.approvals import Approval, ApprovalState

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
DENIED = replace(
    PENDING,
    state=ApprovalState.DENIED,
    decided_name="Ada",
    decided_at=ASKED + timedelta(minutes=5),
    choice=Choice.DENY,
    reason="not here",
)
ANSWERED = replace(DENIED, kind=ApprovalKind.OUTCOME, state=ApprovalState.ANSWERED, reason="")


def test_a_question_shows_the_call_its_caution_and_two_buttons() -> None:
    card = question(ApprovalId("a1"), ApprovalKind.CALL, "shell", '{"command": "ls"}', "There is no sandbox.")
    assert card.text == "**May I run `shell`?**\n\n```\nls\n```\n\nThere is no sandbox."
    assert [(b.approval_id, b.choice, b.label) for b in card.buttons] == [
        ("a1", Choice.APPROVE, "Approve"),
        ("a1", Choice.DENY, "Deny"),
    ]


def test_a_question_about_a_cut_call_has_three_answers() -> None:
    card = question(ApprovalId("a1"), ApprovalKind.OUTCOME, "shell", "{}", "")
    assert card.text.startswith("**`shell` was cut off. Was it carried out?**")
    assert [b.label for b in card.buttons] == ["It was done", "Run again", "Skip it"]


def test_a_settled_card_says_who_when_what_and_why_and_has_no_buttons() -> None:
    card = settled(DENIED)
    assert (
        card.text
        == "**Denied** by Ada, [2026-03-01 12:05 UTC](time:2026-03-01T12:05:00Z): `shell`\n\n```\nuname -a\n```\n\n> not here"
    )
    assert card.buttons == ()


@pytest.mark.parametrize(
    ("state", "head"),
    [(ApprovalState.EXPIRED, "**Expired**"), (ApprovalState.VOID, "**Withdrawn**")],
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
        ('{"path": "a", "content": "b"}', '```json\n{\n  "path": "a",\n  "content": "b"\n}\n```'),
        ('{"count": 3}', '```json\n{\n  "count": 3\n}\n```'),
        ("{}", "```json\n{}\n```"),
        ("not json", "```\nnot json\n```"),
        ('{"word": "größe"}', "```\ngröße\n```"),
    ],
)
def test_arguments_are_shown_as_people_read_them(arguments: str, shown: str) -> None:
    assert shown_arguments(arguments) == shown


@given(st.text(alphabet="`a\n ", max_size=40))
def test_no_argument_gets_out_of_its_block(text: str) -> None:
    fence, *inside, end = shown_arguments(text).split("\n")
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
