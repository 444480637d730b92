"""What we say, as Telegram shows it; and each ending of a send, as what it was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from adapters.telegram.outgoing.render import CAPTION, REPEATED, TEXT_LIMIT, TEXT_MAX_UNITS, Body, render
from adapters.telegram.rates import buckets
from adapters.telegram.settings import TelegramSettings
from runtime.chat.cards.open_cards import pending, question
from runtime.chat.cards.settled_cards import settled
from runtime.contract import (
    VOICE_NOTE,
    Address,
    ApprovalId,
    ApprovalKind,
    Button,
    Choice,
    Content,
    Delivery,
    DeliveryId,
    FileRef,
    Kind,
    Moved,
    Part,
    Wire,
)
from runtime.delivery.rates import Rates
from runtime.errors import Rejected, Retryable, Uncertain
from runtime.text.lengths import utf16
from tests.fakes.telegram import TOKEN
from tests.fakes.telegram_driver import ADA
from tests.fakes.telegram_rules import Limits, Refusal, check_entities, check_markup, check_text
from tests.golden import SAMPLE, same_as
from tests.unit.chat.test_cards import ASKED, ASKED_BY_BOB, DONE
from tests.wire.telegram.stage import FORUM, GROUP, SUPERGROUP, Bench, address

GOLDEN: Final = Path(__file__).parent / "golden"
PAIR: Final = Button(ApprovalId("0" * 22), Choice.APPROVE, "Approve"), Button(ApprovalId("0" * 22), Choice.DENY, "Deny")


def wires(text: str, *buttons: Button, reply_to: str = "", **content: Any) -> list[Wire]:
    made = Content(text, buttons, **content)
    return render(Delivery(DeliveryId("d1"), "run:1", 0, Kind.FINAL, address(), made, reply_to=reply_to))


def told(made: list[Wire]) -> str:
    """Wires as a person reads them."""
    read = [{"body": json.loads(w.body), "fallback": json.loads(w.fallback or "null"), "more": [json.loads(m) for m in w.more]} for w in made]  # fmt: skip
    return json.dumps(read, ensure_ascii=False, indent=2)


# --------------------------------------------------------------------------------------------------------- payloads


def test_every_construct_of_markdown() -> None:
    [wire] = wires(SAMPLE)
    body = Body.of(wire.body)
    units = body.text.encode("utf-16-le")
    lines = [body.text, "", "-" * 40, ""]
    for entity in body.entities:
        words = units[2 * entity["offset"] : 2 * (entity["offset"] + entity["length"])].decode("utf-16-le")
        more = entity.get("url") or entity.get("language") or ""
        lines.append(f"{entity['type']}{f' ({more})' if more else ''}: {words!r}")
    same_as(GOLDEN / "sample.txt", "\n".join(lines))


def test_an_approval_card() -> None:
    content = question(
        ApprovalId("0" * 22), ApprovalKind.CALL, "shell", '{"command": "rm -r build"}', "It changes files."
    )
    same_as(GOLDEN / "card.json", told(wires(content.text, *content.buttons)))


def test_a_question_about_an_outcome() -> None:
    content = question(ApprovalId("0" * 22), ApprovalKind.OUTCOME, "shell", '{"command": "rm -r build"}', "")
    same_as(GOLDEN / "outcome.json", told(wires(content.text, *content.buttons)))


def test_a_card_that_says_who_asks() -> None:
    content = pending(ASKED_BY_BOB, ASKED, voted=["Alice"])
    same_as(GOLDEN / "asked.json", told(wires(content.text, *content.buttons)))


def test_a_card_that_says_what_came_of_it() -> None:
    same_as(GOLDEN / "done.json", told(wires(settled(DONE).text)))


def test_an_answer_with_files() -> None:
    files = (FileRef("plot.png", "out/plot.png", 2_000, mime="image/png"), FileRef("data.csv", "out/data.csv", 99))
    same_as(GOLDEN / "files.json", told(wires("Here *they* are:", reply_to="11:101", files=files)))


def test_a_long_text_as_a_file() -> None:
    text = "# Report\n\n" + "One sentence after the other. " * 150 + "\n\n## Details\n\nMore."
    made = wires(
        text, *PAIR, reply_to="11:101", text_file=FileRef("reply.md", "replies/1.md", 4_600, mime="text/markdown")
    )
    same_as(GOLDEN / "text_file.json", told(made))
    body = Body.of(made[0].body)
    assert utf16(body.text) <= CAPTION


@pytest.mark.parametrize("text", [SAMPLE, SAMPLE * 8, "😀" * 5_000, "`a` " * 3_000, "> " * 60 + "deep", "[a](mailto:a@b.org) " * 900, "**a** _b_ " * 900])  # fmt: skip
def test_every_part_is_valid_alone_also_as_a_repeat(text: str) -> None:
    for wire in wires(text, *PAIR):
        for body in (Body.of(wire.body), Body.of(wire.fallback or ""), Body.of(wire.body).repeated()):
            check_text(body.text)
            check_entities(body.text, body.entities)
            check_markup({"inline_keyboard": [[{"text": t, "callback_data": d} for t, d in body.buttons]]})
            assert len(body.entities) <= 100
            assert body.text == body.text.strip()
        assert utf16(Body.of(wire.body).text) <= TEXT_MAX_UNITS == TEXT_LIMIT - len(REPEATED)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[mail](mailto:ada@example.org)", "mail (ada@example.org)"),
        ("<mailto:ada@example.org>", "mailto:ada@example.org"),
        ("[](https://example.org)", "https://example.org"),
        ("> a\n>\n> > b\n> > c\n>\n> d", "a\n\n> b\n> c\n\nd"),
        ("- a\n\n  b\n- c", "• a\n\n   b\n\n• c"),
        ("1. a\n   ```\n   code\n   more\n   ```", "1. a\ncode\nmore"),
        ("- ```\n  code\n  ```\n- b", "• \ncode\n• b"),
        ("***", "——————————"),
        ("​", "(no text)"),
    ],
)
def test_small_constructs(text: str, shown: str) -> None:
    assert Body.of(wires(text)[0].body).text == shown


# --------------------------------------------------------------------------------------------------------- on screen


async def test_an_answer_stands_in_its_topic_and_answers_its_message(bench: Bench) -> None:
    async with bench.life() as adapter:
        asked = await bench.signal_of("hi", chat=FORUM, thread=7)
        await bench.show(adapter, "hello", at=asked.address, reply_to=asked.message_id)
        message = await bench.last(FORUM)
        assert message["message_thread_id"] == 7
        assert message["reply_to_message"]["text"] == "hi"


async def test_an_answer_in_the_general_topic_names_no_topic(bench: Bench) -> None:
    async with bench.life() as adapter:
        await bench.signal_of("hi", chat=FORUM, thread=7)
        await bench.show(adapter, "hello", at=address(FORUM, 1))
        assert "message_thread_id" not in await bench.last(FORUM)


async def test_an_answer_to_a_message_that_is_gone_is_still_shown(bench: Bench) -> None:
    async with bench.life() as adapter:
        await bench.show(adapter, "hello", reply_to="11:99999")
        assert "reply_to_message" not in await bench.last()


async def test_no_address_in_a_text_is_fetched_by_telegram(bench: Bench) -> None:
    async with bench.life() as adapter:
        seen: list[Mapping[str, Any]] = []
        ask = bench.fake.methods.call

        def noted(method: str, asked: Mapping[str, Any]) -> Any:
            seen.append(asked)
            return ask(method, asked)

        bench.fake.methods.call = noted  # type: ignore[method-assign]
        receipt = await bench.show(adapter, "https://example.org/?q=secret")
        await adapter.edit(receipt, bench.part(adapter, "https://example.org/?q=other"))
        assert [asked["link_preview_options"] for asked in seen if "text" in asked] == [{"is_disabled": True}] * 2


async def test_buttons_stand_two_in_a_row(bench: Bench) -> None:
    async with bench.life() as adapter:
        three = [Button(ApprovalId("a"), choice, choice) for choice in (Choice.DONE, Choice.AGAIN, Choice.SKIP)]
        await bench.show(adapter, "Which?", *three)
        rows = (await bench.last())["reply_markup"]["inline_keyboard"]
        assert [[button["text"] for button in row] for row in rows] == [["done", "again"], ["skip"]]


async def test_buttons_about_one_call_of_a_list_stand_together(bench: Bench) -> None:
    async with bench.life() as adapter:
        pairs = [Button(ApprovalId(n), choice, f"{choice} {n}") for n in "12" for choice in (Choice.EDIT, Choice.WHY)]
        await bench.show(adapter, "Which?", *PAIR, *pairs)
        rows = (await bench.last())["reply_markup"]["inline_keyboard"]
        assert [[button["text"] for button in row] for row in rows][-2:] == [["edit 1", "why 1"], ["edit 2", "why 2"]]


async def test_pictures_go_as_photos_and_the_rest_as_documents(bench: Bench) -> None:
    async with bench.life() as adapter:
        folder = bench.stage.given.workspaces.folder(address())
        (folder / "plot.png").write_bytes(b"png")
        (folder / "data.csv").write_bytes(b"a,b")
        files = (
            FileRef("plot.png", "plot.png", 3, mime="image/png"),
            FileRef("Daten ä.csv", "data.csv", 3, mime="text/csv"),
        )
        for part in bench.parts(adapter, "both", *PAIR, files=files):
            await bench.stage.show(adapter, part)
        text, photo, document = await bench.driver.shown()
        assert (text["text"], "reply_markup" in text) == ("both", False)
        assert photo["photo"][0]["file_size"] == 3
        assert document["document"]["file_name"] == "Daten ä.csv"
        assert [b["text"] for row in document["reply_markup"]["inline_keyboard"] for b in row] == [
            "Approve",
            "Deny",
            "Deny with a reason…",
        ]


async def test_recordings_go_as_voice_notes_or_with_a_player_and_refused_ones_as_documents(bench: Bench) -> None:
    made = {"note.ogg": b"OggS note", "tea.mp3": b"ID3 tea", "odd.ogg": b"nothing that Telegram plays"}
    types = {"note.ogg": VOICE_NOTE, "tea.mp3": "audio/mpeg", "odd.ogg": VOICE_NOTE}
    async with bench.life() as adapter:
        folder = bench.stage.given.workspaces.folder(address())
        for name, data in made.items():
            (folder / name).write_bytes(data)
        files = tuple(FileRef(name, name, len(data), mime=types[name]) for name, data in made.items())
        for part in bench.parts(adapter, "", files=files):
            await bench.stage.show(adapter, part)
        voice, audio, document = await bench.driver.shown()
    sizes = [voice["voice"]["file_size"], audio["audio"]["file_size"], document["document"]["file_size"]]
    assert sizes == [len(data) for data in made.values()]  # also of the one that was sent twice


async def test_a_file_that_is_gone_is_told_in_words(bench: Bench) -> None:
    async with bench.life() as adapter:
        made = Content("", files=(FileRef("data.csv", "out/data.csv", 3),))
        [wire] = adapter.render(Delivery(DeliveryId("d1"), "run:1", 0, Kind.FINAL, address(), made))
        with pytest.raises(Rejected) as refused:
            await adapter.show(Part(DeliveryId("d1"), 1, address(), wire.body))
        assert refused.value.form
        await adapter.show(Part(DeliveryId("d1"), 1, address(), wire.fallback or ""))
        assert await bench.driver.texts() == [
            "The file data.csv could not be sent here. It is in the workspace: out/data.csv"
        ]


async def test_a_long_text_goes_as_a_file_and_where_that_is_refused_in_parts(bench: Bench) -> None:
    async with bench.life() as adapter:
        text = "# Report\n\n" + "word " * 2_000
        folder = bench.stage.given.workspaces.folder(address())
        (folder / "reply.md").write_text(text, encoding="utf-8")
        made = Content(text, text_file=FileRef("reply.md", "reply.md", len(text)))
        [wire] = adapter.render(Delivery(DeliveryId("d1"), "run:1", 0, Kind.FINAL, address(), made))
        await bench.driver.fault("form")
        with pytest.raises(Rejected) as refused:
            await adapter.show(Part(DeliveryId("d1"), 1, address(), wire.body))
        assert refused.value.form
        await adapter.show(Part(DeliveryId("d1"), 1, address(), wire.body))
        message = await bench.last()
        assert message["uploaded"] == "reply.md"
        assert "The whole text" in message["caption"]
        for body in [wire.fallback or "", *wire.more]:
            await adapter.show(Part(DeliveryId("d1"), 1, address(), body))
        assert sum(text.count("word") for text in await bench.driver.texts()) >= 2_000


# ----------------------------------------------------------------------------------------------------------- edits


async def test_an_edit_takes_text_and_buttons_away(bench: Bench) -> None:
    async with bench.life() as adapter:
        receipt = await bench.show(adapter, "**May I?**", *PAIR)
        for _ in range(2):  # the second finds it so already
            assert await adapter.edit(receipt, bench.part(adapter, "Approved")) == receipt
        message = await bench.last()
        assert (message["text"], "reply_markup" in message, message["version"]) == ("Approved", False, 1)


async def test_under_a_file_an_edit_changes_the_caption(bench: Bench) -> None:
    async with bench.life() as adapter:
        (bench.stage.given.workspaces.folder(address()) / "a.txt").write_bytes(b"a")
        [part] = bench.parts(adapter, "", files=(FileRef("a.txt", "a.txt", 1),))
        receipt = await adapter.show(part)
        await adapter.edit(receipt, bench.part(adapter, "a *caption*"))
        assert (await bench.last())["caption"] == "a caption"


async def test_an_edit_of_what_is_gone_is_rejected(bench: Bench) -> None:
    async with bench.life() as adapter:
        receipt = await bench.show(adapter, "hello")
        del bench.fake.world.messages[11, int(receipt.message_id.partition(":")[2])]
        with pytest.raises(Rejected, match="message to edit not found") as refused:
            await adapter.edit(receipt, bench.part(adapter, "hello again"))
        assert not refused.value.form


# ---------------------------------------------------------------------------------------------------------- endings


async def show(bench: Bench, adapter: Any, at: Address | None = None) -> None:
    await adapter.show(bench.part(adapter, "hello", at=at))


@pytest.mark.parametrize("chat", [404, -404, -1_000_000_000_404])
async def test_an_unknown_room_is_rejected(bench: Bench, chat: int) -> None:
    async with bench.life() as adapter:
        with pytest.raises(Rejected, match="chat not found") as refused:
            await show(bench, adapter, address(chat))
        assert not refused.value.form


async def test_a_room_that_is_no_number_is_rejected(bench: Bench) -> None:
    async with bench.life() as adapter:
        with pytest.raises(Rejected, match="the room must be a chat's number"):
            await show(bench, adapter, Address("telegram", "7000", "general"))
        assert adapter.floor(Address("telegram", "7000", "general")) == ""
        assert not adapter.drafts(Address("telegram", "7000", "general"))


@pytest.mark.parametrize("chat", [ADA, GROUP, SUPERGROUP])
async def test_a_bot_that_was_blocked_or_kicked_is_rejected_until_it_is_let_in_again(bench: Bench, chat: int) -> None:
    async with bench.life() as adapter:
        await bench.driver.inject(type="introduce", chat=chat, user=11)
        await bench.driver.inject(type="member", chat=chat, status="kicked")
        with pytest.raises(Rejected, match=r"blocked by the user|was kicked") as refused:
            await show(bench, adapter, address(chat))
        assert not refused.value.form
        await bench.driver.inject(type="member", chat=chat, status="member")
        await show(bench, adapter, address(chat))


async def test_a_topic_that_is_gone_is_rejected(bench: Bench) -> None:
    async with bench.life() as adapter:
        await bench.driver.inject(type="introduce", chat=FORUM, user=11, thread=7)
        with pytest.raises(Rejected, match="message thread not found") as refused:
            await show(bench, adapter, address(FORUM, 8))
        assert not refused.value.form


async def test_a_revoked_token_keeps_what_is_to_be_said(bench: Bench) -> None:
    async with bench.life() as adapter:
        await bench.driver.switch(token=True)
        with pytest.raises(Retryable, match='account "tg": Telegram refuses the token') as told:
            await show(bench, adapter)
        assert TOKEN not in str(told.value)


async def test_no_connection_is_certainly_not_shown(bench: Bench) -> None:
    async with bench.life(connected=False, api_base_url="http://127.0.0.1:9") as adapter:
        with pytest.raises(Retryable, match="no connection") as told:
            await show(bench, adapter)
        assert TOKEN.partition(":")[2] not in str(told.value)


async def test_no_answer_in_time_is_uncertain(bench: Bench) -> None:
    async with bench.life(waits={"call": 0.0001}, connected=False) as adapter:
        with pytest.raises((Uncertain, Retryable)):
            await show(bench, adapter)


async def test_of_a_group_that_moved_without_a_word_the_error_tells(bench: Bench) -> None:
    async with bench.life() as adapter:
        await bench.signal_of("hello", chat=GROUP)
        await bench.driver.inject(type="move", chat=GROUP, to=SUPERGROUP, silent=True)
        with pytest.raises(Retryable, match="became a supergroup"):
            await show(bench, adapter, address(GROUP))
        assert bench.sink.taken[-1].body == Moved(str(SUPERGROUP))
        await show(bench, adapter, address(GROUP))
        assert await bench.driver.texts(SUPERGROUP) == ["hello"]


async def test_an_answer_to_a_message_of_before_a_move_answers_no_other(bench: Bench) -> None:
    """Numbers begin anew in the supergroup: the same number is another message there."""
    async with bench.life() as adapter:
        asked = await bench.signal_of("hello", chat=GROUP)
        await bench.driver.inject(type="move", chat=GROUP, to=SUPERGROUP)
        await bench.hears(2)
        await bench.show(adapter, "yes?", at=asked.address, reply_to=asked.message_id)
        assert "reply_to_message" not in await bench.last(SUPERGROUP)


# --------------------------------------------------------------------------------------------------------- at the side


async def test_typing_is_shown_in_its_topic(bench: Bench) -> None:
    async with bench.life() as adapter:
        await bench.driver.inject(type="introduce", chat=FORUM, user=11, thread=7)
        await adapter.typing(address(FORUM, 7), "is thinking")
        await adapter.typing(address(FORUM, 7), "")
        await adapter.typing(address(404), "is thinking")  # best effort
        assert (await bench.driver.screen())["typing"] == [{"chat": FORUM, "thread": 7}]
        assert adapter.typing_lasts == timedelta(seconds=5)


async def test_a_draft_grows_in_a_private_chat_and_ends_with_its_message(bench: Bench) -> None:
    async with bench.life() as adapter:
        assert adapter.drafts(address(ADA))
        assert not adapter.drafts(address(GROUP))
        for text in ("so", "so **far", "so **far** " + "and on " * 2_000, " "):
            await adapter.draft(address(ADA), text)
        await bench.show(adapter, "so far")
        await adapter.draft(address(ADA), "next")
        drafts = (await bench.driver.screen())["drafts"]
        assert [draft["draft"] for draft in drafts] == [1, 1, 1, 2]
        assert [draft["text"] for draft in drafts][::3] == ["so", "next"]
        assert len(await bench.driver.shown()) == 1


async def test_where_drafts_are_refused_there_are_none(bench: Bench) -> None:
    async with bench.life() as adapter:
        await adapter.draft(address(404), "hello")
        assert not adapter.drafts(address(404))
        assert adapter.drafts(address(ADA))


def test_buckets_hold_in_any_window_of_the_platforms_limits() -> None:
    limits = {"all": (30, 1.0), f"group {GROUP}": (20, 60.0)}
    for bucket in buckets(str(GROUP)):
        if bucket.key in limits:
            most, seconds = limits[bucket.key]
            assert bucket.burst + seconds / bucket.every.total_seconds() <= most
    assert {bucket.key for bucket in buckets("11")} == {"all", "chat 11"}


@pytest.mark.parametrize("chat", [ADA, GROUP], ids=["private", "group"])
def test_three_go_to_a_chat_at_once_and_the_platform_never_refuses_the_rest(chat: int) -> None:
    """Our buckets and the rules of the fake, on one clock: sixty messages, each as soon as it may go."""
    clock = [timedelta(hours=1)]
    rates = Rates(lambda address: buckets(address.room), lambda: clock[0])
    limits = Limits(on=True, now=lambda: clock[0].total_seconds())
    clock[0] += timedelta(minutes=1)  # a process has just begun with empty buckets
    begun, went = clock[0], []
    for _ in range(60):
        while wait := rates.take(address(chat), Kind.FINAL.rank):
            clock[0] += wait
        limits.take(chat)
        went.append((clock[0] - begun).total_seconds())
    assert went[:5] == [0, 0, 0, 1, 2]
    if chat == ADA:
        assert went[-1] == 57


def test_the_fake_refuses_the_fourth_at_once_and_takes_one_more_each_second() -> None:
    clock = [100.0]
    limits = Limits(on=True, now=lambda: clock[0])
    for _ in range(3):
        limits.take(ADA)
    with pytest.raises(Refusal, match="retry after 1"):
        limits.take(ADA)
    clock[0] += 1
    limits.take(ADA)


async def test_without_a_colon_a_token_is_refused_and_not_shown() -> None:
    from runtime.errors import ConfigError

    with pytest.raises(ConfigError) as told:
        assert TelegramSettings("tg", "xoxb-secret").identity
    assert "xoxb-secret" not in str(told.value)
    assert 'account "tg"' in str(told.value)
