"""Scenario 12: a model that makes the same calls again and again."""

from __future__ import annotations

from itertools import cycle, islice

import pytest

from runtime.agent.guard import REFUSALS_MAX, GuardLimits, LoopGuard, Made, Verdict
from runtime.contract import Call
from runtime.domain.transcript import OURS

LIMITS = GuardLimits()


def verdicts(names: str, *, polls: bool = False, same: bool = False) -> list[Verdict]:
    """Verdicts on calls with one letter each; with `same` each has the same result every time."""
    guard = LoopGuard(LIMITS)
    found = []
    for number, name in enumerate(names):
        call = Call(f"c{number}", "look", f'{{"path": "{name}"}}')
        verdict = guard.judge(call, polls=polls).verdict
        found.append(verdict)
        if verdict is not Verdict.REFUSED:
            guard.ended(call, name if same else f"result {number}")
    return found


def test_the_same_call_runs_twice_is_warned_about_twice_and_then_refused() -> None:
    assert [v.value for v in verdicts("aaaaaa")] == ["silent", "silent", "warned", "warned", "refused", "refused"]


def test_calls_that_were_changed_are_counted_as_they_were_made_before_and_after_a_kill() -> None:
    wanted, made = Call("c", "look", '{"path": "a"}'), Call("c", "look", '{"path": "b"}')
    guard, found = LoopGuard(LIMITS), list[Verdict]()
    for _ in range(5):
        first = guard.judge(wanted, polls=False).verdict
        found.append(guard.judge_instead(made, first, polls=False).verdict)
    assert found == [Verdict.SILENT, Verdict.SILENT, Verdict.WARNED, Verdict.WARNED, Verdict.REFUSED]
    again = LoopGuard(LIMITS, [Made(made, None)] * 4)
    first = again.judge(wanted, polls=False).verdict
    assert again.judge_instead(made, first, polls=False).verdict is Verdict.REFUSED


def test_the_order_of_arguments_makes_no_other_call() -> None:
    guard = LoopGuard(LIMITS)
    for number, arguments in enumerate(['{"a": 1, "b": 2}', '{"b": 2, "a": 1}'] * 2):
        guard.judge(Call(f"c{number}", "look", arguments), polls=False)
    assert guard.judge(Call("c", "look", '{"a":1,"b":2}'), polls=False).verdict is Verdict.REFUSED


@pytest.mark.parametrize(("names", "at"), [("ababab", 5), ("abcabcabc", 8)])
def test_a_circle_is_refused_on_the_call_that_completes_it(names: str, at: int) -> None:
    found = verdicts(names)
    assert found[at] is Verdict.REFUSED
    assert Verdict.REFUSED not in found[:at]


def test_the_same_result_three_times_refuses_the_fourth_call() -> None:
    assert verdicts("aaaa", same=True)[3] is Verdict.REFUSED


def test_ten_different_calls_pass_in_silence() -> None:
    assert set(verdicts("abcdefghij")) == {Verdict.SILENT}


def test_a_tool_that_polls_has_three_times_the_room_and_the_word_status_alone_gives_none() -> None:
    assert verdicts("a" * 14, polls=True).count(Verdict.REFUSED) == 0
    assert verdicts("a" * 15, polls=True)[-1] is Verdict.REFUSED
    guard = LoopGuard(LIMITS)
    asked = [guard.judge(Call(str(n), "search", '{"query": "status"}'), polls=False).verdict for n in range(5)]
    assert asked[-1] is Verdict.REFUSED


def test_five_refusals_or_thirty_marks_end_the_run() -> None:
    guard = LoopGuard(LIMITS)
    for number in range(4 + REFUSALS_MAX):
        assert not guard.is_tripped
        guard.judge(Call(str(number), "look", "{}"), polls=False)
    assert guard.is_tripped
    guard = LoopGuard(GuardLimits(refuse=1_000, outcome=1_000))
    for number in range(32):
        assert not guard.is_tripped
        guard.judge(Call(str(number), "look", "{}"), polls=False)
    assert guard.is_tripped


@pytest.mark.parametrize("names", ["aaaaaaaa", "abababab", "abcabcabcabc", "aabbaabbaabb"])
@pytest.mark.parametrize("same", [True, False])
def test_a_kill_anywhere_changes_no_verdict(names: str, same: bool) -> None:
    whole = verdicts(names, same=same)
    for killed in range(1, len(names)):
        made = []
        for number, name in enumerate(names[:killed]):
            warned = f"\n\n{OURS}You made this same call." if whole[number] is Verdict.WARNED else ""
            result = (
                "error: not made" if whole[number] is Verdict.REFUSED else (name if same else f"result {number}")
            ) + warned
            made.append(Made(Call(f"c{number}", "look", f'{{"path": "{name}"}}'), result))
        guard = LoopGuard(LIMITS, made)
        call = Call("next", "look", f'{{"path": "{names[killed]}"}}')
        assert guard.judge(call, polls=False).verdict is whole[killed]


def test_endless_arguments_are_compared_as_they_are_written() -> None:
    guard = LoopGuard(LIMITS)
    asked = [
        guard.judge(Call(str(n), "look", cut), polls=False).verdict
        for n, cut in enumerate(islice(cycle(["[" * 9999]), 5))
    ]
    assert asked[-1] is Verdict.REFUSED
