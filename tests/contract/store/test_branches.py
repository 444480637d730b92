"""Messages said in place of an earlier one: the old answer stays in the room, and no model reads it any more."""

from __future__ import annotations

from dataclasses import replace

from runtime.contract import Address, Busy, Identity, Outcome, Said, SignalId, UserTurn
from runtime.domain.ids import new_id
from runtime.domain.runs import RunState
from runtime.store.protocol import Claim, Summary, SummaryKind, Taken
from runtime.store.shelf.branches import NEWEST_SAID, Branch, branch_off
from runtime.store.sql.driver import Op
from tests.contract.store.stage import ADA, ROOM, SHELL, UMA, Stage


async def instead(stage: Stage, old: str, text: str, *, actor: Identity = ADA, at: Address = ROOM) -> Taken:
    stage.clock.advance(seconds=1)
    return await stage.take_in(stage.signal(Said(text, (), SignalId(old)), actor=actor, at=at))


async def read(stage: Stage, claim: Claim) -> list[str]:
    """What a model reads of the conversation."""
    return [turn.text for turn in await stage.store.runs.turns(claim.lane.session)]


async def answered(stage: Stage, text: str, answer: str) -> Claim:
    claim = await stage.begin(text)
    await stage.finish(claim, answer)
    return claim


async def test_the_model_goes_on_without_what_was_replaced_and_people_can_still_read_it(stage: Stage) -> None:
    await answered(stage, "hello", "hi")
    stage.clock.advance(seconds=1)
    old = await answered(stage, "two and two?", "five")
    await stage.drain()
    taken = await instead(stage, old.run_id, "two and two?")
    claim = await stage.claim()
    assert str(claim.run_id) == taken.verdict.signal_id
    assert [turn.text for turn in claim.turns or ()] == ["hello", "hi", "two and two?"]
    await stage.finish(claim, "four")
    await stage.drain()
    assert await read(stage, claim) == ["hello", "hi", "two and two?", "four"]
    view = await stage.store.history.view(ROOM)
    shown = [(entry.body, entry.run, entry.replaces) for entry in view.entries[2:]]
    new = claim.run_id
    assert [one[1:] for one in shown] == [(old.run_id, ""), (old.run_id, ""), (new, old.run_id), (new, "")]


async def test_a_question_of_the_old_branch_is_withdrawn_in_the_same_commit(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    taken = await instead(stage, parked.run, "do it otherwise")
    assert [one.run for one in taken.ended] == [parked.run]
    assert await stage.column("SELECT state FROM approvals") == ["void"]
    assert await stage.column("SELECT state FROM runs") == [RunState.STOPPED]
    claim = await stage.claim()
    assert [turn.text for turn in claim.turns or ()] == ["do it otherwise"]


async def test_work_under_way_is_stopped_and_never_joined(stage: Stage) -> None:
    claim = await stage.begin("do it")
    taken = await instead(stage, claim.run_id, "do it")
    assert (taken.verdict.outcome, taken.stop_runs) == (Outcome.ACCEPTED, (claim.run_id,))
    joined = await stage.store.runs.steer(claim.lane, claim.run_id)
    assert joined is not None
    assert (joined.stop, joined.waiting) == (True, 1)
    await stage.finish(claim, "Stopped.", RunState.STOPPED)
    new = await stage.claim()
    assert [turn.text for turn in new.turns or ()] == ["do it"]


async def test_what_waits_yet_is_never_answered_and_what_it_replaced_is_left_out(stage: Stage) -> None:
    claim = await stage.begin("one")
    second = await instead(stage, claim.run_id, "two")
    third = await instead(stage, second.verdict.signal_id, "three")
    await stage.finish(claim, "Stopped.", RunState.STOPPED)
    new = await stage.claim()
    assert (str(new.run_id), [turn.text for turn in new.turns or ()]) == (third.verdict.signal_id, ["three"])
    await stage.finish(new)
    assert await stage.store.runs.claim(stage.lease, Busy.STEER) is None
    assert await stage.column("SELECT waiting FROM sessions") == [0]


async def test_only_the_newest_message_is_replaced_and_only_by_who_said_it(stage: Stage) -> None:
    first = await answered(stage, "one", "1")
    stage.clock.advance(seconds=1)
    second = await answered(stage, "two", "2")
    for old, actor in ((first.run_id, ADA), (second.run_id, UMA), ("forged", ADA)):
        taken = await instead(stage, old, f"not in place of {old}", actor=actor)
        assert taken.verdict.outcome is Outcome.ACCEPTED
        claim = await stage.claim()
        await stage.finish(claim, "3")
    assert [text for text in await read(stage, claim) if text in ("one", "1", "two", "2")] == ["one", "1", "two", "2"]
    assert set(await stage.column("SELECT replaces FROM signals")) == {""}


async def test_only_the_own_words_of_a_shared_run_are_left_out(stage: Stage) -> None:
    claim = await stage.begin("one")
    stage.clock.advance(seconds=1)
    joined = await stage.say("two")
    assert await stage.store.runs.steer(claim.lane, claim.run_id)
    await stage.finish(claim, "both")
    await instead(stage, joined.verdict.signal_id, "three")
    new = await stage.claim()
    assert [turn.text for turn in new.turns or () if isinstance(turn, UserTurn)] == ["one", "three"]


async def test_a_summary_of_what_was_replaced_goes_with_it(stage: Stage) -> None:
    old = await answered(stage, "one", "1")
    summary = Summary(1, 2, SummaryKind.MODEL, "They said one.", "", "{}", "demo", 10, 5)
    assert await stage.store.runs.keep_summary(old.run_id, None, summary, None)
    await instead(stage, old.run_id, "two")
    new = await stage.claim()
    known = await stage.store.runs.history(new.lane.session, new.since)
    assert (known.summary, [turn.text for turn in known.turns]) == (None, ["two"])


async def test_what_was_said_in_place_of_a_merged_message_leaves_out_all_before(stage: Stage) -> None:
    first = await answered(stage, "one", "1")
    await instead(stage, first.run_id, "two")
    stage.clock.advance(seconds=1)
    twin = await stage.say("two")
    assert twin.verdict.outcome is Outcome.MERGED
    await instead(stage, twin.verdict.signal_id, "three")
    claim = await stage.claim()
    assert [turn.text for turn in claim.turns or ()] == ["three"]


async def test_a_run_that_began_while_its_message_was_replaced_ends(stage: Stage) -> None:
    claim = await stage.begin("one")
    new = replace(stage.signal(Said("two", (), SignalId(claim.run_id))), received_at=stage.clock())
    ada = await stage.store.people.identified(ADA)
    assert ada

    def late() -> Op[Branch | None]:
        """The other node began it between our first look and our lock."""
        work = branch_off(new, SignalId(claim.run_id), ada, stage.clock(), new_id)
        asked = next(work)
        looked = 0
        try:
            while True:
                rows = yield asked
                if asked[0] is NEWEST_SAID and not looked:
                    looked, rows = 1, [(*rows[0][:3], None, None)]
                asked = work.send(rows)
        except StopIteration as over:
            return over.value  # type: ignore[no-any-return]  # as `branch_off` says

    branch = await stage.store.driver.write(late)
    assert branch
    assert branch.ended.live == (claim.run_id,)


async def test_a_message_that_was_replaced_meanwhile_is_replaced_once(stage: Stage) -> None:
    first = await answered(stage, "one", "1")
    await instead(stage, first.run_id, "two")
    late = await instead(stage, first.run_id, "three")
    assert late.verdict.outcome is Outcome.ACCEPTED
    assert await stage.column("SELECT replaces FROM signals ORDER BY accepted_at") == ["", first.run_id, ""]


async def test_a_conversation_is_called_by_its_first_words_as_they_were_said_last(stage: Stage) -> None:
    old = (await answered(stage, "list teh files", "none")).run_id
    for words in ("list thee files", "list the files"):
        stage.clock.advance(seconds=1)
        taken = await instead(stage, old, words)
        claim = await stage.claim()
        await stage.finish(claim, "none")
        old = claim.run_id
        assert str(old) == taken.verdict.signal_id
    stage.clock.advance(seconds=1)
    await stage.say("and the folders")
    assert [one.title for one in await stage.store.history.rooms(ROOM.channel, ROOM.account, ADA)] == ["list the files"]
