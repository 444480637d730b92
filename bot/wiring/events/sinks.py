"""The settings of event sinks, as the duty that serves them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from bot.settings.events.tables import EventSinkTable
from bot.settings.settings import Settings
from bot.wiring.safety.egress import rules_of
from runtime.contract import Address
from runtime.egress import Egress, Opening
from runtime.events.outlets import FileOutlet, WebOutlet, rule_for
from runtime.events.sinks import EventSinks, Outlet, SinkPlan
from runtime.guard.door import Door
from runtime.store.protocol import Duty
from runtime.store.store import Store


def event_sinks_of(
    settings: Settings,
    store: Store,
    door: Door,
    *,
    called: Callable[[Address], str],
    take: Callable[[str], Awaitable[Duty | None]],
    tell: Callable[[str, str], Awaitable[None]],
) -> EventSinks | None:
    """The duty; None where the settings have no sink."""
    if not settings.event_sinks:
        return None
    plans = [SinkPlan(one.name, one.events, _outlet(settings, one)) for one in settings.event_sinks]
    return EventSinks(sinks=plans, book=store.events, door=door, called=called, take=take, tell=tell, now=store.now)


def _outlet(settings: Settings, table: EventSinkTable) -> Outlet:
    if table.file:
        return FileOutlet(settings.data_dir / Path(table.file).expanduser())
    secret = table.secret.get_secret_value() if table.secret else ""
    allow = [Opening.parse(text) for text in settings.egress.allow]
    egress = Egress([*rules_of(settings), rule_for(table.url)], allow=allow)
    return WebOutlet(table.url, egress=egress, header=table.header, secret=secret)
