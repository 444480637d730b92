"""People at the console: renamed, merged, signed out and removed by an owner."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from bot.accounts.naming import Named
from bot.operator.access.invitations import address_of
from bot.operator.access.owners import must_be_confirmed
from bot.operator.access.wishes import wishes_of
from bot.operator.actor import Actor
from bot.operator.context import OperatorContext
from bot.operator.partial_api import PartialApi, by_role, role_of
from bot.operator.views import View
from bot.operator.views import at as moment_of
from runtime.contract import PEOPLE, Identity, Person, Role
from runtime.guard.door import Door
from runtime.guard.findings import Gate
from runtime.http.errors import Refusal
from runtime.store.protocol import Known, Paired, Pairing, Unmoved, Unpaired
from runtime.store.protocol.people import BrowserSession
from runtime.text.naming import fault_of_name, is_identity
from runtime.text.words import listed, marked, say, say_many, several

WAITS_NO_MORE: Final = marked(
    "They don't wait any more: somebody was faster, or their code has expired. It's made anew when they write again."
)
TWO_NAMES: Final = marked("Name two people: one is merged into the other.")
NOBODY_NAMED: Final = marked('There is nobody named "{name}".')
TAKEN_NAME: Final = marked(
    'There is already somebody called "{new}". To make the two one person, choose "Same person as…" on their page, or use '
    "`signalbox people merge`."
)
NO_IDENTITY: Final = marked('"{identity}" is not an identity such as telegram:1001.')
TAKEN_ALREADY: Final = marked('"{name}" or one of the identities is already taken.')
ONLY_OWNER: Final = marked("{name} is the only owner. Make somebody else an owner first.")
UNKEPT_NAME: Final = marked("That name can't be kept: it holds what mustn't be stored ({found}). Choose another one.")
IN_SETTINGS_ANEW: Final = marked(
    "The settings name {name} in {places}. Write {new} there, run `signalbox reload`, and try again."
)
IN_SETTINGS: Final = marked(
    "The settings name {name} in {places}. Take them out there, run `signalbox reload`, and try again."
)
OWNER_BY_SETTINGS: Final = marked(
    "The settings name {name} in {places}. Make {new} an owner first, or take {name} out there, run `signalbox reload`, "
    "and try again."
)
MERGED_WORDS: Final[Mapping[str, Callable[[int], str]]] = {
    "accounts": lambda n: say_many("{number} account or way to sign in", "{number} accounts and ways to sign in", n),
    "messages": lambda n: several(n, "message"),
    "runs": lambda n: say_many("{number} piece of work", "{number} pieces of work", n),
    "schedules": lambda n: several(n, "schedule"),
    "tasks": lambda n: several(n, "task"),
    "triggers": lambda n: several(n, "trigger"),
    "questions": lambda n: say_many("{number} question they caused", "{number} questions they caused", n),
    "votes": lambda n: several(n, "vote"),
    "grants": lambda n: say_many(
        "{number} standing permission they gave", "{number} standing permissions they gave", n
    ),
    "ratings": lambda n: say_many("{number} rating of an answer", "{number} ratings of answers", n),
    "memories": lambda n: say_many("{number} memory", "{number} memories", n),
}
"""What a merge moves, one and several, by the store's word for it."""


class Roster:
    """Changes of people by an owner, beside adding them. `actor` is who does it."""

    def __init__(self, context: OperatorContext, actor: Actor) -> None:
        self._context = context
        self._store = context.store
        self._actor = actor

    async def rename(self, name: str, new: str) -> View:
        new = new_name(new, self._context.door())
        self._keep_settings_true(name, IN_SETTINGS_ANEW, new=new)
        made = done(await self._store.people.rename(name, new, actor=self._actor.name), name, new=new)
        return _told(made, say("{name} is now called {new}.", name=name, new=made.name))

    async def sign_out(self, name: str) -> View:
        made = done(await self._store.people.sign_out(name, actor=self._actor.name), name)
        self._context.notifier.notify(PEOPLE)
        return _told(made, say("{name} is signed out everywhere. Their link no longer works.", name=name))

    async def remove(self, name: str) -> View:
        known = await self._store.people.person_named(name)
        self._keep_settings_true(name, IN_SETTINGS, known.identities if known else ())
        made = done(await self._store.people.remove(name, actor=self._actor.name), name)
        self._context.notifier.notify(PEOPLE)
        return _told(
            made, say("{name} is removed. What they said stays in the conversations and in the audit.", name=name)
        )

    async def merge(self, name: str, into: str) -> View:
        if name == into:
            raise Refusal(400, TWO_NAMES)
        other = await self._check_merge(name, into)
        if other is Role.OWNER:
            must_be_confirmed(self._context, self._actor)
        moved = await self._store.people.merge(name, into, actor=self._actor.name)
        made = done(moved, *(await self._missing(name, into) if moved is Unmoved.NOBODY else (name, into)))
        self._context.notifier.notify(PEOPLE)
        words = say(
            "{name} and {into} are now one person: {kept} ({role}).",
            name=name,
            into=into,
            kept=made.name,
            role=say(made.role.word),
        )
        return _told(made, words)

    async def merging(self, name: str, into: str) -> View:
        """Numbers of what would move, and sentences about what wouldn't."""
        await self._check_merge(name, into)
        told = await self._store.people.merging(name, into)
        if isinstance(told, Unmoved):
            done(told, *(await self._missing(name, into) if told is Unmoved.NOBODY else (name, into)))
            raise AssertionError("unreachable")
        who, other = told.person, told.into
        moves = [
            {"what": word, "count": count, "words": MERGED_WORDS[word](count)}
            for word, count in told.moves.items()
            if count
        ]
        return {
            "name": who.name,
            "into": other.name,
            "role": other.role.word,
            "moves": moves,
            "stays": _left(who, other),
        }

    async def _check_merge(self, name: str, into: str) -> Role | None:
        """The role of `into`. An account that the settings make an owner must not make one of somebody else at the next start."""
        self._keep_settings_true(name, IN_SETTINGS_ANEW, new=into)
        who, other = await self._store.people.person_named(name), await self._store.people.person_named(into)
        if who is not None and other is not None and other.person.role is not Role.OWNER:
            self._keep_settings_true(name, OWNER_BY_SETTINGS, who.identities, new=into)
        return other.person.role if other else None

    async def _missing(self, *names: str) -> Sequence[str]:
        """Names that no person has; all of them if somebody has just got one."""
        return [name for name in names if await self._store.people.person_named(name) is None] or names

    def _keep_settings_true(self, name: str, told: str, identities: Sequence[str] = (), *, new: str = "") -> None:
        """Settings may write people by name: a blocked one must not come back under another, nor an owner at the start."""
        if places := self._context.written(name, identities):
            raise Refusal(409, say(told, name=name, places=listed(places), new=new))


def new_name(text: str, door: Door) -> str:
    """A name for a person, as it is kept. Errors: Refusal, also for what the leak guard would take out of any text."""
    name = " ".join(text.split())
    if fault := fault_of_name(name):
        raise Refusal(400, fault)
    checked = door.check(name, Gate.MESSAGE_IN)
    if checked.text != name:
        found = ", ".join(one.name for one in checked.findings) or say("the leak guard failed")
        raise Refusal(400, say(UNKEPT_NAME, found=found))
    return name


def _left(who: Person, other: Person) -> list[str]:
    """Sentences about what a merge doesn't move."""
    names = {"name": who.name, "into": other.name}
    told = [say("The name {name} goes. {into} is the name of both from then on.", **names)]
    if who.role is not other.role:
        roles = {"role": say(who.role.word), "kept": say(other.role.word)}
        told += [say("The role {role} of {name} goes. Both accounts have the role {kept}.", **names, **roles)]
    return [
        *told,
        say("The link of {name} stops working, and {name}'s pages that are open by it close.", **names),
        say("Of two votes on one question, two marks of one conversation and two values of one memory, one stays."),
        say("If {into} has a time zone, it counts. Budgets are counted anew, from what both have used.", **names),
        say("An absence of {name} ends.", **names),
        say(
            "The audit keeps what was done as {name} under that name, and so do messages that name them. "
            "API tokens belong to programs, and stay as they are.",
            **names,
        ),
        say("It can't be undone."),
    ]


def session_view(one: BrowserSession) -> View:
    return {
        "id": one.id,
        "issuer": one.issuer,
        "browser": one.browser,
        "since": moment_of(one.since),
        "seen": moment_of(one.seen) if one.seen else None,
    }


def _told(person: Person, words: str) -> View:
    return {"name": person.name, "role": person.role.word, "told": words}


def done(made: Person | Unmoved, *names: str, new: str = "") -> Person:
    """The person that `names` begin with, perhaps called `new` by now. Errors: Refusal with the reason why nobody was."""
    match made:
        case Person():
            return made
        case Unmoved.NOBODY:
            if len(names) == 1:
                raise Refusal(404, say(NOBODY_NAMED, name=names[0]))
            raise Refusal(404, say('There is nobody named "{name}" or "{other}".', name=names[0], other=names[1]))
        case Unmoved.TAKEN:
            raise Refusal(409, say(TAKEN_NAME, new=new))
        case Unmoved.THEMSELVES:
            raise Refusal(400, TWO_NAMES)
        case Unmoved.LAST_OWNER:
            raise Refusal(409, say(ONLY_OWNER, name=names[0]))


@by_role
class PeopleApi(PartialApi):
    """People and pairing codes."""

    async def people(self) -> list[View]:
        wishes = await wishes_of(self._context)
        known = await self._store.people.people()
        return [{**person_view(one), "asked_to_go": moment_of(wishes.standing(one.identities))} for one in known]

    async def add_person(self, name: str, role: str, identities: Sequence[str] = ()) -> View:
        name = new_name(name, self._context.door())
        wrong = next((identity for identity in identities if not is_identity(identity)), None)
        if wrong is not None:
            raise Refusal(400, say(NO_IDENTITY, identity=wrong))
        if role_of(role) is Role.OWNER:
            must_be_confirmed(self._context, self.actor)
        given = [Identity(identity) for identity in identities]
        person = await self._store.people.add_person(name, role_of(role), given, actor=self.actor.name)
        if person is None:
            raise Refusal(409, say(TAKEN_ALREADY, name=name))
        return await self._person(person.name)

    async def set_role(self, name: str, role: str) -> View:
        if role_of(role) is Role.OWNER:
            must_be_confirmed(self._context, self.actor)
        made = done(await self._store.people.set_role(name, role_of(role), actor=self.actor.name), name)
        told = say("{name} has the role {role} now.", name=name, role=say(made.role.word))
        return {**await self._person(name), "told": told}

    async def pairings(self) -> list[View]:
        """People who were sent a code and wait."""
        await self._context.refresh()
        return await self._entitled([pairing_view(one, *self._names) for one in await self._store.people.pairings()])

    async def pair(self, code: str, name: str = "", role: str = "") -> View:
        """Make whoever was sent `code` known: as the person called `name` if there is one, else as a new one."""
        name, chosen = await self._pairing(name, role)
        actor = self.actor
        made = await self._store.people.pair(code, name, chosen, actor.person, actor=actor.name, given=self._given)
        if isinstance(made, Unpaired):
            raise Refusal(429 if made.locked else 404, made.reason)
        return await self._told_paired(made)

    async def _pairing(self, name: str, role: str) -> tuple[str, Role | None]:
        """The name and the role with which somebody is to be paired. Errors: Refusal."""
        name = name.strip()
        if name and await self._store.people.person_named(name) is None:
            name = new_name(name, self._context.door())
        chosen = role_of(role) if role else None
        if chosen is Role.OWNER:
            must_be_confirmed(self._context, self.actor)
        if name and chosen is not None:
            await self._keep_an_owner(name, chosen)
        return name, chosen

    @property
    def _given(self) -> Collection[str]:
        return self._context.rights().given

    async def _told_paired(self, made: Paired) -> View:
        for address in (made.address, *made.cards):
            self._context.nudge(address)
        who, role = made.person.name, say(made.person.role.word)
        told = say("Paired: {identity} is now {name} ({role}).", identity=made.identity, name=who, role=role)
        return {**await self._person(who), "identity": made.identity, "told": told}

    async def link(self, name: str, at: str = "") -> View:
        """A new link for a person; the old one is void. The token is in this answer and nowhere else."""
        address_of("", self._context.public_url, at)  # refused before anything is made
        known = await self._store.people.person_named(name)
        if known is not None and known.person.role is Role.OWNER:
            must_be_confirmed(self._context, self.actor)
        token = secrets.token_urlsafe(24)
        if await self._store.people.set_link(name, token, actor=self.actor.name) is None:
            raise Refusal(404, say(NOBODY_NAMED, name=name))
        self._context.notifier.notify(PEOPLE)
        told = say("Here's the new link of {name}. It's shown only now; their old one no longer works.", name=name)
        return {"name": name, **address_of(f"/link/{token}", self._context.public_url, at), "told": told}

    async def let_in(self, identity: str, name: str = "", role: str = "") -> View:
        """Let in somebody who waits with a pairing code: as the person called `name` if there is one, else as a new one."""
        name, chosen = await self._pairing(name, role)
        made = await self._store.people.let_in(
            Identity(identity), name, chosen, self.actor.person, actor=self.actor.name, given=self._given
        )
        if made is None:
            raise Refusal(404, WAITS_NO_MORE)
        return await self._told_paired(made)

    async def turn_away(self, identity: str) -> View:
        """Refuse somebody who waits: they are told, and nobody is asked about them for a day."""
        rooms = await self._store.people.turn_away(Identity(identity), self.actor.person, actor=self.actor.name)
        if rooms is None:
            raise Refusal(404, WAITS_NO_MORE)
        for address in rooms:
            self._context.nudge(address)
        told = say("{identity} is refused, and has been told so.", identity=identity)
        return {"identity": identity, "state": "refused", "told": told}

    async def merging(self, name: str, into: str) -> View:
        """Tell what a merge would do, and change nothing."""
        return await self._roster.merging(name, into)

    async def sessions(self, name: str) -> list[View]:
        """Browsers in which somebody is signed in, by their link or by a provider."""
        await self._person(name)
        return [session_view(one) for one in await self._store.people.sessions_of(name)]

    async def end_session(self, name: str, session: str) -> View:
        """Sign somebody out in one browser."""
        if not await self._store.people.end_session(name, session, actor=self.actor.name):
            raise Refusal(404, say("{name} isn't signed in there any more.", name=name))
        self._context.notifier.notify(PEOPLE)
        return {"name": name, "session": session, "told": say("{name} is signed out in that browser.", name=name)}

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
            raise Refusal(404, say(NOBODY_NAMED, name=name))
        return person_view(known)

    async def _keep_an_owner(self, name: str, role: Role) -> None:
        owners = [known.person.name for known in await self._store.people.people() if known.person.role is Role.OWNER]
        if role is not Role.OWNER and owners == [name]:
            raise Refusal(409, say(ONLY_OWNER, name=name))


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
        "since": moment_of(one.created_at),
        "until": moment_of(one.expires_at),
    }
