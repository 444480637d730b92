"""The tool that draws a chart and puts it onto the reply. How it is drawn is in `charting`."""

from __future__ import annotations

import asyncio
import os
import re
import stat
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import WithJsonSchema

from runtime.contract import Effect, FileRef, Flow, Reads, Tool, ToolContext
from runtime.errors import ToolRetry
from runtime.markup.moments import several
from tools.charting.order import MOST_LABELS, MOST_SERIES, Kind, Order, ThemeName, digest
from tools.charting.renderer import DEADLINE, ChartRenderer, Picture
from tools.files.files import replace
from tools.files.workspace import attached, named, opened
from tools.kit.declare import tool

CHARTS_FOLDER: Final = "charts"
MARGIN: Final = timedelta(seconds=60)  # beyond the time for drawing, for waiting until others have drawn

NO_LABELS: Final[list[str | int | float]] = []
NO_SERIES: Final[list[dict[str, Any]]] = []
"""Where the arguments name a file."""

SERIES: Final[dict[str, Any]] = {
    "type": "array",
    "minItems": 1,
    "maxItems": MOST_SERIES,
    "items": {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "values": {"type": "array", "items": {"type": ["number", "null"]}},
        },
        "required": ["name", "values"],
        "additionalProperties": False,
    },
}


def chart_tool(renderer: ChartRenderer) -> Tool:
    """The tool `chart`. `renderer` draws, and is shared by all calls so that few draw at once."""

    # READ: it changes nothing that is anyone's. Its file is named by its arguments, so a call that was cut by a kill
    # and is made again writes the same file once more.
    @tool(
        effect=Effect.READ,
        timeout=DEADLINE + MARGIN,
        output_bound=4000,
        seldom=True,
        flow=Flow(Reads.OURS, carries={}),
    )
    async def chart(
        kind: Annotated[Kind, "line: change; bar: comparison; pie: parts of a whole."],
        title: Annotated[str, "In a few words."],
        context: ToolContext,
        labels: Annotated[
            list[str | int | float], f"Points along the axis, or slices; at most {MOST_LABELS}."
        ] = NO_LABELS,
        series: Annotated[
            list[dict[str, Any]],
            WithJsonSchema(SERIES),
            "As many values as labels; null is a gap. A pie takes one series.",
        ] = NO_SERIES,
        path: Annotated[str, "Or a CSV file: labels in its first column, a series in each other."] = "",
        unit: Annotated[str, "Such as $, %, ms or users."] = "",
        alt: Annotated[str, "The chart in words; else made from the data."] = "",
        theme: Annotated[ThemeName, "Background."] = "light",
        stacked: Annotated[bool, "Stack each label's bars."] = False,
        horizontal: Annotated[bool, "Horizontal bars."] = False,
    ) -> str:
        """Draw a chart; it is attached to the reply."""
        from tools.charting.arguments import Asked, order_of  # with the first chart

        if path:
            from tools.charting.tables import columns_of

            labels, series = columns_of(await asyncio.to_thread(table_at, context.workspace, path))
        order = order_of(Asked(kind, title, labels, series, unit, alt, theme, stacked, horizontal))
        picture = await renderer.draw(order)
        drawn = f"{CHARTS_FOLDER}/{order.kind}-{digest(order)}.png"
        await asyncio.to_thread(replace, context.workspace, drawn, picture.png)
        context.attach(FileRef(name=_name(order), path=drawn, size=len(picture.png), mime="image/png"))
        return _told(order, picture, drawn, is_of_file=bool(path))

    return chart


def _name(order: Order) -> str:
    """The name people see: the title, as a file may be called anywhere."""
    words = re.sub(r"[^a-z0-9]+", "-", order.title.lower()).strip("-")
    return f"{words[:60].rstrip('-') or order.kind}.png"


def table_at(workspace: Path, path: str) -> str:
    """The text of a table in the workspace. Errors: ToolError."""
    from tools.charting.tables import TABLE_MAX_BYTES

    with opened(workspace, attached(workspace, path)) as file:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_size > TABLE_MAX_BYTES:
            raise ToolRetry(f"path: {named(path)} is no file of at most {TABLE_MAX_BYTES >> 20} MB.")
        return os.pread(file, TABLE_MAX_BYTES, 0).decode("utf-8", "replace")


def _told(order: Order, picture: Picture, path: str, *, is_of_file: bool) -> str:
    """Words of a file aren't repeated here: they may be a stranger's, and this result counts as ours."""
    from tools.charting.alt import alt_of

    points = f"It shows {several(len(order.labels), 'row')} and {several(len(order.series), 'column')} of numbers from the file."
    told = [
        f"Drew {path} ({len(picture.png) // 1024 + 1} kB). It is attached to your reply.",
        points if is_of_file else f"For people who can't see it: {alt_of(order)}",
    ]
    if picture.missing:
        told.append(
            f"No font on this machine has some of its letters ({picture.missing}); they are boxes in the picture. Draw it "
            "again with other words if they matter."
        )
    return "\n".join(told)
