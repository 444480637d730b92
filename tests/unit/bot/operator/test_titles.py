"""Names of rooms in reports: those of platforms for everybody, those of the page for those who may read there."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from bot.operator.lookups.titles import in_reports
from runtime.contract import Address, RunId, SessionKey, ToolContext
from tests.unit.bot.fake_store import ROOM, FakeStore

GENERAL: Final = Address("slack", "T1", "C1")
NAMES: Final = {GENERAL: "#general (work)"}


def called(room: Address) -> str:
    return NAMES.get(room, str(room))


@pytest.mark.parametrize(
    ("at", "on_page"),
    [
        (None, "list the files (page)"),  # printed for an operator
        (Address("web", "w1", "report"), "list the files (page)"),
        (GENERAL, str(ROOM)),
    ],
)
async def test_first_words_of_a_conversation_stay_on_the_page(at: Address | None, on_page: str) -> None:
    store = FakeStore()
    store.title = "list the files"
    context = ToolContext(Path(), SessionKey("s"), RunId("r"), "c", at)
    named = await in_reports(store.titles, called)([ROOM, GENERAL], context)
    assert (named(ROOM), named(GENERAL)) == (on_page, "#general (work)")


async def test_a_conversation_without_words_has_its_address() -> None:
    context = ToolContext(Path(), SessionKey("s"), RunId("r"), "c")
    assert (await in_reports(FakeStore().titles, called)([ROOM], context))(ROOM) == str(ROOM)
