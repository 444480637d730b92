"""However long a conversation is, what is left of it fits, is valid, and holds what matters."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.context.condensing import FRESH_TURNS, SAME, Step, condense, edge, extract, squeeze, trim, without_repeats
from runtime.context.sizes import IMAGE_TOKENS, ToolSizes, of_text, of_turn, of_turns
from runtime.contract import AssistantTurn, Call, Effect, FileRef, ToolSpec, ToolTurn, Turn, UserTurn
from runtime.domain.transcript import repair
from tests.unit.domain.test_transcript import faults, histories

READS = frozenset({"look"})


def talk(count: int, letters: int = 100) -> list[Turn]:
    return [
        UserTurn(f"{n} {'q' * letters}", "Ada") if n % 2 == 0 else AssistantTurn(f"{n} {'a' * letters}")
        for n in range(count)
    ]


def looks(count: int, letters: int = 5_000) -> list[Turn]:
    """A request and `count` calls, each with its result."""
    pairs = [
        (
            AssistantTurn("", (Call(f"c{n}", "look", f'{{"n": {n}}}'),)),
            ToolTurn(f"c{n}", "look", f"{n}" + "r" * letters),
        )
        for n in range(count)
    ]
    return [UserTurn("Look everywhere.", "Ada"), *(turn for pair in pairs for turn in pair)]


@pytest.mark.parametrize(
    ("part", "step"),
    [(0.69, Step.WHOLE), (0.75, Step.TRIM), (0.85, Step.TRIM), (1.2, Step.TRIM)],
)
def test_old_results_are_shortened_as_soon_as_there_is_need_and_no_earlier(part: float, step: Step) -> None:
    turns = looks(30)
    cut = condense(turns, int(of_turns(turns) / part), 0, READS)
    assert cut.step is step
    assert cut.turns[-FRESH_TURNS:] == turns[-FRESH_TURNS:]
    assert (list(cut.turns) == turns) is (step is Step.WHOLE)


def test_each_step_is_taken_only_where_the_one_before_was_not_enough() -> None:
    turns = [*talk(40, 400), *looks(20)]
    sizes = [of_turns(turns) // part for part in (1, 2, 3, 6, 12)]
    steps = [condense(turns, size, 0, READS).step for size in sizes]
    assert steps == sorted(steps)
    assert steps[-1] is Step.SUMMARY


@given(histories, st.integers(50, 2_000), st.integers(0, 40))
def test_what_is_left_is_valid_for_the_strictest_vendor(history: list[Turn], window: int, taken: int) -> None:
    turns = repair(history)
    assert faults(repair(condense(turns, window, taken, READS).turns)) == []


@pytest.mark.parametrize("window", [2_000, 8_000, 100_000])
@pytest.mark.parametrize("turns", [talk(3_000), looks(300), [*looks(1, 4_000_000)], [UserTurn("z" * 9_000_000)]])
def test_it_always_fits(turns: list[Turn], window: int) -> None:
    assert of_turns(condense(turns, window, 300, READS).turns) + 300 <= window


def test_a_repeated_result_is_named_and_old_pictures_leave_their_line() -> None:
    picture = UserTurn("see\n[attached file: a.png]", "Ada", (FileRef("a", "uploads/a.png", 9),))
    same: list[Turn] = [AssistantTurn("", (Call("x", "look", "{}"),)), ToolTurn("x", "look", "status: fine, " * 20)]
    cut = without_repeats([picture, *same, *same, *talk(FRESH_TURNS)])
    assert cut[0] == UserTurn(picture.text, "Ada")
    assert [turn.text for turn in cut if isinstance(turn, ToolTurn)][1] == SAME
    assert of_turn(picture) >= IMAGE_TOKENS


def test_long_arguments_stay_an_object() -> None:
    call = Call("c", "write_file", json.dumps({"text": "x" * 9_000}))
    [turn, *_] = trim([AssistantTurn("", (call,)), ToolTurn("c", "write_file", "ok"), *talk(FRESH_TURNS)], 2_000)
    assert isinstance(turn, AssistantTurn)
    assert json.loads(turn.calls[0].arguments)["characters"] == len(call.arguments)


def test_an_extract_keeps_the_ends_whole_and_tells_what_was_done_waits_and_was_asked_last() -> None:
    wrote = AssistantTurn("", (Call("w", "write_file", '{"path": "a.txt"}'), Call("s", "shell", '{"command": "ls"}')))
    work: list[Turn] = [wrote, ToolTurn("w", "write_file", "wrote it"), ToolTurn("s", "shell", "waiting for approval")]
    turns = [*talk(20), *work, UserTurn("Now fix PROJ-77.", "Bob"), *looks(40, 50)[1:]]
    cut = extract(turns, READS)
    assert cut[:3] == turns[:3]
    assert cut[-4:] == turns[-4:]
    told = cut[3].text
    assert 'write_file {"path": "a.txt"} → wrote it' in told
    assert 'Waiting for people, do not ask again:\n- shell {"command": "ls"}' in told
    assert "The newest request among them:\n[Bob] Now fix PROJ-77." in told
    assert "PROJ-77" in told.partition("Named by people")[2].partition("\n")[0]


def test_a_call_is_never_parted_from_its_results() -> None:
    turns = looks(5)
    for at in range(len(turns)):
        for back in (False, True):
            place = edge(turns, at, back=back)
            assert place == len(turns) or not isinstance(turns[place], ToolTurn)


def test_the_longest_texts_lose_most_and_short_ones_nothing() -> None:
    turns: list[Turn] = [UserTurn("short", "Ada"), AssistantTurn("x" * 10_000), UserTurn("end", "Ada")]
    cut = squeeze(turns, 1_000)
    assert [turn.text for turn in (cut[0], cut[2])] == ["short", "end"]
    assert of_turns(cut) <= 1_000
    assert "left out" in cut[1].text


@given(st.text(max_size=200))
def test_no_text_has_more_tokens_than_characters_and_one(text: str) -> None:
    assert 1 <= of_text(text) <= len(text) + 1


def test_the_size_of_tools_follows_a_change_of_them() -> None:
    sizes, small = ToolSizes(), ToolSpec("look", "Looks.", {}, Effect.READ)
    large = ToolSpec("look", "Looks. " * 100, {}, Effect.READ)
    assert sizes.of([small]) < sizes.of([large])
    assert sizes.of([small]) == sizes.of([small])
