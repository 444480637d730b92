"""Faults that only show when settings are looked at together: names given twice, rooms of accounts that are not there.

They are looked for before each setting is checked by itself, so that all faults are told at once: what is of a wrong type
is left alone here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bot.settings_faults import Faults, nearest
from bot.settings_sources import Layers
from runtime.contract import Address

Fault = tuple[str, str]
"""The setting, and what is wrong with it."""


def add_together(layers: Layers, faults: Faults) -> None:
    for find in (_same_names, _webhooks, _notices):
        for name, fault in find(layers):
            faults.add(layers.title(name), fault)


def _same_names(layers: Layers) -> Iterator[Fault]:
    first: dict[Any, str] = {}
    for account, table in layers.tables("accounts"):
        name = table.get("name")
        if isinstance(name, str) and name in first:
            yield f"{account}.name", f"{first[name]} has this name too; give each account its own"
        elif isinstance(name, str):
            first[name] = account


def _webhooks(layers: Layers) -> Iterator[Fault]:
    """Telegram brings messages to an address with HTTPS; only a server of one's own does without."""
    for account, table in layers.tables("accounts"):
        if table.get("channel") != "telegram" or table.get("mode") != "webhook" or table.get("enabled") is False:
            continue
        url = table.get("webhook_url", "")
        if not url:
            yield (
                f"{account}.webhook_url",
                'is missing; set the address under which Telegram reaches us, or mode "polling"',
            )
        elif isinstance(url, str) and url.startswith("http://") and not table.get("api_base_url"):
            yield f"{account}.webhook_url", "Telegram only brings messages to an address with https://"


def _notices(layers: Layers) -> Iterator[Fault]:
    room = layers.get("operators.room")
    try:
        address = Address.parse(room) if isinstance(room, str) and room else None
    except ValueError:  # told with the setting itself
        return
    if address is None or address.channel == "web":
        return
    known = [f"{table.get('channel')}:{table.get('name')}" for _, table in layers.tables("accounts")]
    account = f"{address.channel}:{address.account}"
    if account not in known:
        near = nearest(account, known)
        fix = f"did you mean {near}?" if near else "add it under [[accounts]]"
        yield "operators.room", f"there is no account {account}; {fix}"
