"""Standing permissions that approvers gave: looked at and revoked by an operator."""

from __future__ import annotations

from bot.accounts.naming import Named
from bot.operator.partial_api import PartialApi, by_role
from bot.operator.views import View, at
from runtime.contract import Address
from runtime.http.errors import Refusal
from runtime.store.protocol import Granted
from runtime.text.naming import meant
from runtime.text.words import say


@by_role
class GrantsApi(PartialApi):
    """Grants: standing permissions that approvers gave."""

    async def grants(self) -> list[View]:
        """All that were given, newest first, also those that ended."""
        await self._context.refresh()
        return await self._entitled([self._grant(one) for one in await self._store.approvals.grants()])

    async def grant(self, grant_id: str) -> View:
        await self._context.refresh()
        return await self._one_entitled(self._grant(await self._grant_meant(grant_id)))

    async def revoke(self, grant_id: str) -> View:
        found = await self._grant_meant(grant_id)
        if not await self._store.approvals.revoke(found.grant.id, self.actor.name):
            raise Refusal(409, say("The grant {id} has already ended.", id=found.grant.id))
        return await self.grant(found.grant.id)

    async def _grant_meant(self, words: str) -> Granted:
        """The grant with this id, or that begins so. Errors: Refusal."""
        every = await self._store.approvals.grants()
        found = meant(words, every, ids=lambda one: one.grant.id, names=lambda _: ())
        if len(found) == 1:
            return found[0]
        if found:
            several = ", ".join(one.grant.id for one in found)
            raise Refusal(409, say("Several begin with {words}: {names}.", words=repr(words.strip()), names=several))
        raise Refusal(404, say("There is no grant {id}. Give its id, or at least its first four characters.", id=words))

    def _grant(self, one: Granted) -> View:
        return grant_view(one, self._context.effect_of(one), *self._names)


def grant_view(row: Granted, state: str, named: Named, called: Named) -> View:
    """`state` says if it has any effect."""
    one = row.grant
    room = None if one.everywhere else Address.parse(one.room or one.session.partition("|")[2])
    return {
        "id": one.id,
        "state": state,
        "tool": one.tool,
        "pattern": one.pattern.lines(),
        "brief": one.pattern.brief(),
        "where": "everywhere" if one.everywhere else "one conversation" if one.session else "one room",
        "room": called(room) if room else "",
        "address": named(room) if room else "",
        "person": row.person or one.person,
        "agent": one.agent,
        "by": row.giver,
        "created_at": at(one.created_at),
        "until": at(one.until),
        "uses_left": one.uses_left,
        "tainted": one.tainted,
        "revoked_at": at(one.revoked_at),
        "approval": one.from_approval,
    }
