"""Labels that settings bound: accounts by their names there, never by the platform's identity, and tools that exist."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Protocol

from runtime.contract import Address

Account = tuple[str, str]
"""A channel, and the account's name in the settings."""

OTHER: Final = "other"
"""An account that is not in the settings any more, or a tool that a model made up: one label for all of them."""


class Known(Protocol):
    """An account, whose identity may come later."""

    @property
    def channel(self) -> str: ...
    @property
    def account(self) -> str: ...
    @property
    def identity(self) -> str: ...


class Labels:
    """Learns what there is while the process is put together."""

    def __init__(self) -> None:
        self._known: list[Known] = []
        self._tools: frozenset[str] = frozenset()

    def learn_account(self, known: Known) -> None:
        self._known.append(known)

    def learn_tools(self, names: Iterable[str]) -> None:
        self._tools = frozenset(names)

    def accounts(self) -> list[Account]:
        return [(one.channel, one.account) for one in self._known]

    def account(self, channel: str, identity: str) -> Account:
        names = (one.account for one in self._known if (one.channel, one.identity) == (channel, identity))
        return channel, next(names, OTHER)

    def at(self, address: Address) -> Account:
        return self.account(address.channel, address.account)

    def courier(self, role: str) -> Account:
        """The account whose courier has this role, such as `courier:slack:T1`."""
        _, channel, identity = [*role.split(":", 2), "", ""][:3]
        return self.account(channel, identity)

    def role(self, role: str) -> str:
        """A role such as `listener:telegram:4711:poller`, with the account's name in place of its identity."""
        duty, *of = role.split(":", 3)
        return role if not of else ":".join([duty, *self.account(*[*of, ""][:2]), *of[2:]])

    def tool(self, name: str) -> str:
        return name if name in self._tools else OTHER
