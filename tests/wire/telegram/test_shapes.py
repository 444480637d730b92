"""Updates of many shapes of the Bot API: each makes what is written beside it, and none raises."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
from telegram import Bot, Update

from adapters.telegram.client import readable
from adapters.telegram.forms import Prompts, Seal
from adapters.telegram.incoming.intake import Intake
from adapters.telegram.parse import Reader
from adapters.telegram.rooms import Rooms
from adapters.telegram.settling.known_ids import KnownIds
from runtime.contract import no_form, unrated
from tests.contract.adapters.rigs.telegram import BOT
from tests.fakes.telegram import TOKEN, USERNAME

SHAPES: Final = Path(__file__).parent / "shapes" / "updates.jsonl"
LINES: Final = [json.loads(line) for line in SHAPES.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def bot() -> Bot:
    return Bot(TOKEN)


@pytest.mark.filterwarnings("ignore:.*PTB_TIMEDELTA")  # of the library, about a field that we do not read
@pytest.mark.parametrize("line", LINES, ids=[line["name"] for line in LINES])
def test_an_update_makes_what_is_written_beside_it(line: dict[str, Any], bot: Bot) -> None:
    rooms = Rooms()
    found = readable(line["update"])
    assert found is not None
    update = Update.de_json(found, bot)
    reader = Reader(BOT, USERNAME, rooms.room, lambda: datetime.now(UTC), Seal(TOKEN).answered)
    prompts = Prompts(bot=bot, seal=Seal(TOKEN), forms=no_form, rooms=rooms, known=KnownIds())
    Intake(bot=bot, known=KnownIds(), rooms=rooms, reader=lambda: reader, prompts=prompts, rated=unrated).note([update])
    signal = reader.signal([update])
    assert (type(signal.body).__name__ if signal else "") == line["makes"]
    assert bool(signal) != bool(line.get("why")), "what makes no signal says why"


@pytest.mark.parametrize("name", ["chat.id", "message_id", "from.id"])
def test_an_update_whose_ids_are_null_is_left_out_and_can_be_confirmed(name: str) -> None:
    """Else each round of the poller ends with it."""
    message = {"message_id": 5, "date": 1, "chat": {"id": 11, "type": "private"}, "text": "hi"}
    update: dict[str, object] = {
        "update_id": 7,
        "message": {**message, "from": {"id": 11, "is_bot": False, "first_name": "Ada"}},
    }
    assert readable(update) == update
    within: Any = update["message"]
    *path, last = name.split(".")
    for step in path:
        within = within[step]
    within[last] = None
    assert readable(update) == {"update_id": 7}
