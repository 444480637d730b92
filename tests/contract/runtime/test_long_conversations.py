"""A conversation that outgrows its model's window goes on: each message is answered, and nothing agreed is lost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from runtime.contract import Addressing, Author, Call, Choice, Effect, Json, ModelRequest, Said
from runtime.domain.routing import Attention, RoomRules
from runtime.errors import ModelFailed
from runtime.policy.rules import Rule, Ruling
from runtime.store.protocol import Stock
from runtime.store.sql.driver import micros
from tests.contract.runtime.stage import ADA, SHELL, Crash, Process, Stage, address, crash_at, fake_tool
from tests.contract.runtime.windowed import AGREED, Windowed, chatter, heard, kept, life, said
from tests.sample import sample


async def test_a_conversation_that_outgrows_the_window_goes_on_and_nothing_agreed_is_lost(any_stage: Stage) -> None:
    """Scenario 51, in small."""
    model = Windowed(condenses=lambda number: f"Record {number}. {AGREED}")
    process = await life(any_stage, model)
    await said(process, "Find a name for the release, please.", AGREED, *chatter(60))
    assert await any_stage.answers() == ["Yes."] * 62
    assert model.refused == 0
    assert all("Find a name for the release" in heard(request) for request in model.requests)
    assert all("BLUEBIRD-7" in heard(request) for request in model.requests[1:])
    assert 1 <= len(model.summaries) <= 12
    assert len(await kept(any_stage)) == len(model.summaries)
    assert (await any_stage.rows("SELECT count(*) FROM turns"))[0] == (124,)


COVERED = """SELECT count(*), min(turns.at) FROM turns JOIN summaries ON turns.session = summaries.session
WHERE number BETWEEN since_turn AND upto_turn GROUP BY upto_turn ORDER BY upto_turn DESC"""


async def covered(stage: Stage) -> list[tuple[int, int]]:
    """Of each summary, newest first: turns behind it that are there, and when the first of them was said."""
    return [(int(count), int(at)) for count, at in await stage.rows(COVERED)]


async def told(stage: Stage, process: Process) -> list[tuple[int, int]]:
    """The same, as people are told; the page tells what the command tells."""
    known = (await stage.store.runs.conversation("main", address("r1"))).remembered.summaries
    view = await process.store.history.view(address("r1"))
    bodies = [json.loads(one.body) for one in view.entries if one.author is Author.SUMMARY]
    assert sorted(one["turns"] for one in bodies) == sorted(one.turns for one in known)
    return [(one.turns, micros(one.since)) for one in known]


@pytest.mark.parametrize("limit", sample([3, 40], 1))
async def test_pages_walked_back_tell_of_each_summary_once(any_stage: Stage, limit: int) -> None:
    """Also of one that stands on a page later than when it was made: its next turn came after others had spoken."""
    process = await life(any_stage, Windowed(), rooms=RoomRules(Attention.OBSERVE))
    await said(process, *chatter(70))
    async with process.running():
        for number in range(5):
            any_stage.clock.advance(timedelta(hours=1))
            signal = any_stage.signal(Said(f"{number}: lunch?"), ADA, "r1")
            await process.reception.sink(replace(signal, reach=Addressing.OVERHEARD))
    await said(process, *chatter(2))
    # What is summarised once nobody waits may still be on its way: it is there once a later write is.
    await any_stage.store.cluster.note_fact("test", "", "", "")
    view = process.store.history.view
    whole = [one.id for one in (await view(address("r1"), limit=1_000)).entries]
    walked: list[str] = []
    before = None
    while page := (await view(address("r1"), before=before, limit=limit)).entries:
        walked[:0] = [one.id for one in page]
        before = page[0].at
    assert walked == whole
    assert sum(one.startswith("summary.") for one in walked) == len(await kept(any_stage)) > 1


@pytest.mark.parametrize("limit", sample([10, 40], 1))
async def test_pages_walked_on_from_any_entry_miss_none(any_stage: Stage, limit: int) -> None:
    process = await life(any_stage, Windowed())
    await said(process, *chatter(30))
    await any_stage.store.cluster.note_fact("test", "", "", "")
    view = process.store.history.view
    whole = [one for one in (await view(address("r1"), limit=1_000)).entries if one.author is not Author.SUMMARY]
    for place in (0, 17, len(whole) - 1):
        page = await view(address("r1"), around=whole[place].id, limit=limit)
        ids = [one.id for one in page.entries if one.author is not Author.SUMMARY]
        assert whole[place].id in ids
        while not page.is_newest:
            page = await view(address("r1"), after=page.entries[-1].at, limit=limit)
            assert set(ids) & {one.id for one in page.entries}, "a page shares something with the one before"
            ids += [one.id for one in page.entries if one.id not in ids and one.author is not Author.SUMMARY]
        assert ids == [one.id for one in whole[-len(ids) :]]
    assert (await view(address("r1"), around="nobody")).entries == ()
    assert (await view(address("r2"), around=whole[0].id)).entries == ()


async def test_after_the_retention_a_summary_tells_of_the_turns_that_are_left(any_stage: Stage) -> None:
    process = await life(any_stage, Windowed())
    await said(process, *chatter(40))
    assert await told(any_stage, process) == await covered(any_stage) != []
    any_stage.clock.advance(timedelta(days=2))
    duty = await any_stage.store.cluster.take(process.lease, "retention")
    assert duty
    swept = await any_stage.store.retention.sweep(
        duty, Stock.TRANSCRIPTS, None, any_stage.clock() - timedelta(days=1), limit=50
    )
    assert swept
    assert swept.removed == 1
    assert await told(any_stage, process) == []
    await said(process, *chatter(40))
    left = await covered(any_stage)
    assert await told(any_stage, process) == left
    assert 0 < left[0][0] < 80


async def test_what_was_overheard_and_forgotten_is_not_counted_with_a_summary(any_stage: Stage) -> None:
    process = await life(any_stage, Windowed(), rooms=RoomRules(Attention.OBSERVE))
    overheard = [f"{number}: lunch?" for number in range(160)]
    async with process.running():
        for text in ["hello", *overheard, *chatter(40)]:
            signal = any_stage.signal(Said(text), ADA, "r1")
            reach = Addressing.OVERHEARD if text in overheard else Addressing.MENTION
            await process.reception.sink(replace(signal, reach=reach))
            await process.rest()
    assert await told(any_stage, process) == await covered(any_stage) != []


async def test_below_the_threshold_nothing_is_condensed(any_stage: Stage) -> None:
    """Scenario 16."""
    model = Windowed()
    process = await life(any_stage, model, window=100_000)
    await said(process, *chatter(20, 50))
    assert model.summaries == []
    assert len(model.requests[-1].turns) == 39
    assert await kept(any_stage) == []


@pytest.mark.parametrize("text", ["", "   \n", "much " * 4_000])
async def test_a_summary_of_no_use_is_refused_once_and_an_extract_takes_its_place(stage: Stage, text: str) -> None:
    model = Windowed(condenses=lambda _: text)
    process = await life(stage, model)
    await said(process, "Find a name.", AGREED, *chatter(60))
    assert len(await stage.answers()) == 62
    rows = await kept(stage)
    assert rows
    assert {kind for kind, *_ in rows} == {"extract"}
    assert len(model.summaries) == 2 * len(rows)
    assert "BLUEBIRD-7" in heard(model.requests[-1])


async def test_a_summariser_that_fails_costs_nobody_their_answer(any_stage: Stage) -> None:
    def fails(_: int) -> str:
        raise ModelFailed("The model's server can't be reached.")

    model = Windowed(condenses=fails)
    process = await life(any_stage, model)
    await said(process, "Find a name.", *chatter(60))
    assert len(await any_stage.answers()) == 61
    assert {kind for kind, *_ in await kept(any_stage)} == {"extract"}


async def test_a_kill_after_a_summary_is_made_does_not_pay_for_it_again(any_stage: Stage) -> None:
    model = Windowed(window=100_000)
    process = await life(any_stage, model, window=100_000)
    await said(process, *chatter(40))
    process = await life(any_stage, model, probe=crash_at("summary-made"))
    with pytest.raises(BaseExceptionGroup) as died:
        await said(process, "and now?")
    assert died.group_contains(Crash)
    any_stage.clock.advance(timedelta(minutes=1))
    process = await life(any_stage, model)
    async with process.running():
        await process.rest()
    assert len(model.summaries) == 1
    assert (await any_stage.answers())[-1] == "Yes."
    spent = await any_stage.rows("SELECT count(*) FROM usage")
    assert spent == [(42,)]  # forty answers, one summary, one answer


@pytest.mark.timeout(180)  # seconds; about five where nothing else runs
@pytest.mark.usefixtures("patient")
async def test_a_loop_of_two_hundred_calls_in_a_small_window_repeats_no_write(any_stage: Stage) -> None:
    """What was written stays named, and so does the task, whatever else is condensed."""
    done: list[str] = []

    async def write(arguments: Mapping[str, Json]) -> str:
        done.append(str(arguments["path"]))
        return f"wrote {arguments['path']} " + "x" * 300

    def works(request: ModelRequest) -> str | Call:
        assert "write the forty files of PROJ-1" in heard(request)
        number = len(done)
        assert not number or f"file-{number - 1}" in str(request.turns)
        return Call(f"c{number}", "write", f'{{"path": "file-{number}"}}') if number < 200 else "All written."

    tool = fake_tool("write", Effect.WRITE, write)
    model = Windowed(works)
    process = await life(any_stage, model, tool, rules=[Rule(Ruling.ALLOW, "write")])
    await said(process, "Please write the forty files of PROJ-1.")
    assert await any_stage.answers() == ["All written."]
    assert done == [f"file-{number}" for number in range(200)]
    assert model.refused == 0
    assert "Already done" in heard(model.requests[-1])
    assert "PROJ-1" in heard(model.requests[-1])


async def test_an_open_question_outlives_every_summary(any_stage: Stage) -> None:
    """Its call and its place stay as they are until it is decided, and the run goes on from there."""
    model = Windowed(lambda request: SHELL if request.turns[-1].text == "run it" else "Yes.")
    shell = fake_tool("shell", Effect.DANGER)
    process = await life(any_stage, model, shell)
    await said(process, *chatter(12), "run it", *chatter(40))
    [question] = await any_stage.pending()
    assert any("waiting for approval" in heard(one) or "uname -a" in str(one.turns) for one in model.requests[-1:])
    async with process.running():
        await process.click(question.id, Choice.APPROVE)
        await process.rest()
    assert len(shell.calls) == 1
    assert len(await any_stage.answers()) == 53


async def test_a_vendor_with_a_smaller_window_than_told_is_asked_again_with_less(any_stage: Stage) -> None:
    model = Windowed()
    process = await life(any_stage, model, window=100_000)
    await said(process, *chatter(60))
    assert await any_stage.answers() == ["Yes."] * 60
    assert 1 <= model.refused <= 60


async def test_where_not_even_the_shortest_fits_the_person_is_told_the_way_out(stage: Stage) -> None:
    model = Windowed(window=20)
    process = await life(stage, model, window=1_000)
    await said(process, "hello " * 400)
    [told] = await stage.answers()
    assert "/new" in told


async def test_a_full_conversation_is_summarised_after_the_answer_so_that_nobody_waits(stage: Stage) -> None:
    order: list[str] = []

    def says(_: ModelRequest) -> str:
        order.append("answer")
        return "Yes."

    def condenses(_: int) -> str:
        order.append("summary")
        return "A record."

    model = Windowed(says, condenses)
    process = await life(stage, model)
    await said(process, *chatter(90, 200))
    at = order.index("summary")
    assert order[at - 1] == "answer"
    [turns] = await stage.rows("SELECT upto_turn FROM summaries ORDER BY upto_turn LIMIT 1")
    assert at * 2 > turns[0]
    assert model.refused == 0


async def test_what_was_decided_behind_a_summary_is_known_as_it_is_now(any_stage: Stage) -> None:
    """Its call is sent whole as long as it waits, then with its result; then it is a fact that no summary loses."""

    def says(request: ModelRequest) -> str | Call:
        return SHELL if request.turns[-1].text.endswith("run it") else "Yes."

    model = Windowed(says)
    shell = fake_tool("shell", Effect.DANGER)
    process = await life(any_stage, model, shell)
    await said(process, *chatter(8), "run it", *chatter(30))
    [question] = await any_stage.pending()
    assert (await kept(any_stage))[-1][-1] > 20, "the summary goes beyond the question"
    assert "uname -a" in str(model.requests[-1].turns)
    assert "waiting for approval" in heard(model.requests[-1])
    async with process.running():
        await process.click(question.id, Choice.APPROVE)
        await process.rest()
    assert "shell did it" in heard(model.requests[-1])
    await said(process, *chatter(30), "what did you do?")
    assert 'shell {"command": "uname -a"} → shell did it' in heard(model.requests[-1])
    assert len(shell.calls) == 1


async def test_ten_thousand_turns_of_pictures_are_answered_and_sent_as_a_few(any_stage: Stage) -> None:
    """Nothing of them was ever condensed: as after an upgrade, or a change of the model."""
    process = await life(any_stage, Windowed())
    await said(process, "hello")
    await any_stage.add_turns(10_000, files=json.dumps([["it.png", "inbox/it.png", 3]]))
    model = Windowed(window=60_000)
    process = await life(any_stage, model, window=60_000)
    await said(process, "What is on the newest?", "And on the one before?")
    assert (await any_stage.answers())[-2:] == ["Yes."] * 2
    assert model.refused == 0
    pictures = [sum(len(getattr(turn, "files", ())) for turn in request.turns) for request in model.requests]
    assert max(pictures) <= 10
    assert len(model.summaries) <= 2
    assert (await any_stage.rows("SELECT count(*) FROM turns"))[0] == (10_006,)
