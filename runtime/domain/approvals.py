"""Approvals as a state machine, and who may decide one. No I/O."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, Protocol

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
from runtime.markup.moments import ago
from runtime.policy.grants import OWNERS_DANGER, Sought, grantable
from runtime.policy.rules import OWNERS_SAY
from runtime.policy.terms import DM, PLAIN, Terms, calls
from runtime.text.naming import listed
from runtime.text.words import marked

OTHERS_UNDO: Final = marked("Only the person who asked, or an approver, can undo this.")
OWNERS_UNDO: Final = marked("Only an owner can undo this.")
OTHER_ROOM: Final = marked("This question belongs to another room.")
CARD_OF_OTHER_ROOM: Final = marked("This card belongs to another room.")
TAKEN_BACK: Final = marked("This question was withdrawn.")
ROLE_NEEDED: Final = marked("This needs the role {needed}, and yours is {own}.")
READS_ONLY: Final = marked("You can read here, but not answer.")
FOR_SOMEBODY: Final = marked("This question is for {whom}.")
WORDS_NEEDED: Final = marked("Please write an answer.")
BLOCKED: Final = marked("You are blocked here, so you can't answer this.")
APPROVERS_ONLY: Final = marked("Only approvers can answer this.")
RULE_LETS: Final = marked("The rule for this call lets only {names} answer.")
HAVE_ASKED: Final = marked("I've asked {names}.")
DANGER_LEAST: Final = marked("Only an operator or owner can decide about a dangerous call.")
ANOTHER_PERSON: Final = marked("Someone else has to answer: you asked for this yourself.")


class ApprovalState(StrEnum):
    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    ANSWERED = "answered"  # a question about an unknown outcome, or one to a person, answered
    EXPIRED = "expired"
    VOID = "void"  # its run was stopped, or it was asked again after a restore


class ApprovalEvent(StrEnum):
    APPROVE = "approve"
    DENY = "deny"
    ANSWER = "answer"
    EXPIRE = "expire"
    VOID = "void"


# All moves are here and nowhere else. A state without a row is final.
APPROVAL_MOVES: Final[Mapping[tuple[ApprovalState, ApprovalEvent], ApprovalState]] = {
    (ApprovalState.PENDING, ApprovalEvent.APPROVE): ApprovalState.APPROVED,
    (ApprovalState.PENDING, ApprovalEvent.DENY): ApprovalState.DENIED,
    (ApprovalState.PENDING, ApprovalEvent.ANSWER): ApprovalState.ANSWERED,
    (ApprovalState.PENDING, ApprovalEvent.EXPIRE): ApprovalState.EXPIRED,
    (ApprovalState.PENDING, ApprovalEvent.VOID): ApprovalState.VOID,
}

EVENT_OF: Final[Mapping[Choice, ApprovalEvent]] = {
    Choice.APPROVE: ApprovalEvent.APPROVE,
    Choice.CONVERSATION: ApprovalEvent.APPROVE,
    Choice.ALWAYS: ApprovalEvent.APPROVE,
    Choice.DENY: ApprovalEvent.DENY,
    Choice.DONE: ApprovalEvent.ANSWER,
    Choice.AGAIN: ApprovalEvent.ANSWER,
    Choice.SKIP: ApprovalEvent.ANSWER,
    Choice.USER: ApprovalEvent.APPROVE,
    Choice.VIEWER: ApprovalEvent.APPROVE,
    Choice.OPERATOR: ApprovalEvent.APPROVE,
    Choice.NO: ApprovalEvent.DENY,
    Choice.FIRST: ApprovalEvent.ANSWER,
    Choice.SECOND: ApprovalEvent.ANSWER,
    Choice.THIRD: ApprovalEvent.ANSWER,
    Choice.FOURTH: ApprovalEvent.ANSWER,
    Choice.TEXT: ApprovalEvent.ANSWER,
}
OPTIONS: Final = (Choice.FIRST, Choice.SECOND, Choice.THIRD, Choice.FOURTH)
"""Choices that stand for the options of a question to a person, in their order."""

WHY: Final = marked("Please give a reason when you deny this.")
NO_SUCH_ANSWER: Final = marked("That isn't one of the answers to this question.")
REVISION: Final = "~"
"""Stands in a button's id before the number of changes that it knows of."""
GRANTING: Final = frozenset({Choice.CONVERSATION, Choice.ALWAYS})
"""Choices that let a call run, and calls like it later."""
NEED_QUORUM: Final = frozenset({Choice.APPROVE, Choice.AGAIN, *GRANTING})
"""Choices after which a call runs: as many people as its rule wants have to say so."""
LISTED_CALLS: Final = "listed"
"""In `Approval.card`: the calls of a card that lists several."""
LISTED_WITH: Final = "listed_with"
"""In `Approval.card`: the question on whose card this one is listed."""
HEARD: Final = "heard"
"""In `Approval.card`: ids of people beside the requester whose words came into the run, so that they asked for the call too."""
KEPT_FROM_HOME: Final = '"home": "told"'
"""In `Approval.card`: the room of the request is told that something is asked, and not shown the call. Within texts of a card quotes are escaped."""
LEAST: Final = Role.OPERATOR
"""The least role that decides where the settings name no approvers."""


class Home(StrEnum):
    """Form of a question in the room of its request."""

    WHOLE = "whole"
    QUIET = "quiet"  # without buttons: nobody there may decide
    TOLD = "told"  # without the call: it is asked elsewhere


LETS_IN: Final[Mapping[Choice, Role]] = {
    Choice.USER: Role.OPERATOR,
    Choice.VIEWER: Role.OPERATOR,
    Choice.NO: Role.OPERATOR,
    Choice.OTHER: Role.OPERATOR,
    Choice.OPERATOR: Role.OWNER,
}
"""The least role that may say so about a stranger: nobody gives away more than they could be trusted to check."""


@dataclass(frozen=True, slots=True)
class Approval:
    """A question about one frozen call. `arguments` is the call's JSON text, `arguments_hash` its SHA-256 in hex.

    One about a stranger belongs to no run: in place of its id stands their identity, and `arguments` tells who they are.
    One to a person has what it asks in `card`, and who may answer in `terms`; without approvers there anybody in the room.
    `request` is a line of what the requester asked for. `card` (JSON) is how the call is shown, frozen with it; `outcome`
    (JSON) what came of it. `asked_arguments` are those that were asked about, where an approver changed them. `calls` counts
    reminders and escalations.
    """

    id: ApprovalId
    kind: ApprovalKind
    state: ApprovalState
    run_id: RunId
    step: int
    session: str
    address: Address
    tool: str
    effect: Effect
    arguments: str
    arguments_hash: str
    policy_version: str
    requester: PersonId | None
    asked_at: datetime
    expires_at: datetime
    decided_by: PersonId | None = None
    decided_name: str = ""
    decided_at: datetime | None = None
    choice: Choice | None = None
    reason: str = ""
    caution: str = ""
    requester_name: str = ""
    request: str = ""
    terms: Terms = PLAIN
    card: str = ""
    asked_arguments: str = ""
    outcome: str = ""
    calls: int = 0

    @property
    def lead(self) -> ApprovalId | None:
        """The question on whose card this one is listed, perhaps itself; None where it has a card of its own."""
        if LISTED_CALLS not in self.card and LISTED_WITH not in self.card:
            return None
        known = json.loads(self.card)
        return self.id if LISTED_CALLS in known else known.get(LISTED_WITH)

    @property
    def edits(self) -> int:
        """Number of changes made to the call since it was asked about."""
        return int(json.loads(self.card).get("edits", 0)) if self.asked_arguments else 0

    @property
    def as_shown(self) -> ApprovalId:
        """Id for buttons: it names the call as it is by now, so that a button of an earlier card approves no other."""
        return ApprovalId(f"{self.id}{REVISION}{self.edits}") if self.asked_arguments else self.id

    @property
    def next_call_at(self) -> datetime | None:
        """Time of the next reminder to people if nobody decides before; None after the last."""
        due = calls(self.terms, self.expires_at - self.asked_at)[self.calls :]
        return self.asked_at + due[0][0] if due else None


@dataclass(frozen=True, slots=True)
class Rights:
    """Rights to approve. Without `approvers` (identities or person ids) operators and owners do.

    `given` are the names to which the settings give something: nobody who is let in is called so. `blocked` are names of
    those who may not speak at all, so that nobody asks them.
    """

    approvers: frozenset[str] = frozenset()
    self_approval: bool = True
    given: frozenset[str] = frozenset()
    blocked: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Voter:
    """Person who answers, and from where. `names` are the person's id and identities; `console` is an operator's own surface.

    `alone`: their platform vouches that nobody else saw what they pressed.
    """

    person: Person
    names: frozenset[str]
    address: Address
    console: bool = False
    alone: bool = False


def objection(
    approval: Approval,
    voter: Voter,
    choice: Choice,
    rights: Rights,
    now: datetime,
    copies: Collection[Address] = (),
    reason: str = "",
) -> str | None:
    """The reason this click changes nothing, in words for the person who clicked; None if it counts.

    `copies` are the rooms beside its own in which the question stands. Its own is none where that is only told of it.
    Nobody reads from elsewhere how it ended.
    """
    places = copies if KEPT_FROM_HOME in approval.card else (approval.address, *copies)
    is_placed = approval.kind is not ApprovalKind.PERSON
    if is_placed and not _in_place(voter, places) and not (voter.alone and asked_in_private(approval)):
        return OTHER_ROOM
    if approval.state is ApprovalState.VOID and approval.reason:
        return f"{TAKEN_BACK} {approval.reason}"
    if approval.state is not ApprovalState.PENDING:
        when = f", {ago(now - approval.decided_at)}" if approval.decided_at else ""
        return f"This was already settled: {told(approval)}{when}."
    if now >= approval.expires_at:
        return f"This question expired {ago(now - approval.expires_at)}."
    if choice not in choices(approval) and choice not in offered(approval):
        return NO_SUCH_ANSWER
    if approval.kind is ApprovalKind.PERSON:
        return _cannot_let_in(voter, choice)
    if approval.kind is ApprovalKind.ANSWER:
        return _cannot_answer(approval, voter, choice, reason)
    against = not_entitled(approval, voter, rights)
    if against is None and choice is Choice.DENY and approval.terms.reason_required and not reason.strip():
        return WHY
    if against is None and choice in GRANTING and not _leads_far(approval.effect, voter):
        return OWNERS_DANGER
    return against


def asked_about(shown: ApprovalId) -> ApprovalId:
    """The question that a button belongs to, whatever changes the button knows of."""
    return ApprovalId(shown.partition(REVISION)[0])


def choices(approval: Approval) -> tuple[Choice, ...]:
    """Answers a question takes: its kind's answers, narrowed by its terms."""
    without = set() if approval.terms.editable else {Choice.EDIT}
    return tuple(one for one in CHOICES[approval.kind] if one not in without)


def offered(approval: Approval) -> tuple[Choice, ...]:
    """Answers that stand on its card beside those of every question like it; a changed call may have other terms."""
    offers = tuple(map(Choice, json.loads(approval.card).get("offers", ()))) if approval.card else ()
    return offers if grantable(approval.terms) else tuple(one for one in offers if one not in GRANTING)


def form_asked(approval: Approval) -> str:
    """Form of the tool when it was asked about; empty for a question that grants nothing."""
    return str(json.loads(approval.card).get("form", "")) if approval.card else ""


def grants_offered(approval: Approval, deciding: Collection[Person]) -> tuple[Choice, ...]:
    """Choices that grant more than this call, where its terms and the people who decide allow any."""
    if approval.kind is not ApprovalKind.CALL or not grantable(approval.terms):
        return ()
    is_for_them = approval.effect is not Effect.DANGER or any(one.role >= Role.OWNER for one in deciding)
    return (Choice.CONVERSATION, Choice.ALWAYS) if is_for_them else ()


def may_grant(call: Sought, giver: Voter, rights: Rights, *, everywhere: bool) -> bool:
    """True if this person may say so about such a call, as of now: a grant holds as long as its giver may give it."""
    return _leads_far(call.effect, giver, everywhere) and not_entitled(call, giver, rights) is None


def _leads_far(effect: Effect, voter: Voter, everywhere: bool = False) -> bool:
    """Only owners allow for longer: a dangerous call, or one everywhere."""
    return voter.person.role >= Role.OWNER or not (everywhere or effect is Effect.DANGER)


def entitled(approval: Approval, voter: Voter, rights: Rights) -> bool:
    """True if this person may decide."""
    return not_entitled(approval, voter, rights) is None


def _cannot_let_in(voter: Voter, choice: Choice) -> str | None:
    """Its cards stand in private rooms, one for each who may answer: who asks matters, and not where."""
    needed = LETS_IN[choice]
    return None if voter.person.role >= needed else ROLE_NEEDED.format(needed=needed.word, own=voter.person.role.word)


def _cannot_answer(approval: Approval, voter: Voter, choice: Choice, words: str) -> str | None:
    """Of a question to a person: the one it is for answers, or anybody in the room who may speak there."""
    asking = Asking.from_json(approval.card)
    if voter.person.role < Role.USER:
        return READS_ONLY
    if approval.terms.approvers and not voter.names & {*approval.terms.approvers}:
        return FOR_SOMEBODY.format(whom=asking.to)
    if choice in OPTIONS[len(asking.options) :]:
        return NO_SUCH_ANSWER
    return WORDS_NEEDED if choice is Choice.TEXT and not words.strip() else None


def no_undo(approval: Approval, voter: Voter, rights: Rights, copies: Collection[Address]) -> str | None:
    """The reason this person may not undo the call, or None. Its requester may, and anyone who may decide it.

    A call that is an owner's to say is an owner's to take back.
    """
    if not _in_place(voter, (approval.address, *copies)):
        return CARD_OF_OTHER_ROOM
    is_owners = approval.tool in OWNERS_SAY
    is_requester = approval.requester == voter.person.id
    if is_requester and voter.person.role >= (Role.OWNER if is_owners else Role.USER):
        return None
    if entitled(approval, voter, rights):
        return None
    return OWNERS_UNDO if is_owners else OTHERS_UNDO


def answer_of(approval: Approval) -> str:
    """Words with which a question to a person was answered."""
    options = Asking.from_json(approval.card).options
    return options[OPTIONS.index(approval.choice)] if approval.choice in OPTIONS else approval.reason


def told(approval: Approval) -> str:
    """Its end and the person who decided, as a clause for a sentence."""
    who = f" by {approval.decided_name}" if approval.decided_name else ""
    why = f" ({approval.reason.removesuffix('.')})" if approval.reason else ""
    is_outcome = approval.state is ApprovalState.ANSWERED and approval.kind is ApprovalKind.OUTCOME
    answer = f" ({approval.choice})" if is_outcome else ""
    how = "withdrawn" if approval.state is ApprovalState.VOID else approval.state
    return f"{how}{answer}{who}{why}"


def asked_in_private(approval: Approval) -> bool:
    """True if those who may decide may be shown it alone: its terms send it to private chats, or have by now."""
    if approval.kind is ApprovalKind.ANSWER and not approval.terms.approvers:
        return False  # whoever is in its room answers
    made = calls(approval.terms, approval.expires_at - approval.asked_at)[: approval.calls]
    is_escalated = any(is_wider for _, is_wider in made) and DM in approval.terms.escalate_to
    return approval.kind is ApprovalKind.PERSON or DM in approval.terms.to or is_escalated


def waits_for(approval: Approval, voter: Voter, rights: Rights) -> bool:
    """True if this person may answer this question, wherever it stands."""
    if approval.kind is ApprovalKind.PERSON:
        return voter.person.role >= min(LETS_IN.values())
    if approval.kind is ApprovalKind.ANSWER:
        return voter.person.role >= Role.USER and bool(voter.names & {*approval.terms.approvers})
    return entitled(approval, voter, rights)


def _in_place(voter: Voter, places: Collection[Address]) -> bool:
    if voter.console:
        return voter.person.role >= Role.OPERATOR
    here = voter.address
    return any(here.whole_room == one.whole_room for one in places)


class _Asking(Protocol):
    """As far as it says who may decide."""

    @property
    def effect(self) -> Effect: ...
    @property
    def terms(self) -> Terms: ...
    @property
    def requester(self) -> str | None: ...
    @property
    def card(self) -> str: ...


def not_entitled(approval: _Asking, voter: Voter, rights: Rights) -> str | None:
    """The reason this person may not decide, in words for them; None if they may."""
    if rights.blocked & {*voter.names, voter.person.name}:
        return BLOCKED
    leads, terms = voter.person.role >= LEAST, approval.terms
    if not (voter.names & rights.approvers if rights.approvers else leads):
        return f"{APPROVERS_ONLY}{_asked(approval)}"
    for named in filter(None, (terms.approvers, *terms.approvers_before)):
        if not _is_named(voter, named):
            return f"{RULE_LETS.format(names=listed(named, 'or'))}{_asked(approval)}"
    if approval.effect is Effect.DANGER and not leads:
        return DANGER_LEAST
    askers = (approval.requester, *(json.loads(approval.card).get(HEARD, ()) if approval.card else ()))
    if voter.person.id in askers and (terms.four_eyes or not (rights.self_approval and leads)):
        return ANOTHER_PERSON
    return None


def approves(person: Person, names: Collection[str], rights: Rights) -> bool:
    """True if somebody may approve in general: who is listed, else operators and owners."""
    if rights.blocked & {*names, person.name}:
        return False
    return bool(rights.approvers & {*names}) if rights.approvers else person.role >= LEAST


def _is_named(voter: Voter, approvers: Collection[str]) -> bool:
    """By id, identity or name; or by a role, which a higher one has too. Nobody has a role by being called like it."""
    roles = {role.word: role for role in Role}
    known = {*voter.names, voter.person.name}
    return any(voter.person.role >= roles[one] if one in roles else one in known for one in approvers)


def _asked(approval: _Asking) -> str:
    names = json.loads(approval.card).get("asked") if approval.card else ()
    return f" {HAVE_ASKED.format(names=listed(names))}" if names else ""
