"""The tables of `docs/events.md`, made from the words of events: `python -m bot.reference.events` writes them into the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from runtime.domain.events.words import GROUPS, OF_ONE_RUN

EVENTS_PAGE: Final = Path(__file__).parents[2] / "docs" / "events.md"
TABLES_BEGIN: Final = "<!-- made by python -m bot.reference.events -->"
TABLES_END: Final = "<!-- end of what is made -->"


def made(page: str) -> str:
    """`page` with its tables as the code has them now."""
    before, _, rest = page.partition(TABLES_BEGIN)
    _, _, after = rest.partition(TABLES_END)
    return f"{before}{TABLES_BEGIN}\n\n{chr(10).join(_tables())}\n{TABLES_END}{after}"


def _tables() -> Iterator[str]:
    for title, group in GROUPS.items():
        yield f"### {title}\n"
        yield "| event | meaning | row of the audit |"
        yield "| --- | --- | --- |"
        yield from (f"| `{one.word}` | {one.text} | {kind} |" for kind, one in group.items())
        yield ""
    yield "### Of one run\n"
    yield "These have no row of their own: they're read from the run's rows, and numbered from 1 then.\n"
    yield "| event | meaning |"
    yield "| --- | --- |"
    yield from (f"| `{word}` | {text} |" for word, text in OF_ONE_RUN.items())
    yield ""


if __name__ == "__main__":
    EVENTS_PAGE.write_text(made(EVENTS_PAGE.read_text("utf-8")), "utf-8")
