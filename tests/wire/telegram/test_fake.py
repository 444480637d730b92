"""The fake Telegram itself: as strict as the platform, and ids as it gives them. Asked by the plain library."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup, InputMediaDocument, MessageEntity
from telegram.error import BadRequest, ChatMigrated, Conflict, Forbidden, InvalidToken, TelegramError

from adapters.telegram.api import Api
from adapters.telegram.errors import Refused
from adapters.telegram.settings import TelegramSettings
from bot.testing.serve import serving
from tests.fakes.serve import spawned
from tests.fakes.telegram import TOKEN, Telegram
from tests.fakes.telegram_driver import Driver
from tests.fakes.telegram_world import World
from tests.wire.telegram.stage import FORUM, GROUP, SUPERGROUP

Stand = tuple[Telegram, Driver, Bot]


def bot_of(url: str, token: str = TOKEN) -> Bot:
    return Bot(token, base_url=f"{url}/bot", base_file_url=f"{url}/file/bot")


@pytest.fixture
async def stand() -> AsyncIterator[Stand]:
    fake = Telegram()
    async with serving(fake.app()) as url, bot_of(url) as bot:
        driver = Driver(url)
        for chat in (11, GROUP, SUPERGROUP):
            await driver.inject(type="introduce", chat=chat, user=11)
        await driver.inject(type="introduce", chat=FORUM, user=11, thread=7)
        yield fake, driver, bot


def keyboard(data: str) -> InlineKeyboardMarkup:
    return InlineKeyboardMarkup([[InlineKeyboardButton("Approve", callback_data=data)]])


async def test_ids_of_the_box_are_shared_and_those_of_supergroups_are_not(stand: Stand) -> None:
    _, driver, bot = stand
    first = await bot.send_message(11, "one")
    second = await bot.send_message(GROUP, "two")
    third = await driver.say("three", chat=12, user=12)
    assert (second.message_id, third["message_id"]) == (first.message_id + 1, first.message_id + 2)
    one = await bot.send_message(SUPERGROUP, "one")
    await driver.switch(privacy=True)
    await driver.say("nobody sees this", chat=SUPERGROUP)
    await driver.say("nor this", chat=GROUP)
    assert (await bot.send_message(SUPERGROUP, "two")).message_id == one.message_id + 2
    assert (await bot.send_message(11, "four")).message_id == third["message_id"] + 1


async def refused(call: Any, text: str, kind: type[TelegramError] = BadRequest) -> None:
    with pytest.raises(kind) as told:
        await call
    assert text in str(told.value)


async def test_what_is_too_long_or_empty_is_refused(stand: Stand) -> None:
    _, _, bot = stand
    await refused(bot.send_message(11, "😀" * 2049), "too long")
    await bot.send_message(11, "😀" * 2048)
    for text in (" ", "\n", "\u200b"):
        await refused(bot.send_message(11, text), "empty")
    await refused(bot.send_document(11, b"x", caption="x" * 1025), "caption is too long")
    await refused(bot.send_document(11, b""), "non-empty")
    await refused(bot.send_message(11, "a", reply_markup=keyboard("x" * 65)), "BUTTON_DATA_INVALID".capitalize())
    await refused(bot.send_message(11, "a", reply_markup=keyboard("é" * 33)), "BUTTON_DATA_INVALID".capitalize())


@pytest.mark.parametrize(
    "entities",
    [
        [("bold", 0, 4)],
        [("bold", 1, 1)],
        [("bold", 0, 0)],
        [("sparkle", 0, 2)],
        [("code", 0, 3), ("bold", 0, 3)],
        [("bold", 0, 3), ("italic", 2, 1), ("underline", 0, 2), ("bold", 1, 2)],
        [("blockquote", 0, 3), ("blockquote", 0, 2)],
        [("text_link", 0, 2, "mailto:a@b.org")],
    ],
)
async def test_entities_that_do_not_fit_are_refused(stand: Stand, entities: list[Any]) -> None:
    _, _, bot = stand
    await refused(
        bot.send_message(11, "😀a", entities=[MessageEntity(*entity) for entity in entities]), "parse entities"
    )


async def test_who_is_not_there_is_refused(stand: Stand) -> None:
    _, driver, bot = stand
    await refused(bot.send_message(404, "a"), "not found")
    await refused(bot.send_message(FORUM, "a", message_thread_id=8), "thread not found")
    await refused(bot.send_message(FORUM, "a", message_thread_id=1), "thread not found")
    await refused(bot.send_message(11, "a", reply_to_message_id=999), "replied not found")
    await driver.inject(type="member", chat=11, status="kicked")
    await refused(bot.send_message(11, "a"), "blocked by the user", Forbidden)
    await driver.inject(type="move", chat=GROUP, to=-1_000_000_000_600)
    with pytest.raises(ChatMigrated) as moved:
        await bot.send_message(GROUP, "a")
    assert moved.value.new_chat_id == -1_000_000_000_600


async def test_edits_say_what_is_there(stand: Stand) -> None:
    _, driver, bot = stand
    ours = await bot.send_message(11, "a", reply_markup=keyboard("x"))
    theirs = await driver.say("b")
    await refused(bot.edit_message_reply_markup(11, ours.message_id, reply_markup=keyboard("x")), "not modified")
    await refused(bot.edit_message_reply_markup(11, theirs["message_id"]), "can't be edited")
    await refused(bot.edit_message_reply_markup(11, 999), "edit not found")
    await refused(bot.edit_message_reply_markup(GROUP, ours.message_id), "edit not found")
    await bot.edit_message_reply_markup(11, ours.message_id)
    await refused(bot.edit_message_reply_markup(11, ours.message_id), "not modified")
    await bot.edit_message_text("c", 11, ours.message_id)
    await refused(bot.edit_message_text("c", 11, ours.message_id), "not modified")
    document = await bot.send_document(11, b"x", filename="x.txt")
    await refused(bot.edit_message_text("c", 11, document.message_id), "no text in the message")
    await refused(bot.edit_message_caption(11, ours.message_id, caption="c"), "no caption in the message")


async def test_updates_are_kept_until_an_offset_confirms_them(stand: Stand) -> None:
    _, driver, bot = stand
    told = await driver.say("a")
    for _ in range(2):
        assert (await bot.get_updates())[-1].update_id == told["update_id"]
    assert [u.update_id for u in await bot.get_updates(offset=told["update_id"])] == [told["update_id"]]
    assert await bot.get_updates(offset=told["update_id"] + 1) == ()
    assert await bot.get_updates() == ()


async def emptied(bot: Bot) -> None:
    """Nothing waits."""
    *_, last = await bot.get_updates()
    await bot.get_updates(offset=last.update_id + 1)


async def test_one_poller_and_no_webhook(stand: Stand) -> None:
    fake, driver, bot = stand
    await emptied(bot)
    async with asyncio.timeout(30), asyncio.TaskGroup() as group, bot_of(driver.url) as other:
        first = group.create_task(conflict(bot))
        while not fake.polls.is_asked:  # noqa: ASYNC110 - a poll rings no bell
            await asyncio.sleep(0.005)
        await other.get_updates()
        assert "other getUpdates" in await first
    await bot.set_webhook("https://bot.example.org")
    with pytest.raises(Conflict, match="webhook is active"):
        await bot.get_updates()
    assert (await bot.get_webhook_info()).url == "https://bot.example.org"
    await bot.delete_webhook()
    await bot.get_updates()


async def conflict(bot: Bot) -> str:
    with pytest.raises(Conflict) as told:
        await bot.get_updates(timeout=10)
    return str(told.value)


async def test_a_long_poll_ends_with_the_first_update(stand: Stand) -> None:
    fake, driver, bot = stand
    await emptied(bot)
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        poll = group.create_task(bot.get_updates(timeout=10))
        while not fake.polls.is_asked:  # noqa: ASYNC110 - a poll rings no bell
            await asyncio.sleep(0.005)
        await driver.say("a")
    [update] = poll.result()
    assert update.message
    assert update.message.text == "a"


async def test_tokens(stand: Stand) -> None:
    _, driver, _ = stand
    for token in ("7000:BBFakeFakeFakeFakeFakeFakeFakeFakeFake", "nonsense"):
        with pytest.raises(InvalidToken):
            async with bot_of(driver.url, token):
                raise AssertionError("it was let in")


async def test_limits_when_they_are_on(stand: Stand) -> None:
    _, driver, _ = stand
    await driver.switch(limits=True)
    async with Api(TelegramSettings("tg", TOKEN, api_base_url=driver.url)) as api:
        for _ in range(3):
            await api.bot.send_message(11, "a")
        with pytest.raises(Refused) as told:
            await api.bot.send_message(11, "a")
        assert told.value.code == 429
        assert told.value.retry_after
        await api.bot.send_message(GROUP, "a")


async def test_an_album_of_ours(stand: Stand) -> None:
    _, _, bot = stand
    sent = await bot.send_media_group(
        11, [InputMediaDocument(b"a", filename="a"), InputMediaDocument(b"b", filename="b")]
    )
    assert len({message.media_group_id for message in sent}) == 1


async def test_what_a_bot_may_ask_beside(stand: Stand) -> None:
    _, _, bot = stand
    assert (await bot.get_chat(SUPERGROUP)).type == "supergroup"
    assert (await bot.get_chat_member(GROUP, bot.id)).status == "member"
    await bot.set_my_commands([("help", "Help")])
    assert [command.command for command in await bot.get_my_commands()] == ["help"]
    sent = await bot.send_document(11, b"abc", filename="x.txt")
    assert sent.document
    assert bytes(await (await bot.get_file(sent.document.file_id)).download_as_bytearray()) == b"abc"


async def test_what_was_shown_and_said_outlives_the_process(tmp_path: Path) -> None:
    journal = tmp_path / "telegram.journal"
    async with spawned("tests.fakes.telegram", "--journal", str(journal)) as (process, url):
        await Driver(url).say("hello")
        async with bot_of(url) as bot:
            shown = await bot.send_message(11, "a")
            await bot.edit_message_text("b", 11, shown.message_id)
        process.kill()
    world = World({"id": 7000}, journal)
    assert world.messages[11, shown.message_id]["text"] == "b"
    assert [update["message"]["text"] for update in world.pending()] == ["hello"]
    assert world.next_id(11) == shown.message_id + 1
