"""Plain rules of what an answer does, kept apart from the product: after each press both must say the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from runtime.contract import REASON, Choice, Effect, Role
from tests.security.presses import BLOCKED, DEMOTED, HERE, PEOPLE, REMOVED, Press

ROLES: Final[Mapping[str, Role]] = {
    who: DEMOTED.get(who, role) for who, role in PEOPLE.items() if role is not None and who not in (REMOVED, BLOCKED)
}
"""Of everybody whose word can count at all, once people have changed."""
LEADS: Final = frozenset(who for who, role in ROLES.items() if role >= Role.OPERATOR)
OWNERS: Final = frozenset(who for who, role in ROLES.items() if role >= Role.OWNER)
FORBIDDEN: Final = "forbidden"
"""Begins a command that a rule denies."""
LAST_DAY, TOO_FAR, OVER = "2026-05-30", "2026-05-31", "2026-02-28"
"""Days on which a grant may just end, and may not; from the first of March on these are 90 and 91 days ahead."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How calls of one tool are asked about."""

    effect: Effect
    quorum: int = 1
    four_eyes: bool = False
    reason_required: bool = False
    can_undo: bool = False

    @property
    def is_grantable(self) -> bool:
        return self.quorum == 1 and not self.four_eyes


ASK: Final = "ask_person"
KINDS: Final[Mapping[str, Kind]] = {
    "shell": Kind(Effect.DANGER),
    "write": Kind(Effect.WRITE, can_undo=True),
    "deploy": Kind(Effect.DANGER, quorum=2),
    "pay": Kind(Effect.WRITE, four_eyes=True, reason_required=True),
}


@dataclass
class Question:
    """One question as it has to be by now. `to` is whose answer the agent wants: one person's, or everybody's (empty)."""

    id: str
    tool: str
    asker: str
    command: str
    to: str = ""
    is_last: bool = False  # of several calls that were asked about at once: its card has "Approve all"
    state: str = "pending"
    edits: int = 0
    votes: dict[str, str] = field(default_factory=dict)
    ran: bool = False
    is_late: bool = False
    undone_by: str = ""

    @property
    def shown(self) -> str:
        return f"{self.id}~{self.edits}" if self.edits else self.id

    @property
    def is_open(self) -> bool:
        return self.state == "pending"

    def row(self) -> tuple[object, ...]:
        return self.state, self.command, self.edits, tuple(sorted(self.votes.items())), self.undone_by.title()


@dataclass
class Books:
    """Questions in the order of their asking, and how many grants were given. `inbox_is_a_room`: as on the page."""

    inbox_is_a_room: bool
    questions: dict[str, Question] = field(default_factory=dict)
    grants: int = 0

    def may_ask_back(self, press: Press) -> bool:
        """True for a question to the agent by one who may decide: it is heard, and decides nothing."""
        shown, _, word = press.payload.rpartition(":")
        about = self.questions.get(shown.partition("~")[0])
        is_why = about is not None and word == Choice.WHY and about.is_open and about.tool != ASK
        return bool(is_why and about and shown == about.shown and press.who in ROLES and _may(about, press.who))

    def press(self, press: Press) -> bool:
        """Whether it counts; then the books say so from now on."""
        shown, _, word = press.payload.rpartition(":")
        about = self.questions.get(shown.partition("~")[0])
        if about is None or press.who not in ROLES or word not in list(Choice):
            return False
        choice, is_there = Choice(word), press.room == HERE and not (press.alone and self.inbox_is_a_room)
        if choice is Choice.UNDO:
            return is_there and self._undo(about, press.who)
        is_in_place = is_there or (press.alone and (about.tool != ASK or bool(about.to)))
        if not about.is_open or shown != about.shown or not is_in_place:
            return False
        values = press.values or {}
        if about.tool == ASK:
            return _answer(about, press.who, choice, values)
        return self._rule(about, press.who, choice, values)

    def _rule(self, about: Question, who: str, choice: Choice, values: Mapping[str, str]) -> bool:
        if choice is Choice.ALL:
            return self._all(about, who)
        if not _may(about, who):
            return False
        match choice:
            case Choice.APPROVE:
                return _vote(about, who, choice)
            case Choice.DENY:
                return _deny(about, who, values)
            case Choice.EDIT:
                return _edit(about, who, values)
            case Choice.CONVERSATION | Choice.ALWAYS:
                return self._grant(about, who, choice, values)
            case _:
                return False

    def _all(self, about: Question, who: str) -> bool:
        """Each call for itself; one that was changed since the card was made stays open."""
        if not about.is_last or about.edits:
            return False
        open_calls = [one for one in self.questions.values() if one.is_open and one.tool != ASK and _may(one, who)]
        voted = [_vote(one, who, Choice.APPROVE) for one in open_calls if not one.edits]
        return any(voted)

    def _grant(self, about: Question, who: str, choice: Choice, values: Mapping[str, str]) -> bool:
        kind = KINDS[about.tool]
        is_for_owners = kind.effect is Effect.DANGER or values.get("where") == "everywhere"
        if not kind.is_grantable or about.edits or (is_for_owners and who not in OWNERS):
            return False
        if choice is Choice.ALWAYS and not is_modest(values, kind.effect):
            return False
        self.grants += 1
        return _vote(about, who, choice)

    def _undo(self, about: Question, who: str) -> bool:
        if about.tool == ASK or not KINDS[about.tool].can_undo or about.state != "approved" or not about.ran:
            return False
        is_theirs = _may(about, who) or (who == about.asker and ROLES[who] >= Role.USER)
        if not is_theirs or about.is_late or about.undone_by:
            return False
        about.undone_by = who
        return True


def is_modest(values: Mapping[str, str], effect: Effect) -> bool:
    """True for a grant that stays within its bounds: what is dangerous is never allowed with just anything."""
    patterns = ("", "command = *") if effect is Effect.WRITE else ("",)
    fits = values.get("where", "") in ("", "this room", "everywhere") and values.get("pattern", "") in patterns
    return fits and values.get("until", "") in ("", LAST_DAY) and values.get("uses", "") in ("", "1", "10000")


def changed(about: Question, values: Mapping[str, str]) -> str | None:
    """The command that a form makes of a call; None where it makes none, or the same."""
    command = values.get("argument")
    if command is None and "arguments" in values:
        try:
            made = json.loads(values["arguments"])
        except ValueError:
            return None
        command = made["command"] if isinstance(made, dict) and list(made) == ["command"] else None
    is_text = isinstance(command, str) and command != "" and not command.startswith(FORBIDDEN)
    return command if is_text and command != about.command else None


def _may(about: Question, who: str) -> bool:
    return who in LEADS and not (KINDS[about.tool].four_eyes and who == about.asker)


def _vote(about: Question, who: str, choice: Choice) -> bool:
    """A yes; the same one again is none."""
    if about.votes.get(who) == choice.value:
        return False
    about.votes[who] = choice.value
    if len(about.votes) >= KINDS[about.tool].quorum:
        about.state = "approved"
    return True


def _deny(about: Question, who: str, values: Mapping[str, str]) -> bool:
    if KINDS[about.tool].reason_required and not values.get(REASON, "").strip():
        return False
    about.votes[who], about.state = "deny", "denied"
    return True


def _edit(about: Question, who: str, values: Mapping[str, str]) -> bool:
    command = changed(about, values)
    if command is None:
        return False
    about.command, about.edits = command, about.edits + 1
    about.votes.clear()
    return _vote(about, who, Choice.APPROVE)


def _answer(about: Question, who: str, choice: Choice, values: Mapping[str, str]) -> bool:
    is_choice = choice in (Choice.FIRST, Choice.SECOND) or (choice is Choice.TEXT and values.get(REASON, "").strip())
    if ROLES[who] < Role.USER or (about.to and who != about.to) or not is_choice:
        return False
    about.votes[who], about.state = choice.value, "answered"
    return True
