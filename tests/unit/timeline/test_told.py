"""A trail is told in words: every transition, in the order of time, with who did it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runtime.contract import (
    ApprovalKind,
    Choice,
    DeliveryId,
    Kind,
    RunId,
)
from runtime.domain.approvals import ApprovalState
from runtime.domain.deliveries import DROP, DeliveryEvent, DeliveryState, PartEvent
from runtime.domain.runs import RunEvent, RunState
from runtime.timeline import What, told
from runtime.timeline.trail import Spent, Trail
from tests.unit.timeline.rows import (
    APPROVED,
    PARKED,
    ROOM,
    START,
    TWO,
    at,
    delivery,
    model,
    move,
    of,
    part,
    question,
    run,
    signal,
    tool,
    trail,
)


def test_the_straight_way_is_told_from_the_message_to_its_answer() -> None:
    steps = (model(), tool(), model(3, ended=2))
    story = told(trail(steps=steps))
    assert [(event.what, (event.at - START).total_seconds(), event.node, event.words) for event in story.events] == [
        (What.SENT, 0, "", "Ada wrote “list the files”"),
        (What.ACCEPTED, 0.1, "", "accepted after 0.100 s"),
        (What.CLAIMED, 0.2, "host/1", "picked up 0.100 s later"),
        (
            What.MODEL,
            1,
            "host/1",
            "model call 1 (demo) answered in 0.800 s; 1,200 tokens in, 5 out; it called list_files",
        ),
        (What.TOOL_STARTED, 1.1, "host/1", "list_files started (read)"),
        (What.TOOL_ENDED, 1.5, "host/1", "list_files finished in 0.400 s: “a.txt”"),
        (
            What.MODEL,
            2,
            "host/1",
            "model call 2 (demo) answered in 0.500 s; 1,200 tokens in, 5 out; it replied",
        ),
        (What.FINISHED, 2, "host/1", "finished with a reply"),
        (What.ENQUEUED, 2, "", "the reply was queued (delivery d1): “There is a.txt.”"),
        (What.ATTEMPT, 2.5, "host/1", "attempt 1 to show the reply"),
        (
            What.SHOWN,
            3,
            "host/1",
            "the reply appeared (message m1 on the platform), 0.500 s after the attempt began",
        ),
        (What.ANSWERED, 3, "", "answered, 3.000 s after it was sent"),
    ]
    assert (story.now, story.over) == ("Answered 3.000 s after it was sent.", True)
    assert (story.who, story.text, story.room, story.run) == ("Ada", "wrote “list the files”", ROOM, "s1")


# ----------------------------------------------------------------------------------------------------------- one by one

TOLD: dict[str, tuple[Trail, What, str]] = {
    "files": (trail(signals=(signal(files=2),)), What.SENT, "Ada wrote “list the files” with 2 files"),
    "a click": (trail(signals=(signal(kind="clicked"),)), What.SENT, "Ada pressed a button"),
    "a stop": (trail(signals=(signal(kind="stopped"),)), What.SENT, "Ada asked to stop"),
    "merged": (
        trail(signals=(signal(), signal(id="s2", state="merged", merged_into="s1"))),
        What.MERGED,
        "accepted after 0.100 s, and merged with s1, which says the same and is still unanswered",
    ),
    "joined": (
        trail(signals=(signal(), signal(id="s2", joined_at=at(1.5)))),
        What.JOINED,
        "joined the run in progress",
    ),
    "refused": (
        trail(signals=(signal(state="refused"),), moves=(move("refused", "I do not know you.", subject="s1"),)),
        What.REFUSED,
        "refused: I do not know you.",
    ),
    "too old to be kept": (
        trail(signals=(signal(state="forgotten", who="", text="", run_id=None),)),
        What.SENT,
        "somebody wrote something that's no longer kept",
    ),
    "a command": (
        trail(signals=(signal(kind="commanded", text="/status", state="decided"),)),
        What.SENT,
        "Ada gave the command “/status”",
    ),
    "a command that was refused": (
        trail(signals=(signal(kind="commanded", text="", state="refused"),)),
        What.SENT,
        "Ada gave a command",
    ),
    "an edit": (trail(signals=(signal(kind="amended", state="decided"),)), What.SENT, "Ada edited a message"),
    "a room that moved": (
        trail(signals=(signal(kind="moved", state="decided"),)),
        What.SENT,
        "Ada moved this room to a new id",
    ),
    "observed": (
        trail(signals=(signal(state="observed"),)),
        What.OBSERVED,
        "kept after 0.100 s as context for the next request",
    ),
    "too late": (
        trail(signals=(signal(state="stale", accepted_at=at(90_000)),)),
        What.STALE,
        "arrived 1 d 1 h after it was sent, too late to act on",
    ),
    "refused, long ago": (trail(signals=(signal(state="refused"),)), What.REFUSED, "refused: the reason wasn't kept"),
    "several answered at once": (
        trail(signals=(signal(), signal(id="s2", received_at=at(1)))),
        What.ANSWERED,
        "answered all 2 messages, 3.000 s after the first was sent",
    ),
    "waited behind another": (
        trail(behind=RunId("r0")),
        What.CLAIMED,
        "picked up 0.100 s later; run r0 was using this conversation until then",
    ),
    "a call that costs": (
        trail(steps=(replace(model(ended=2), spent=Spent(10, 2, 1500)),)),
        What.MODEL,
        "model call 1 (demo) answered in 1.800 s; 10 tokens in, 2 out; $0.001500; it replied",
    ),
    "a call policy denied": (
        trail(steps=(model(), tool(started_at=None, result="Not allowed: policy."))),
        What.TOOL_NOT_RUN,
        "list_files was not run: “Not allowed: policy.”",
    ),
    "a question": (
        trail(approvals=(question(),), **PARKED),
        What.ASKED,
        "asked whether shell (danger) may run (question a1, open for 12 h)",
    ),
    "a question about an outcome": (
        trail(approvals=(question(kind=ApprovalKind.OUTCOME),), **PARKED),
        What.ASKED,
        "shell was cut off; asked whether it finished (question a1, open for 12 h)",
    ),
    "parked": (
        trail(approvals=(question(), question(id="a2")), **PARKED),
        What.PARKED,
        "parked until 2 answers arrive; others are served meanwhile",
    ),
    "approved": (
        trail(approvals=(APPROVED,), **PARKED),
        What.DECIDED,
        "Otto chose “Approve” for shell, 59.000 s after it was asked",
    ),
    "denied with a reason": (
        trail(approvals=(replace(APPROVED, state=ApprovalState.DENIED, choice=Choice.DENY, reason="no"),), **PARKED),
        What.DECIDED,
        "Otto chose “Deny” for shell, 59.000 s after it was asked: “no”",
    ),
    "an outcome told": (
        trail(approvals=(replace(APPROVED, state=ApprovalState.ANSWERED, choice=Choice.DONE),), **PARKED),
        What.DECIDED,
        "Otto chose “It was done” for shell, 59.000 s after it was asked",
    ),
    "expired": (
        trail(approvals=(question(state=ApprovalState.EXPIRED, decided_at=at(43201)),), **PARKED),
        What.EXPIRED,
        "nobody answered about shell in time; expired 12 h after it was asked",
    ),
    "withdrawn": (
        trail(approvals=(question(state=ApprovalState.VOID, decided_at=at(5), reason="Stopped by Ada."),), **PARKED),
        What.WITHDRAWN,
        "the question about shell was withdrawn: “Stopped by Ada.”",
    ),
    "taken up after an answer": (
        trail(approvals=(APPROVED,), steps=(model(), tool(tool="shell", started_at=at(60.5), ended_at=at(61)))),
        What.RESUMED,
        "resumed 0.500 s after the last answer",
    ),
    "a click that did not count": (
        trail(moves=(move("click refused", "Vera: You may not.", subject="s1", node=None),)),
        What.CLICK_REFUSED,
        "a click was refused: Vera: You may not.",
    ),
    "taken over": (
        trail(moves=(move(RunEvent.RESUME, "n2", subject="s1"),)),
        What.RESUMED,
        "resumed where it left off, because host/2 was gone",
    ),
    "taken over from a node long gone": (
        trail(moves=(move(RunEvent.RESUME, "n9", subject="s1"),)),
        What.RESUMED,
        "resumed where it left off, because n9 was gone",
    ),
    "given back": (
        trail(moves=(move(RunEvent.RESUME, "n1", subject="s1"),)),
        What.RESUMED,
        "resumed where it left off",
    ),
    "asked to stop": (
        trail(moves=(move(RunEvent.STOP, "Ada", subject="s1"),)),
        What.STOP_ASKED,
        "Ada asked to stop it",
    ),
    "a process ended": (
        trail(moves=(move("process ended", "2", subject="s1"),)),
        What.PROCESS_ENDED,
        "its process died (death 2)",
    ),
    "set aside": (
        trail(moves=(move("set aside", "3", subject="s1"),)),
        What.SET_ASIDE,
        "set aside: 3 processes died while working on it",
    ),
    "something new": (trail(moves=(move("twisted", "by wind", subject="s1"),)), What.OTHER, "twisted: by wind"),
    "restored": (
        trail(moves=(move(PartEvent.RESTORE, "from a backup; looked for before it is sent"),)),
        What.RESTORED,
        "restored: from a backup; looked for before it is sent",
    ),
    "work restored": (
        trail(moves=(move(PartEvent.RESTORE, "from a backup", subject="s1"),)),
        What.RESTORED,
        "restored: from a backup",
    ),
    "failed": (
        trail(run=run(state=RunState.FAILED, error="The key is wrong.")),
        What.FAILED,
        "failed: The key is wrong.",
    ),
    "stopped": (trail(run=run(state=RunState.STOPPED, error="Stopped.")), What.STOPPED, "stopped: Stopped."),
    "the card": (
        trail(deliveries=(delivery(kind=Kind.APPROVAL),)),
        What.ENQUEUED,
        "the card with the question was queued (delivery d1)",
    ),
    "the settled card": (
        trail(deliveries=(delivery(kind=Kind.APPROVAL, edits=DeliveryId("d0")),)),
        What.ENQUEUED,
        "the settled card was queued (delivery d1)",
    ),
    "a report": (
        trail(deliveries=(delivery(kind=Kind.REPORT, text="Fine."),)),
        What.ENQUEUED,
        "the report was queued (delivery d1): “Fine.”",
    ),
    "one of several parts": (
        trail(deliveries=(delivery(part(1), part(2, shown_at=None, attempts=3)),)),
        What.SHOWN,
        "part 1 of 2 of the reply appeared (message m1 on the platform), 0.500 s after the attempt began",
    ),
    "shown by our commit": (
        trail(deliveries=(delivery(part(marked_at=None, attempts=0)),)),
        What.SHOWN,
        "the reply appeared (message m1 on the platform)",
    ),
    "found": (
        trail(moves=(move(PartEvent.DOUBT, "part 1: cut"),)),
        What.FOUND,
        "the reply was found on screen (message m1 on the platform)",
    ),
    "retry": (
        trail(moves=(move(PartEvent.RETRY, "part 1: 500: {odd} words"),)),
        What.RETRY,
        "attempt 1 to show the reply failed; retrying: 500: {odd} words",
    ),
    "doubt": (
        trail(moves=(move(PartEvent.DOUBT, "part 1: cut"),)),
        What.DOUBT,
        "attempt 1 may have shown the reply; checking: cut",
    ),
    "look": (
        trail(moves=(move(PartEvent.LOOK, "part 1: being looked for: not there yet"),)),
        What.LOOKED,
        "the reply is being looked for: not there yet",
    ),
    "absent": (
        trail(moves=(move(PartEvent.ABSENT, "part 1"),)),
        What.ABSENT,
        "the reply isn't on screen; sending it again",
    ),
    "repeat": (
        trail(moves=(move(PartEvent.REPEAT, "part 1"),)),
        What.REPEAT,
        "can't tell whether the reply is on screen; sending it again with a mark",
    ),
    "plain": (
        trail(moves=(move(PartEvent.PLAIN, "part 1"),)),
        What.PLAIN,
        "attempt 1: the platform refused the formatting of the reply; sending it as plain text",
    ),
    "split": (
        trail(moves=(move(PartEvent.PLAIN, "part 1: 413 too large; 2 more follow"),)),
        What.PLAIN,
        "attempt 1: the platform refused the formatting of the reply; sending it as plain text: 413 too large; 2 more "
        "follow",
    ),
    "left out": (
        trail(moves=(move(DROP, "part 1: busy"),), deliveries=(delivery(kind=Kind.PROGRESS),)),
        What.LEFT_OUT,
        "the preview of the reply was left out: busy",
    ),
    "hold": (
        trail(moves=(move(DeliveryEvent.HOLD, "part 1: nobody can tell"),)),
        What.HELD,
        "the reply was put on hold: nobody can tell",
    ),
    "give up": (
        trail(moves=(move(DeliveryEvent.GIVE_UP, "the room\nis gone"),)),
        What.GIVEN_UP,
        "the reply couldn't be shown: the room\nis gone",
    ),
    "requeue": (trail(moves=(move(DeliveryEvent.REQUEUE, "Otto"),)), What.REQUEUED, "requeued by Otto"),
    "discard": (trail(moves=(move(DeliveryEvent.DISCARD, "Otto"),)), What.DISCARDED, "discarded by Otto"),
}


@pytest.mark.parametrize("case", TOLD)
def test_each_transition_has_its_words(case: str) -> None:
    about, what, sentence = TOLD[case]
    assert sentence in of(about, what)


def test_nothing_that_can_happen_lacks_a_test_of_its_words() -> None:
    straight = {event.what for event in told(trail(steps=(model(), tool(), model(3, ended=2)))).events}
    assert straight | {what for _, what, _ in TOLD.values()} == set(What)


def test_a_preview_that_was_left_out_does_not_stand_for_the_answer() -> None:
    preview = delivery(kind=Kind.PROGRESS, state=DeliveryState.DISCARDED, reason="busy")
    answered = replace(signal(), answered_at=at(3))
    about = told(trail(signals=(answered,), run=run(state=RunState.DONE), deliveries=(preview, delivery())))
    assert about.now.startswith("Answered ")
    assert about.over


def test_attempts_are_counted_a_part() -> None:
    parts = (part(1), part(2))
    moves = tuple(
        move(PartEvent.RETRY, f"part {number}: 500", seconds=seconds)
        for number, seconds in ((1, 2.6), (1, 2.7), (2, 2.8))
    )
    assert of(trail(deliveries=(delivery(*parts),), moves=moves), What.RETRY) == [
        "attempt 1 to show part 1 of 2 of the reply failed; retrying: 500",
        "attempt 2 to show part 1 of 2 of the reply failed; retrying: 500",
        "attempt 1 to show part 2 of 2 of the reply failed; retrying: 500",
    ]


def test_a_part_shown_after_it_was_certainly_absent_was_not_found() -> None:
    moves = (move(PartEvent.DOUBT, "part 1: cut", seconds=2.1), move(PartEvent.ABSENT, "part 1", seconds=2.2))
    assert of(trail(moves=moves), What.FOUND) == []


def test_who_began_a_run_is_told_though_its_row_names_who_had_it_last() -> None:
    taken_over = trail(
        run=run(claims=2, node=TWO), steps=(), moves=(move(RunEvent.RESUME, "n1", subject="s1", node=TWO),)
    )
    resumed = trail(run=run(claims=2, node=TWO), steps=(model(),))
    unknown = trail(run=run(claims=2, node=TWO), steps=())
    assert [told(one).events[2].node for one in (taken_over, resumed, unknown)] == ["host/1", "host/1", ""]


def test_a_call_that_a_person_decided_about_is_not_told_twice() -> None:
    denied = tool(tool="shell", started_at=None, ended_at=at(60), result="Denied by Otto.")
    about = trail(steps=(model(), denied), approvals=(replace(APPROVED, state=ApprovalState.DENIED),))
    assert of(about, What.TOOL_NOT_RUN) == []


def test_a_cut_call_that_a_person_settled_did_not_end_by_itself() -> None:
    skipped = question(
        kind=ApprovalKind.OUTCOME,
        state=ApprovalState.ANSWERED,
        choice=Choice.SKIP,
        decided_name="Otto",
        decided_at=at(60),
    )
    about = trail(steps=(model(), tool(tool="shell", ended_at=at(60))), approvals=(skipped,))
    assert of(about, What.TOOL_STARTED) == ["shell started (read)"]
    assert of(about, What.TOOL_ENDED) == []
    assert of(about, What.DECIDED) == ["Otto chose “Skip it” for shell, 59.000 s after it was asked"]


def test_a_cut_call_that_is_run_again_is_taken_up_once() -> None:
    again = replace(APPROVED, kind=ApprovalKind.OUTCOME, choice=Choice.AGAIN, asked_at=at(70), decided_at=at(80))
    steps = (model(), tool(tool="shell", started_at=at(81), ended_at=at(82)))
    assert of(trail(steps=steps, approvals=(APPROVED, again)), What.RESUMED) == [
        "resumed 1.000 s after the last answer"
    ]


def test_how_long_a_model_took_is_counted_from_what_came_before_it() -> None:
    joined = trail(signals=(signal(), signal(id="s2", joined_at=at(1.9))))
    resumed = trail(moves=(move(RunEvent.RESUME, "n2", subject="s1", seconds=1.5),))
    assert "in 0.100 s" in of(joined, What.MODEL)[0]
    assert "in 0.500 s" in of(resumed, What.MODEL)[0]


def test_the_subject_is_the_message_that_was_asked_about() -> None:
    both = (signal(), signal(id="s2", who="Uma", text="and hurry"))
    assert told(trail(signals=both)).text == "wrote “list the files”"
    assert (told(trail(signals=both, about="s2")).who, told(trail(signals=both, about="s2")).text) == (
        "Uma",
        "wrote “and hurry”",
    )
