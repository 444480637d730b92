"""Scenes in which each tool is called once, and words that each must give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.e2e.scenes import SLOWLY, Scene, named, use

BROWSER: Final = frozenset(
    {"browser_open", "browser_read", "browser_fill", "browser_click", "browser_screenshot", "browser_close"}
)
"""Tools that need a Chromium."""
TEST: Final = "import unittest\nclass T(unittest.TestCase):\n    def test_tea(self): pass\n"

MODULE: Final = (
    r"\000asm\001\000\000\000\001\004\001\140\000\000\003\002\001\000"
    r"\007\012\001\006_start\000\000\012\004\001\002\000\013"
)
"""A WebAssembly program that does nothing, for printf."""


def files() -> Scene:
    yield [
        use("write_file", path="notes.txt", content="The kettle is on."),
        use("write_file", path="test_tea.py", content=TEST),
        use("write_file", path="voice.ogg", content="OggS"),
    ]
    yield [
        use("list_files"),
        use("read_file", path="notes.txt"),
        use("search_files", pattern="kettle"),
        use("read_document", path="notes.txt"),
        use("send_file", path="notes.txt"),
        use("find_tools", words="git status"),
        use("transcribe", path="voice.ogg"),
        use("shell", command="cat notes.txt"),
    ]
    [made, _] = yield [use("image_make", prompt="a kettle"), use("speak", text="The kettle is on.")]
    yield [use("see", path=named(r"([\w./-]+\.png)", made), question="What is it?")]


def programs() -> Scene:
    chart = {"kind": "bar", "title": "Tea", "labels": ["a", "b"], "series": [{"name": "x", "values": [1, 2]}]}
    yield [use("write_file", path="test_tea.py", content=TEST)]
    yield [use("chart", **chart), use("compile"), use("run_tests")]
    yield [use("shell", command=f"printf '{MODULE}' > tea.wasm")]
    yield [use("container_exec", image="here:1", command="echo a boxed kettle"), use("wasm_run", path="tea.wasm")]
    [begun] = yield [use("process_start", command="cat")]
    process = named(r"Process (\w+)", begun)
    yield [use("process_write", process=process, text="tea\n")]
    yield [use("process_read", process=process, wait_seconds=2), use("process_list")]
    yield [use("process_stop", process=process)]


def posting() -> Scene:
    [posted] = yield [use("channel_send", to="here", text="The kettle boils.")]
    message = named(r"message (\w+)", posted)
    yield [
        use("delivery_status", message=message),
        use("edit_own", message=message, text="The kettle has boiled."),
        use("react", emoji="👍"),
    ]


def skills() -> Scene:
    yield [
        use("skill_read", name="tea"),
        use("skill_run", skill="tea", script="brew.sh", args="green"),
        use("skill_run", skill="tea", script="scripts/brew.sh", args="'black tea'"),
    ]
    head = "---\nname: coffee\ndescription: Makes coffee. Use when people ask for coffee.\n---\n"
    yield [use("skill_propose", name="coffee", why="They told me how.", text=f"{head}Grind the beans first.\n")]


def memory() -> Scene:
    yield [
        use("remember", text="Ada drinks green tea.", subject="Ada", relation="drinks"),
        use("relate", a="Ada", kind="knows", b="Otto"),
        use("state_set", key="cups", value="3"),
    ]
    yield [
        use("recall", query="green tea"),
        use("about", entity="Ada"),
        use("search_messages", query="memory"),
        use("state_get", key="cups"),
        use("state_list"),
    ]
    yield [use("state_delete", key="cups"), use("forget", words="green tea")]


def reports() -> Scene:
    yield [use("activity"), use("costs"), use("dead_letters"), use("pending_approvals"), use("feedback")]


def schedules(room: str) -> Callable[[], Scene]:
    def scene() -> Scene:
        plan = {"when": "daily at 9", "task": "Say hello."}
        yield [
            use("set_zone", zone="Europe/Berlin"),
            use("schedule_set", name="hello", **plan),
            use("schedule_elsewhere", name="there", room=f"web:main/{room}", **plan),
        ]
        yield [use("schedule_list"), use("schedule_history", name="hello"), use("schedule_pause", name="hello")]
        yield [use("schedule_resume", name="hello"), use("schedule_change", name="hello", when="daily at 10")]
        yield [use("schedule_run", name="hello")]
        yield [use("schedule_delete", name="hello")]

    return scene


def tasks() -> Scene:
    [posted] = yield [use("task_post", title="Tea", goal="Buy tea.")]
    task = named(r"\((\w{6})\)", posted)
    plan = [{"text": "Buy tea", "state": "doing"}]
    yield [use("task_list"), use("task_claim", task=task), use("plan_set", steps=plan)]
    yield [use("task_complete", task=task, result="Bought.")]
    yield [use("watch_for", event="words", words=["kettle"])]
    yield [use("watch_list"), use("watch_end", name="kettle"), use("workflow_list")]
    yield [use("workflow_start", name="tidy"), use("goal_set", text="Make tea\nverify: it is hot\nturns: 1")]


def others() -> Scene:
    yield [use("ask_person", question="Green or black?", options=["Green", "Black"])]
    yield [use("agent_create", name="brewer", prompt="You brew tea.")]
    yield [
        use("delegate", goal="Warm the pot.", agent="helper"),
        use("delegate_many", goals=["One.", "Two."], agents=["helper", "helper"]),
    ]
    [begun] = yield [use("delegate", goal=SLOWLY, agent="helper", wait=False)]
    yield [use("children")]
    yield [use("stop_child", child=named(r"\((\w+)\)", begun))]
    yield [use("hand_over", agent="helper", text="They want tea.")]


def pages(url: str) -> Callable[[], Scene]:
    def scene() -> Scene:
        yield [use("web_search", query="tea"), use("http_get", url=f"{url}/page")]
        yield [use("http_request", method="POST", url=f"{url}/page", body="{}")]
        yield [use("a2a_peers"), use("a2a_ask", peer="billing", text="Is tea paid?")]
        yield [use("query", sql="SELECT kind FROM tea"), use("docs_search", query="kettle")]

    return scene


def git(url: str) -> Callable[[], Scene]:
    def scene() -> Scene:
        yield [use("git_clone", url=f"{url}/tea.git", folder="tea")]
        yield [use("git_branch", name="topic", path="tea", create=True)]
        yield [use("write_file", path="tea/README", content="Green tea.\n")]
        yield [use(name, path="tea") for name in ("git_status", "git_diff", "git_log", "git_branches")]
        [made] = yield [use("git_commit", message="It's green", path="tea")]
        commit = named(r"Committed ([0-9a-f]+)", made)
        yield [use("git_push", url=f"{url}/tea.git", branch="topic", commit=commit, path="tea")]
        yield [use("git_branch", name="main", path="tea", create=False)]
        yield [use("git_pull", path="tea")]

    return scene


def browsing(url: str) -> Callable[[], Scene]:
    def scene() -> Scene:
        [page] = yield [use("browser_open", url=f"{url}/form")]
        yield [use("browser_fill", target=named(r"\[([\w-]+)\] \w+ Kind", page), text="green")]
        [page] = yield [use("browser_read")]
        yield [use("browser_click", target=named(r"\[([\w-]+)\] button", page))]
        yield [use("browser_screenshot", path="screenshots/tea.png")]
        yield [use("browser_close")]

    return scene


PLAIN: Final = (files, programs, posting, skills, memory, reports, tasks, others)
"""Scenes that need nothing from outside."""
GIVES: Final = {
    "a2a_ask": "Done: Is tea paid?",
    "a2a_peers": "Bills: Looks up bills.",
    "about": "Ada knows Otto",
    "activity": '"messages"',
    "agent_create": "The agent brewer is there now",
    "ask_person": 'owner answered: "Green"',
    "browser_click": "Thank you: green",
    "browser_close": "closed",
    "browser_fill": "Filled in.",
    "browser_open": "Which tea?",
    "browser_read": "Which tea?",
    "browser_screenshot": "Took screenshots/tea.png",
    "channel_send": "It is posted",
    "chart": "Drew charts/",
    "children": "helper: at work",
    "compile": "python: compiled.",
    "container_exec": "a boxed kettle",
    "costs": '"cost_micros"',
    "dead_letters": '"letters": []',
    "delegate": "That piece is done.",
    "delegate_many": "That piece is done.",
    "delivery_status": "It is shown.",
    "docs_search": "The kettle stands on the left.",
    "edit_own": "was edited",
    "feedback": '"ratings": []',
    "find_tools": "- git_status:",
    "forget": "Forgotten for good",
    "git_branch": "is on topic now",
    "git_branches": "* topic",
    "git_clone": "Cloned main",
    "git_commit": "It's green",
    "git_diff": "+Green tea.",
    "git_log": "The first files",
    "git_pull": "main has all",
    "git_push": "Pushed: topic",
    "git_status": "## topic",
    "goal_set": "The goal is set",
    "hand_over": "helper answers here next.",
    "http_get": "A page about tea.",
    "http_request": "A page about tea.",
    "image_make": "Made pictures/",
    "list_files": "notes.txt",
    "pending_approvals": '"approvals"',
    "plan_set": "The plan is shown.",
    "process_list": "s. cat",
    "process_read": "tea\n",
    "process_start": "has run for",
    "process_stop": "is stopped.",
    "process_write": "Written to",
    "query": "1 row, 1 column",
    "react": "marked with 👍",
    "read_document": "The kettle is on.",
    "read_file": "The kettle is on.",
    "recall": "Ada drinks green tea.",
    "relate": "Kept for owner alone",
    "remember": "Kept for owner alone",
    "run_tests": "1 passed",
    "schedule_change": "every day at 10:00",
    "schedule_delete": "is deleted",
    "schedule_elsewhere": 'Planned: "there"',
    "schedule_history": '"hello"',
    "schedule_list": "every day at 09:00",
    "schedule_pause": "is paused",
    "schedule_resume": "Resumed",
    "schedule_run": 'started "hello"',
    "schedule_set": 'Planned: "hello"',
    "search_files": "notes.txt:1",
    "search_messages": "scene memory",
    "see": "That piece is done.",
    "send_file": "is attached",
    "set_zone": "Europe/Berlin",
    "shell": "The kettle is on.",
    "skill_propose": "The skill coffee is there now, accepted by owner.",
    "skill_read": "Warm the pot first.",
    "skill_run": "brews black tea",
    "speak": "Made speech/the-kettle-is-on-",
    "state_delete": "Removed.",
    "state_get": "version 1\n3",
    "state_list": "- cups",
    "state_set": "version 1",
    "stop_child": "It ends now.",
    "task_claim": "Buy tea.",
    "task_complete": "is done",
    "task_list": "Tea: open",
    "task_post": "Posted the task",
    "transcribe": "I hear 4 bytes.",
    "wasm_run": "exit code 0",
    "watch_end": "Ended",
    "watch_for": "Watching",
    "watch_list": 'somebody says "kettle"',
    "web_search": "All about tea.",
    "workflow_list": "- tidy, 1 step:",
    "workflow_start": "The workflow tidy has begun",
    "write_file": "Wrote 17 bytes",
}
"""Words of each tool's result, if all went well."""
