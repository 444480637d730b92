"""People as pages, commands and settings see them: who is known, by which links, and who is to be."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from secrets import token_urlsafe
from time import monotonic
from typing import Final, TypeVar

import structlog

from runtime.contract import Address, Identity, NewId, Person, PersonId, Role
from runtime.domain.ids import digest
from runtime.errors import StoreError
from runtime.store.common import fact, whom
from runtime.store.intake.listing import private_chat
from runtime.store.intake.pairings import let_in, pair, pending, turn_away
from runtime.store.logins.rows import NewGrant
from runtime.store.observer import UNOBSERVED, Observer
from runtime.store.people import invitations
from runtime.store.people.admission import admit
from runtime.store.people.browsers import SEEN_AGAIN_AFTER, begin, by_browser, leave, set_seen
from runtime.store.people.people import (
    ONCE,
    add_person,
    everyone,
    is_late,
    named,
    person_of,
    set_link,
    set_role,
)
from runtime.store.people.roster import remove, rename, sign_out
from runtime.store.people.sessions import (
    drop_session,
    end_other_sessions,
    end_session,
    keep_session,
    session,
    sessions_of,
)
from runtime.store.protocol import Known, Paired, Pairing, Unmoved, Unpaired
from runtime.store.protocol.people import (
    Admission,
    BrowserSession,
    HeldData,
    Invitation,
    Joined,
    Merging,
    Unadmitted,
    Unjoined,
)
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Driver, MakeOp

log = structlog.get_logger("people")

REMEMBERED: Final = timedelta(seconds=1)
"""How long another node's change of a link may go unnoticed by a page that is open here."""

TOKEN_BYTES: Final = 24
BROWSER_PREFIX: Final = "sbb_"
"""Begins what a browser holds that was signed in by a link."""
T = TypeVar("T")


class PeopleStore(Base):
    """Implements `protocol.People`.

    Whom a link belongs to is asked with every request of a page: it is kept for a second, and forgotten at once when
    this process changes a person. What they do is judged by their role as stored, in the transaction that takes it in.
    """

    def __init__(self, driver: Driver, new_id: NewId, observer: Observer = UNOBSERVED) -> None:
        super().__init__(driver, new_id, observer)
        self._seen: dict[str, tuple[float, tuple[Person, Identity]]] = {}

    async def people(self) -> list[Known]:
        return await self._driver.read(everyone)

    async def person_named(self, name: str) -> Known | None:
        return await self._driver.read(lambda: named(name))

    async def identified(self, identity: Identity) -> Person | None:
        return await self._driver.read(lambda: whom(identity))

    async def private_chat(self, identity: Identity) -> Address | None:
        return await self._driver.read(lambda: private_chat(identity))

    async def add_person(self, name: str, role: Role, identities: Sequence[Identity], *, actor: str) -> Person | None:
        now = self.now()
        return await self._driver.write(lambda: add_person(name, role, identities, actor, now, self._new_id))

    async def set_role(self, name: str, role: Role, *, actor: str) -> Person | Unmoved:
        now = self.now()
        return await self._changed(lambda: set_role(name, role, actor, now))

    async def set_link(self, name: str, token: str, *, actor: str) -> Person | None:
        now = self.now()
        return await self._changed(lambda: set_link(name, digest(token), actor, now))

    async def _changed(self, make: MakeOp[T]) -> T:
        """Write, and forget at once who the links belonged to."""
        try:
            return await self._driver.write(make)
        finally:
            self._seen.clear()

    async def invite(self, name: str, within: timedelta, *, actor: str) -> str | None:
        now = self.now()
        token = f"{token_urlsafe(TOKEN_BYTES)}.{int((now + within).timestamp())}"
        made = await self._changed(lambda: set_link(name, ONCE + digest(token), actor, now))
        return token if made else None

    async def invited(self, token: str) -> Person | None:
        if is_late(token, self.now()):
            return None
        found = await self._driver.read(lambda: person_of(ONCE + digest(token)))
        return found[0] if found else None

    async def linked(self, token: str) -> Person | None:
        found = await self._driver.read(lambda: person_of(digest(token)))
        return found[0] if found else None

    async def redeem(self, token: str, browser: str = "") -> str | None:
        now, own_link = self.now(), token_urlsafe(TOKEN_BYTES)
        fresh = BROWSER_PREFIX + token_urlsafe(TOKEN_BYTES)
        return fresh if await self._driver.write(lambda: begin(token, fresh, own_link, browser, now)) else None

    async def leave(self, token: str) -> None:
        now = self.now()
        await self._changed(lambda: leave(digest(token), now))

    async def person_of(self, token: str, *, fresh: bool = False) -> tuple[Person, Identity] | None:
        at, name = monotonic(), digest(token)
        seen = None if fresh else self._seen.get(name)
        if seen and at - seen[0] < REMEMBERED.total_seconds():
            return seen[1]
        found = await self._read(token, name)
        if found:
            self._seen[name] = (at, found)
        return found

    async def _read(self, token: str, name: str) -> tuple[Person, Identity] | None:
        """By a browser's session or, for one that was signed in before browsers had any, by the link itself."""
        now = self.now()
        if token.startswith(BROWSER_PREFIX) and (found := await self._driver.read(lambda: by_browser(name, now))):
            await self._note_seen(name, found[2])
            return found[:2]
        return await self._driver.read(lambda: person_of(name))

    async def _note_seen(self, name: str, last: datetime | None) -> None:
        now = self.now()
        if last is None or now - last < SEEN_AGAIN_AFTER:
            return
        try:
            await self._driver.write(lambda: set_seen(name, now))
        except StoreError as error:  # whoever only reads is let in: a full disk must not close the page
            log.debug("when a browser was seen was not noted", reason=str(error))

    async def admit(self, asked: Admission) -> Person | Unadmitted:
        now = self.now()
        return await self._changed(lambda: admit(asked, now, self._new_id))

    async def keep_session(
        self, token: str, grant: NewGrant, issuer: str, of: Identity, who: Person, browser: str = ""
    ) -> None:
        now = self.now()
        await self._driver.write(lambda: keep_session(token, grant, issuer, of, who, browser, now))

    async def session(self, token: str) -> tuple[Identity, Person, Identity] | None:
        now, name = self.now(), digest(token)
        found = await self._driver.read(lambda: session(name, now))
        if found is None:
            return None
        await self._note_seen(name, found[3])
        return found[:3]

    async def drop_session(self, token: str, *, why: str, actor: str = "") -> bool:
        now, name = self.now(), digest(token)
        return await self._driver.write(lambda: drop_session(name, actor, why, now))

    async def note_turned_away(self, who: str, why: str) -> None:
        now = self.now()
        await self._driver.write(lambda: fact(now, "turned away", who, why))

    async def rename(self, name: str, new: str, *, actor: str) -> Person | Unmoved:
        now = self.now()
        return await self._changed(lambda: rename(name, new, actor, now))

    async def sign_out(self, name: str, *, actor: str) -> Person | Unmoved:
        now = self.now()
        return await self._changed(lambda: sign_out(name, actor, now))

    async def remove(self, name: str, *, actor: str) -> Person | Unmoved:
        now = self.now()
        return await self._changed(lambda: remove(name, actor, now))

    async def merge(self, name: str, into: str, *, actor: str) -> Person | Unmoved:
        from runtime.store.people.merging import merge  # seldom asked for, as what follows

        now = self.now()
        return await self._changed(lambda: merge(name, into, actor, now))

    async def merging(self, name: str, into: str) -> Merging | Unmoved:
        from runtime.store.people.merging import merging

        return await self._driver.read(lambda: merging(name, into))

    async def held_of(self, who: PersonId) -> HeldData:
        from runtime.store.people.held import held_of

        return await self._driver.read(lambda: held_of(who))

    async def sessions_of(self, name: str) -> list[BrowserSession]:
        now = self.now()
        return await self._driver.read(lambda: sessions_of(name, now))

    async def end_session(self, name: str, which: str, *, actor: str) -> bool:
        now = self.now()
        return await self._changed(lambda: end_session(name, which, actor, now))

    async def end_other_sessions(self, name: str, *, but: str, actor: str) -> int:
        now = self.now()
        return await self._changed(lambda: end_other_sessions(name, but, actor, now))

    async def pairings(self) -> list[Pairing]:
        now = self.now()
        return await self._driver.read(lambda: pending(now))

    async def pair(
        self,
        code: str,
        name: str,
        role: Role | None,
        by: Person,
        *,
        actor: str | None = None,
        given: Collection[str] = (),
    ) -> Paired | Unpaired:
        now, who = self.now(), actor or by.name
        return await self._driver.write(lambda: pair(code, name, role, by, who, given, now, self._new_id))

    async def let_in(
        self, identity: Identity, name: str, role: Role | None, by: Person, *, actor: str, given: Collection[str] = ()
    ) -> Paired | None:
        now = self.now()
        return await self._driver.write(lambda: let_in(identity, name, role, by, actor, given, now, self._new_id))

    async def turn_away(self, identity: Identity, by: Person, *, actor: str) -> tuple[Address, ...] | None:
        now = self.now()
        return await self._driver.write(lambda: turn_away(identity, by, actor, now, self._new_id))

    async def make_invitation(self, role: Role, within: timedelta, *, actor: str) -> tuple[Invitation, str]:
        now, which, token = self.now(), self._new_id(), token_urlsafe(TOKEN_BYTES)
        made = await self._driver.write(lambda: invitations.make(which, token, role, within, actor, now))
        return made, token

    async def invitations(self) -> list[Invitation]:
        return await self._driver.read(invitations.listed)

    async def invitation(self, token: str) -> Invitation | Unjoined:
        now = self.now()
        return await self._driver.read(lambda: invitations.of_token(token, now))

    async def revoke_invitation(self, which: str, *, actor: str) -> bool:
        now = self.now()
        return await self._driver.write(lambda: invitations.revoke(which, actor, now))

    async def join_by(
        self, token: str, name: str, *, given: Collection[str] = (), browser: str = ""
    ) -> Joined | Unjoined:
        now, fresh = self.now(), (BROWSER_PREFIX + token_urlsafe(TOKEN_BYTES), token_urlsafe(TOKEN_BYTES))
        return await self._changed(lambda: invitations.join(token, name, fresh, given, browser, now, self._new_id))
