"""The tools that are built in, for whoever only looks at them: what they are called and what they may do."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from tools.catalogue import first_tools
from tools.charting.chart import chart_tool
from tools.reports import report_tools
from tools.sandbox.shell import ShellSettings
from tools.schedules import schedule_tools
from tools.web.fetch import http_tool

if TYPE_CHECKING:
    from runtime.contract import Figures, Timetable, Tool
    from runtime.egress import Egress
    from tools.charting.renderer import ChartRenderer


def built_in_tools() -> dict[str, Tool]:
    """Each by its name. None is to be called: there is nothing behind them."""
    web, chart = http_tool(cast("Egress", None)), chart_tool(cast("ChartRenderer", None))
    reports = report_tools(cast("Figures", None), now=lambda: datetime.now(UTC))
    others = (web, chart, *reports, *schedule_tools(cast("Timetable", None)))
    return first_tools(ShellSettings()) | {tool.spec.name: tool for tool in others}
