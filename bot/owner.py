"""The first owner, and the link with which they open the page."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Final

from runtime.contract import Identity, Person, Role
from runtime.store.protocol import Known, People

NAME: Final = "owner"


async def settle_owner(
    people: People, identities: Sequence[str], token: str | None, *, with_link: bool = True
) -> str | None:
    """See that there is an owner, and a link for them if `with_link`; a repeat changes nothing.

    `identities` are the owners of the settings: the first start gives them all to one person, later ones that nobody
    has become owners of their own. `token` is the link's token of the settings, if there is one.
    Shape:  the token of a link that was made just now, to be shown once; None when there was one or it was set.
    """
    owner = await _owner(people, identities)
    await _add_others(people, identities)
    if token is not None:
        if await people.person_of(token) is None:
            await people.set_link(owner.person.name, token)
        return None
    if owner.linked or not with_link:
        return None
    fresh = secrets.token_urlsafe(24)
    await people.set_link(owner.person.name, fresh)
    return fresh


async def _owner(people: People, identities: Sequence[str]) -> Known:
    known = await people.people()
    found = next((one for one in known if one.person.role is Role.OWNER), None)
    if found is not None:
        return found
    taken = {identity for one in known for identity in one.identities}
    free = [Identity(identity) for identity in identities if identity not in taken]
    return Known(await _add(people, NAME, free), tuple(free), linked=False)


async def _add_others(people: People, identities: Sequence[str]) -> None:
    holders = {identity: one.person for one in await people.people() for identity in one.identities}
    for identity in identities:
        holder = holders.get(Identity(identity))
        if holder is None:
            await _add(people, identity, [Identity(identity)])
        elif holder.role is not Role.OWNER:
            await people.set_role(holder.name, Role.OWNER)


async def _add(people: People, name: str, identities: Sequence[Identity]) -> Person:
    """A new owner; a name that is taken gets a number."""
    number = 1
    while (
        added := await people.add_person(name if number == 1 else f"{name} {number}", Role.OWNER, identities)
    ) is None:
        number += 1
    return added
