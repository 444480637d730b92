"""Scheduled work of the demo model: the requests it understands, and the text it reads when the work is due."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from runtime.contract import Json, Turn, UserTurn
from runtime.domain.agents.tasks import MYSELF, NOBODY_WAITS, title_of
from runtime.domain.schedules import NO_NEWS
from runtime.models.phrases.watches import event_of

WHEN: Final = (
    r"(?:every|each) .+?|(?:daily|hourly|weekly|monthly|yearly|weekdays|weekends)(?: .+?)?"
    r"|in (?:an?|\d+|two|three|four|five|six|ten|twelve) ?\w+|(?:today|tomorrow) .+?|at \d.*?"
    r"|on (?:\d{4}-|\w+days?\b|weekends?\b).*?"
)
"""How a time begins and where it may end: whether it is one is for the calendar to say."""
SEPARATED: Final = r"(?:,? do:?|:) +"
ROOM_ADDRESS: Final = r"(?:slack|telegram|discord|web):\S+?"
SCHEDULE: Final = r"(?:the |my )?(?:schedule|reminder) (?P<name>.+)"

Phrase = tuple[str, str, Mapping[str, Json]]

# As `demo_phrases.PHRASES` has them. The group `reminder` becomes a task, see `with_task`.
PLANS: Final[Sequence[Phrase]] = (
    (r"task: *(?P<goal>\S.*)", "task_post", {"agent": MYSELF}),
    (r"post (?:the |a )?task: *(?P<goal>\S.*)", "task_post", {}),
    (r"(?:list )?(?:the |my )?tasks", "task_list", {}),
    (r"claim (?:the )?task (?P<task>\w+)", "task_claim", {}),
    (r"complete (?:the )?task (?P<task>\w+): *(?P<result>\S.*)", "task_complete", {}),
    (r"plan: *(?P<steps>\S.*)", "plan_set", {}),
    (rf"(?P<when>{WHEN}) (?:in|to) (?P<room>{ROOM_ADDRESS}){SEPARATED}(?P<task>.+)", "schedule_elsewhere", {}),
    (rf"(?P<when>{WHEN}){SEPARATED}(?P<task>.+)", "schedule_set", {}),
    (rf"remind me (?P<when>{WHEN}),? (?:to|that) (?P<reminder>.+)", "schedule_set", {}),
    (rf"remind me (?:to|that) (?P<reminder>.+?),? (?P<when>{WHEN})[.!]?", "schedule_set", {}),
    (r"what(?:'s| is) (?:scheduled|planned)(?: here)?|(?:list )?(?:the |my )?schedules", "schedule_list", {}),
    (r"what(?:'s| is) (?:scheduled|planned) everywhere|list all schedules", "schedule_list", {"everywhere": True}),
    (rf"(?:history of|what became of) {SCHEDULE}", "schedule_history", {}),
    (rf"(?:change|move) (?:the |my )?schedule (?P<name>.+?) to (?P<when>{WHEN})", "schedule_change", {}),
    (rf"pause {SCHEDULE}", "schedule_pause", {}),
    (rf"resume {SCHEDULE}", "schedule_resume", {}),
    (rf"(?:delete|remove|cancel) {SCHEDULE}", "schedule_delete", {}),
    (rf"run {SCHEDULE}", "schedule_run", {}),
    (r"(?:set )?my time ?zone (?:is|to) (?P<zone>.+)", "set_zone", {}),
)
AS_WRITTEN: Final = frozenset({"schedule_set", "schedule_elsewhere", "task_post", "task_complete"})
"""What is asked of these ends with a task, which keeps its full stop and its quotes."""
BETWEEN_STEPS: Final = re.compile(r"\s*[,;]\s*(?:and |then )?")
WHAT_I_PLAN: Final = """\
- `task: list the files`, which I do in the background (and `list the tasks`)
- `plan: read the offers, compare them, tell Ada`, a checklist
- `every weekday at 9 do list the files` (or `every 5 minutes: say hello`)
- `remind me tomorrow at 14:30 to call Ada` (or `remind me in 20 minutes to stretch`)
- `what is scheduled?`
- `pause the schedule NAME` (or `resume`, `run`, `delete`, `history of`)
- `my time zone is Europe/Berlin`"""

# ------------------------------------------------------------------------------------------------------ what is due

OPENING: Final = re.compile(r"\[(?:Scheduled (?:work|report) .+, planned for|The trigger .+ fired on) [^\n]+\]")
TASK_OPENING: Final = re.compile(r"\[Task .+, done in the background\]")
REPORT_BEFORE: Final = "\n\n[Your report before this one said:]\n"
REMINDER: Final = re.compile(r"Remind me: (?P<words>.+)")
SAYING: Final = re.compile(r"say:? (?P<words>.+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Due:
    """Scheduled work as `runtime.domain.schedules.said` tells of it. `previous` is the report before this one, and `event`
    what fired the trigger that began it."""

    task: str
    previous: str
    quiet: bool
    is_task: bool = False
    event: str = ""


def with_title(groups: Mapping[str, str]) -> dict[str, Json]:
    """A task is called by what it is about."""
    return {**groups, "title": title_of(groups["goal"])}


def ticked_off(text: str) -> list[dict[str, Json]]:
    """A checklist each time that it changes: all steps of it are done one after another."""
    steps = [step for step in BETWEEN_STEPS.split(text.strip().rstrip(".")) if step]
    return [{"steps": [_step(step, place - at) for place, step in enumerate(steps)]} for at in range(len(steps) + 1)]


def _step(step: str, ahead: int) -> Json:
    return {"text": step, "state": "done" if ahead < 0 else "todo" if ahead else "doing"}


def with_task(groups: Mapping[str, str]) -> dict[str, str]:
    """A reminder is a task that asks for no tool, whatever it reminds of."""
    rest = {name: value for name, value in groups.items() if name != "reminder"}
    return {**rest, "task": f"Remind me: {groups['reminder']}"} if "reminder" in groups else rest


def due(text: str) -> Due | None:
    """Work that is due, if `text` is about scheduled work; None for what a person says."""
    opening, _, rest = text.partition("\n")
    if TASK_OPENING.fullmatch(opening):
        return Due(rest.strip().removesuffix(NOBODY_WAITS).strip(), "", quiet=False, is_task=True)
    if not OPENING.fullmatch(opening):
        return None
    task, event = event_of(rest)
    task, _, previous = task.partition(REPORT_BEFORE)
    return Due(task.strip(), previous.strip(), NO_NEWS in opening, event=event)


def due_in(turns: Sequence[Turn]) -> Due | None:
    """The scheduled work that a conversation is about: each has one of its own."""
    first = next((turn for turn in turns if isinstance(turn, UserTurn)), None)
    return due(first.text) if first else None


def report(said: Sequence[str], work: Due) -> Iterator[str]:
    """Words about the lines of a task that ask for no tool. Of an event they tell once."""
    if work.event:
        yield work.event
        return
    for line in said:
        if work.is_task:
            yield f"A real model would do this now: {line}"
        elif found := REMINDER.fullmatch(line):
            yield f"Reminder: {found['words']}"
        elif found := SAYING.fullmatch(line):
            yield found["words"]
        else:
            yield f"It is time: {line}"


def unless_told(work: Due, text: str) -> str:
    """Say nothing where only news is wanted and the report is the same again."""
    return NO_NEWS if work.quiet and text.strip() == work.previous else text
