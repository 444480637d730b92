"""Forms for whoever pressed a button: made only for those whose answer would count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from runtime.chat.forms import form_of
from runtime.contract import ApprovalId, Choice, Form, Identity
from runtime.domain.approvals import Rights, Voter, asked_about, objection
from runtime.errors import StoreError
from runtime.store.store import Store

UNKNOWN: Final = "This question no longer exists."
STRANGER: Final = "I don't know you here, so you can't answer this."
STORE_AWAY: Final = "I can't look that up just now. Please try again in a moment."


class Forms:
    """Looks the question up, and who asks for its form. `rights` are the settings' as of now."""

    def __init__(self, store: Store, rights: Callable[[], Rights]) -> None:
        self._store = store
        self._rights = rights

    async def open(self, approval: ApprovalId, choice: Choice, actor: Identity) -> Form | str:
        """Implements `contract.OpenForm`. What is sent later is judged anew, with the room where that happens."""
        try:
            return await self._opened(approval, choice, actor)
        except StoreError:
            return STORE_AWAY

    async def _opened(self, approval: ApprovalId, choice: Choice, actor: Identity) -> Form | str:
        about = await self._store.approvals.approval(asked_about(approval))
        if about is None:
            return UNKNOWN
        person = await self._store.people.identified(actor)
        known = await self._store.people.person_named(person.name) if person else None
        if known is None:
            return STRANGER
        voter = Voter(known.person, frozenset([known.person.id, *known.identities]), about.address)
        against = objection(about, voter, choice, self._rights(), self._store.now(), reason="to be written")
        return against or form_of(about, choice)
