"""Results that a run's model has not read yet stay whole, however far back their calls stand and whoever spoke since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from runtime.context import handoff
from runtime.context.condensing import SAME, condense, extracted, squeezed, trim, without_repeats
from runtime.context.oversize import MESSAGE_PART, shortened
from runtime.context.sizes import of_text, of_turns
from runtime.context.summaries import KEPT_TURNS, LEAST_TURNS, made_of, request_for, span, unread, unread_turns
from runtime.contract import AssistantTurn, Call, RunId, ToolTurn, Turn, UserTurn
from runtime.domain.transcript import WAITING_FOR_APPROVAL, YET_TO_READ
from runtime.store.protocol import History
from tests.unit.context.test_condensing import READS, talk

A, B, OVER = RunId("a"), RunId("b"), RunId("over")
RESULT = "apples: " + "7" * 5_000


def asked(name: str, calls: int = 1, result: str = RESULT) -> list[Turn]:
    made = tuple(Call(f"{name}{n}", "delegate", f'{{"goal": "{name}{n}"}}') for n in range(calls))
    return [AssistantTurn("", made), *(ToolTurn(call.id, call.tool, f"{call.id} {result}") for call in made)]


def room(*parts: tuple[RunId, Sequence[Turn]], unread: Sequence[int] = (), waits: Sequence[int] = ()) -> History:
    """A conversation of several runs, whose turns are numbered from 100 on."""
    turns = [turn for _, some in parts for turn in some]
    runs = [run for run, some in parts for _ in some]
    numbers = range(100, 100 + len(turns))
    return History(
        turns, 100, numbers, None, frozenset(waits), runs, [1] * len(turns), 0, 0, frozenset(unread) | frozenset(waits)
    )


def overtaken(spoken: int = 40, before: int = 12, calls: int = 1) -> History:
    """Run A asked and waited, B spoke, and what A waited for has come: its model reads it now."""
    at = before + 2
    return room(
        *((OVER, talk(before)), (A, [UserTurn("How many?", "Ada"), *asked("a", calls)]), (B, talk(spoken))),
        (A, [UserTurn("Go on.")]),
        unread=[*range(100 + at, 100 + at + calls), 100 + at + calls + spoken],
    )


@pytest.mark.parametrize("calls", [1, 2, 30])
def test_a_summary_ends_before_the_calls_whose_results_the_run_has_yet_to_read(calls: int) -> None:
    history = overtaken(calls=calls)
    assert unread(history, A) == 13
    assert span(history, A) == 13
    assert span(history, B) == len(history.turns) - KEPT_TURNS
    assert unread(history, OVER) == len(history.turns)


def test_a_run_that_has_read_all_its_results_holds_nothing_back() -> None:
    history = room((OVER, talk(20)), (A, [UserTurn("How many?"), *asked("a"), *asked("b")]), unread=[124])
    assert unread_turns(history, A) == {23, 24}
    assert span(history, A) == len(history.turns) - KEPT_TURNS


def test_thirty_messages_that_begin_a_run_are_read_before_they_are_summarised() -> None:
    history = room((OVER, talk(20)), (A, [UserTurn(f"{n}: hello", "Ada") for n in range(30)]), unread=range(120, 150))
    assert span(history, A) == 20


def test_no_summary_is_made_where_too_little_stands_before_what_is_unread() -> None:
    assert span(overtaken(before=LEAST_TURNS - 2), A) == 0
    carried = replace(overtaken(before=0), carried=2)
    assert span(carried, A) == 0


def test_a_call_that_we_made_in_the_models_place_hides_nothing_that_it_has_yet_to_read() -> None:
    """Such as the question for more money: the results before it are as unread as its own."""
    ours: list[Turn] = [AssistantTurn("", (Call("m", "spend_more", "{}"),)), ToolTurn("m", "spend_more", "yes")]
    history = room((A, [UserTurn("Go"), *asked("a"), *ours]), (B, talk(30)), unread=[102, 103, 104])
    assert unread_turns(history, A) == {1, 2, 3, 4}


# ---------------------------------------------------------------------- summaries by others, and a new beginning


def test_a_summary_of_another_run_carries_what_is_yet_to_be_read_and_tells_where_it_stands() -> None:
    history = overtaken(calls=2)
    summary = made_of(history, 40, READS, None, "")
    assert summary.open == [(113, 114), (113, 115)]
    assert RESULT not in summary.text
    assert summary.text.count(YET_TO_READ) == 2
    assert "apples" not in summary.facts
    told = request_for(history, 40, 100_000).turns[0].text
    assert told.count(YET_TO_READ) == 2
    assert "apples" not in told


def test_what_was_read_is_carried_no_further_and_counts_as_done() -> None:
    history = replace(overtaken(), unread=frozenset())
    summary = made_of(history, 40, READS, None, "")
    assert summary.open == []
    assert "apples" in summary.facts


def test_a_call_that_waits_is_carried_as_ever() -> None:
    history = room((A, [UserTurn("Go"), *asked("a", result=WAITING_FOR_APPROVAL)]), (B, talk(30)), waits=[102])
    assert made_of(history, 20, READS, None, "").open == [(101, 102)]


def test_a_handoff_goes_beyond_results_and_carries_those_that_are_yet_to_be_read() -> None:
    history = overtaken()
    upto = handoff.span(history)
    assert upto == len(history.turns) - 1
    assert made_of(history, upto, READS, handoff.from_rows(history, upto, READS), "").open == [(113, 114)]
    assert "apples" not in handoff.from_rows(history, upto, READS)


# ------------------------------------------------------------------------------------------------ trimmed by position


def test_an_unread_result_far_back_is_not_shortened_nor_named_as_a_repeat() -> None:
    same = asked("a", result=RESULT)[1:]
    turns = [*asked("a"), *same, *asked("b"), *talk(30)]
    whole = {3, 4}
    assert [turn.text for turn in trim(turns, 2_000, whole)[3:5]] == [turn.text for turn in turns[3:5]]
    cut = without_repeats([*same, *same, *same, *talk(30)], {1})
    assert [len(turn.text) > 1_000 or turn.text == SAME for turn in cut[:3]] == [False, True, True]
    assert cut[1] == same[0]
    assert cut[2].text == SAME


@pytest.mark.parametrize("part", [1.3, 1.1, 0.9, 0.5, 0.4])
def test_at_every_step_the_unread_results_are_sent_whole_while_the_rest_makes_way(part: float) -> None:
    history = overtaken(spoken=300, calls=3)
    whole = unread_turns(history, A)
    window = int(of_turns(history.turns) * part)
    cut = condense(history.turns, window, 100, READS, whole)
    assert of_turns(cut.turns) + 100 <= window
    for index in whole:
        assert history.turns[index] in cut.turns


def test_unread_results_stand_behind_the_record_of_the_turns_around_them() -> None:
    history = overtaken(calls=2)
    left, whole = extracted(history.turns, READS, unread_turns(history, A))
    assert [left[index] for index in sorted(whole)[:3]] == history.turns[13:16]
    assert "A record of the" in left[3].text
    assert "apples" not in left[3].text
    assert sorted(whole)[:3] == [4, 5, 6]


def test_where_the_unread_alone_are_too_many_all_others_are_cut_first_and_each_cut_is_named() -> None:
    turns = [UserTurn("q" * 9_000, "Ada"), *asked("a", 3)]
    kept, most = squeezed(turns, 1_500, {1, 2, 3, 4})
    assert of_turns(kept) <= 1_500
    assert len(kept[0].text) <= 200
    assert all("characters left out" in turn.text for turn in kept[2:])
    assert most < 2_000
    assert of_turns(squeezed(turns, 4_500, {1, 2, 3, 4})[0][1:]) == of_turns(turns[1:])


# -------------------------------------------------------------------------------------- more than any window holds


def test_results_that_together_are_too_large_share_the_room_and_each_lies_in_a_file() -> None:
    history = overtaken(calls=4)
    history = replace(history, turns=[*history.turns[:14], ToolTurn("a0", "delegate", "seven"), *history.turns[15:]])
    cut, long = shortened(history, 4_000, A)
    together = sum(of_text(cut.turns[index].text) for index in unread_turns(cut, A))
    assert 0.8 * 4_000 * MESSAGE_PART < together <= 4_000 * MESSAGE_PART + 10
    assert [one.path for one in long] == [f"inbox/long/result-{number}.txt" for number in (115, 116, 117)]
    assert all(one.text == turn.text for one, turn in zip(long, history.turns[15:18], strict=True))
    assert all(one.path in turn.text for one, turn in zip(long, cut.turns[15:18], strict=True))
    assert cut.turns[14].text == "seven"
    assert shortened(history, 4_000, B) == (history, [])
    assert shortened(history, 40_000, A) == (history, [])
