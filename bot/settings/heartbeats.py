"""`[[heartbeats]]`: a tool that is asked again and again, and rooms that hear of it when its answer is another one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from bot.settings.schedules import DataTable, Rooms, ScheduleName, ScheduleTable, When, ZoneName, as_json
from bot.settings.sources import Layers
from runtime.contract import DataCall
from runtime.reports.change_watch import heartbeat
from runtime.settings.types import Section, Switch, Text

Fault = tuple[str, str]
"""The setting, and what is wrong with it."""


class HeartbeatTable(Section):
    """A tool that is called regularly; its rooms hear when its answer changes: [reports.md](reports.md#heartbeats)."""

    name: ScheduleName = Field(description="Its name; no schedule may have the same one.")
    when: When = Field(default="every 5 minutes", description="How often it is called, as in `schedules`.")
    zone: ZoneName = Field(default="", description="Time zone; empty: that of `planning.zone`.")
    tool: Text = Field(description="Name of the tool.")
    arguments: Annotated[dict[str, Any], AfterValidator(as_json)] = Field(default={}, description="Its arguments.")
    to: Rooms = Field(description='Addresses of the rooms to tell, such as ["slack:work/C1"].')
    every_failure: Switch = Field(
        default=False, description="Report every failure; otherwise only the first, and when it works again."
    )

    def schedule(self) -> ScheduleTable:
        """Schedule that does the heartbeat's work: quiet, with a template over one call."""
        task = heartbeat(self.tool, self.arguments, every_failure=self.every_failure)
        return ScheduleTable(
            name=self.name,
            when=self.when,
            zone=self.zone,
            template=task.text,
            data=tuple(map(_table, task.data)),
            options=dict(task.options),
            to=self.to,
            quiet=True,
        )


def _table(call: DataCall) -> DataTable:
    return DataTable(name=call.name, tool=call.tool, arguments=dict(call.arguments))


def faults_together(layers: Layers, nowhere: Callable[[Layers, str], Iterator[Fault]]) -> Iterator[Fault]:
    """Rooms of no account, and names that a schedule has."""
    planned = {table.get("name"): place for place, table in layers.tables("schedules")}
    for place, table in layers.tables("heartbeats"):
        name, rooms = table.get("name"), table.get("to")
        if isinstance(name, str) and name in planned:
            yield f"{place}.name", f"{planned[name]} has this name too; give each its own"
        if isinstance(rooms, list | tuple):
            if not rooms:
                yield f"{place}.to", 'is empty; name a room, such as ["web:main/reports"]'
            for number, _ in enumerate(rooms, 1):
                yield from nowhere(layers, f"{place}.to[{number}]")
