"""Grants: a person's yes that holds for later calls too. What one allows, and how far one may go. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Final, NewType

from runtime.contract import Effect, Json, ToolSpec
from runtime.policy.grant_patterns import Pattern, read_pattern, suggested
from runtime.policy.terms import PLAIN, Terms
from runtime.text.words import marked

GrantId = NewType("GrantId", str)

CONVERSATION_TIME: Final = timedelta(hours=24)
"""How long a grant for a conversation holds, if that does not end before."""
DAYS: Final = 30
"""For which a grant is proposed."""
DAYS_MOST: Final = 90
USES_MOST: Final = 10_000
HERE: Final = "this room"
EVERYWHERE: Final = "everywhere"
NAME_SHOWN: Final = 60
"""Characters of a name among the choices of a form; the least that a platform shows is 75 in all."""
ANYBODY: Final = "anybody"
NO_FIT: Final = "This pattern doesn't match the call you're approving."


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A standing yes to calls of one tool. An empty `session` or `room` is any.

    With `person`, an id, it is for what that person alone asks for.

    `form` is the tool's, see `form_of`; `by` the person who said so, as an answer to `from_approval`. Without `uses_left`
    any number of calls may follow. `tainted`: its card said what was read, so it holds after outside text too.
    """

    id: GrantId
    agent: str
    tool: str
    form: str
    pattern: Pattern
    by: str
    from_approval: str
    until: datetime
    created_at: datetime
    session: str = ""
    room: str = ""
    person: str = ""
    uses_left: int | None = None
    revoked_at: datetime | None = None
    tainted: bool = False

    @property
    def everywhere(self) -> bool:
        return not (self.session or self.room)

    def holds(self, now: datetime) -> bool:
        return self.revoked_at is None and now < self.until and self.uses_left != 0


@dataclass(frozen=True, slots=True)
class Sought:
    """A call that people would be asked about. `form` is its tool's, `room` the address without a thread, `requester`
    the id of whoever asked for it, `run` what it is made in, and `terms` those of the question. `card` has only
    those who asked for it too. `tainted`: outside text was read before."""

    agent: str
    tool: str
    effect: Effect
    form: str
    arguments: Mapping[str, Json]
    session: str
    room: str
    requester: str | None = None
    terms: Terms = PLAIN
    card: str = ""
    run: str = ""
    tainted: bool = False


def form_of(spec: ToolSpec, caution: str) -> str:
    """All that a yes to a tool is bound to: what others say of it, what it may do, and how it runs here."""
    told = json.dumps([spec.form, spec.effect.value, caution])
    return hashlib.sha256(told.encode()).hexdigest()


def grantable(terms: Terms) -> bool:
    """True if the rule of a question lets one yes stand for later calls."""
    return terms.grants and terms.quorum == 1 and not terms.four_eyes


def fits(grant: Grant, call: Sought, now: datetime) -> bool:
    """True if `grant` allows this call now."""
    return (
        grant.holds(now)
        and (grant.tainted or not call.tainted)
        and grantable(call.terms)
        and (grant.agent, grant.tool, grant.form) == (call.agent, call.tool, call.form)
        and grant.session in ("", call.session)
        and grant.room in ("", call.room)
        and grant.person in ("", call.requester)
        and grant.pattern.fits(call.arguments)
    )


# ------------------------------------------------------------------------------------------------------- as asked for


@dataclass(frozen=True, slots=True)
class Wish:
    """A grant as somebody filled it in; `person` is the name of the one whose requests it is for, if of one."""

    pattern: Pattern
    everywhere: bool
    until: datetime
    uses: int | None
    person: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """The call that a grant would be made from, whether an owner makes it, and the name of whoever asked for the call."""

    tool: str
    effect: Effect
    arguments: Mapping[str, Json]
    by_owner: bool
    requester: str = ""


def only_people(requester: str) -> tuple[str, ...]:
    """Choices of a form beside anybody: what one person asks for, if a person asked."""
    name = " ".join(requester.split())[:NAME_SHOWN]
    return (f"only {name}",) if name else ()


def wished(values: Mapping[str, str], call: Asked, now: datetime, zone: tzinfo) -> Wish | str:
    """The grant that a form's fields describe; or all that is wrong with them, in words."""
    where, until = values.get("where", HERE).strip() or HERE, _until(values.get("until", ""), now, zone)
    pattern = _pattern(values.get("pattern"), call)
    uses = _uses(values.get("uses", ""))
    whose = values.get("whose", "").strip() or ANYBODY
    faults = list(pattern) if isinstance(pattern, list) else [] if pattern.fits(call.arguments) else [NO_FIT]
    if where not in (HERE, EVERYWHERE):
        faults.append(f"For “Where”, choose {HERE} or {EVERYWHERE}.")
    if whose not in (ANYBODY, *only_people(call.requester)):
        faults.append(f"For “Whose requests”, choose {' or '.join((ANYBODY, *only_people(call.requester)))}.")
    faults += [one for one in (until, uses) if isinstance(one, str)]
    if not call.by_owner:
        faults += _owners_alone(call.effect, where)
    if faults or isinstance(pattern, list) or isinstance(until, str) or isinstance(uses, str):
        return " ".join(faults)
    return Wish(pattern, where == EVERYWHERE, until, uses, call.requester if whose != ANYBODY else "")


def _pattern(text: str | None, call: Asked) -> Pattern | list[str]:
    """The pattern that a form describes. A platform without forms may send only the changed fields."""
    if text is None:
        return suggested(call.tool, call.effect, call.arguments)
    return read_pattern(text, call.tool, call.effect, call.arguments)


def _owners_alone(effect: Effect, where: str) -> list[str]:
    told = [OWNERS_DANGER] if effect is Effect.DANGER else []
    return [*told, *["Only an owner can allow it everywhere."] * (where == EVERYWHERE)]


OWNERS_DANGER: Final = marked("Only an owner can allow dangerous calls in advance. You can still approve this one.")


def _until(text: str, now: datetime, zone: tzinfo) -> datetime | str:
    """The end of the named day in `zone`."""
    today = now.astimezone(zone).date()
    try:
        day = date.fromisoformat(text.strip()) if text.strip() else today + timedelta(days=DAYS)
    except ValueError:
        return f"“{text.strip()[:40]}” isn't a date. Write one like {today + timedelta(days=DAYS)}."
    if not today <= day <= today + timedelta(days=DAYS_MOST):
        return f"Choose a day from today to {today + timedelta(days=DAYS_MOST)}."
    return datetime.combine(day + timedelta(days=1), time(), zone).astimezone(now.tzinfo)


def _uses(text: str) -> int | str | None:
    if not text.strip():
        return None
    digits = text.strip().lstrip("0")
    if not (digits.isdecimal() and len(digits) <= len(str(USES_MOST)) and 1 <= int(digits) <= USES_MOST):
        return f"For “How often”, give a whole number from 1 to {USES_MOST:,}, or leave it empty."
    return int(digits)


def proposed_end(now: datetime, zone: tzinfo) -> str:
    """The day that a form suggests."""
    return str(now.astimezone(zone).date() + timedelta(days=DAYS))


def reach(grant: Grant, until: str, person: str = "") -> str:
    """Scope of a grant in words: place, whose requests, end and uses left. `until` is its end, already formatted."""
    where = "everywhere" if grant.everywhere else "in one conversation" if grant.session else "in one room"
    uses = "" if grant.uses_left is None else f", {grant.uses_left} use{'s' * (grant.uses_left != 1)} left"
    whose = f" for {person or 'one person'} alone" if grant.person else ""
    return f"{where}{whose} until {until}{uses}"
