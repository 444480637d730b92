"""Accounts as people name them. Inside, an address carries the account's identity at its platform."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from bot.accounts.lookup import Account, Accounts, Known, accounts_of
from runtime.contract import Address, NewId
from runtime.domain.routing import AccountNames
from runtime.text.glyphs import visible

Named = Callable[[Address], str]
"""An address as settings and people write it."""


def fresh_identity(new_id: NewId) -> str:
    """An identity for an account whose platform gives none: short, since people meet it in addresses."""
    return new_id()[-10:].lower()


def naming(accounts: Iterable[Known]) -> AccountNames:
    """The naming of `accounts`. Unknown ones keep their identity."""
    return AccountNames(accounts_of(accounts).names)


class LiveNames:
    """The naming of accounts at work, some of which learn their identity late; `before` has those of earlier."""

    def __init__(self, accounts: Accounts[Account], before: Iterable[Known] = ()) -> None:
        self._accounts = accounts
        self._earlier = naming(before)
        self._latest = self._earlier

    def __call__(self, address: Address) -> str:
        return self.now()(address)

    def now(self) -> AccountNames:
        """The names that hold now: the same value until an account learns its identity."""
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
    return f"{visible(title, one_line=True)} (page)"
