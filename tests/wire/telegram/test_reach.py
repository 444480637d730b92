"""What Telegram's answers say of a chat before something is posted there."""

from __future__ import annotations

import pytest

from adapters.telegram.errors import Refused
from adapters.telegram.outgoing.reach import BLOCKED, MUTE, OUT, UNKNOWN, refused
from tests.fakes.telegram_driver import ADA
from tests.wire.telegram.stage import FORUM, GROUP, Bench, address


@pytest.mark.parametrize(
    ("code", "text", "chat", "told"),
    [
        (403, "Forbidden: bot was blocked by the user", ADA, BLOCKED),
        (403, "Forbidden: bot was kicked from the supergroup chat", FORUM, OUT),
        (400, "Bad Request: chat not found", GROUP, UNKNOWN),
        (400, "Bad Request: PEER_ID_INVALID", ADA, UNKNOWN),
        (400, "Bad Request: not enough rights to send text messages to the chat", GROUP, MUTE),
        (400, "Bad Request: need administrator rights in the channel chat", FORUM, MUTE),
        (400, "Bad Request: invalid topic identifier specified", ADA, None),
        (401, "Unauthorized", ADA, None),
        (429, "Too Many Requests: retry after 5", ADA, None),
        (502, "Bad Gateway", ADA, None),
    ],
)
def test_only_what_is_said_of_the_chat_keeps_anybody_out(code: int, text: str, chat: int, told: str | None) -> None:
    assert refused(Refused(code, text), chat) == told


def test_a_group_that_moved_is_reached_under_its_new_id() -> None:
    assert refused(Refused(400, "group chat was upgraded to a supergroup chat", moved_to=FORUM), GROUP) is None


async def test_a_person_who_blocked_the_bot_is_told_of(bench: Bench) -> None:
    async with bench.life() as adapter:
        await bench.driver.inject(type="introduce", chat=ADA, user=ADA)
        assert await adapter.reach(address(ADA)) is None
        await bench.driver.inject(type="member", chat=ADA, status="kicked")
        assert await adapter.reach(address(ADA)) == BLOCKED
