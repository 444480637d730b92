"""Words of the demo model for a tool's result."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from runtime.contract import Call
from runtime.domain.transcript import (
    CHANGED,
    DENIED,
    ERROR,
    NO_ANSWER,
    NOT_RUN,
    STILL_AT_WORK,
    WAITING_FOR_ANSWER,
    WAITING_FOR_APPROVAL,
)
from runtime.text.glyphs import bound
from runtime.text.outside import unfenced

TELLING: Final[Mapping[str, tuple[str, str, str]]] = {
    "list_files": ("list the files in", "Files in", "path"),
    "read_file": ("read", "Contents of", "path"),
    "http_get": ("read", "Contents of", "url"),
    "read_document": ("read", "Contents of", "path"),
    "chart": ("draw", "", "path"),
    "query": ("ask the database", "Answer to", "sql"),
    "write_file": ("write", "Written to", "path"),
    "search_files": ("search for", "Matches for", "pattern"),
    "shell": ("run", "Output of", "command"),
    "schedule_set": ("plan", "", "when"),
    "schedule_elsewhere": ("plan for another room", "", "when"),
    "schedule_change": ("change", "", "name"),
    "schedule_pause": ("pause", "", "name"),
    "schedule_resume": ("resume", "", "name"),
    "schedule_delete": ("delete", "", "name"),
    "schedule_run": ("run", "", "name"),
    "schedule_history": ("look up", "", "name"),
    "schedule_list": ("look at", "", ""),
    "delegate": ("hand on", "", "goal"),
    "delegate_many": ("hand on", "", "goals"),
    "hand_over": ("hand over", "", "text"),
    "agent_create": ("make", "", "name"),
    "task_post": ("post", "", "title"),
    "task_list": ("look at", "", ""),
    "task_claim": ("claim", "", "task"),
    "task_complete": ("complete", "", "task"),
    "plan_set": ("show", "", ""),
    "workflow_start": ("start the workflow", "", "name"),
    "goal_set": ("set the goal", "", "text"),
    "workflow_list": ("look at", "", ""),
    "watch_for": ("watch for", "", "event"),
    "watch_list": ("look at", "", ""),
    "watch_end": ("end", "", "name"),
    "docs_search": ("look up", "", "query"),
    "web_search": ("search the web for", "Found for", "query"),
    "send_file": ("send", "", "path"),
    "channel_send": ("post", "", "text"),
    "react": ("react with", "", "emoji"),
    "edit_own": ("change", "", "message"),
    "remember": ("keep", "", "text"),
    "recall": ("look up", "", "query"),
    "forget": ("forget", "", "words"),
    "relate": ("keep", "", "kind"),
    "about": ("look up", "", "entity"),
    "search_messages": ("look for messages about", "", "query"),
    "git_status": ("look at", "Output of", "path"),
    "git_diff": ("look at", "Output of", "path"),
    "git_log": ("look at", "Output of", "path"),
    "git_branches": ("look at", "Output of", "path"),
    "git_branch": ("switch to", "", "name"),
    "git_commit": ("commit", "", "message"),
    "git_clone": ("clone", "", "url"),
    "git_pull": ("pull", "", ""),
    "git_push": ("push", "", "commit"),
    "process_start": ("start", "Started", "command"),
    "process_read": ("read the process", "Said by", "process"),
    "process_write": ("tell the process", "", "text"),
    "process_stop": ("stop the process", "", "process"),
    "run_tests": ("run the tests in", "Tests in", "path"),
    "compile": ("compile", "Compiling", "path"),
    "process_list": ("look at", "Output of", ""),
    "browser_open": ("open", "Page at", "url"),
    "browser_read": ("read", "Page in", ""),
    "browser_screenshot": ("take a picture as", "", "path"),
    "browser_click": ("click", "After the click on", "target"),
    "browser_fill": ("type", "After typing", "text"),
    "browser_close": ("close", "", ""),
    "image_make": ("draw a picture of", "", "prompt"),
    "see": ("look at", "", "path"),
    "speak": ("speak", "", "text"),
    "transcribe": ("write down", "Words in", "path"),
    "container_exec": ("run in a container", "Output of", "command"),
    "wasm_run": ("run the module", "Output of", "path"),
    "a2a_ask": ("ask the peer", "Answer to", "text"),
    "a2a_peers": ("look at", "", ""),
    "ask_person": ("ask", "", "question"),
    "skill_read": ("read the skill", "The skill", "name"),
    "skill_run": ("run the script", "Output of", "script"),
    "skill_propose": ("propose the skill", "", "name"),
    "activity": ("count", "Result of", ""),
    "costs": ("add up", "Result of", ""),
    "feedback": ("look up", "Result of", ""),
    "pending_approvals": ("list", "Result of", ""),
    "dead_letters": ("list", "Result of", ""),
    "delivery_status": ("look up the message", "", "message"),
    "children": ("look at", "", ""),
    "stop_child": ("stop", "", "child"),
    "state_set": ("keep", "", "key"),
    "state_get": ("look up", "Kept under", "key"),
    "state_list": ("list", "Result of", ""),
    "state_delete": ("remove", "", "key"),
    "http_request": ("send to", "Answer of", "url"),
    "set_zone": ("set the time zone", "", "zone"),
}
"""Per tool: what we tried, what we show, and the argument that names it. Where nothing is said of what we show, the result
is words for people already."""

IN_A_FOLDER: Final = frozenset(("run_tests", "git_status", "git_diff", "git_log", "git_branches"))
"""Tools that work in this folder where no other is named."""
OF_MODELS: Final = "attached to your reply"
OF_PEOPLE: Final = "attached to this reply"
"""How a result says where its file is, and how an answer does."""
RAN_WITH: Final = " had it run with "
"""Stands between whoever changed a call and the arguments that ran."""


def outcome(call: Call, result: str) -> str:
    """One call's result in words a person can use."""
    result, mark, change = unfenced(result).partition(CHANGED)
    if mark:
        ran = replace(call, arguments=change.partition(RAN_WITH)[2])
        return f"{_outcome(ran, result)}\n\nThe call was changed: {inline(change)}"
    return _outcome(call, result)


def _outcome(call: Call, result: str) -> str:
    tried, shown, argument = TELLING.get(call.tool, ("call", "Result of", ""))
    thing = inline(subject(call, argument))
    if result.startswith(WAITING_FOR_ANSWER):
        return f"I asked {thing} and wait for the answer."
    if result.startswith(NO_ANSWER):
        return f"I have no answer to {thing}: {result.removeprefix(NO_ANSWER)}"
    if result.startswith(STILL_AT_WORK):
        return f"I handed {thing} on, and that's {bound(result, 300)}."
    if is_waiting(result):
        return f"I asked to {tried} {thing}; that is {bound(result, 300)}."
    if result.startswith(DENIED):
        return f"I wasn't allowed to {tried} {thing}:{reason(result.removeprefix(DENIED).removesuffix(NOT_RUN))}"
    if result.startswith(ERROR):
        return f"I couldn't {tried} {thing}:{reason(result.removeprefix(ERROR))}"
    if call.tool == "hand_over":
        return f"{result.partition('. ')[0]}."  # what follows is said to the model
    if not shown and result.strip():
        return result.replace(OF_MODELS, OF_PEOPLE)
    return f"{shown} {thing}:\n\n{fenced(result)}" if result.strip() else f"{shown} {thing}: nothing."


def purpose(call: Call) -> str:
    """The deed that a call that waits would do."""
    tried, _, argument = TELLING.get(call.tool, ("call", "", ""))
    return f"That's why I'd like to {tried} “{bound(subject(call, argument), 300)}”."


def reason(text: str) -> str:
    return f"\n\n{fenced(text)}" if "\n" in text.strip() else f" {text.strip()}"


def is_waiting(result: str) -> bool:
    return result.startswith((WAITING_FOR_APPROVAL, WAITING_FOR_ANSWER, STILL_AT_WORK))


def subject(call: Call, argument: str) -> str:
    try:
        given = json.loads(call.arguments)
        return str(given.get("path", ".") if call.tool in IN_A_FOLDER else given[argument] or call.tool)
    except (ValueError, KeyError, TypeError, AttributeError):
        return call.tool


def inline(text: str) -> str:
    """`text` as code within a line, on one line."""
    text = " ".join(bound(text, 300).split())
    ticks = "`" * (longest_run(text) + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def fenced(text: str) -> str:
    """`text` as a code block, with a fence longer than any in it."""
    fence = "`" * max(3, longest_run(text) + 1)
    return f"{fence}\n{text.removesuffix(chr(10))}\n{fence}"


def longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
