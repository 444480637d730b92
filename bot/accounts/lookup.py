"""Finding an account: by the name that settings give it, or by its identity at its platform."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from runtime.contract import Address


class Account(Protocol):
    """The names of an account: `account` in the settings, `identity` at its platform, empty until that told it."""

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
        return self.holding(address.channel, address.account)

    def called(self, channel: str, name: str) -> One | None:
        """The account that settings call so, once its platform knows it."""
        return next((one for one in self if one.identity and (one.channel, one.account) == (channel, name)), None)

    def address(self, text: str) -> Address | None:
        """The room that settings write as `text`; None while its account is not known to its platform, or not here.

        Errors: ValueError for what is no address.
        """
        given = Address.parse(text)
        found = self.called(given.channel, given.account)
        return replace(given, account=found.identity) if found else None

    def identity(self, text: str) -> str:
        """A person's identity as stored, where settings write an account's name in it: `slack:work/U1` is `slack:T1/U1`.

        As it stands where it names no account, or one that its platform has not told about itself yet.
        """
        channel, _, rest = text.partition(":")
        name, slash, user = rest.partition("/")
        found = self.called(channel, name) if slash else None
        return f"{channel}:{found.identity}/{user}" if found else text

    def awaits(self, text: str) -> bool:
        """Whether a person is written by the name of an account that its platform has not told about itself yet."""
        return any(not one.identity and text.startswith(f"{one.channel}:{one.account}/") for one in self)

    @property
    def names(self) -> dict[tuple[str, str], str]:
        """The names in the settings, by channel and identity."""
        return {(one.channel, one.identity): one.account for one in self if one.identity}


def accounts_of(rows: Iterable[Known]) -> Accounts[Called]:
    """Accounts as the store knows them, at work or not."""
    return Accounts(Called(channel, name, identity) for channel, identity, name in rows)
