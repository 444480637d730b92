"""The overview: what is well, what isn't and where it is mended, and the cost of a week as bars."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot.console.overview.chart import week_chart
from bot.console.overview.wellness import Line, lines_of
from runtime.domain.runs import RunState
from tests.unit.bot.fake_store import crowd, run
from tests.unit.bot.operator.console import EVIL, page

WELL: dict[str, Any] = {"accounts": [], "info": {"database": "SQLite"}, "counts": {}}
MODEL = {"name": "main", "state": "well"}


def account(state: str, reason: str = "") -> dict[str, str]:
    return {"account": "slack:work", "state": state, "reason": reason}


def line(name: str, *, models: Any = (MODEL,), budgets: Any = ({"state": "ok"},), **overview: Any) -> Line:
    return next(one for one in lines_of({**WELL, **overview}, models, budgets) if one.name == name)


def test_where_all_is_well_no_line_leads_anywhere() -> None:
    lines = lines_of({**WELL, "accounts": [account("connected")]}, [MODEL], [{"state": "ok"}])
    assert [one.tone for one in lines] == ["good"] * 4
    assert not any(one.place for one in lines)


@pytest.mark.parametrize(
    ("found", "tone", "words"),
    [
        (line("Channels", accounts=[account("refused", "bad token")]), "bad", "slack:work is refused (bad token)"),
        (line("Model", models=[MODEL, {"name": "small", "state": "resting"}]), "ask", "small can't answer right now."),
        (line("Model", models=[{"name": "main", "state": "failing"}]), "bad", "main can't answer right now."),
        (line("Budget", budgets=[{"state": "spent"}]), "bad", "1 budget spent: work under it waits."),
        (line("Budget", budgets=[{"state": "nearly spent"}]), "ask", "1 budget nearly spent."),
        (line("Budget", budgets=[]), "over", "None is set"),
        (line("Outbox", counts={"deliveries.dead": 2}), "bad", "2 messages couldn't be sent."),
        (line("Outbox", counts={"deliveries.held": 1}), "ask", "1 message on hold."),
    ],
)
def test_what_is_not_well_says_so_and_leads_to_where_it_is_mended(found: Line, tone: str, words: str) -> None:
    assert found.tone == tone
    assert found.words.startswith(words)
    assert found.place or "signalbox doctor" in found.words


def test_bars_are_as_high_as_days_are_dear_and_a_free_week_has_none() -> None:
    days = [{"day": f"2026-11-{20 + one}T00:00:00+00:00", "cost_micros": one * 100, "tokens": 5} for one in range(7)]
    html = week_chart(days)
    assert 'height="120" rx="3"' in html
    assert 'height="60" rx="3"' in html
    assert "Fri 20 Nov: $0; Sat 21 Nov: $0.0001" in html
    assert "$0.0021 in all, for 35 tokens." in html
    free = week_chart([{**day, "cost_micros": 0} for day in days])
    assert "$0 in all, for 35 tokens." in free
    assert "<svg" not in free


async def test_an_error_of_today_is_told_with_where_to_look() -> None:
    store = await crowd()
    store.ran = [replace(run("r1", RunState.FAILED), error=EVIL)]
    html = await page(store, "/console")
    assert 'href="/console/runs/r1"' in html
    assert "$10.50 in all" in html
    assert EVIL not in html
