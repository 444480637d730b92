"""An answer that is seen growing: one message, whose place the whole answer takes, whatever is killed or cut."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta
from math import inf

import pytest

from bot.testing.channel.adapter import LIMIT, FakeAdapter
from bot.testing.channel.server import ChannelKind
from runtime.contract import (
    Choice,
    Content,
    DeliveryId,
    Effect,
    Features,
    Kind,
    ModelReply,
    ModelRequest,
    OnText,
    Part,
    Receipt,
    Said,
)
from runtime.delivery.streaming import PREVIEW_MAX_CHARS, shortened
from runtime.domain.deliveries import DeliveryState
from runtime.domain.runs import RunState
from runtime.errors import Rejected
from runtime.store.delivery import enqueue
from runtime.store.protocol import NewDelivery
from runtime.store.sql.driver import Op, micros
from tests.contract.runtime.growing import ANSWER, HALF, MORE, QUICK, TELLING, House, Speaker, house, until
from tests.contract.runtime.stage import ADA, READ, SHELL, Crash, Process, Stage, address, crash_at, fake_tool
from tests.sample import sample

SAID = Said("what is it?")
LONG = "".join(f"line {n:03} of an answer that needs three messages\n" for n in range(11))


@pytest.fixture
def kind() -> ChannelKind:
    """Look-up, unless a test names others."""
    return ChannelKind.LOOKUP


@pytest.fixture
async def home(stage: Stage, kind: ChannelKind) -> AsyncIterator[House]:
    async with house(stage, kind) as made:
        yield made


@pytest.fixture
async def any_home(any_stage: Stage, kind: ChannelKind) -> AsyncIterator[House]:
    async with house(any_stage, kind) as made:
        yield made


async def answered(home: House, process: Process, words: str = "what is it?") -> None:
    await process.say(words)
    await home.settle(process)


# -------------------------------------------------------------------------------------------------- as people see it


async def test_an_answer_grows_in_one_message_which_the_whole_answer_takes_over(any_home: House) -> None:
    seen: list[list[str]] = []
    process = await any_home.process(Speaker(any_home))
    async with process.running():
        await process.say("what is it?")
        while ANSWER not in any_home.seen():
            if any_home.seen() and (not seen or any_home.seen() != seen[-1]):
                seen.append(any_home.seen())
            await asyncio.sleep(0.001)
        await any_home.rest()
    assert seen == [[shortened(HALF)], [shortened(MORE)]]
    assert (any_home.seen(), any_home.versions()) == ([ANSWER], [2])
    assert await any_home.states() == [DeliveryState.SHOWN]
    assert await any_home.stage.answers() == [await last_body(any_home)]


async def last_body(home: House) -> str:
    rows = await home.stage.rows("SELECT body FROM parts ORDER BY shown_at DESC LIMIT 1")
    return str(rows[0][0])


async def test_the_answer_goes_over_its_preview_with_its_own_commit(home: House) -> None:
    """No commit more than where nothing was shown before. On a busy machine too, its preview is on screen by then, and that
    is recorded: its room is free."""
    home.pace = replace(QUICK, glance=timedelta(seconds=5))
    process = await home.process(Speaker(home, settled=True))
    await answered(home, process)
    [(marked_at, ended_at)] = await home.stage.rows(
        "SELECT p.marked_at, r.ended_at FROM runs r JOIN deliveries d ON d.origin = 'run:' || r.id "
        "JOIN parts p ON p.delivery_id = d.id"
    )
    assert marked_at == ended_at
    assert micros(home.stage.clock()) > marked_at


async def test_an_answer_that_comes_at_once_has_no_preview(home: House) -> None:
    home.pace = replace(QUICK, typing_after=timedelta(seconds=5))
    await answered(home, await home.process(Speaker(home, bits=(HALF,), patience=0.05)))
    assert (home.seen(), home.versions(), await home.previews()) == ([ANSWER], [0], [])


async def test_of_such_an_answer_the_store_is_not_asked_for_previews(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nearly every answer: its commit must not pay for those that take long."""

    def asked(origin: str, now: datetime) -> Op[None]:
        raise AssertionError(origin)

    monkeypatch.setattr(enqueue, "replaced", asked)
    home.pace = replace(QUICK, typing_after=timedelta(seconds=5))
    await answered(home, await home.process(Speaker(home, bits=())))
    assert home.seen() == [ANSWER]


@pytest.mark.parametrize("without", ["setting", "edits"])
async def test_where_there_may_be_none_the_answer_just_comes(without: str, home: House) -> None:
    adapter = home.adapter()
    if without == "edits":
        adapter.offers = Features(settles=True)
    process = await home.process(Speaker(home, patience=0.05), adapter=adapter, previews=without != "setting")
    await answered(home, process)
    assert (home.seen(), await home.previews()) == ([ANSWER], [])


async def test_of_a_long_answer_the_first_message_takes_over_and_the_others_follow(any_home: House) -> None:
    await answered(any_home, await any_home.process(Speaker(any_home, bits=("line 000",), answer=LONG)))
    assert (len(any_home.seen()), "".join(any_home.seen())) == (3, LONG)
    assert any_home.versions() == [1, 0, 0]


def test_a_preview_is_never_what_the_whole_answer_is() -> None:
    assert shortened(ANSWER) == f"{ANSWER} …"
    assert shortened("x" * PREVIEW_MAX_CHARS) == "x" * PREVIEW_MAX_CHARS + " …"


def test_a_preview_of_a_long_text_shows_that_it_goes_on() -> None:
    """Its beginning would stand there as if frozen for as long as the rest takes."""
    told = [shortened("x" * count) for count in (PREVIEW_MAX_CHARS + 1, 6_200, 6_300)]
    assert len(set(told)) == 3
    assert "6,200 characters so far" in told[1]
    assert max(map(len, told)) < PREVIEW_MAX_CHARS + 100
    code = shortened("```\n" + "x" * 2 * PREVIEW_MAX_CHARS)
    assert code.count("```") == 2
    assert code.index("Still writing") > code.rindex("```")


async def test_a_preview_is_one_message_however_much_was_said(home: House) -> None:
    """On this platform a message is much shorter than a preview may be."""
    speaker = Speaker(home, bits=("x" * 3 * LIMIT,), patience=0.1)
    process = await home.process(speaker)
    async with process.running():
        await process.say("what is it?")
        assert await until(lambda: len(home.seen()) == 1)
        await home.rest()
    assert home.seen() == [ANSWER]


async def test_it_answers_the_message_that_the_answer_answers(any_home: House) -> None:
    process = await any_home.process(Speaker(any_home))
    signal = replace(any_home.stage.signal(SAID, ADA, "r1"), message_id="r1-77")
    await process.reception.sink(signal)
    await any_home.settle(process)
    rows = await any_home.stage.rows("SELECT kind, reply_to FROM deliveries ORDER BY number")
    assert rows == [("progress", "r1-77"), ("final", "r1-77")]


async def test_a_room_in_which_something_else_is_being_said_gets_no_preview(home: House) -> None:
    """It would have to wait, and then say what is no news any more."""
    process = await home.process(Speaker(home, patience=0.1))
    home.fault("busy", seconds=3600)
    async with process.running():
        report = NewDelivery(DeliveryId("d"), "report:1", 0, Kind.REPORT, address(), Content("a report"))
        await home.stage.store.outbox.enqueue(report)
        process.courier.nudge(address())
        await until(lambda: home.channel.sends > 0)
        await process.say("what is it?")
        await until(lambda: ANSWER in home.seen())
    assert await home.previews() == []
    assert home.seen() == [ANSWER]


# ------------------------------------------------------------------------------------------------ what is said last


async def test_a_question_takes_the_place_of_the_preview_and_the_answer_gets_one_of_its_own(any_home: House) -> None:
    tool = fake_tool("shell", Effect.DANGER)
    process = await any_home.process(Speaker(any_home, calls=(SHELL,)), [tool])
    async with process.running():
        await process.say("do it")
        await until(lambda: "May I run" in "".join(any_home.seen()))
        await asyncio.sleep(0.02)
        assert len(any_home.seen()) == 1
        [question] = await any_home.stage.pending()
        await process.click(question.id, Choice.APPROVE)
        await any_home.rest()
    card, answer = any_home.seen()
    assert card.startswith("✅ **Approved** by Ada")
    assert answer == ANSWER
    assert await any_home.states() == [DeliveryState.SHOWN] * 2


async def test_of_several_questions_the_first_takes_its_place(any_home: House) -> None:
    tools = [fake_tool("shell", Effect.DANGER), fake_tool("write", Effect.WRITE)]
    calls = (SHELL, replace(SHELL, id="other"))
    process = await any_home.process(Speaker(any_home, calls=calls), tools)
    async with process.running():
        await process.say("do it")
        await until(lambda: len(any_home.seen()) == 2)
        await asyncio.sleep(0.02)
    assert all("May I run" in text for text in any_home.seen())
    assert sorted(any_home.versions()) == [0, any_home.versions()[0]]


async def test_a_tool_in_between_keeps_the_one_message(home: House) -> None:
    tool = fake_tool("look", Effect.READ)
    await answered(home, await home.process(Speaker(home, calls=(READ,)), [tool]))
    assert home.seen() == [ANSWER]
    assert await home.states() == [DeliveryState.SHOWN]


async def test_a_stopped_run_says_so_in_place_of_its_preview(any_home: House) -> None:
    speaker = Speaker(any_home, bits=(HALF, "never seen"))
    process = await any_home.process(speaker)
    async with process.running():
        await process.say("what is it?")
        await until(lambda: shortened(HALF) in any_home.seen())
        any_home.channel.faults.add({"do": "forbidden", "on": "edit"})  # the next bit is not shown
        await until(lambda: speaker.said == 2)
        await process.stop()
        await any_home.rest()
    assert any_home.seen()[-1] == "never seen\n\n*Stopped here.*"
    assert [run.state for run in await any_home.stage.runs()] == [RunState.STOPPED]


async def test_a_failed_run_says_so_in_place_of_its_preview(any_home: House) -> None:
    await answered(any_home, await any_home.process(Speaker(any_home, answer=" ")))
    assert any_home.seen() == ["The model gave no answer. Please ask again, perhaps in other words."]


# -------------------------------------------------------------------------------------------------- cut and refused


@pytest.mark.parametrize("fault", ["error", "busy", "forbidden", "form"])
async def test_a_preview_that_is_not_shown_at_once_is_left_out(fault: str, any_home: House) -> None:
    any_home.fault(fault, seconds=1)
    await answered(any_home, await any_home.process(Speaker(any_home, goes_on=any_home.was_tried)))
    assert (any_home.seen(), any_home.versions()) == ([ANSWER], [0])
    assert await any_home.states() == [DeliveryState.DISCARDED]


@pytest.mark.parametrize("fault", ["cut_before", "cut_after"])
@pytest.mark.parametrize("kind", TELLING)
async def test_one_of_which_it_is_not_known_is_looked_for_before_the_answer_goes(
    kind: ChannelKind, fault: str, home: House
) -> None:
    home.fault(fault)
    await answered(home, await home.process(Speaker(home, goes_on=home.was_tried)))
    is_there = fault == "cut_after" or kind is ChannelKind.KEY  # there it is looked for by sending it
    assert home.seen() == [ANSWER]
    assert await home.states() == [DeliveryState.SHOWN if is_there else DeliveryState.DISCARDED]


@pytest.mark.parametrize("kind", [ChannelKind.NONE])
async def test_where_nobody_can_tell_the_answer_is_a_message_of_its_own(kind: ChannelKind, home: House) -> None:
    """The policy is about answers: nothing is repeated or held for something that is no news any more."""
    home.fault("cut_before")
    await answered(home, await home.process(Speaker(home, goes_on=home.was_tried)))
    assert home.seen() == [ANSWER]
    assert await home.states() == [DeliveryState.DISCARDED]


async def test_a_preview_that_people_deleted_does_not_take_the_answer_with_it(any_home: House) -> None:
    is_deleted = asyncio.Event()
    process = await any_home.process(Speaker(any_home, bits=(HALF,), goes_on=lambda bit: is_deleted.is_set()))
    async with process.running():
        await process.say("what is it?")
        await until(lambda: bool(any_home.seen()))
        any_home.channel.board.posts.clear()
        is_deleted.set()
        await any_home.rest()
    assert any_home.seen() == [ANSWER]
    assert await any_home.stage.answers() == [await last_body(any_home)]


async def test_a_change_that_is_refused_is_the_last_one_tried(home: House) -> None:
    class Once(FakeAdapter):
        edits = 0

        async def edit(self, receipt: Receipt, part: Part) -> Receipt:
            self.edits += 1
            if " …" in part.body:
                raise Rejected("too old to be changed")
            return await super().edit(receipt, part)

    adapter = Once(base_url=home.url, kind="lookup", channel="page", identity="main")

    def goes_on(bit: str) -> bool:
        return shortened(bit) in home.seen() if bit == HALF else adapter.edits > 0

    speaker = Speaker(home, bits=(HALF, "a", "b", "c"), goes_on=goes_on)
    await answered(home, await home.process(speaker, adapter=adapter))
    assert (home.seen(), adapter.edits) == ([ANSWER], 2)


async def test_a_change_that_arrives_late_does_not_stay_over_the_answer(home: House) -> None:
    """It was cut, applied after the answer had taken its place, and is covered again once no more can come."""
    home.fault("cut_late", seconds=inf, on="edit")

    def goes_on(bit: str) -> bool:
        return shortened(bit) in home.seen() if bit == HALF else bool(home.channel.under_way)

    process = await home.process(Speaker(home, goes_on=goes_on))
    async with process.running():
        await process.say("what is it?")
        assert await until(lambda: home.seen() == [ANSWER])  # at once, and not only after the wait
        [late] = home.channel.under_way
        late()
        assert home.seen() == [shortened(MORE)]
        await home.rest()
    assert home.seen() == [ANSWER]
    assert await home.stage.answers() == [await last_body(home)]


async def test_a_change_on_its_way_is_waited_for(home: House) -> None:
    """Two requests under way at once could be applied in any order."""

    class Slow(FakeAdapter):
        at_once = most = 0

        async def edit(self, receipt: Receipt, part: Part) -> Receipt:
            self.at_once += 1
            self.most = max(self.most, self.at_once)
            await asyncio.sleep(0.05)
            self.at_once -= 1
            return await super().edit(receipt, part)

    adapter = Slow(base_url=home.url, kind="lookup", channel="page", identity="main")
    await answered(home, await home.process(Speaker(home, patience=0.03), adapter=adapter))
    assert (home.seen(), adapter.most) == ([ANSWER], 1)


# ----------------------------------------------------------------------------------------------------------- killed

DEATHS = [
    *((point, hit) for point in ("part-marked", "part-shown", "part-checkpointed") for hit in (1, 2)),
    ("model-answered", 1),
    ("delivery-stored", 1),
]


@pytest.mark.parametrize(("point", "hit"), sample((pytest.param(*one) for one in DEATHS), 4))
@pytest.mark.parametrize("kind", TELLING)
async def test_killed_anywhere_the_answer_is_there_once_and_nothing_else(
    kind: ChannelKind, point: str, hit: int, home: House
) -> None:
    """The first part is the preview's, the second the answer's."""
    before = await home.process(Speaker(home), probe=crash_at(point, hit))
    await before.say("what is it?")
    await before.until_crash()
    await home.settle(await home.next_life(Speaker(home, patience=0.05)))
    assert home.seen() == [ANSWER]


@pytest.mark.parametrize(("point", "hit"), [("part-shown", 1), ("part-checkpointed", 1), ("part-shown", 2)])
async def test_so_on_every_store(point: str, hit: int, any_home: House) -> None:
    before = await any_home.process(Speaker(any_home), probe=crash_at(point, hit))
    await before.say("what is it?")
    await before.until_crash()
    await any_home.settle(await any_home.next_life(Speaker(any_home, patience=0.05)))
    assert any_home.seen() == [ANSWER]


async def test_a_run_that_goes_on_elsewhere_goes_on_with_its_preview(home: House) -> None:
    before = await home.process(Speaker(home), probe=crash_at("part-checkpointed"))
    await before.say("what is it?")
    await before.until_crash()
    after = await home.next_life(Speaker(home, bits=(MORE, "The answer is forty-two, I")))
    async with after.running():
        assert await until(lambda: home.seen() == [shortened("The answer is forty-two, I")])
        await home.rest()
    assert (home.seen(), len(await home.previews())) == ([ANSWER], 1)


async def test_killed_with_a_change_under_way_the_answer_comes_out_on_top(home: House) -> None:
    """What a dead process sent may still arrive: the answer is there at once, and made once more after the wait."""
    home.fault("cut_late", seconds=inf, on="edit")
    killed = asyncio.Event()

    class Dying(FakeAdapter):
        async def edit(self, receipt: Receipt, part: Part) -> Receipt:
            try:
                return await super().edit(receipt, part)
            finally:
                killed.set()
                raise Crash

    adapter = Dying(base_url=home.url, kind="lookup", channel="page", identity="main")
    before = await home.process(Speaker(home), adapter=adapter)
    await before.say("what is it?")
    await before.until_crash()
    assert killed.is_set()
    after = await home.next_life(Speaker(home, bits=()))
    async with after.running():
        assert await until(lambda: home.seen() == [ANSWER])
        [late] = home.channel.under_way
        late()
        assert home.seen() == [shortened(MORE)]
        await home.rest()
    assert home.seen() == [ANSWER]


SENDS = ["error", "busy", "cut_before", "cut_after", "cut_late"]
EDITS = ["error", "busy", "cut_before", "cut_after", "cut_late"]
POINTS = ["part-marked", "part-shown", "part-checkpointed", "delivery-stored", "model-answered"]


@pytest.mark.parametrize("seed", range(8))
async def test_whatever_befalls_them_the_answer_is_there_once_and_nothing_else(seed: int, stage: Stage) -> None:
    chance = random.Random(seed)
    async with house(stage, chance.choice(TELLING)) as home:
        for on, faults in (("send", SENDS), ("edit", EDITS)):
            for do in chance.choices(faults, k=chance.randint(0, 2)):
                home.fault(do, seconds=0.02, on=on)
        process = await home.process(Speaker(home, patience=0.05))
        await process.say("what is it?")
        for _ in range(chance.randint(0, 3)):
            killed = await home.next_life(
                Speaker(home, patience=0.05), probe=crash_at(chance.choice(POINTS), chance.randint(1, 2))
            )
            try:
                await home.settle(killed)
            except* Crash:
                pass
        await home.settle(await home.next_life(Speaker(home, patience=0.05)))
        await asyncio.sleep(0.03)  # what comes late has come
        assert home.seen() == [ANSWER]


async def test_no_preview_of_a_run_that_is_not_ours_any_more(home: House) -> None:
    """Its lane went to another process, which has answered: a preview now would stay for ever."""
    begun, is_taken = asyncio.Event(), asyncio.Event()

    class Late(Speaker):
        """Speaks once its lane is another's."""

        async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
            begun.set()
            await is_taken.wait()
            return await super().reply(request, on_text)

    frozen = await home.process(Late(home, bits=(HALF,)))
    async with frozen.running():
        await frozen.say("what is it?")
        await begun.wait()
        await home.stage.rows("UPDATE sessions SET fence = fence + 1")
        is_taken.set()
        await until(lambda: bool(home.seen()), 0.5)
    assert (home.seen(), await home.previews()) == ([], [])
