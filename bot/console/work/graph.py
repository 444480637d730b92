"""A picture of a workflow: its steps in columns, each behind all that it waits for, coloured by how it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bot.console.html import Html, tag
from bot.console.layout import kind_words
from bot.operator.views import View
from runtime.text.glyphs import clip, legible
from runtime.text.words import say, say_many

BOX_WIDTH: Final = 150
BOX_HEIGHT: Final = 60
GAP_ACROSS: Final = 46
GAP_DOWN: Final = 18
GRAPH_MARGIN: Final = 6
NAME_CHARS: Final = 18
ABOUT_CHARS: Final = 24
UNKNOWN_STATE: Final = "pending"
"""How a step of a workflow looks that was not begun."""


@dataclass(frozen=True, slots=True)
class Box:
    """A step's place, in pixels."""

    step: View
    x: int
    y: int


def graph(steps: Sequence[View]) -> Html:
    """The picture as SVG. It is drawn for readers that see it; the table beside it says the same."""
    boxes = placed(steps)
    by_name = {box.step["name"]: box for box in boxes}
    lines = [_line(by_name[before], box) for box in boxes for before in box.step["after"]]
    width = max((box.x for box in boxes), default=0) + BOX_WIDTH + GRAPH_MARGIN
    height = max((box.y for box in boxes), default=0) + BOX_HEIGHT + GRAPH_MARGIN
    picture = tag(
        "svg",
        *lines,
        *map(_box, boxes),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=str(width),
        height=str(height),
        role="img",
        aria_label=say_many("Graph of {number} step", "Graph of {number} steps", len(boxes)),
    )
    return tag("div", picture, class_="graph")


def placed(steps: Sequence[View]) -> list[Box]:
    """A place for each step: its column is behind those of all that it waits for."""
    columns: dict[str, int] = {}
    heights: dict[int, int] = {}
    boxes = []
    for step in steps:
        column = columns[step["name"]] = _column(step, columns)
        row = heights.get(column, 0)
        heights[column] = row + 1
        boxes.append(
            Box(step, GRAPH_MARGIN + column * (BOX_WIDTH + GAP_ACROSS), GRAPH_MARGIN + row * (BOX_HEIGHT + GAP_DOWN))
        )
    return boxes


def _column(step: View, columns: Mapping[str, int]) -> int:
    return max((columns[before] + 1 for before in step["after"]), default=0)


def _box(box: Box) -> Html:
    step = box.step
    state = step.get("state", UNKNOWN_STATE)
    about = [kind_words(step["kind"]), say(state)] if "state" in step else ["", kind_words(step["kind"])]
    count = f" {step['done']}/{step['pieces']}" if step.get("pieces", 1) > 1 else ""
    middle = str(box.x + BOX_WIDTH // 2)
    return tag(
        "g",
        tag("title", f"{step['name']}: {kind_words(step['kind'])}, {say(state)}"),
        tag("rect", x=str(box.x), y=str(box.y), width=str(BOX_WIDTH), height=str(BOX_HEIGHT), rx="8"),
        tag("text", f"{clip(legible(step['name']), NAME_CHARS)}{count}", x=middle, y=str(box.y + 20)),
        *(
            tag("text", clip(words, ABOUT_CHARS), x=middle, y=str(box.y + y), class_="faint")
            for words, y in zip(about, (35, 50), strict=True)
            if words
        ),
        class_=f"step {state}",
    )


def _line(before: Box, box: Box) -> Html:
    """A curve from the right of one step to the left of the next."""
    x, y = before.x + BOX_WIDTH, before.y + BOX_HEIGHT // 2
    to_x, to_y = box.x, box.y + BOX_HEIGHT // 2
    bend = (to_x - x) // 2
    return tag("path", d=f"M{x} {y} C{x + bend} {y} {to_x - bend} {to_y} {to_x} {to_y}")
