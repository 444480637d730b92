"""Things to begin with on an empty page: one press, and it really happens."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

SALES: Final = """\
month,revenue,costs
January,42,31
February,45,33
March,51,34
April,49,36
May,58,37
June,66,39
"""
"""A table worth a chart."""


@dataclass(frozen=True, slots=True)
class Idea:
    """`text` is said when somebody presses it, with a file of this name and text where it has one."""

    title: str
    about: str
    text: str
    file_name: str = ""
    file_text: str = ""


IDEAS: Final = (
    Idea(
        "Draw a chart",
        "From a small table, sales.csv, that comes along.",
        "Draw revenue and costs in the attached table sales.csv as a line chart.",
        *("sales.csv", SALES),
    ),
    Idea(
        "Change something",
        "I ask before I write a file. You decide.",
        "Write a shopping list with oat milk, bread and coffee to the file shopping.txt.",
    ),
    Idea("Set a reminder", "It comes here in a minute.", "Remind me in 1 minute to stretch."),
)
"""For any model."""
DEMO_IDEAS: Final = (
    Idea(*(IDEAS[0].title, IDEAS[0].about), "chart the table sales.csv as a line", *("sales.csv", SALES)),
    Idea(*(IDEAS[1].title, IDEAS[1].about), "write oat milk, bread, coffee to shopping.txt"),
    Idea(*(IDEAS[2].title, IDEAS[2].about), "remind me in 1 minute to stretch"),
)
"""The same in the phrases of the demo model."""
DEMO_NOTICE: Final = "You're using the demo model."


def idea_json(idea: Idea) -> dict[str, Any]:
    return asdict(idea)
