"""Settings about questions: where they are put, how long they wait, and what does not fit together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field

from bot.settings.faults import Faults
from bot.settings.sources import Layers
from runtime.contract import Address
from runtime.policy.terms import PLACES, Terms
from runtime.settings.types import Number, Section

Fault = tuple[str, str]
Nowhere = Callable[[Layers, str], Iterator[Fault]]

OLD_NAME: Final = "run.approval_hours"
NEW_NAME: Final = "approvals.expires_hours"
ROLES: Final = frozenset({"viewer", "user", "operator", "owner"})
EXPIRES_HOURS: Final = 12.0
ESCALATE_HOURS: Final = 8.0


def _asked_at(place: str) -> str:
    if place not in PLACES:
        try:
            Address.parse(place)
        except ValueError:
            raise ValueError('"room", "dm", or the address of a room, such as "slack:work/C1"') from None
    return place


AskedAt = Annotated[str, AfterValidator(_asked_at)]
"""Where to ask: "room", "dm", or the address of a room."""
Hours = Annotated[float, Field(gt=0, le=8760)]


class Approvals(Section):
    """Questions about calls: where to ask, and how long they wait."""

    to: tuple[AskedAt, ...] = Field(
        default=PLACES,
        min_length=1,
        description='Where to ask: "room" is where the request was made; "dm" is the private chats of people who '
        "may decide but are not in that room; or give addresses of rooms.",
    )
    remind_hours: tuple[Hours, ...] = Field(
        default=(),
        description="Hours after asking at which to send a reminder. Empty: one reminder, at half the time.",
    )
    escalate_hours: Number = Field(
        default=ESCALATE_HOURS,
        gt=0,
        le=8760,
        description="Hours after asking at which the question also goes to `escalate_to`.",
    )
    escalate_to: tuple[AskedAt, ...] = Field(default=(), description="Where it goes then. Empty: nowhere else.")
    expires_hours: Number = Field(
        default=EXPIRES_HOURS, gt=0, le=8760, description="How long a question waits for an answer."
    )

    @property
    def expires(self) -> timedelta:
        return timedelta(hours=self.expires_hours)

    @property
    def terms(self) -> Terms:
        """Terms of every question whose rule sets no others."""
        return Terms(
            to=self.to,
            remind=tuple(timedelta(hours=hours) for hours in self.remind_hours),
            escalate=timedelta(hours=self.escalate_hours) if self.escalate_to else None,
            escalate_to=self.escalate_to,
        )


# ------------------------------------------------------------------------------------------------------- what fits together


def take_old_name(layers: Layers, faults: Faults) -> None:
    """Read `run.approval_hours` as what it is called now. Both at once are a fault."""
    old = layers.get(OLD_NAME)
    if old is None:
        return
    if layers.get(NEW_NAME) is not None:
        faults.add(OLD_NAME, f"is the old name of {NEW_NAME}, which is set too; remove {OLD_NAME}")
    else:
        layers.put(NEW_NAME, old, source=layers.source(OLD_NAME))


def faults_together(layers: Layers, nowhere: Nowhere) -> Iterator[Fault]:
    """Reminders after the end, rooms of no account, and quorums that nobody can reach."""
    hours = _number(layers.get(NEW_NAME), EXPIRES_HOURS)
    yield from _late(layers, "approvals.remind_hours", hours)
    yield from _escalation(layers, hours)
    for setting in ("approvals.to", "approvals.escalate_to"):
        yield from _rooms(layers, setting, nowhere)
    for place, rule in layers.tables("policy"):
        own = _number(rule.get("expires_hours"), hours)
        yield from _late(layers, f"{place}.remind_hours", own)
        yield from _rooms(layers, f"{place}.to", nowhere)
        yield from _quorum(layers, place, rule)


def _late(layers: Layers, setting: str, expires: float) -> Iterator[Fault]:
    hours = layers.get(setting)
    for hour in hours if isinstance(hours, list) else ():
        if isinstance(hour, int | float) and hour >= expires:
            yield setting, f"{hour:g} is not before the question expires, {expires:g} hours after asking; lower it"


def _escalation(layers: Layers, expires: float) -> Iterator[Fault]:
    given = layers.get("approvals.escalate_hours")
    after = _number(given, ESCALATE_HOURS)
    used = given is not None or bool(layers.get("approvals.escalate_to"))
    if used and after >= expires:
        yield (
            "approvals.escalate_hours",
            f"{after:g} is not before the question expires, {expires:g} hours after asking; lower it",
        )


def _rooms(layers: Layers, setting: str, nowhere: Nowhere) -> Iterator[Fault]:
    places = layers.get(setting)
    for number, place in enumerate(places if isinstance(places, list) else (), 1):
        if place not in PLACES:
            yield from nowhere(layers, f"{setting}[{number}]")


def _quorum(layers: Layers, place: str, rule: dict[str, Any]) -> Iterator[Fault]:
    """More people than the approvers that are named. A role may stand for any number of people."""
    quorum, names = rule.get("quorum"), rule.get("approvers") or layers.get("access.approvers")
    if not isinstance(quorum, int) or not isinstance(names, list) or not names:
        return
    people = {name for name in names if isinstance(name, str)}
    if quorum > len(people) and not people & ROLES:
        known = "1 approver is" if len(people) == 1 else f"{len(people)} approvers are"
        where = "" if rule.get("approvers") else " in access.approvers"
        yield f"{place}.quorum", f"is {quorum}, and only {known} named{where}; lower it, or name more"


def _number(value: object, default: float) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else default
