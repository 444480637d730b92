"""Who may decide an approval: one table of rights, asked with values only."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.chat.cards.calls import shown_call
from runtime.chat.cards.open_cards import question
from runtime.chat.cards.settled_cards import settled
from runtime.chat.cards.verdicts import result_of
from runtime.contract import (
    CHOICES,
    Address,
    ApprovalId,
    ApprovalKind,
    Asking,
    Choice,
    Effect,
    Person,
    PersonId,
    Role,
    RunId,
)
from runtime.domain.approvals import Approval, ApprovalState, Rights, Voter, objection, offered, told
from runtime.markup import parse
from runtime.markup.tree import CodeBlock
from runtime.policy.terms import Terms

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ROOM = Address("web", "main", "r1", "t1")
ASKER = Person(PersonId("asker"), "Asker", Role.USER)
ASKED = Approval(
    id=ApprovalId("a"),
    kind=ApprovalKind.CALL,
    state=ApprovalState.PENDING,
    run_id=RunId("r"),
    step=2,
    session="main|x",
    address=ROOM,
    tool="shell",
    effect=Effect.DANGER,
    arguments='{"command": "uname -a"}',
    arguments_hash="h",
    policy_version="1",
    requester=ASKER.id,
    asked_at=NOW,
    expires_at=NOW + timedelta(hours=12),
)


def voter(role: Role = Role.OPERATOR, *, person: str = "other", at: Address = ROOM, console: bool = False) -> Voter:
    who = Person(PersonId(person), person.title(), role)
    return Voter(who, frozenset({who.id, f"web:{person}"}), at, console)


def against(
    who: Voter,
    approval: Approval = ASKED,
    choice: Choice = Choice.APPROVE,
    rights: Rights | None = None,
    now: datetime = NOW,
) -> str | None:
    return objection(approval, who, choice, rights or Rights(), now)


# ---------------------------------------------------------------------------------------------------------- rights


@pytest.mark.parametrize("role", [Role.OPERATOR, Role.OWNER])
def test_operators_and_owners_decide(role: Role) -> None:
    assert against(voter(role)) is None


@pytest.mark.parametrize("role", [Role.VIEWER, Role.USER])
@pytest.mark.parametrize("effect", [Effect.WRITE, Effect.DANGER])
def test_others_do_not(role: Role, effect: Effect) -> None:
    assert against(voter(role), replace(ASKED, effect=effect))


@pytest.mark.parametrize("name", ["other", "web:other"])
def test_a_named_approver_decides_a_plain_write(name: str) -> None:
    rights = Rights(approvers=frozenset({name}))
    assert against(voter(Role.USER), replace(ASKED, effect=Effect.WRITE), rights=rights) is None


def test_a_named_user_never_decides_a_dangerous_call() -> None:
    assert against(voter(Role.USER), rights=Rights(approvers=frozenset({"web:other"})))


def test_where_approvers_are_named_an_owner_is_not_one_by_himself() -> None:
    assert against(voter(Role.OWNER), rights=Rights(approvers=frozenset({"web:someone"})))


def test_an_operator_may_approve_what_he_asked_for() -> None:
    assert against(voter(person="asker")) is None


def test_nobody_approves_what_he_asked_for_where_that_is_off() -> None:
    assert against(voter(Role.OWNER, person="asker"), rights=Rights(self_approval=False))


def test_a_user_never_approves_what_he_asked_for() -> None:
    rights = Rights(approvers=frozenset({"asker"}))
    assert against(voter(Role.USER, person="asker"), replace(ASKED, effect=Effect.WRITE), rights=rights)


# ----------------------------------------------------------------------------------------------------------- place


@pytest.mark.parametrize(
    "elsewhere", [replace(ROOM, room="r2"), replace(ROOM, account="two"), replace(ROOM, channel="slack")]
)
def test_a_click_from_another_room_does_not_count(elsewhere: Address) -> None:
    assert against(voter(at=elsewhere))


def test_a_click_from_another_thread_of_the_room_counts() -> None:
    assert against(voter(at=replace(ROOM, thread="t2"))) is None


@pytest.mark.parametrize("role", list(Role))
def test_the_console_is_for_operators(role: Role) -> None:
    objected = against(voter(role, at=replace(ROOM, room="elsewhere"), console=True))
    assert (objected is None) is (role >= Role.OPERATOR)


# ------------------------------------------------------------------------------------------------ time and choices


def test_a_click_at_the_last_moment_counts() -> None:
    assert against(voter(), now=ASKED.expires_at - timedelta(microseconds=1)) is None


def test_a_click_after_its_time_does_not() -> None:
    assert against(voter(), now=ASKED.expires_at)


@pytest.mark.parametrize("state", [state for state in ApprovalState if state is not ApprovalState.PENDING])
def test_what_is_settled_stays_settled(state: ApprovalState) -> None:
    objected = against(voter(), replace(ASKED, state=state, decided_name="Ada"))
    assert objected is not None
    assert "Ada" in objected


@pytest.mark.parametrize("kind", list(ApprovalKind))
@pytest.mark.parametrize("choice", list(Choice))
def test_a_question_has_its_own_answers_only(kind: ApprovalKind, choice: Choice) -> None:
    owner, four = voter(Role.OWNER), json.dumps(Asking("Which?", ("a", "b", "c", "d")).to_json())
    asked = replace(ASKED, kind=kind, card=four)
    objected = objection(asked, owner, choice, Rights(), NOW, reason="in words")
    assert (objected is None) is (choice in CHOICES[kind])


@given(
    role=st.sampled_from(list(Role)),
    effect=st.sampled_from(list(Effect)),
    person=st.sampled_from(["asker", "other"]),
    console=st.booleans(),
    approvers=st.frozensets(st.sampled_from(["asker", "other", "web:other", "nobody"])),
    self_approval=st.booleans(),
)
def test_whatever_the_settings_nobody_below_operator_decides_danger(
    role: Role, effect: Effect, person: str, console: bool, approvers: frozenset[str], self_approval: bool
) -> None:
    objected = against(
        voter(role, person=person, console=console),
        replace(ASKED, effect=effect),
        rights=Rights(approvers, self_approval),
    )
    if objected is None:
        assert role >= Role.OPERATOR or effect is not Effect.DANGER
        assert person != "asker" or (self_approval and role >= Role.OPERATOR)


# ----------------------------------------------------------------------------------------------------------- words


def test_a_card_has_a_button_for_each_choice_and_carries_only_the_id() -> None:
    for kind, choices in CHOICES.items():
        content = question(ASKED.id, kind, "shell", ASKED.arguments, "")
        assert [(b.approval_id, b.choice) for b in content.buttons] == [(ASKED.id, choice) for choice in choices]


def test_the_buttons_of_a_call_say_approve_deny_and_edit() -> None:
    content = question(ASKED.id, ApprovalKind.CALL, "shell", ASKED.arguments, "")
    assert [b.label for b in content.buttons] == ["Approve", "Deny", "Edit…", "Why?"]


def test_a_card_shows_the_call_and_the_caution() -> None:
    text = question(ASKED.id, ApprovalKind.CALL, "shell", ASKED.arguments, "Without a sandbox.").text
    assert all(part in text for part in ("shell", "uname -a", "Without a sandbox."))


def test_a_settled_card_says_who_what_and_when_and_has_no_buttons() -> None:
    ruled = replace(
        ASKED, state=ApprovalState.DENIED, decided_name="Ada", decided_at=NOW, choice=Choice.DENY, reason="too risky"
    )
    content = settled(ruled)
    assert content.buttons == ()
    assert all(part in content.text for part in ("Denied", "Ada", "2026-03-01 00:00", "shell", "too risky"))


@pytest.mark.parametrize("arguments", ['{"command": "a ``` b"}', "not json ```` at all", '{"a": 1, "b": "```"}'])
def test_arguments_cannot_break_out_of_their_block(arguments: str) -> None:
    shown = shown_call(arguments).text
    fence = max(re.findall("`+", shown), key=len)
    assert shown.count(fence) == 2
    assert [block.text for block in parse(shown).blocks if isinstance(block, CodeBlock)] != []


def test_a_settled_card_of_a_cut_off_call_keeps_its_question() -> None:
    answered = replace(
        ASKED, kind=ApprovalKind.OUTCOME, state=ApprovalState.ANSWERED, decided_name="Ada", choice=Choice.DONE
    )
    assert "**Answered** by Ada: `shell` was cut off. Did it finish? **It was done**" in settled(answered).text


def test_a_late_click_is_told_who_was_first_and_when() -> None:
    denied = replace(ASKED, state=ApprovalState.DENIED, decided_name="Ada", decided_at=NOW, reason="no")
    assert against(voter(), denied, now=NOW + timedelta(minutes=3)) == (
        "This was already settled: denied by Ada (no), 3 minutes ago."
    )
    assert against(voter(), now=ASKED.expires_at + timedelta(minutes=5)) == "This question expired 5 minutes ago."


def test_how_it_ended_says_who_and_why() -> None:
    assert told(replace(ASKED, state=ApprovalState.DENIED, decided_name="Ada", reason="no")) == "denied by Ada (no)"
    stopped = replace(ASKED, state=ApprovalState.VOID, reason="Stopped by Ada.")
    assert told(stopped) == "withdrawn (Stopped by Ada)"


def test_the_model_is_told_that_a_denied_call_did_not_run() -> None:
    ruled = replace(ASKED, state=ApprovalState.DENIED, decided_name="Ada", choice=Choice.DENY)
    assert "Not run" in result_of(ruled) or "not run" in result_of(ruled)


@pytest.mark.parametrize("state", [ApprovalState.EXPIRED, ApprovalState.VOID])
def test_of_a_cut_call_nobody_answered_for_the_model_is_not_told_that_it_did_not_run(state: ApprovalState) -> None:
    unknown = replace(ASKED, kind=ApprovalKind.OUTCOME, state=state, reason="nobody answered in time")
    assert "not run" not in result_of(unknown).lower()
    assert "unknown" in result_of(unknown)


@pytest.mark.parametrize("terms", [Terms(grants=False), Terms(quorum=2), Terms(four_eyes=True)])
def test_a_changed_call_whose_terms_allow_no_grant_takes_none(terms: Terms) -> None:
    card = '{"offers": ["conversation", "always", "all"]}'
    assert offered(replace(ASKED, card=card)) == (Choice.CONVERSATION, Choice.ALWAYS, Choice.ALL)
    assert offered(replace(ASKED, card=card, terms=terms)) == (Choice.ALL,)
