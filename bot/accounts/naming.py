"""Accounts as people name them. Inside, an address carries the account's identity at its platform."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from runtime.contract import Address, NewId
from runtime.domain.routing import AccountNames
from runtime.text.glyphs import visible

Named = Callable[[Address], str]
"""An address as settings and people write it."""


class Account(Protocol):
    """What of an adapter has to do with names."""

    @property
    def channel(self) -> str: ...
    @property
    def account(self) -> str: ...
    @property
    def identity(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Called:
    """An account that is called `account` in the settings."""

    channel: str
    account: str
    identity: str


def fresh_identity(new_id: NewId) -> str:
    """An identity for an account whose platform gives none: short, since people meet it in addresses."""
    return new_id()[-10:].lower()


Known = tuple[str, str, str]
"""Channel, identity, and the name in the settings."""


def naming(accounts: Iterable[Known]) -> AccountNames:
    """The naming of `accounts`. Unknown ones keep their identity."""
    return AccountNames({(channel, identity): name for channel, identity, name in accounts})


class LiveNames:
    """The naming of accounts at work, some of which learn their identity late; `before` has those of earlier."""

    def __init__(self, adapters: Sequence[Account], before: Iterable[Known] = ()) -> None:
        self._adapters = adapters
        self._earlier = naming(before)
        self._latest = self._earlier

    def __call__(self, address: Address) -> str:
        return self.now()(address)

    def now(self) -> AccountNames:
        """The names that hold now: the same value until an account learns its identity."""
        here = {(one.channel, one.identity): one.account for one in self._adapters if one.identity}
        names = {**self._earlier.names, **here}
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
    return f"{visible(title, one_line=True)} (page)"


def address_at(adapters: Iterable[Account], text: str) -> Address | None:
    """The room that settings write as `text`; None while its account is not known to its platform, or not here.

    Errors: ValueError for what is no address.
    """
    given = Address.parse(text)
    for one in adapters:
        if one.identity and (one.channel, one.account) == (given.channel, given.account):
            return replace(given, account=one.identity)
    return None


def identity_at(accounts: Iterable[Account], text: str) -> str:
    """A person's identity as stored, where settings write an account's name in it: `slack:work/U1` is `slack:T1/U1`.

    As it stands where it names no account, or one that its platform has not told about itself yet.
    """
    channel, _, rest = text.partition(":")
    name, slash, user = rest.partition("/")
    if not slash:
        return text
    identities = (one.identity for one in accounts if (one.channel, one.account) == (channel, name))
    return f"{channel}:{found}/{user}" if (found := next(identities, "")) else text
