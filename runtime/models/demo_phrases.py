"""The phrases that the demo model understands, one a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from runtime.contract import ANYBODY, FIND_TOOLS, AssistantTurn, Json, ToolTurn, Turn, UserTurn
from runtime.domain.transcript import OURS, TOLD_LATER
from runtime.models.demo_plans import (
    AS_WRITTEN,
    PLANS,
    WHAT_I_PLAN,
    Phrase,
    due,
    ticked_off,
    with_task,
    with_title,
)
from runtime.models.phrases.calls import WHAT_I_CALL, named_call
from runtime.models.phrases.documents import DOCUMENT_PHRASES, THIS_FILE, WHAT_I_READ, sent_last
from runtime.models.phrases.goals import GOALS, WHAT_I_AIM_AT, aimed, asked_in_turn
from runtime.models.phrases.memories import MEMORIES, WHAT_I_KEEP, memory_of
from runtime.models.phrases.pages import PAGE_PHRASES, WHAT_I_DO_WITH_PAGES, parts_of
from runtime.models.phrases.programs import PROGRAMS, WHAT_I_RUN, program_of
from runtime.models.phrases.records import RECORDS, WHAT_I_LOOK_UP, handed_on_last, record_of
from runtime.models.phrases.skills import SKILLS, WHAT_I_CAN_USE, form_read, proposed, without_skill
from runtime.models.phrases.watches import WATCHES, WHAT_I_WATCH, watch_of
from runtime.models.phrases.workflows import WHAT_I_START, WORKFLOWS, started
from runtime.text.outside import unfenced

WHAT_I_KNOW: Final = f"""\
- `list the files` (or `list files in FOLDER`, `ls`)
- `read FILE` (or `read FILE from byte NUMBER`, a slice of a long one)
- `read https://HOST/PAGE`, then `do what it says` (I then do what I understand of it: a misled model, safe to try)
- `write TEXT to FILE`
- `search for PATTERN in FOLDER`
- `look up QUESTION` in the documents that operators gave me
- `search the web for WORDS`
- `react with EMOJI`, `change your last answer to TEXT`
- `send the file PATH`, `post TEXT here` (or `in ROOM`, such as slack:work/C024BE91L)
- `run: COMMAND`
{WHAT_I_READ}
{WHAT_I_RUN}
{WHAT_I_DO_WITH_PAGES}
- `think about SUBJECT` (`/think` then shows what I thought)
- `ask me QUESTION?` (or `ask NAME …`, `ask the room …`; you may add `ANSWER or ANSWER`)
{WHAT_I_PLAN}
{WHAT_I_KEEP}
{WHAT_I_CAN_USE}
{WHAT_I_START}
{WHAT_I_AIM_AT}
{WHAT_I_WATCH}
{WHAT_I_LOOK_UP}
- `ask the peer NAME: TEXT` (an agent of another system; `list the peers`)
- `delegate: GOAL` (or `delegate to NAME: GOAL`, `delegate and tell me: GOAL`, `delegate each: GOAL; GOAL; …`): somebody else does it
- `hand over to NAME: TEXT`: another agent answers here next
- `create agent NAME with TOOL, TOOL: PROMPT`: an owner has another agent made
{WHAT_I_CALL}
- `help`

One message may hold several of them, one per line."""

PHRASES_FIRST_TRIED: Final[Sequence[Phrase]] = (
    (r"run:\s*(?P<command>.+)", "shell", {}),
    *SKILLS,
    *GOALS,
    (r"(?:ls|list (?:all )?(?:the )?files)(?: (?:in |of |under )?(?P<path>.+))?", "list_files", {"path": "."}),
    *DOCUMENT_PHRASES,
    *PAGE_PHRASES,
    (r"read (?:the page )?(?P<url>https?://\S+)", "http_get", {}),
    (r"read (?:the file )?(?P<path>.+?) from byte (?P<offset>[\d,]{1,15})", "read_file", {}),
    (r"read (?:the file )?(?P<path>.+)", "read_file", {}),
    (r"write (?P<content>.+) to (?:the file )?(?P<path>.+)", "write_file", {}),
    (r"search for (?P<pattern>.+?)(?: in (?P<path>\S+))?", "search_files", {"path": "."}),
    (r"look up (?P<query>.+)", "docs_search", {}),
    (r"search the web for (?P<query>.+)", "web_search", {}),
    (r"send (?:me )?the file (?P<path>.+)", "send_file", {}),
    (r"react with (?P<emoji>\S+)", "react", {}),
    (r"change your (?P<message>last) (?:answer|message) to (?P<text>.+)", "edit_own", {}),
    (r"post (?P<text>.+) (?P<to>here)", "channel_send", {}),
    (r"post (?P<text>.+) in (?P<to>[a-z]+:\S+)", "channel_send", {}),
    (r"delegate and tell me: ?(?P<goal>.+)", "delegate", {"wait": False}),
    (r"delegate each: ?(?P<goals>.+)", "delegate_many", {}),
    (r"delegate(?: to (?P<agent>[\w-]+))?: ?(?P<goal>.+)", "delegate", {}),
    (r"hand (?:this |it )?over to (?P<agent>[\w-]+): ?(?P<text>.+)", "hand_over", {}),
    (
        r"(?:make|create) (?:an |the )?agent (?P<name>[\w-]+)(?: with (?P<tools>[^:]+))?: ?(?P<prompt>.+)",
        "agent_create",
        {},
    ),
    (r"(?:ask the peer|ask peer) (?P<peer>[\w-]+):? ?(?P<text>.+)", "a2a_ask", {}),
    (r"which peers are there\??|list (?:the )?peers", "a2a_peers", {}),
    (r"ask (?P<to>me|the room|[\w-]+) (?P<question>[^?]+\?)(?: (?P<options>.+(?:,| or ).+))?", "ask_person", {}),
)
# The first phrase that fits a line decides; what fits none is chat. A group is the argument of its name.
PHRASES: Final = [
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), tool, defaults)
    for pattern, tool, defaults in (*PROGRAMS, *RECORDS, *PHRASES_FIRST_TRIED, *MEMORIES, *WORKFLOWS, *WATCHES, *PLANS)
]
FIRST_PHRASES: Final = PHRASES[: len(PROGRAMS) + len(RECORDS) + len(PHRASES_FIRST_TRIED)]
PLAN_LINE_MAX_CHARS: Final = 4_000
"""Characters of a line in which a plan is looked for: where a time ends takes many tries to find."""
VERBATIM: Final = AS_WRITTEN | {
    "query",
    "shell",
    "ask_person",
    "delegate",
    "delegate_many",
    "hand_over",
    "a2a_ask",
    "agent_create",
    "skill_run",
    "skill_propose",
    "speak",
}
OF_PROGRAMS: Final = frozenset(tool for _, tool, _ in PROGRAMS)
HELP: Final = re.compile(r"/?help|what can you do", re.IGNORECASE)
OBEY: Final = re.compile(r"do what (?:it|the page|the file) says[.!]?", re.IGNORECASE)
OBEYED_MAX: Final = 5
"""Lines of a text that are obeyed."""
THINK: Final = re.compile(r"(?:please )?think (?:about|over) (?P<subject>.+?)[.!?]*", re.IGNORECASE)
ASKS_WHAT_WAITS: Final = re.compile(r"approv|wait|pending|status|still", re.IGNORECASE)
BETWEEN_OPTIONS: Final = re.compile(r",(?: or )?| or ", re.IGNORECASE)
QUOTED: Final = re.compile(r"^([\"'`])((?:(?!\1).)+)\1$", re.DOTALL)
AUTHOR: Final = re.compile(r"\[(?!redacted: |withheld: )[^\]\n]{1,80}\] ")  # marks of the leak guard stay
"""How a line begins that names who wrote it."""
ATTACHED: Final = re.compile(r"\[attached file: (?P<path>.+?)(?: \([\d,]+ bytes\))?\]")
"""The line that stands in a message for each file that came with it."""
MISSING: Final = re.compile(re.escape(OURS) + r"The file (?P<path>.+?) could not be fetched: (?P<why>.+)")
VOICE: Final = re.compile(r"\[voice note .+?: (?P<words>.*)\]")
"""What is said of a file that did not come, and of one that is somebody speaking: see `runtime.intake.downloads`."""


MADE_OF: Final = {
    **dict.fromkeys((tool for _, tool, _ in RECORDS), record_of),
    "workflow_start": started,
    "goal_set": aimed,
    "skill_propose": proposed,
    "watch_for": watch_of,
}
"""Arguments that are made of several parts of a phrase, by tool."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A line that asks for a tool."""

    tool: str
    arguments: Mapping[str, Json]


def wish(line: str) -> Wish | None:
    """Call that `line` asks for; None for chat.

    >>> wish("Please write hello to notes.txt.")
    Wish(tool='write_file', arguments={'content': 'hello', 'path': 'notes.txt'})
    """
    line = parts_of(re.sub(r"^please\s+", "", without_skill(line), flags=re.IGNORECASE))[0]
    if called := named_call(line):
        return Wish(*called)
    for pattern, tool, defaults in PHRASES if len(line) <= PLAN_LINE_MAX_CHARS else FIRST_PHRASES:
        if found := pattern.fullmatch(line if tool in VERBATIM or tool in OF_PROGRAMS else without_full_stop(line)):
            groups = {name: value.strip() for name, value in found.groupdict().items() if value}
            if tool in OF_PROGRAMS:
                return Wish(tool, program_of(tool, groups))
            return Wish(tool, {**defaults, **arguments_of(tool, groups)})
    return None


def wishes_of(line: str, turns: Sequence[Turn]) -> list[Wish]:
    """Calls that a person's line asks for: one, or those of the text that was read last, which it has me obey."""
    if not asks_to_obey(line):
        several = [found for part in parts_of(line) if (found := wish(part))]
        if len(several) > 1:
            return several
        found = wish(line)
        if found and found.tool == "plan_set":
            return [Wish(found.tool, one) for one in ticked_off(line.partition(":")[2])]
        if found and found.arguments.get("path") == THIS_FILE:
            path = sent_last(turns)
            return [Wish(found.tool, {**found.arguments, "path": path})] if path else []
        if found and found.tool == "stop_child" and not found.arguments:
            return [Wish(found.tool, {"child": child})] if (child := handed_on_last(turns)) else []
        if found and found.tool == "skill_propose" and (form := form_read(str(found.arguments["name"]), turns)):
            return [Wish(found.tool, {**found.arguments, "base": form})]
        return [found] if found else []
    read = next((turn.text for turn in reversed(turns) if isinstance(turn, ToolTurn)), "")
    return [found for one in unfenced(read).splitlines() if (found := wish(one.strip()))][:OBEYED_MAX]


def asks_to_obey(line: str) -> bool:
    return OBEY.fullmatch(line) is not None


def finding(tools: Iterable[str], turns: Sequence[Turn]) -> list[Wish]:
    """The search for tools that are not offered; none once the newest message led to one."""
    newest = max((i for i, turn in enumerate(turns) if isinstance(turn, UserTurn)), default=0)
    return [] if any(map(is_finding, turns[newest:])) else [Wish(FIND_TOOLS, {"words": " ".join(tools)})]


def without_finding(turns: Sequence[Turn]) -> list[Turn]:
    """The turns as they would be if no tool had to be found."""
    return [turn for turn in turns if not is_finding(turn)]


def is_finding(turn: Turn) -> bool:
    match turn:
        case AssistantTurn(_, calls):
            return bool(calls) and all(call.tool == FIND_TOOLS for call in calls)
        case ToolTurn(_, tool):
            return tool == FIND_TOOLS
        case _:
            return False


def arguments_of(tool: str, groups: Mapping[str, str]) -> dict[str, Json]:
    """Arguments that the parts of a phrase are."""
    if tool == "ask_person":
        to = {"me": "", "the room": ANYBODY}.get(groups["to"].lower(), groups["to"])
        found = BETWEEN_OPTIONS.split(without_full_stop(groups.get("options", "")))
        options: list[Json] = [one.strip() for one in found if one.strip()]
        return {"question": groups["question"], "to": to} | ({"options": options} if options else {})
    if made := MADE_OF.get(tool):
        return made(groups)
    if "kept" in groups:
        return memory_of(groups)
    if "goals" in groups:
        return {"goals": [one.strip() for one in groups["goals"].split(";") if one.strip()]}
    if "tools" in groups:
        return {**groups, "tools": [one.strip() for one in re.split(r",| and ", groups["tools"]) if one.strip()]}
    if tool == "plan_set":
        return ticked_off(groups["steps"])[-1]
    if tool == "task_post":
        return with_title(groups)
    if tool == "chart":
        return {"title": groups["path"].rpartition("/")[2], **groups}
    if "offset" in groups:
        return {"path": unquoted(groups)["path"], "offset": int(groups["offset"].replace(",", "") or 0)}
    return dict(with_task(groups) if tool in VERBATIM else unquoted(groups))


def attached(line: str) -> str | None:
    """The file that came with the message, if this line tells of one."""
    found = ATTACHED.fullmatch(line)
    return found["path"] if found else None


def missing(turns: Iterable[Turn]) -> dict[str, str]:
    """Files that did not come, by path, and why."""
    told = (line for turn in turns if isinstance(turn, UserTurn) for line in turn.text.splitlines())
    return {found["path"]: found["why"] for found in map(MISSING.fullmatch, told) if found}


def told_later(turns: Iterable[Turn]) -> list[str]:
    """Ends of work that was handed on and that nobody waited for."""
    found = (turn.text for turn in turns if isinstance(turn, UserTurn) and turn.text.startswith(TOLD_LATER))
    return [unfenced(text.partition("\n\n")[2]) for text in found]


def asks_for_help(line: str) -> bool:
    return HELP.fullmatch(line.rstrip(".!?")) is not None


def pondered(line: str) -> str:
    """The subject that `line` has the model think about; empty where it has not."""
    found = THINK.fullmatch(line)
    return found["subject"] if found else ""


def asks_what_waits(line: str) -> bool:
    return ASKS_WHAT_WAITS.search(line) is not None


def without_full_stop(line: str) -> str:
    """A sentence's end is not part of a file's name, but `..` is one."""
    return re.sub(r"(?<=[\w\"'`)])[.!?]+$", "", line)


def unquoted(groups: Mapping[str, str]) -> dict[str, str]:
    return {name: QUOTED.sub(r"\2", value) for name, value in groups.items()}


def lines(turns: Iterable[Turn]) -> Iterator[str]:
    """Lines that people wrote; of scheduled work its task."""
    for turn in turns:
        if isinstance(turn, UserTurn) and not turn.text.startswith(TOLD_LATER):
            work = due(turn.text)
            for line in (work.task if work else asked_in_turn(turn.text)).splitlines():
                if line.startswith(OURS):
                    continue
                words = VOICE.sub(r"\g<words>", line.strip())
                if words := words if attached(words) else AUTHOR.sub("", words, count=1).strip():
                    yield words
