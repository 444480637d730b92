"""Questions that are asked in private alone: does anybody who may decide have a private chat that we know."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bot.doctor.rows import rows_of
from bot.doctor.subject import Subject, fine, warning
from bot.settings.faults import nearest
from bot.settings.settings import Settings
from runtime.contract import Finding, Role
from runtime.domain.approvals import LEAST
from runtime.policy.terms import DM, ROOM
from runtime.text.naming import is_identity

DECIDERS: Final = (
    "SELECT p.name, p.role, i.identity, CASE WHEN i.room IS NOT NULL OR EXISTS "
    "(SELECT 1 FROM signals s WHERE s.actor = i.identity AND s.kind = 'said' AND s.actor LIKE 'web:%') THEN 1 ELSE 0 END "
    "FROM people p JOIN identities i ON i.person_id = p.id ORDER BY 1, 3"
)
WHY: Final = "Their room is told that I can reach nobody, and the question waits in inboxes and on the console."
UNKNOWN_WHY: Final = "So that name decides nothing, and questions may reach nobody."
FIX: Final = 'have one of them write to the bot in private, or add "room" to `to`'


@dataclass(frozen=True, slots=True)
class Account:
    """An account of somebody; `is_private`: they wrote to the agent alone there."""

    name: str
    role: Role
    identity: str
    is_private: bool


async def check_approvers(subject: Subject) -> Sequence[Finding]:
    settings = subject.settings
    named = [(place, names) for place, names in _narrowed(settings) if names]
    if not named and not any(True for _ in _private_alone(settings)):
        return []
    (rows,) = await rows_of(settings, DECIDERS)
    known = [Account(name, Role(role), identity, bool(private)) for name, role, identity, private in rows]
    return [*_unknown(named, known), *findings(settings, known)] if known else []


def _narrowed(settings: Settings) -> Iterator[tuple[str, Sequence[str]]]:
    """Places of the settings that name approvers."""
    yield "access.approvers", settings.access.approvers
    for number, rule in enumerate(settings.policy, start=1):
        yield f"policy[{number}].approvers", rule.approvers or ()


def _unknown(named: Sequence[tuple[str, Sequence[str]]], known: Sequence[Account]) -> Iterator[Finding]:
    """Names that nobody has. An identity may be of somebody who has not written yet."""
    names = {one.name for one in known} | {role.word for role in Role}
    for place, given in named:
        for one in given:
            if one not in names and not is_identity(one):
                near = nearest(one, names)
                fix = (
                    f"did you mean {near}?" if near else "name them as `signalbox people list` does, or by an identity"
                )
                yield warning(
                    f"{place}.{one}", f'{place} names "{one}", and I know nobody by that name', UNKNOWN_WHY, fix
                )


def findings(settings: Settings, known: Sequence[Account]) -> Iterator[Finding]:
    """About each place of the settings that asks in private alone."""
    for place, approvers in _private_alone(settings):
        chosen = [one for one in known if _may_decide(one, settings.access.approvers) and _is_named(one, approvers)]
        names = sorted({one.name for one in chosen if one.is_private})
        if names:
            yield fine(f"approvers.{place}", f"{place}: {', '.join(names)} can be asked in private")
        else:
            what = f"{place} asks only in private, and nobody who may decide has written to the bot privately"
            yield warning(f"approvers.{place}", what, WHY, FIX)


def _private_alone(settings: Settings) -> Iterator[tuple[str, Collection[str]]]:
    """Places whose questions go to private chats and nowhere else, each with the approvers to which it narrows them."""
    if set(settings.approvals.to) == {DM}:
        yield "approvals.to", ()
    for number, rule in enumerate(settings.policy, start=1):
        if rule.result == "ask" and rule.to is not None and DM in rule.to and ROOM not in rule.to:
            yield f"policy[{number}].to", rule.approvers or ()


def _may_decide(one: Account, approvers: Collection[str]) -> bool:
    return _is_among(one, approvers) if approvers else one.role >= LEAST


def _is_named(one: Account, approvers: Collection[str]) -> bool:
    roles = {role.word: role for role in Role}
    by_role = any(name in roles and one.role >= roles[name] for name in approvers)
    return not approvers or by_role or one.name in approvers or _is_among(one, approvers)


def _is_among(one: Account, identities: Collection[str]) -> bool:
    """By the user's own part: settings name the account, rows its identity at the platform."""
    return any(_user(one.identity) == _user(name) for name in identities)


def _user(identity: str) -> tuple[str, str]:
    channel, _, rest = identity.partition(":")
    return channel, rest.rpartition("/")[2]
