"""Commands of people: how they are written where a platform has none of its own, who may give them, what they answer.

Pure: what the answers tell was read before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from runtime.contract import ARGUMENTS, COMMANDS, Commanded, Identity, Person, Role, Said, Stopped
from runtime.domain.agents.naming import ASK
from runtime.domain.agents.tasks import TASK_TEXT_MAX_CHARS
from runtime.domain.runs import RunState
from runtime.text.glyphs import clip
from runtime.text.words import count, decimal, marked, moment, roughly, say, several

PAIR: Final = "pair"
"""Lets an owner enter a pairing code in a direct room; `COMMANDS` does not list it, since nobody else may."""
ALIASES: Final = {"start": "help"}  # what Telegram sends when somebody opens a bot for the first time
TASK_COMMAND: Final = "task"
"""Has something worked on in the background: it takes a whole request, of several lines."""
WORKFLOW_COMMAND: Final = "workflow"
"""Starts a workflow: its inputs may be long."""
GOAL_COMMAND: Final = "goal"
"""Sets a goal: its contract has several lines."""
TOLD_VERBS: Final = frozenset({"why", "accept", "pin", "unpin"})
TOLD_WORDS: Final = frozenset({"all", "all yes", "summary", "summary on", "summary off"})
"""What is kept of `/memory` and `/forget` behind their names: not what one alone reads, and not what is to be forgotten."""
ACTS: Final = frozenset(
    {"new", "stop", "compact", "timezone", "away", "back", "forget", TASK_COMMAND, WORKFLOW_COMMAND, GOAL_COMMAND}
)
IN_PUBLIC: Final = frozenset({"new", "stop", PAIR})
"""Commands that change something for everybody in the room: everybody there reads that. Else only who asked does."""
NEEDED: Final[Mapping[str, Role]] = {name: Role.USER if name in ACTS else Role.VIEWER for name in COMMANDS}
"""The least role that may give a command."""

ARGUMENT_MAX_CHARS: Final = 100
"""Characters behind a command that is written as a message."""
FORM: Final = re.compile(rf"[/!]({'|'.join(COMMANDS)})", re.IGNORECASE)
ARGUED: Final = re.compile(rf"[/!]({'|'.join(ARGUMENTS)})[ \t]+(\S[^\n]{{0,99}})", re.IGNORECASE)
LOOKS_LIKE_ONE: Final = re.compile(r"/([a-z][a-z0-9_-]{1,31})", re.IGNORECASE)
"""A word alone behind a slash is meant as a command, also where there is none of that name. A path has more slashes."""
PAIR_FORM: Final = re.compile(rf"[/!]{PAIR}\s+(\S.*)", re.IGNORECASE | re.DOTALL)
TASK_FORM: Final = re.compile(rf"[/!]{TASK_COMMAND}\s+(\S.*)", re.IGNORECASE | re.DOTALL)
WORKFLOW_FORM: Final = re.compile(rf"[/!]{WORKFLOW_COMMAND}\s+(\S.*)", re.IGNORECASE | re.DOTALL)
GOAL_FORM: Final = re.compile(rf"[/!]{GOAL_COMMAND}\s+(\S.*)", re.IGNORECASE | re.DOTALL)
ASK_FORM: Final = re.compile(rf"[/!]{ASK}\s+(\S+\s.*)", re.IGNORECASE | re.DOTALL)
"""A message that still has it behind the names of all agents is for none of them."""
SUMMARY_FORM: Final = re.compile(r"[/!]memory[ \t]+(summary\s+\S.*)", re.IGNORECASE | re.DOTALL)
"""A person's summary has several lines."""
SKILL_COMMAND: Final = "skill"
SKILL_REQUEST: Final = re.compile(rf"[/!]{SKILL_COMMAND}\s+\S+\s+\S.*", re.IGNORECASE | re.DOTALL)
"""A skill's name and what is wanted of it: a message to the agent, which is given that skill."""
TEXT_FORMS: Final = {
    TASK_COMMAND: TASK_FORM,
    WORKFLOW_COMMAND: WORKFLOW_FORM,
    GOAL_COMMAND: GOAL_FORM,
    "memory": SUMMARY_FORM,
    ASK: ASK_FORM,
    PAIR: PAIR_FORM,
}
"""Commands with a text of several lines behind them."""
STOP_WORDS: Final[Mapping[str, Sequence[str]]] = {
    "English": ("stop", "cancel", "halt", "abort"),
    "German": ("stopp", "halt", "anhalten", "abbrechen", "abbruch"),
    "French": ("arrête", "arrêtez", "arrêter", "annule", "annuler"),
    "Spanish": ("detente", "alto", "cancela", "cancelar"),
    "Portuguese": ("pare", "parar", "cancela", "cancelar"),
    "Italian": ("ferma", "fermati", "basta", "annulla"),
    "Dutch": ("stoppen", "annuleer", "annuleren"),
    "Polish": ("stop", "zatrzymaj", "anuluj"),
    "Turkish": ("dur", "durdur", "iptal"),
    "Russian": ("стоп", "отмена", "остановись", "хватит"),
    "Ukrainian": ("стоп", "зупинись", "скасуй"),
    "Chinese": ("停", "停止", "取消"),
    "Japanese": ("停止", "中止", "ストップ", "キャンセル"),
    "Korean": ("중지", "취소", "멈춰"),
}
"""By language, in lower case. docs/access.md lists them."""

_ALL: Final = frozenset(word for words in STOP_WORDS.values() for word in words)
_LONGEST: Final = max(map(len, _ALL))
_AROUND: Final = " \t\r\n.!?…。\uff01\uff1f"

DOLLAR: Final = 1_000_000  # in micros


@dataclass(frozen=True, slots=True)
class Work:
    """A run that is not over."""

    state: RunState
    requester: str
    started_at: datetime
    iterations: int


@dataclass(frozen=True, slots=True)
class Going:
    """Work that goes on in a room."""

    works: Sequence[Work] = ()
    waiting: int = 0
    questions: int = 0
    trouble: str | None = None
    mode: str = ""
    suspended: str = ""


@dataclass(frozen=True, slots=True)
class Sum:
    """Tokens and money spent in a period."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int = 0


@dataclass(frozen=True, slots=True)
class Spent:
    """Of somebody or somewhere."""

    today: Sum = Sum()
    month: Sum = Sum()


def spoken(said: Said) -> Said | Stopped | Commanded:
    """The command that a message is whose whole text is one, such as `/status` or `stop`; else the message itself."""
    text = said.text.strip()
    if said.files:
        return said
    if is_stop(text):
        return Stopped(own=True)
    if text[:1] not in ("/", "!") or SKILL_REQUEST.fullmatch(text):
        return said
    if found := FORM.fullmatch(text):
        name = found[1].lower()
        return Stopped() if name == "stop" else Commanded(name)
    for name, form in TEXT_FORMS.items():
        if found := form.fullmatch(text):
            return Commanded(name, found[1].strip())
    if found := ARGUED.fullmatch(text):
        return Commanded(found[1].lower(), found[2].strip())
    if found := LOOKS_LIKE_ONE.fullmatch(text):
        return Commanded(found[1].lower())
    return said


def as_request(command: Commanded) -> Said | Commanded:
    """A command that asks for work with a skill, as the message that it is."""
    asks = command.name.lower() == SKILL_COMMAND and len(command.argument.split(maxsplit=1)) == 2
    return Said(f"/{SKILL_COMMAND} {command.argument.strip()}") if asks else command


def is_stop(text: str) -> bool:
    """Tell whether a message is a stop word alone, whatever its case and the marks around it."""
    bare = text.strip(_AROUND)
    return len(bare) <= _LONGEST and bare.casefold() in _ALL


def name_of(command: Commanded) -> str:
    """The command's name as `COMMANDS` writes it."""
    name = command.name.strip().lstrip("/!").lower()
    return ALIASES.get(name, name)


def kept(command: Commanded) -> str:
    """A command as it is stored and shown. The argument of one that `ARGUMENTS` does not list may be a code."""
    name = name_of(command)[:32]
    if name == TASK_COMMAND:
        return f"/{name} {clip(command.argument.strip(), TASK_TEXT_MAX_CHARS)}".rstrip()
    lines = (" ".join(line.split()) for line in command.argument.splitlines()) if name in ARGUMENTS else ()
    argument = clip("\n".join(filter(None, lines)), ARGUMENT_MAX_CHARS)
    if argument and name in ("memory", "forget") and not _may_stand(argument):
        argument = "…"
    return f"/{name} {argument}".rstrip()


def _may_stand(argument: str) -> bool:
    return argument.lower() in TOLD_WORDS or argument.partition(" ")[0].lower() in TOLD_VERBS


# --------------------------------------------------------------------------------------------------------- the answers


def helped(mark: str = "/") -> str:
    return say(
        "Ask me anything, and attach files if you like. In a room with other people, mention me; "
        "in a thread I'm part of, just write.\n\n{commands}",
        commands=_listed(mark),
    )


def unknown(name: str, mark: str = "/") -> str:
    return say(
        "There's no command `{mark}{name}`. These work:\n\n{commands}",
        mark=mark,
        name=name[:32],
        commands=_listed(mark),
    )


def unread(what: str) -> str:
    return say("I can't read {what}. Please tell me in words what you need.", what=what[:32])


def _listed(mark: str) -> str:
    """All commands, as they are written where `mark` stands before them."""
    lines = [f"- `{mark}{name}` · {say(meaning)}" for name, meaning in COMMANDS.items()]
    beside = (
        []
        if mark in ("/", "!")
        else ["", say("`{command}` doesn't work in threads. Use `!help`, `!status` and so on.", command=mark.strip())]
    )
    return "\n".join([*lines, *beside])


def begun_anew(runs: Sequence[RunState], mark: str = "/") -> str:
    words = [say("Starting fresh: I'll ignore everything said before.")]
    if RunState.RUNNING in runs:
        words.append(say("My current task continues; `{mark}stop` ends it.", mark=mark))
    if waiting := sum(state is not RunState.RUNNING for state in runs):
        words.append(
            say("You can still answer my questions about {waiting}.", waiting=several(waiting, "earlier task"))
        )
    return " ".join(words)


PAIR_WHERE: Final = marked(
    "Only an owner can enter a pairing code, in a direct chat with me: `!pair CODE` or `!pair CODE NAME`."
)


def paired(who: Person, identity: Identity) -> str:
    return say(
        "Paired: {identity} is now {name} ({role}). I've told them.",
        identity=identity,
        name=who.name,
        role=say(who.role.word),
    )


NEW_ALREADY: Final = marked("There's nothing to forget: this conversation is new.")


def going_on(going: Going, now: datetime, mark: str = "/") -> str:
    """Answer to `/status`."""
    lines = [_work(work, now) for work in going.works]
    if going.waiting:
        lines.append(say("{waiting} waiting", waiting=several(going.waiting, "message")))
    if going.questions:
        lines.append(
            say(
                "{questions} waiting for an answer: `{mark}approvals`",
                questions=several(going.questions, "question"),
                mark=mark,
            )
        )
    if going.mode:
        lines.append(going.mode)
    if going.suspended:
        lines.append(going.suspended)
    if going.trouble:
        lines.append(f"trouble: {going.trouble}")
    if not lines:
        return say("Nothing is running here. I'm ready.")
    return "\n".join([say("Right now in this room:"), "", *(f"- {line}" for line in lines)])


def _work(work: Work, now: datetime) -> str:
    whose = say("{name}'s request", name=work.requester) if work.requester else say("a request")
    match work.state:
        case RunState.RUNNING:
            calls = several(work.iterations, "model call") if work.iterations else say("in the first model call")
            return say(
                "working on {whose} ({time} so far, {calls})",
                whose=whose,
                time=roughly(now - work.started_at),
                calls=calls,
            )
        case RunState.READY:
            return say("{whose} has its answers and continues next", whose=whose)
        case _:
            return say("{whose} is waiting for an answer", whose=whose)


def spent(room: Spent, person: Spent, left: Sequence[str] = ()) -> str:
    """Answer to `/usage`. `left` are lines on budgets."""
    lines = [f"- {whose}: {_spent(sums)}" for whose, sums in ((say("this room"), room), (say("you"), person))]
    budgets = ["", say("Budgets:"), "", *left] if left else []
    return "\n".join([say("Tokens and cost (days and months in UTC):"), "", *lines, *budgets])


def _spent(sums: Spent) -> str:
    return say("today {today}; this month {month}", today=_sum(sums.today), month=_sum(sums.month))


def _sum(one: Sum) -> str:
    return say(
        "{taken} tokens in, {given} out, ${cost}",
        taken=count(one.input_tokens),
        given=count(one.output_tokens),
        cost=_dollars(one.cost_micros),
    )


def _dollars(micros: int) -> str:
    return decimal(f"{micros / DOLLAR:,.2f}" if micros >= DOLLAR or not micros else f"{micros / DOLLAR:.4f}")


def waited_too_long(said_at: datetime, most: timedelta) -> str:
    """Words for the sender of a stale message."""
    return say(
        "I was away when you wrote at {said_at}, more than {most} ago. I haven't acted on it, or "
        "on your other messages from then. If it still matters, ask again.",
        said_at=moment(said_at),
        most=roughly(most),
    )
