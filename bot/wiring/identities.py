"""People in the settings, where they may be written with an account's name: `slack:work/U1` is `slack:T1/U1`.

Translated anew whenever an account learns who it is, since some do so long after the start.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from bot.accounts.naming import Account, Accounts
from bot.settings.policy.rules import PolicyRule
from bot.settings.settings import Settings
from runtime.policy.terms import PLACES
from runtime.text.naming import is_identity


def with_identities(settings: Settings, accounts: Accounts[Account]) -> Settings:
    """Settings with people as they are stored. For accounts that were never known, they stay as written."""

    def known(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(accounts.identity(name) for name in names)

    def at(places: Sequence[str]) -> tuple[str, ...]:
        """Rooms as they are stored."""
        return tuple(one if one in PLACES else str(accounts.address(one) or one) for one in places)

    def rule_with(rule: PolicyRule) -> PolicyRule:
        people = {"person": accounts.identity(rule.person), "approvers": known(rule.approvers)}
        return rule.model_copy(update={**people, "to": None if rule.to is None else at(rule.to)})

    access = settings.access
    lists = {
        "owners": known(access.owners),
        "approvers": known(access.approvers),
        "blocked": known(access.blocked),
        "bots": known(access.bots),
    }
    rooms = (r.model_copy(update={"people": known(r.people), "blocked": known(r.blocked)}) for r in settings.rooms)
    approvals = settings.approvals
    asked = {"to": at(approvals.to), "escalate_to": at(approvals.escalate_to)}
    readers = settings.feedback.model_copy(update={"readers": known(settings.feedback.readers)})
    return settings.model_copy(
        update={
            "feedback": readers,
            "access": access.model_copy(update=lists),
            "rooms": tuple(rooms),
            "policy": tuple(map(rule_with, settings.policy)),
            "approvals": approvals.model_copy(update=asked),
        }
    )


def named(settings: Settings) -> Iterator[tuple[str, Sequence[str], bool]]:
    """The settings that may name people: each with whom it names, and whether it gives them something."""
    yield "access.blocked", settings.access.blocked, False
    for number, room in enumerate(settings.rooms, start=1):
        yield f"rooms[{number}].people", room.people, True
        yield f"rooms[{number}].blocked", room.blocked, False
    for number, rule in enumerate(settings.policy, start=1):
        yield f"policy[{number}].person", (rule.person,), rule.result not in ("deny", "veto")
        yield f"policy[{number}].approvers", rule.approvers, True
    yield "feedback.readers", settings.feedback.readers, True


def given(settings: Settings) -> frozenset[str]:
    """The names that the settings give a right or role."""
    every = (name for _, names, gives in named(settings) if gives for name in names)
    return frozenset(name for name in every if not is_identity(name))


def written(settings: Settings, name: str, identities: Collection[str]) -> list[str]:
    """The settings that name a person, or one of their identities as an owner."""
    places = [place for place, names, _ in named(settings) if name in names]
    return places + ["access.owners"] * bool(set(identities) & set(settings.access.owners))


def owners_now(settings: Settings, accounts: Accounts[Account]) -> list[str]:
    """The owners of the settings whose identity is known by now, and told by the platform of their account in this life."""
    return [accounts.identity(name) for name in settings.access.owners if not accounts.awaits(name)]
