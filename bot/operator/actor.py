"""The person at the console, and the identity that is recorded."""

from __future__ import annotations

from dataclasses import dataclass

from runtime.contract import Identity, Person, Role
from runtime.http.errors import Refusal
from runtime.store.protocol import Known, People
from runtime.text.words import marked


@dataclass(frozen=True, slots=True)
class Actor:
    """A person, and the identity under which it is recorded. `hand` does it for them: a command line. `session` is the
    digest of what their browser holds, empty for none.
    """

    person: Person
    identity: Identity
    hand: str = ""
    session: str = ""

    @property
    def name(self) -> str:
        """Name of the actor, for the audit."""
        return self.hand or self.person.name

    def must_be(self, role: Role) -> None:
        if self.person.role < role:
            raise Refusal(
                403,
                marked("This needs the role {needed}, and yours is {own}.").format(
                    needed=role.word, own=self.person.role.word
                ),
            )


async def owner_of(people: People, hand: str) -> Actor:
    """The first owner: as whom the holder of the control token acts, by `hand`."""
    owner = next((known for known in await people.people() if known.person.role is Role.OWNER), None)
    if owner is None:
        raise Refusal(409, marked("There is no owner yet. Start Signalbox once: `signalbox run`."))
    return Actor(owner.person, _voice(owner), hand)


def _voice(known: Known) -> Identity:
    """The identity under which a person speaks on the web."""
    own = Identity(f"web:{known.person.id}")
    return next((i for i in known.identities if i.startswith("web:") and own not in known.identities), own)
