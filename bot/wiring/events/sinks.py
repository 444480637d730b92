"""The settings of event sinks, as the duty that serves them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from bot.settings.events.tables import EventSinkTable
from bot.settings.settings import Settings
from bot.wiring.safety.egress import rules_of
from runtime.contract import Address, Now
from runtime.egress import Egress, Opening
from runtime.events.sinks import EventSinks, Outlet, SinkPlan
from runtime.guard.door import Door
from runtime.store.protocol import Duty
from runtime.store.store import Store


class SinkPlans:
    """Plans of the settings. A sink that a reload leaves as it was keeps its plan."""

    def __init__(self, now: Now) -> None:
        self._now = now
        self._made: list[tuple[EventSinkTable, SinkPlan]] = []

    def of(self, settings: Settings) -> list[SinkPlan]:
        self._made = [(table, self._plan(settings, table)) for table in settings.event_sinks]
        return [plan for _, plan in self._made]

    def _plan(self, settings: Settings, table: EventSinkTable) -> SinkPlan:
        known = (plan for before, plan in self._made if before == table)
        return next(known, None) or SinkPlan(table.name, table.events, _outlet(settings, table, self._now))


def event_sinks_of(
    settings: Settings,
    store: Store,
    door: Door,
    *,
    called: Callable[[Address], str],
    take: Callable[[str], Awaitable[Duty | None]],
    tell: Callable[[str, str], Awaitable[None]],
) -> tuple[EventSinks, Callable[[Settings], None]]:
    """The duty, and what a reload calls with other settings."""
    plans = SinkPlans(store.now)
    sinks = EventSinks(
        sinks=plans.of(settings), book=store.events, door=door, called=called, take=take, tell=tell, now=store.now
    )

    def changed(to: Settings) -> None:
        for table in to.event_sinks:
            if table.secret:
                door.guard.know(f"event_sinks {table.name}", table.secret.get_secret_value())
        sinks.change(plans.of(to))

    return sinks, changed


def _outlet(settings: Settings, table: EventSinkTable, now: Now) -> Outlet:
    from runtime.events.outlets import FileOutlet, WebOutlet, rule_for  # where there is a sink

    if table.file:
        return FileOutlet(settings.data_dir / Path(table.file).expanduser())
    secret = table.secret.get_secret_value() if table.secret else ""
    allow = [Opening.parse(text) for text in settings.egress.allow]
    egress = Egress([*rules_of(settings), rule_for(table.url)], allow=allow)
    return WebOutlet(table.url, egress=egress, header=table.header, now=now, secret=secret)
