"""The first owner, and the link with which they open the page."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import timedelta
from itertools import count
from typing import Final

from runtime.contract import Identity, Role
from runtime.store.protocol import Known, People

OWNER_NAME: Final = "owner"
ONCE_WITHIN: Final = timedelta(minutes=15)
SETTINGS: Final = "settings"
"""Who it is, for the audit: a start does what the settings say."""


async def settle_owner(
    people: People,
    identities: Sequence[str],
    token: str | None,
    *,
    with_link: bool = True,
    once: bool = False,
    actor: str = SETTINGS,
) -> str | None:
    """See that there is an owner, and a link for them if `with_link`; a repeat changes nothing.

    `identities` are the owners of the settings: the first start gives them all to one person, later ones that nobody
    has become owners of their own. `token` is the link's token of the settings, if there is one.
    With `once` the link is for one use within ONCE_WITHIN: what prints it may be kept as a log for others to read.
    Shape:  the token of a link that was made just now, to be shown once; None when there was one or it was set.
    """
    owner = await _owner(people, identities, actor)
    await _add_others(people, identities, actor)
    if token is not None:
        if await people.person_of(token) is None:
            await people.set_link(owner.person.name, token, actor=actor)
        return None
    if owner.linked or not with_link:
        return None
    if once:
        return await people.invite(owner.person.name, ONCE_WITHIN, actor=actor)
    fresh = secrets.token_urlsafe(24)
    await people.set_link(owner.person.name, fresh, actor=actor)
    return fresh


async def owner_name(people: People) -> str:
    """Name of the owner, to whom the link printed at the start belongs; a standard name if there is no owner."""
    return next((one.person.name for one in await people.people() if one.person.role is Role.OWNER), OWNER_NAME)


async def _owner(people: People, identities: Sequence[str], actor: str) -> Known:
    """The first owner there is, made where there is none. Another node may make one beside us: then it is theirs."""
    while True:
        known = await people.people()
        if found := next((one for one in known if one.person.role is Role.OWNER), None):
            return found
        taken = {identity for one in known for identity in one.identities}
        free = [Identity(identity) for identity in identities if identity not in taken]
        if added := await people.add_person(_free_name(OWNER_NAME, known), Role.OWNER, free, actor=actor):
            return Known(added, tuple(free), linked=False)


async def _add_others(people: People, identities: Sequence[str], actor: str) -> None:
    for identity in map(Identity, identities):
        while True:
            known = await people.people()
            holder = next((one.person for one in known if identity in one.identities), None)
            if holder is not None:
                break
            if await people.add_person(_free_name(identity, known), Role.OWNER, [identity], actor=actor):
                break
        if holder is not None and holder.role is not Role.OWNER:
            await people.set_role(holder.name, Role.OWNER, actor=actor)


def _free_name(name: str, known: Sequence[Known]) -> str:
    """`name`, with a number where somebody has it."""
    taken = {one.person.name for one in known}
    return next(free for number in count(1) if (free := name if number == 1 else f"{name} {number}") not in taken)
