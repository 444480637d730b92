"""The tool that draws a chart and puts it onto the reply. How it is drawn is in `charting`."""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta
from typing import Annotated, Any, Final

from pydantic import WithJsonSchema

from runtime.contract import Effect, FileRef, Flow, Reads, Tool, ToolContext
from tools.charting.alt import alt_of
from tools.charting.arguments import MOST_LABELS, MOST_SERIES, Asked, order_of
from tools.charting.order import Kind, Order, ThemeName, digest
from tools.charting.renderer import DEADLINE, ChartRenderer, Picture
from tools.files.files import replace
from tools.kit.declare import tool

CHARTS_FOLDER: Final = "charts"
MARGIN: Final = timedelta(seconds=60)  # beyond the time for drawing, for waiting until others have drawn

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
        labels: Annotated[list[str | int | float], f"Points along the axis, or slices; at most {MOST_LABELS}."],
        series: Annotated[
            list[dict[str, Any]],
            WithJsonSchema(SERIES),
            "As many values as labels; null is a gap. A pie takes one series.",
        ],
        context: ToolContext,
        unit: Annotated[str, "Such as $, %, ms or users."] = "",
        alt: Annotated[str, "The chart in words; else made from the data."] = "",
        theme: Annotated[ThemeName, "Background."] = "light",
        stacked: Annotated[bool, "Stack each label's bars."] = False,
        horizontal: Annotated[bool, "Horizontal bars."] = False,
    ) -> str:
        """Draw a chart; it is attached to the reply."""
        order = order_of(Asked(kind, title, labels, series, unit, alt, theme, stacked, horizontal))
        picture = await renderer.draw(order)
        path = f"{CHARTS_FOLDER}/{order.kind}-{digest(order)}.png"
        await asyncio.to_thread(replace, context.workspace, path, picture.png)
        context.attach(FileRef(name=_name(order), path=path, size=len(picture.png), mime="image/png"))
        return _told(order, picture, path)

    return chart


def _name(order: Order) -> str:
    """The name people see: the title, as a file may be called anywhere."""
    words = re.sub(r"[^a-z0-9]+", "-", order.title.lower()).strip("-")
    return f"{words[:60].rstrip('-') or order.kind}.png"


def _told(order: Order, picture: Picture, path: str) -> str:
    told = [
        f"Drew {path} ({len(picture.png) // 1024 + 1} kB). It is attached to your reply.",
        f"For people who can't see it: {alt_of(order)}",
    ]
    if picture.missing:
        told.append(
            f"No font on this machine has some of its letters ({picture.missing}); they are boxes in the picture. Draw it "
            "again with other words if they matter."
        )
    return "\n".join(told)
