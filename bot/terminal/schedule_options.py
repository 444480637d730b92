"""Options of commands that plan work or change it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

To = Annotated[
    list[str] | None,
    typer.Option(
        "--to",
        metavar="ROOM",
        help="Room for the report: its name, as #general, or its address, as slack:work/C1. Repeatable.",
    ),
]
Zone = Annotated[str, typer.Option("--zone", metavar="ZONE", help="Time zone, unless the words name one.")]
TemplateFile = Annotated[
    Path | None,
    typer.Option("--template-file", metavar="FILE", help="A template, in place of a task: no model is called."),
]
Report = Annotated[str, typer.Option("--report", metavar="NAME", help="A built-in report, in place of a task.")]
Option = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="An option of the template or report. Repeatable."),
]
Misfire = Annotated[str, typer.Option("--misfire", help="If runs were missed: skip, once, all or window.")]
CatchUp = Annotated[
    int | None, typer.Option("--catch-up", metavar="N", help="How many missed runs --misfire all makes up for.")
]
Window = Annotated[
    float | None,
    typer.Option("--window-minutes", metavar="N", help="How far back --misfire window looks for missed runs."),
]
Jitter = Annotated[
    float | None, typer.Option("--jitter-seconds", metavar="N", help="Delay each run by up to this much.")
]
InThread = Annotated[
    str,
    typer.Option(
        "--thread", help="Where reports go. room: the room; own: a new thread each; running: one thread for all."
    ),
]
Quiet = Annotated[bool | None, typer.Option("--quiet/--no-quiet", help="Don't post a report without news.")]
MostCost = Annotated[
    float | None, typer.Option("--max-cost", metavar="DOLLARS", help="What its runs may cost in 24 hours; 0: no limit.")
]
Starts = Annotated[str, typer.Option("--starts", metavar="WHEN", help='Not before, such as "2026-12-01 at 9:00".')]
Ends = Annotated[str, typer.Option("--ends", metavar="WHEN", help="Not after.")]
