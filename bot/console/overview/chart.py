"""Cost of the days of a week as bars, drawn on the server."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from bot.console.html import Html, tag
from bot.console.runs.timeline import dollars
from bot.operator.views import View
from runtime.text.dates import short_date, weekday
from runtime.text.words import count, say

DAY_WIDTH: Final = 56
BAR_WIDTH: Final = 32
CHART_HEIGHT: Final = 120
LABELS_HEIGHT: Final = 22


def week_chart(days: Sequence[View]) -> Html:
    """A bar for each day with its money, as wide as a phone; only words where nothing cost anything."""
    most = max((day["cost_micros"] for day in days), default=0)
    width, height = DAY_WIDTH * len(days), CHART_HEIGHT + 2 * LABELS_HEIGHT
    total, tokens = (sum(day[name] for day in days) for name in ("cost_micros", "tokens"))
    told = tag(
        "p",
        say(
            "{total} in all, for {tokens} tokens. Days begin at midnight UTC.",
            total=dollars(total),
            tokens=count(tokens),
        ),
        class_="faint",
    )
    if not total:
        return told
    picture = tag(
        "svg",
        *(_bar(place, day, most) for place, day in enumerate(days)),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=str(width),
        height=str(height),
        role="img",
        aria_label="; ".join(f"{_day(day)}: {dollars(day['cost_micros'])}" for day in days),
    )
    return tag("div", picture, told, class_="chart")


def _bar(place: int, day: View, most: int) -> Html:
    height = round(CHART_HEIGHT * day["cost_micros"] / most)
    top, middle = LABELS_HEIGHT + CHART_HEIGHT - height, str(place * DAY_WIDTH + DAY_WIDTH // 2)
    left = str(place * DAY_WIDTH + (DAY_WIDTH - BAR_WIDTH) // 2)
    return tag(
        "g",
        tag("rect", x=left, y=str(top), width=str(BAR_WIDTH), height=str(max(height, 1)), rx="3"),
        tag("text", dollars(day["cost_micros"]), x=middle, y=str(top - 6)),
        tag(
            "text",
            _weekday(day),
            x=middle,
            y=str(CHART_HEIGHT + 2 * LABELS_HEIGHT - 6),
            class_="faint",
        ),
    )


def _day(day: View) -> str:
    return short_date(datetime.fromisoformat(day["day"]))


def _weekday(day: View) -> str:
    at = datetime.fromisoformat(day["day"])
    return f"{weekday(at)} {at:%d}"
