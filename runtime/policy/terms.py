"""Terms of a question: where it is asked, who may decide, how many, and until when. No I/O."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from functools import lru_cache
from typing import Any, Final

ROOM: Final = "room"
"""Asks where the request was made."""
DM: Final = "dm"
"""Asks in the private chats of those who may decide and are not in that room."""
PLACES: Final = (ROOM, DM)

OWNER: Final = "owner"
"""The role, among approvers."""

DURATIONS: Final = frozenset({"expires", "escalate"})
LISTS_OF_DURATIONS: Final = frozenset({"remind"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Conditions for asking and deciding a question, frozen with it.

    `rule` is the name of the policy that asks, and `reason` its words for those who decide. `to` holds "room", "dm" and addresses. `approvers` (names, identities or
    roles) narrow who may decide, and add nobody; so do all of `approvers_before`, who were those of the call before it was
    changed. `quorum` people have to approve; with `four_eyes` the requester is none
    of them. Unless it is `editable` an approver cannot change the call; without `grants` a yes is for one call alone.
    Without `expires` the agent's own limit holds. An empty `remind` reminds once, at half the time; `remind` and
    `escalate` count from the asking.
    """

    rule: str = ""
    to: tuple[str, ...] = PLACES
    approvers: tuple[str, ...] = ()
    approvers_before: tuple[tuple[str, ...], ...] = ()
    quorum: int = 1
    four_eyes: bool = False
    reason_required: bool = False
    expires: timedelta | None = None
    remind: tuple[timedelta, ...] = ()
    escalate: timedelta | None = None
    escalate_to: tuple[str, ...] = ()
    editable: bool = True
    grants: bool = True
    reason: str = ""

    def to_json(self) -> str:
        """Write what differs from the defaults, durations in seconds; nothing where nothing does."""
        if self == PLAIN:
            return ""
        changed = {one.name: getattr(self, one.name) for one in fields(self)}
        return json.dumps(
            {name: _written(value) for name, value in changed.items() if value != getattr(PLAIN, name)},
            ensure_ascii=False,
        )

    @classmethod
    @lru_cache(maxsize=256)
    def from_json(cls, text: str) -> Terms:
        """Read what `to_json` wrote; an empty text is the terms of a question from before there were any."""
        known = {one.name for one in fields(cls)}
        raw: dict[str, Any] = json.loads(text) if text else {}
        return cls(**{name: _read(name, value) for name, value in raw.items() if name in known})


PLAIN: Final = Terms()
"""Terms of a question whose rule and settings say nothing."""


def _written(value: object) -> object:
    if isinstance(value, timedelta):
        return value.total_seconds()
    return [_written(one) for one in value] if isinstance(value, tuple) else value


def _read(name: str, value: Any) -> Any:
    if name in DURATIONS:
        return None if value is None else timedelta(seconds=value)
    if name in LISTS_OF_DURATIONS:
        return tuple(timedelta(seconds=one) for one in value)
    return tuple(_read("", one) for one in value) if isinstance(value, list) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Terms that one rule sets otherwise; None leaves what holds for all."""

    to: tuple[str, ...] | None = None
    approvers: tuple[str, ...] | None = None
    quorum: int | None = None
    four_eyes: bool | None = None
    reason_required: bool | None = None
    expires: timedelta | None = None
    remind: tuple[timedelta, ...] | None = None
    editable: bool | None = None
    grants: bool | None = None

    def made_to(self, terms: Terms, rule: str, reason: str = "") -> Terms:
        """`terms` with these changes, in the name of `rule` and for its reason."""
        own = {one.name: getattr(self, one.name) for one in fields(self)}
        return replace(
            terms, rule=rule, reason=reason, **{name: value for name, value in own.items() if value is not None}
        )


NO_CHANGES: Final = Changes()


def of_owners(terms: Terms) -> Terms:
    """`terms` of a question that owners alone decide, each for itself. Who else they name has to be an owner too."""
    others = (terms.approvers,) if terms.approvers else ()
    return replace(terms, approvers=(OWNER,), approvers_before=(*terms.approvers_before, *others), grants=False)


def reminders(terms: Terms, expires: timedelta) -> Sequence[timedelta]:
    """Instants after the asking at which a question is put once more, before it `expires`."""
    wanted = terms.remind or (expires / 2,)
    return sorted(one for one in wanted if timedelta(0) < one < expires)


def calls(terms: Terms, expires: timedelta) -> Sequence[tuple[timedelta, bool]]:
    """Instants after the asking at which people are called, in order; whether the question then goes to `escalate_to`."""
    found = [(at, False) for at in reminders(terms, expires)]
    if terms.escalate and terms.escalate_to and terms.escalate < expires:
        found.append((terms.escalate, True))
    return sorted(found)


def stricter(asked: Terms, changed: Terms) -> Terms:
    """Terms of a call that was changed while it was asked about: those of its own rule, and nothing easier than before."""
    others = asked.approvers not in ((), changed.approvers)
    return replace(
        changed,
        approvers_before=(*asked.approvers_before, *[asked.approvers] * others),
        quorum=max(asked.quorum, changed.quorum),
        four_eyes=asked.four_eyes or changed.four_eyes,
        reason_required=asked.reason_required or changed.reason_required,
        editable=asked.editable and changed.editable,
        expires=asked.expires,
        remind=asked.remind,
        escalate=asked.escalate,
        escalate_to=asked.escalate_to,
        to=asked.to,
    )
