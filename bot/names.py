"""Accounts as people name them. Inside, an address carries the account's identity at its platform."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from runtime.contract import Address, ChannelAdapter, NewId

Named = Callable[[Address], str]
"""An address as settings and people write it."""


def fresh_identity(new_id: NewId) -> str:
    """An identity for an account whose platform gives none: short, since people meet it in addresses."""
    return new_id()[-10:].lower()


def naming(accounts: Iterable[tuple[str, str, str]]) -> Named:
    """The naming of `accounts`: channel, identity, and the name in the settings. Unknown ones keep their identity."""
    names = {(channel, identity): name for channel, identity, name in accounts}

    def named(address: Address) -> str:
        return str(replace(address, account=names.get((address.channel, address.account), address.account)))

    return named


def of_adapters(adapters: Iterable[ChannelAdapter]) -> Named:
    return naming((adapter.channel, adapter.identity, adapter.account) for adapter in adapters)
