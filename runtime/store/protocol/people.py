"""Known people, and how somebody becomes one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from runtime.contract import (
    Address,
    Identity,
    Links,
    Person,
    PersonId,
    Role,
)
from runtime.domain.events.feedback import Rating

if TYPE_CHECKING:
    from runtime.store.logins.rows import NewGrant


@dataclass(frozen=True, slots=True)
class Known:
    """A person with all identities, for lists. `linked`: has a lasting web link."""

    person: Person
    identities: tuple[Identity, ...]
    linked: bool


@dataclass(frozen=True, slots=True)
class Pairing:
    """An unknown person who was sent a code and waits for an owner to enter it."""

    identity: Identity
    name: str
    address: Address
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Paired:
    """A code was right. `address`: where the person is told; `cards`: rooms in which a question about them is settled."""

    person: Person
    identity: Identity
    address: Address
    cards: tuple[Address, ...] = ()


@dataclass(frozen=True, slots=True)
class Unpaired:
    """A code was not taken, in words for whoever entered it. `locked`: no code of theirs would be."""

    reason: str
    locked: bool = False


class Unmoved(StrEnum):
    """Reason nobody was renamed, removed, merged, signed out or given another role."""

    NOBODY = "nobody"  # nobody has that name
    TAKEN = "taken"  # somebody else has the new one
    LAST_OWNER = "last owner"  # nobody would be left to manage people
    THEMSELVES = "themselves"  # one person can't be merged with themselves


@dataclass(frozen=True, slots=True)
class Merging:
    """Two people who may become one. `moves`: numbers of what would be the second one's, by a word for it."""

    person: Person
    into: Person
    moves: Mapping[str, int]


class Ending(StrEnum):
    """End of an invitation."""

    NONE = ""
    USED = "used"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class Invitation:
    """A link by which somebody who isn't known yet joins, once. `joined` is the name of who did."""

    id: str
    role: Role
    made_by: str
    made_at: datetime
    expires_at: datetime
    ending: Ending = Ending.NONE
    ended_at: datetime | None = None
    joined: str = ""


@dataclass(frozen=True, slots=True)
class Joined:
    """Somebody who used an invitation. `token`: of their browser's session."""

    person: Person
    token: str


class Unjoined(StrEnum):
    """Reason an invitation lets nobody in."""

    UNKNOWN = "unknown"
    USED = "used"
    REVOKED = "revoked"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """A browser in which somebody is signed in, at a provider or, without `issuer`, by their link. `id` is the beginning of its hash.

    `browser` says which it is, as it calls itself; empty where it doesn't, as `seen` is none where nothing noted it.
    """

    id: str
    issuer: str
    since: datetime
    browser: str = ""
    seen: datetime | None = None
    hash: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class SpokenRoom:
    """A room in which somebody spoke: how often, and when last. `title` is what they call it, if they gave it a name."""

    address: Address
    messages: int
    last: datetime
    title: str = ""


@dataclass(frozen=True, slots=True)
class GivenRating:
    """A rating that somebody gave, with the words they added."""

    address: Address
    rating: Rating
    words: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldData:
    """Data held about somebody beside memories and sign-ins. `browsers_told` are those that get notifications, by id."""

    rooms: tuple[SpokenRoom, ...] = ()
    ratings: tuple[GivenRating, ...] = ()
    browsers_told: Mapping[str, datetime] = field(default_factory=dict)
    zone: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)


class Invitations(Protocol):
    """Links by which people join, and strangers who are let in or turned away by a button."""

    async def make_invitation(self, role: Role, within: timedelta, *, actor: str) -> tuple[Invitation, str]:
        """A new one with its token, which is stored as a hash alone."""

    async def invitations(self) -> list[Invitation]:
        """Open ones, and those that ended within a month; the newest first."""

    async def invitation(self, token: str) -> Invitation | Unjoined:
        """One that still works, or why it doesn't."""

    async def revoke_invitation(self, which: str, *, actor: str) -> bool:
        """End one that is open; false where it isn't."""

    async def join_by(
        self, token: str, name: str, *, given: Collection[str] = (), browser: str = ""
    ) -> Joined | Unjoined:
        """Use an invitation: a new person, with a number behind a name that is taken or `given` something. Of two at once one joins."""

    async def let_in(
        self, identity: Identity, name: str, role: Role | None, by: Person, *, actor: str, given: Collection[str] = ()
    ) -> Paired | None:
        """Pair somebody who waits with a pairing code, without it. None where they wait no more."""

    async def turn_away(self, identity: Identity, by: Person, *, actor: str) -> tuple[Address, ...] | None:
        """Refuse somebody who waits: they are told, and nobody is asked about them for a day. None as above."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """Somebody as a provider names them.

    `role` is that of their groups, None for no group that gives one. `is_fresh`: the provider says so now; what it said
    earlier only lowers, and makes nobody. Without `sets` it said nothing of groups, so the role of somebody known stays.
    `email` is the identity of an address that was verified, or empty. `owners`: groups may make owners.
    """

    identity: Identity
    name: str
    role: Role | None
    is_fresh: bool
    sets: bool = True
    email: str = ""
    create: bool = True
    owners: bool = False
    blocked: Collection[str] = ()
    given: Collection[str] = ()


class Unadmitted(StrEnum):
    """Reason nobody was let in."""

    UNKNOWN = "unknown"  # nobody has this identity, and nobody is made
    NO_ROLE = "no role"  # none of their groups gives one
    BLOCKED = "blocked"  # the settings block them
    STALE = "an old token"  # nobody has this identity, and a word of earlier makes nobody


class Guests(Protocol):
    """People whom a provider vouches for, and the sessions of their browsers."""

    async def admit(self, asked: Admission) -> Person | Unadmitted:
        """The person as whom a provider's word lets somebody in; nothing is written where nothing changes."""

    async def keep_session(
        self, token: str, grant: NewGrant, issuer: str, of: Identity, who: Person, browser: str = ""
    ) -> None:
        """Remember a browser that signed in at a provider."""

    async def session(self, token: str) -> tuple[Identity, Person, Identity] | None:
        """The identity at the provider, the person and the identity of the page; None for a session that ended."""

    async def drop_session(self, token: str, *, why: str, actor: str = "") -> bool:
        """End a session; false where there was none."""

    async def note_turned_away(self, who: str, why: str) -> None:
        """Record that somebody was not let in; `who` is an identity, or empty where nobody vouches for it."""


class People(Links, Guests, Invitations, Protocol):
    """Known people. `actor` is who changes it, for the audit: a person's name, `settings`, or `command line of USER`."""

    async def people(self) -> list[Known]:
        """By name."""

    async def person_named(self, name: str) -> Known | None: ...

    async def identified(self, identity: Identity) -> Person | None:
        """Person who speaks under `identity`."""

    async def private_chat(self, identity: Identity) -> Address | None:
        """The room in which they wrote last to the agent alone."""

    async def add_person(self, name: str, role: Role, identities: Sequence[Identity], *, actor: str) -> Person | None:
        """A new person; None when the name or an identity is taken."""

    async def set_role(self, name: str, role: Role, *, actor: str) -> Person | Unmoved: ...

    async def set_link(self, name: str, token: str, *, actor: str) -> Person | None:
        """Give a person a web link; the old one is void from now on. Only the token's hash is stored."""

    async def invite(self, name: str, within: timedelta, *, actor: str) -> str | None:
        """The token of a link for one use, good for so long; the old link is void. None when nobody has that name."""

    async def rename(self, name: str, new: str, *, actor: str) -> Person | Unmoved:
        """Give a person another name."""

    async def sign_out(self, name: str, *, actor: str) -> Person | Unmoved:
        """Void a person's web link, and with it every session that was opened by it."""

    async def remove(self, name: str, *, actor: str) -> Person | Unmoved:
        """Forget a person: identities, link and schedules. Their words stay, and so do questions they caused."""

    async def merge(self, name: str, into: str, *, actor: str) -> Person | Unmoved:
        """Make the person `name` one with `into`, who keeps their own name, role and link."""

    async def merging(self, name: str, into: str) -> Merging | Unmoved:
        """Tell what a merge would do, and change nothing."""

    async def held_of(self, who: PersonId) -> HeldData:
        """Data held about them, the newest first."""

    async def sessions_of(self, name: str) -> list[BrowserSession]:
        """Browsers in which they are signed in, those seen last first."""

    async def end_session(self, name: str, which: str, *, actor: str) -> bool:
        """Sign them out in one of those browsers; false where it isn't signed in."""

    async def end_other_sessions(self, name: str, *, but: str, actor: str) -> int:
        """Sign them out in all browsers but the one with this hash; how many those were."""

    async def pairings(self) -> list[Pairing]:
        """Pairings that wait for a code to be entered, oldest first."""

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
        """Pair the account that was sent `code` with the person called `name`, or with a new person.

        `role` is that of a new person, a user without it; a person who is there already keeps theirs unless it is named.
        Wrong codes count against `by`, whose name the audit has where there is no `actor`. Nobody is called by a name
        that is `given` something in the settings because they call themselves so.
        """
