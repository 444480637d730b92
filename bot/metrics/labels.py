"""Labels that settings bound: accounts by their names there, never by the platform's identity, and tools that exist."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from runtime.contract import Address

Account = tuple[str, str]
"""A channel, and the account's name in the settings."""

OTHER: Final = "other"
"""An account that is not in the settings any more, or a tool that a model made up: one label for all of them."""


class Labels:
    """Learns what there is while the process is put together."""

    def __init__(self) -> None:
        self._accounts: dict[tuple[str, str], Account] = {}
        self._tools: frozenset[str] = frozenset()

    def learn_account(self, channel: str, identity: str, name: str) -> None:
        self._accounts[channel, identity] = (channel, name)

    def learn_tools(self, names: Iterable[str]) -> None:
        self._tools = frozenset(names)

    def accounts(self) -> list[Account]:
        return list(self._accounts.values())

    def account(self, channel: str, identity: str) -> Account:
        return self._accounts.get((channel, identity), (channel, OTHER))

    def at(self, address: Address) -> Account:
        return self.account(address.channel, address.account)

    def courier(self, role: str) -> Account:
        """The account whose courier has this role, such as `courier:slack:T1`."""
        _, channel, identity = [*role.split(":", 2), "", ""][:3]
        return self.account(channel, identity)

    def role(self, role: str) -> str:
        """A role, with the account's name in place of its identity."""
        duty = role.partition(":")[0]
        return role if duty == role else ":".join([duty, *self.courier(role)])

    def tool(self, name: str) -> str:
        return name if name in self._tools else OTHER
