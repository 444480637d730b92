"""Commands: who may give them, what they answer, and a conversation that begins anew."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot.testing.scripted import USAGE
from runtime.calendar import next_after, plan, written
from runtime.chat import thinking
from runtime.chat.views import schedules as schedule_views
from runtime.contract import (
    COMMANDS,
    UNREAD,
    Address,
    Addressing,
    AssistantTurn,
    Body,
    Busy,
    Commanded,
    FileRef,
    Identity,
    ModelReply,
    Outcome,
    Reasoning,
    Said,
    Schedule,
    ScheduleId,
    ScheduleState,
    Stopped,
    Task,
    TaskKind,
    Terms,
    UserTurn,
)
from runtime.domain.routing import RoomRules
from runtime.domain.runs import RunState
from runtime.domain.schedules import ScheduleEvent
from runtime.store.protocol import Gate, Taken
from tests.contract.store.stage import ADA, GATE, OTHER_ROOM, OTTO, ROOM, SHELL, START, UMA, VERA, Stage, step

THREAD = replace(ROOM, thread="17.0")


async def command(
    stage: Stage, name: str, *, actor: Identity = ADA, at: Address = ROOM, gate: Gate = GATE, message_id: str = "m1"
) -> Taken:
    signal = replace(stage.signal(Commanded(name), actor=actor, at=at), message_id=message_id)
    return await stage.take_in(signal, gate)


async def told(stage: Stage, at: Address = ROOM) -> str:
    """The newest thing that waits to be shown in a room."""
    return (await stage.waiting(at))[-1].delivery.content.text


# --------------------------------------------------------------------------------------------------------- all of them


async def test_whoever_sends_what_cannot_be_read_is_told_so_in_one_line(stage: Stage) -> None:
    signal = replace(stage.signal(Commanded(UNREAD, "a roll of dice")), message_id="m1")
    await stage.take_in(signal)
    assert await told(stage) == "I can't read a roll of dice. Please tell me in words what you need."


@pytest.mark.parametrize("name", COMMANDS)
async def test_a_command_is_answered_in_its_room_once_and_without_a_run(stage: Stage, name: str) -> None:
    signal = replace(stage.signal(Commanded(name)), message_id="m1")
    taken = [await stage.take_in(signal) for _ in range(2)]
    assert [one.verdict.outcome for one in taken] == [Outcome.DECIDED, Outcome.DUPLICATE] or name == "stop"
    (waiting,) = await stage.waiting()
    assert waiting.delivery.origin == f"signal:{taken[0].verdict.signal_id}"
    assert (waiting.delivery.kind, waiting.delivery.reply_to) == ("final", "m1")
    assert taken[0].deliveries == (ROOM,)
    assert await stage.store.runs.claim(stage.lease, Busy.STEER) is None


@pytest.mark.parametrize("prefix", ["/", "!", "/HELP"])
async def test_a_message_that_is_a_command_is_one(stage: Stage, prefix: str) -> None:
    """For platforms without commands of their own, and where they keep `/` for themselves."""
    text = prefix if len(prefix) > 1 else f"{prefix}help"
    taken = await stage.say(f" {text} ")
    assert (taken.verdict.outcome, taken.deliveries) == (Outcome.DECIDED, (ROOM,))
    assert "`/status`" in await told(stage)


@pytest.mark.parametrize("name", [*(name for name in COMMANDS if name not in ("new", "stop")), "nonsense"])
async def test_only_who_asked_reads_the_answer_where_the_platform_can(stage: Stage, name: str) -> None:
    """Scenario 50."""
    signal = replace(stage.signal(Commanded(name)), message_id="m1", reach=Addressing.MENTION, private=3000)
    taken = await stage.take_in(signal)
    assert taken.verdict.notice
    assert taken.deliveries == ()
    assert await stage.rows("SELECT id FROM deliveries") == []


@pytest.mark.parametrize("name", ["new", "stop"])
async def test_everybody_reads_what_changes_something_for_everybody(stage: Stage, name: str) -> None:
    """Scenario 50."""
    signal = replace(stage.signal(Commanded(name)), message_id="m1", reach=Addressing.MENTION, private=3000)
    assert (await stage.take_in(signal)).deliveries == (ROOM,)


async def test_what_is_too_long_for_a_private_answer_is_answered_in_the_room(stage: Stage) -> None:
    signal = replace(stage.signal(Commanded("help")), message_id="m1", reach=Addressing.MENTION, private=200)
    assert (await stage.take_in(signal)).deliveries == (ROOM,)


@pytest.mark.parametrize("mark", ["/", "!", "/signalbox "])
async def test_commands_are_told_as_they_are_written_there(stage: Stage, mark: str) -> None:
    signal = replace(stage.signal(Commanded("help")), private=3000, command_mark=mark)
    told = (await stage.take_in(signal)).verdict.notice or ""
    assert all(f"`{mark}{name}`" in told for name in COMMANDS)
    assert ("`/signalbox` doesn't work in threads. Use `!help`, `!status`" in told) is (mark == "/signalbox ")


async def test_a_written_command_stands_in_its_room_as_answered(stage: Stage) -> None:
    """The page lists what people said: what is answered at once does not wait there."""
    await stage.say("/help")
    (entry,) = (await stage.store.history.view(ROOM)).entries
    assert (entry.body, entry.answered) == ("/help", True)


@pytest.mark.parametrize(
    "text", ["/help me", "what is /help?", "/etc/hosts", "!nothing", "!", "/", "help", "/ help", "//help"]
)
async def test_other_words_are_a_message(stage: Stage, text: str) -> None:
    assert (await stage.say(text)).deliveries == ()
    assert (await stage.claim()).turns == (UserTurn(text, "Ada"),)


async def test_a_command_with_a_file_is_a_message(stage: Stage) -> None:
    taken = await stage.say("/help", files=[FileRef("a.txt", "a.txt", 3)])
    assert taken.verdict.outcome is Outcome.ACCEPTED


async def test_a_command_the_program_does_not_know_is_answered_with_those_it_does(stage: Stage) -> None:
    taken = await command(stage, "dance")
    assert taken.verdict.outcome is Outcome.UNCHANGED
    assert (await told(stage)).startswith("There's no command `/dance`. These work:\n\n- `/help`")


async def test_a_written_command_that_there_is_not_goes_to_no_model(stage: Stage) -> None:
    taken = await stage.say("/dance")
    assert taken.verdict.outcome is Outcome.UNCHANGED
    assert (await told(stage)).startswith("There's no command `/dance`.")
    assert await stage.store.runs.claim(stage.lease, Busy.STEER) is None


async def test_the_first_word_to_a_bot_on_telegram_is_answered_with_help(stage: Stage) -> None:
    await command(stage, "start")
    assert (await told(stage)).startswith("Ask me anything")


@pytest.mark.parametrize("name", COMMANDS)
async def test_a_viewer_may_look_and_not_act(stage: Stage, name: str) -> None:
    body: Body = Stopped() if name == "stop" else Commanded(name)
    taken = await stage.take_in(stage.signal(body, actor=VERA))
    acts = ("new", "stop", "compact", "timezone", "away", "back", "task", "goal", "workflow", "forget")
    wanted = Outcome.REFUSED if name in acts else Outcome.DECIDED
    assert taken.verdict.outcome is wanted


async def test_commands_obey_the_rules_of_rooms(stage: Stage) -> None:
    """Scenario 8."""
    rules = replace(GATE, rooms=RoomRules(blocked=frozenset(["Uma"])))
    assert (await command(stage, "help", actor=UMA, gate=rules)).verdict.outcome is Outcome.REFUSED


async def test_a_command_that_comes_a_day_late_does_nothing(stage: Stage) -> None:
    """Scenario 2: what it stopped would not be what was meant."""
    claim = await stage.begin("hello")
    for body in (Stopped(), Commanded("new"), Said("/stop")):
        signal = replace(stage.signal(body), received_at=stage.clock() - timedelta(hours=25))
        taken = await stage.take_in(signal)
        assert (taken.verdict.outcome, taken.stop_runs) == (Outcome.UNCHANGED, ())
        late = "This reached me too late to act on. Please ask again."
        assert taken.verdict.notice == (None if isinstance(body, Said) else late)
    assert await stage.column("SELECT stop FROM runs WHERE id = :run", run=claim.run_id) == [0]


# ----------------------------------------------------------------------------------------------------------------- stop


@pytest.mark.parametrize("text", ["/stop", "!stop", "/Stop"])
async def test_stop_may_be_written(stage: Stage, text: str) -> None:
    """Scenario 9."""
    claim = await stage.begin("write a poem")
    taken = await stage.say(text)
    assert (taken.verdict.outcome, taken.stop_runs) == (Outcome.DECIDED, (claim.run_id,))


async def test_a_written_stop_with_nothing_to_stop_is_answered(stage: Stage) -> None:
    """Scenario 9: a button has a private answer, a message has none."""
    assert (await stage.say("/stop")).verdict.notice is None
    assert await told(stage) == "There's nothing to stop here."
    pressed = await stage.stop()
    assert (pressed.verdict.notice, pressed.deliveries) == ("There's nothing to stop here.", ())


async def test_a_stop_beside_the_threads_of_a_room_ends_what_that_person_asked_for_in_them(stage: Stage) -> None:
    """Scenario 9: where a platform takes no command in a thread. What others asked for goes on."""
    mine, other = replace(ROOM, thread="18.0"), replace(ROOM, thread="19.0")
    live = await stage.begin("write a poem", at=THREAD)
    parked = await stage.park(SHELL, at=mine)
    theirs = await stage.begin("write another", at=other, actor=UMA)
    elsewhere = await stage.begin("and one more", at=replace(ROOM, room="r10"))
    taken = await stage.stop()
    assert (taken.verdict.outcome, taken.stop_runs) == (Outcome.DECIDED, (live.run_id,))
    assert taken.deliveries == (mine, mine)
    assert await told(stage, mine) == "Stopped by Ada."
    states = dict(await stage.rows("SELECT id, state FROM runs"))
    assert states[parked.run] == "stopped"
    stops = dict(await stage.rows("SELECT id, stop FROM runs"))
    assert [stops[run.run_id] for run in (live, theirs, elsewhere)] == [1, 0, 0]


async def test_a_stop_in_a_thread_is_about_that_thread(stage: Stage) -> None:
    await stage.begin("write a poem", at=THREAD)
    for at in (replace(ROOM, thread="18.0"), OTHER_ROOM):
        assert (await stage.stop(at=at)).verdict.outcome is Outcome.UNCHANGED


# ------------------------------------------------------------------------------------------------------------------ new


async def converse(stage: Stage, *texts: str, at: Address = ROOM) -> None:
    for text in texts:
        await stage.finish(await stage.begin(text, at=at), f"answer to {text}")
        await stage.drain(at)


async def test_new_begins_the_conversation_anew(stage: Stage) -> None:
    await converse(stage, "my name is Ada")
    assert (await command(stage, "new")).verdict.outcome is Outcome.DECIDED
    assert (await told(stage)).startswith("Starting fresh")
    claim = await stage.begin("what is my name?")
    assert claim.turns == (UserTurn("what is my name?", "Ada"),)
    assert await stage.store.runs.turns(claim.lane.session) == [UserTurn("what is my name?", "Ada")]


async def test_new_forgets_nothing_of_other_rooms_and_threads(stage: Stage) -> None:
    for at in (ROOM, THREAD, OTHER_ROOM):
        await converse(stage, "one", at=at)
    await command(stage, "new", at=THREAD)
    lengths = [len((await stage.begin("two", at=at)).turns or ()) for at in (ROOM, THREAD, OTHER_ROOM)]
    assert lengths == [3, 1, 3]


async def test_new_twice_says_that_it_is_new_already(stage: Stage) -> None:
    await command(stage, "new")
    assert await told(stage) == "There's nothing to forget: this conversation is new."
    await converse(stage, "one")
    for _ in range(2):
        await command(stage, "new")
    assert await told(stage) == "There's nothing to forget: this conversation is new."


async def test_a_run_at_work_goes_on_with_all_it_knows(stage: Stage) -> None:
    await converse(stage, "one")
    claim = await stage.begin("two")
    await command(stage, "new")
    assert "My current task continues" in await told(stage)
    known = await stage.store.runs.turns(claim.lane.session, claim.since)
    assert [turn.text for turn in known] == ["one", "answer to one", "two"]
    await stage.finish(claim, "answer to two")
    await stage.drain()
    later = await stage.begin("three")
    assert later.turns == (AssistantTurn("answer to two"), UserTurn("three", "Ada"))


async def test_a_run_that_waits_for_people_goes_on_with_all_it_knows(stage: Stage) -> None:
    await converse(stage, "one")
    parked = await stage.park(SHELL, text="two")
    await command(stage, "new")
    assert "You can still answer my questions about 1 earlier task" in await told(stage)
    await stage.click(parked.approvals[0])
    resumed = await stage.claim()
    assert resumed.resumed
    known = await stage.store.runs.turns(resumed.lane.session, resumed.since)
    assert [turn.text for turn in known][:3] == ["one", "answer to one", "two"]


async def test_new_is_audited(stage: Stage) -> None:
    await converse(stage, "one")
    await command(stage, "new", actor=UMA)
    assert [(who, where) for who, _, where in await stage.audit("begun anew")] == [("Uma", str(ROOM))]


# --------------------------------------------------------------------------------------------------------------- status


async def test_status_of_a_room_where_nothing_is_going_on(stage: Stage) -> None:
    await command(stage, "status", actor=VERA)
    assert await told(stage) == "Nothing is running here. I'm ready."


async def test_status_tells_work_messages_questions_and_trouble(stage: Stage) -> None:
    await stage.park(SHELL)
    stage.clock.advance(seconds=1)  # they are told in the order in which they began
    await stage.begin("write a poem", actor=UMA)
    await stage.say("and another")
    stage.clock.advance(seconds=150)
    trouble = replace(GATE, trouble=lambda address: f"{address.channel} is deaf")
    await command(stage, "status", gate=trouble)
    assert await told(stage) == "\n".join(
        [
            "Right now in this room:",
            "",
            "- Ada's request is waiting for an answer",
            "- working on Uma's request (2 minutes so far, in the first model call)",
            "- 1 message waiting",
            "- 1 question waiting for an answer: `/approvals`",
            "- trouble: web is deaf",
        ]
    )


async def test_status_of_a_room_tells_of_its_threads_and_that_of_a_thread_of_itself(stage: Stage) -> None:
    await stage.begin("write a poem", at=THREAD)
    await stage.begin("in another room", at=replace(ROOM, room="r10"))
    await command(stage, "status")
    assert (await told(stage)).count("\n- ") == 1
    await command(stage, "status", at=replace(ROOM, thread="18.0"))
    assert await told(stage, replace(ROOM, thread="18.0")) == "Nothing is running here. I'm ready."


async def test_approvals_tells_a_viewer_of_the_room_what_others_may_answer(stage: Stage) -> None:
    await command(stage, "approvals", actor=VERA)
    assert await told(stage) == "No questions are waiting for you."
    await stage.drain()
    await stage.park(SHELL, at=THREAD)
    stage.clock.advance(hours=1)
    await command(stage, "approvals", actor=VERA)
    assert await told(stage) == (
        "1 question here that others can answer:\n\n- `shell` `uname -a`, asked 1 hour ago, expires in 11 hours"
    )


# ------------------------------------------------------------------------------------------------------- model and usage


async def test_model_tells_its_name(stage: Stage) -> None:
    await command(stage, "model", gate=replace(GATE, model="openai/gpt-4o-mini"))
    assert await told(stage) == "The model here is `openai/gpt-4o-mini`."


async def test_usage_sums_room_and_person_by_day_and_month(stage: Stage) -> None:
    """Each reply of the stage costs 10 tokens in, 5 out and 7 micros."""
    stage.clock.at = datetime.now(START.tzinfo).replace(day=15, hour=12)  # ids are made by the clock on the wall
    stage.clock.at -= timedelta(days=1)
    await stage.store.cluster.beat(stage.lease, timedelta(days=365))
    await converse(stage, "yesterday")
    stage.clock.advance(hours=24)
    await converse(stage, "today")
    await converse(stage, "in a thread", at=THREAD)
    await stage.finish(await stage.begin("elsewhere", at=OTHER_ROOM), "there")
    await stage.finish(await stage.begin("of another", actor=OTTO), "here")
    await stage.drain()
    await command(stage, "usage")
    assert (await told(stage)).splitlines()[2:] == [
        "- this room: today 30 tokens in, 15 out, $0.0000; this month 40 tokens in, 20 out, $0.0000",
        "- you: today 30 tokens in, 15 out, $0.0000; this month 40 tokens in, 20 out, $0.0000",
    ]


async def test_usage_of_an_earlier_month_does_not_count(stage: Stage) -> None:
    stage.clock.at = datetime.now(START.tzinfo)
    await converse(stage, "this month")
    await stage.write("UPDATE usage SET at = at - :month", month=32 * 86_400 * 10**6)
    await command(stage, "usage")
    assert (await told(stage)).count("this month 0 tokens in, 0 out, $0.00") == 2


# ------------------------------------------------------------------------------------------------------------ thinking


async def thought(stage: Stage, text: str, *thoughts: str, at: Address = ROOM) -> None:
    """A run that thinks before each of its steps; all but the last call a tool."""
    claim = await stage.begin(text, at=at)
    number = claim.next_step
    for one in thoughts[:-1]:
        reply = ModelReply("", (SHELL,), USAGE, reasoning=Reasoning(one, "m"))
        assert await stage.store.runs.record_model(claim.lane, claim.run_id, number, reply, [step(SHELL)])
        number += 2
    last = Reasoning(thoughts[-1], "m") if thoughts else None
    reply = ModelReply("So.", (), USAGE, reasoning=last)
    await stage.store.runs.finish(claim.lane, claim.run_id, number, reply, RunState.DONE, "So.", [])


async def test_think_tells_what_was_thought_in_the_last_run_folded(stage: Stage) -> None:
    await thought(stage, "first", "An old thought.")
    await thought(stage, "second", "I have to look.", "Now I know.")
    await command(stage, "think")
    content = (await stage.waiting())[-1].delivery.content
    assert content.text == thinking.THOUGHT_TITLE
    assert content.folded.endswith("I have to look.\n\nNow I know.")
    assert "old" not in content.all_text


async def test_think_tells_those_in_private_whose_channel_can(stage: Stage) -> None:
    await thought(stage, "hello", "A greeting.")
    taken = await stage.take_in(replace(stage.signal(Commanded("think")), private=1_000))
    assert taken.verdict.notice == f"{thinking.THOUGHT_TITLE}\n\nA greeting."
    assert await stage.waiting() == []


async def test_think_says_so_where_nothing_was_thought_or_all_is_forgotten(stage: Stage) -> None:
    await command(stage, "think")
    assert await told(stage) == thinking.NO_THOUGHTS
    await thought(stage, "hello", "A secret of before.")
    await command(stage, "new", message_id="m2")
    await command(stage, "think", message_id="m3")
    assert await told(stage) == thinking.NO_THOUGHTS


async def test_a_mention_of_a_command_in_a_thread_joins_nothing(stage: Stage) -> None:
    signal = replace(stage.signal(Said("!help"), at=THREAD), reach=Addressing.MENTION, joinable=True)
    await stage.take_in(signal)
    assert await stage.rows("SELECT address FROM participation") == []


# ------------------------------------------------------------------------------------------------- schedules and zones


async def plan_for(stage: Stage, name: str, at: Address) -> Schedule:
    """A schedule of Uma's that is due at nine in Berlin."""
    uma = await stage.store.people.identified(UMA)
    rule = plan("every weekday at 9 in Berlin", zone="UTC", now=START)
    due = next_after(rule, START, anchor=START)
    schedule = Schedule(
        id=ScheduleId(name),
        name=name,
        when=written(rule),
        when_text=rule.text,
        task=Task(TaskKind.PROMPT, "list the files"),
        to=(at,),
        terms=Terms(),
        state=ScheduleState.ACTIVE,
        created_at=START,
        anchor_at=START,
        actor=UMA,
        agent="main",
        owner=uma,
        next_at=due,
    )
    assert await stage.store.schedules.add_schedule(schedule, due, "Uma")
    return schedule


async def test_what_is_planned_in_a_room_is_told_to_whoever_may_read_there(stage: Stage) -> None:
    for name, at in (("plain", ROOM), ("in *a* thread", THREAD), ("elsewhere", OTHER_ROOM)):
        await plan_for(stage, name, at)
    assert await stage.store.schedules.turn_schedule(ScheduleId("plain"), ScheduleEvent.PAUSE, reason="by Uma")
    taken = await command(stage, "schedules", actor=VERA)
    assert taken.verdict.outcome is Outcome.DECIDED
    words = "every weekday at 09:00 (Europe/Berlin)"
    assert (await told(stage)).splitlines() == [
        "Planned here:",
        "",
        f"- **in a thread**: {words}, next [2026-03-02 09:00 (Europe/Berlin)](time:2026-03-02T08:00:00Z), by Uma",
        f"- **plain**: {words}, paused: by Uma, by Uma",
    ]
    await command(stage, "schedules", at=THREAD)
    assert "plain" not in await told(stage, THREAD)


async def test_where_nothing_is_planned_it_is_said_how_to() -> None:
    assert schedule_views.planned([]).startswith("Nothing is planned here. Tell me what to do and when")


async def test_of_many_schedules_the_first_are_listed(stage: Stage) -> None:
    one = await plan_for(stage, "a", ROOM)
    assert schedule_views.planned([one] * 23).splitlines()[-1] == "- and 3 more"


@pytest.mark.parametrize("words", ["/timezone berlin", "!timezone Europe/Berlin"])
async def test_a_zone_is_remembered_for_a_person(stage: Stage, words: str) -> None:
    await stage.say(words, actor=UMA)
    assert (await told(stage)).startswith("From now on, I'll use Europe/Berlin for the times you mention.")
    uma = await stage.store.people.identified(UMA)
    assert uma is not None
    assert await stage.store.schedules.zone_of(uma.id, str(ROOM)) == "Europe/Berlin"
    assert await stage.store.schedules.zone_of("another", str(ROOM)) == ""


async def test_which_zone_is_known_is_told(stage: Stage) -> None:
    await command(stage, "timezone", at=THREAD)
    assert (await told(stage, THREAD)).startswith("I don't know your time zone.")
    await stage.store.schedules.set_zone(str(ROOM), "Asia/Tokyo", "Ada")
    await command(stage, "timezone", at=THREAD)
    assert (await told(stage, THREAD)).startswith("This room uses Asia/Tokyo.")
    await stage.say("/timezone UTC")
    await command(stage, "timezone", at=THREAD)
    assert (await told(stage, THREAD)).startswith("Your time zone is UTC.")


async def test_a_zone_that_nobody_knows_is_answered_with_the_nearest(stage: Stage) -> None:
    await stage.say("/timezone Europe/Berlni")
    assert "did you mean Europe/Berlin" in await told(stage)
    ada = await stage.store.people.identified(ADA)
    assert ada is not None
    assert await stage.store.schedules.zone_of(ada.id, str(ROOM)) == ""
