"""Names of accounts: finding one by the name that settings give it or by its identity, and addresses as people name them.

Inside, an address carries the account's identity at its platform.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final, Protocol, TypeVar

from runtime.contract import Address, NewId
from runtime.domain.routing import AccountNames
from runtime.text.glyphs import visible
from runtime.text.words import say


class Account(Protocol):
    """The names of an account: `account` in the settings, `identity` at its platform, empty until that told it.

    `expected` is the identity too, until then that of its last start.
    """

    @property
    def channel(self) -> str: ...
    @property
    def account(self) -> str: ...
    @property
    def identity(self) -> str: ...
    @property
    def expected(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Called:
    """An account that is called `account` in the settings."""

    channel: str
    account: str
    identity: str

    @property
    def expected(self) -> str:
        return self.identity


WRITTEN_MAX: Final = 512
"""Addresses whose names are kept: one is written some ten times for a message."""
Known = tuple[str, str, str]
"""Channel, identity, and the name in the settings: a row of the store."""

One = TypeVar("One", bound=Account, covariant=True)


class Accounts(tuple[One, ...]):
    """Accounts in the order of the settings; the first that fits is found.

    Some learn their identity late, so each answer is that of this moment.
    """

    __slots__ = ()

    def holding(self, channel: str, identity: str) -> One | None:
        """The account that its platform knows so."""
        return next((one for one in self if (one.channel, one.identity) == (channel, identity)), None)

    def at(self, address: Address) -> One | None:
        """The account of an address."""
        place = (address.channel, address.account)
        return self.holding(*place) or next((one for one in self if (one.channel, one.expected) == place), None)

    def called(self, channel: str, name: str) -> One | None:
        """The account that settings call so, once its identity is known, be it from its last start."""
        return next((one for one in self if one.expected and (one.channel, one.account) == (channel, name)), None)

    def address(self, text: str) -> Address | None:
        """The room that settings write as `text`; None while the identity of its account isn't known, or where it's not here.

        Errors: ValueError for what is no address.
        """
        given = Address.parse(text)
        found = self.called(given.channel, given.account)
        return replace(given, account=found.expected) if found else None

    async def found(self, text: str) -> Address | None:
        """As `address`, where nobody waits for accounts: no process is at work."""
        return self.address(text)

    def identity(self, text: str) -> str:
        """A person's identity as stored, where settings write an account's name in it: `slack:work/U1` is `slack:T1/U1`.

        As it stands where it names no account, or one whose platform never told about it.
        """
        channel, _, rest = text.partition(":")
        name, slash, user = rest.partition("/")
        found = self.called(channel, name) if slash else None
        return f"{channel}:{found.expected}/{user}" if found else text

    def awaits(self, text: str) -> bool:
        """True if a person is written by the name of an account that its platform has not told about itself yet."""
        return any(not one.identity and text.startswith(f"{one.channel}:{one.account}/") for one in self)

    @property
    def names(self) -> dict[tuple[str, str], str]:
        """The names in the settings, by channel and identity."""
        return {(one.channel, one.identity): one.account for one in self if one.identity}


def accounts_of(rows: Iterable[Known]) -> Accounts[Called]:
    """Accounts as the store knows them, at work or not."""
    return Accounts(Called(channel, name, identity) for channel, identity, name in rows)


RoomAt = Callable[[str], Awaitable[Address | None]]
"""The room that people write so; None where no account is called that. Errors: ValueError for no address; Retryable tells
why its account isn't connected."""
Named = Callable[[Address], str]
"""An address as settings and people write it."""


def fresh_identity(new_id: NewId) -> str:
    """An identity for an account whose platform gives none: short, since people meet it in addresses."""
    return new_id()[-10:].lower()


def naming(accounts: Iterable[Known]) -> AccountNames:
    """The naming of `accounts`. Unknown ones keep their identity."""
    return AccountNames(accounts_of(accounts).names)


class LiveNames:
    """Naming of live accounts, some of which learn their identity late; `before` holds earlier ones."""

    def __init__(self, accounts: Accounts[Account], before: Iterable[Known] = ()) -> None:
        self._accounts = accounts
        self._earlier = naming(before)
        self._latest = self._earlier
        self._known: list[str] = []
        self._written: tuple[AccountNames, dict[Address, str]] = self._latest, {}

    def __call__(self, address: Address) -> str:
        names = self.now()
        of, written = self._written
        if of is not names or len(written) >= WRITTEN_MAX:
            _, written = self._written = names, {}
        if address not in written:
            written[address] = names(address)
        return written[address]

    def now(self) -> AccountNames:
        """The names that hold now: the same value until an account learns its identity."""
        known = [one.identity for one in self._accounts]
        if known != self._known:
            self._known = known
            names = {**self._earlier.names, **self._accounts.names}
            if names != self._latest.names:
                self._latest = AccountNames(names)
        return self._latest


def calling(named: Named, name_of: Callable[[Address], str]) -> Named:
    """The naming of rooms by what people call them, and the account that they are in: "#general (work)".

    `name_of` is empty for a room that nobody named; that is written as `named` writes it.
    """

    def called(address: Address) -> str:
        name = name_of(address)
        if not name:
            return named(address)
        account = named(address).partition("/")[0].partition(":")[2]
        return f"{name} ({account}, thread)" if address.thread else f"{name} ({account})"

    return called


def of_page(title: str) -> str:
    """A conversation of the page as lists write it: nobody gives them a name, so its first words stand for one."""
    return say("{title} (page)", title=visible(title, one_line=True))
