"""People at the console: renamed, merged, signed out and removed by an owner."""

from __future__ import annotations

from collections.abc import Sequence

from bot.operator.actor import Actor
from bot.operator.context import OperatorContext
from bot.operator.views import View
from runtime.contract import PEOPLE, Person
from runtime.guard.door import Door
from runtime.guard.findings import Gate
from runtime.http.errors import Refusal
from runtime.store.protocol import Unmoved
from runtime.text.naming import fault_of_name


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
