"""People at the console: renamed, merged, signed out and removed by an owner."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from bot.accounts.naming import Named
from bot.operator.actor import Actor
from bot.operator.context import OperatorContext
from bot.operator.partial_api import PartialApi, by_role, role_of
from bot.operator.views import View, at
from runtime.contract import PEOPLE, Identity, Person, Role
from runtime.guard.door import Door
from runtime.guard.findings import Gate
from runtime.http.errors import Refusal
from runtime.store.protocol import Known, Pairing, Unmoved, Unpaired
from runtime.text.naming import fault_of_name, is_identity


class Roster:
    """Changes of people by an owner, beside adding them. `actor` is who does it."""

    def __init__(self, context: OperatorContext, actor: Actor) -> None:
        self._context = context
        self._store = context.store
        self._actor = actor

    async def rename(self, name: str, new: str) -> View:
        new = new_name(new, self._context.door())
        self._keep_settings_true(name, f"Write {new} there")
        made = done(await self._store.people.rename(name, new, actor=self._actor.name), name, new=new)
        return _told(made, f"{name} is now called {made.name}.")

    async def sign_out(self, name: str) -> View:
        made = done(await self._store.people.sign_out(name, actor=self._actor.name), name)
        self._context.notifier.notify(PEOPLE)
        return _told(made, f"{name} is signed out everywhere. Their link no longer works.")

    async def remove(self, name: str) -> View:
        known = await self._store.people.person_named(name)
        self._keep_settings_true(name, "Take them out there", known.identities if known else ())
        made = done(await self._store.people.remove(name, actor=self._actor.name), name)
        self._context.notifier.notify(PEOPLE)
        return _told(made, f"{name} is removed. What they said stays in the conversations and in the audit.")

    async def merge(self, name: str, into: str) -> View:
        if name == into:
            raise Refusal(400, "Name two people: one is merged into the other.")
        self._keep_settings_true(name, f"Write {into} there")
        moved = await self._store.people.merge(name, into, actor=self._actor.name)
        made = done(moved, *(await self._missing(name, into) if moved is Unmoved.NOBODY else (name, into)))
        self._context.notifier.notify(PEOPLE)
        return _told(made, f"{name} and {into} are now one person: {made.name} ({made.role.word}).")

    async def _missing(self, *names: str) -> Sequence[str]:
        """Names that no person has; all of them if somebody has just got one."""
        return [name for name in names if await self._store.people.person_named(name) is None] or names

    def _keep_settings_true(self, name: str, fix: str, identities: Sequence[str] = ()) -> None:
        """Settings may write people by name: a blocked one must not come back under another, nor an owner at the start."""
        if places := self._context.written(name, identities):
            where = " and ".join(places)
            raise Refusal(409, f"The settings name {name} in {where}. {fix}, run `signalbox reload`, and try again.")


def new_name(text: str, door: Door) -> str:
    """A name for a person, as it is kept. Errors: Refusal, also for what the leak guard would take out of any text."""
    name = " ".join(text.split())
    if fault := fault_of_name(name):
        raise Refusal(400, fault)
    checked = door.check(name, Gate.MESSAGE_IN)
    if checked.text != name:
        found = ", ".join(one.name for one in checked.findings) or "the leak guard failed"
        raise Refusal(400, f"That name can't be kept: it holds what mustn't be stored ({found}). Choose another one.")
    return name


def _told(person: Person, words: str) -> View:
    return {"name": person.name, "role": person.role.word, "told": words}


def done(made: Person | Unmoved, *names: str, new: str = "") -> Person:
    """The person that `names` begin with, perhaps called `new` by now. Errors: Refusal with the reason why nobody was."""
    match made:
        case Person():
            return made
        case Unmoved.NOBODY:
            nobody = " or ".join(f'"{name}"' for name in names)
            raise Refusal(404, f"There is nobody named {nobody}.")
        case Unmoved.TAKEN:
            raise Refusal(409, f'There is already somebody called "{new}". To merge the two: signalbox people merge')
        case Unmoved.LAST_OWNER:
            raise Refusal(409, f"{names[0]} is the only owner. Make somebody else an owner first.")


@by_role
class PeopleApi(PartialApi):
    """People and pairing codes."""

    async def people(self) -> list[View]:
        return [person_view(known) for known in await self._store.people.people()]

    async def add_person(self, name: str, role: str, identities: Sequence[str] = ()) -> View:
        name = new_name(name, self._context.door())
        wrong = next((identity for identity in identities if not is_identity(identity)), None)
        if wrong is not None:
            raise Refusal(400, f'"{wrong}" is not an identity such as telegram:1001.')
        given = [Identity(identity) for identity in identities]
        person = await self._store.people.add_person(name, role_of(role), given, actor=self.actor.name)
        if person is None:
            raise Refusal(409, f'"{name}" or one of the identities is already taken.')
        return await self._person(person.name)

    async def set_role(self, name: str, role: str) -> View:
        done(await self._store.people.set_role(name, role_of(role), actor=self.actor.name), name)
        return await self._person(name)

    async def pairings(self) -> list[View]:
        """People who were sent a code and wait."""
        await self._context.refresh()
        return await self._entitled([pairing_view(one, *self._names) for one in await self._store.people.pairings()])

    async def pair(self, code: str, name: str = "", role: str = "") -> View:
        """Make whoever was sent `code` known: as the person called `name` if there is one, else as a new one."""
        name = name.strip()
        if name and await self._store.people.person_named(name) is None:
            name = new_name(name, self._context.door())
        chosen = role_of(role) if role else None
        if name and chosen is not None:
            await self._keep_an_owner(name, chosen)
        given, actor = self._context.rights().given, self.actor
        made = await self._store.people.pair(code, name, chosen, actor.person, actor=actor.name, given=given)
        if isinstance(made, Unpaired):
            raise Refusal(429 if made.locked else 404, made.reason)
        for address in (made.address, *made.cards):
            self._context.nudge(address)
        told = f"{made.identity} is now {made.person.name} ({made.person.role.word})"
        return {**await self._person(made.person.name), "identity": made.identity, "told": f"Paired: {told}."}

    async def link(self, name: str) -> View:
        """A new link for a person; the old one is void. The token is in this answer and nowhere else."""
        token = secrets.token_urlsafe(24)
        if await self._store.people.set_link(name, token, actor=self.actor.name) is None:
            raise Refusal(404, f'There is nobody named "{name}".')
        self._context.notifier.notify(PEOPLE)
        path = f"/link/{token}"
        return {
            "name": name,
            "path": path,
            "url": f"{self._context.public_url}{path}" if self._context.public_url else "",
        }

    async def rename_person(self, name: str, new: str) -> View:
        return await self._roster.rename(name, new)

    async def remove_person(self, name: str) -> View:
        return await self._roster.remove(name)

    async def merge_people(self, name: str, into: str) -> View:
        """Make two people one, who keeps the name, role and link of `into`."""
        return await self._roster.merge(name, into)

    async def sign_out(self, name: str) -> View:
        """Void somebody's link, and close the pages that are open by it."""
        return await self._roster.sign_out(name)

    @property
    def _roster(self) -> Roster:
        return Roster(self._context, self.actor)

    async def _person(self, name: str) -> View:
        known = await self._store.people.person_named(name)
        if known is None:
            raise Refusal(404, f'There is nobody named "{name}".')
        return person_view(known)

    async def _keep_an_owner(self, name: str, role: Role) -> None:
        owners = [known.person.name for known in await self._store.people.people() if known.person.role is Role.OWNER]
        if role is not Role.OWNER and owners == [name]:
            raise Refusal(409, f"{name} is the only owner. Make somebody else an owner first.")


def person_view(known: Known) -> View:
    return {
        "name": known.person.name,
        "role": known.person.role.word,
        "identities": list(known.identities),
        "linked": known.linked,
    }


def pairing_view(one: Pairing, named: Named, called: Named) -> View:
    return {
        "identity": one.identity,
        "name": one.name,
        "address": named(one.address),
        "room": called(one.address),
        "since": at(one.created_at),
        "until": at(one.expires_at),
    }
