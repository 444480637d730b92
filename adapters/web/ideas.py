"""Things to begin with on an empty page: one press, and it really happens."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

from runtime.text.words import marked, say

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
        marked("Draw a chart"),
        marked("From a small table, sales.csv, that comes along."),
        marked("Draw revenue and costs in the attached table sales.csv as a line chart."),
        *("sales.csv", SALES),
    ),
    Idea(
        marked("Change something"),
        marked("I ask before I write a file. You decide."),
        marked("Write a shopping list with oat milk, bread and coffee to the file shopping.txt."),
    ),
    Idea(marked("Set a reminder"), marked("It comes here in a minute."), marked("Remind me in 1 minute to stretch.")),
)
"""For any model."""
DEMO_IDEAS: Final = (
    Idea(*(IDEAS[0].title, IDEAS[0].about), "chart the table sales.csv as a line", *("sales.csv", SALES)),
    Idea(*(IDEAS[1].title, IDEAS[1].about), "write oat milk, bread, coffee to shopping.txt"),
    Idea(*(IDEAS[2].title, IDEAS[2].about), "remind me in 1 minute to stretch"),
)
"""The same in the phrases of the demo model."""
DEMO_NOTICE: Final = marked("You're using the demo model.")


def idea_json(idea: Idea) -> dict[str, Any]:
    """In the language of whoever looks; the demo model's own phrases stay as it understands them."""
    return asdict(idea) | {"title": say(idea.title), "about": say(idea.about), "text": say(idea.text)}
