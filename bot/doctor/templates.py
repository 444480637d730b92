"""The templates of the settings file: whether each can be read, before its first report fails."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from bot.doctor.subject import Subject, fault, fine
from bot.settings.schedules import ScheduleTable
from runtime.contract import DataCall, Finding, TaskKind

if TYPE_CHECKING:
    from runtime.templating.renderer import Renderer

WHY_TEMPLATE: Final = "Its reports would fail, and after five in a row its schedule is paused."
FIX: Final = "correct the template, then: signalbox reload"


async def check_templates(subject: Subject) -> Sequence[Finding]:
    """Nothing is called and nothing rendered: names and syntax alone are looked at."""
    planned = [table for table in subject.settings.planned if not table.prompt and not table.workflow]
    if not planned:
        return []
    from runtime.templating.renderer import Renderer

    renderer = Renderer()
    return [await _checked(table, renderer) for table in planned]


async def _checked(table: ScheduleTable, renderer: Renderer) -> Finding:
    from bot.operator.reports import REPORTS_FOLDER
    from runtime.reports.catalogue import Catalogue, sheet_of
    from runtime.templating.sheet import TemplateError

    ident = f"templates.{table.name}"
    try:
        task = table.task()
        sheet = sheet_of(task, table.name, Catalogue(REPORTS_FOLDER))
        await renderer.check(sheet, datetime.now(UTC))
    except (TemplateError, OSError, UnicodeDecodeError) as error:
        return fault(ident, f"{error}", WHY_TEMPLATE, FIX)
    what = f"the report {task.text}" if task.kind is TaskKind.REPORT else "its template"
    return fine(ident, f"schedule {table.name!r}: {what} can be read; it calls {_tools(sheet.data)}")


def _tools(data: Sequence[DataCall]) -> str:
    return ", ".join(dict.fromkeys(call.tool for call in data)) or "no tool"
