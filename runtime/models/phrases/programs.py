"""Phrases about repositories, programs and tests that the demo model understands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from runtime.contract import Json

Phrase = tuple[str, str, Mapping[str, Json]]

IN: Final = r"(?: in (?P<path>\S+))?"
# As `demo_phrases.PHRASES` has them.
PROGRAMS: Final[Sequence[Phrase]] = (
    *((rf"git {word}{IN}", f"git_{word}", {}) for word in ("status", "diff", "log", "branches")),
    (r"commit(?: in (?P<path>[^\s:]+))?: ?(?P<message>.+)", "git_commit", {}),
    (rf"(?P<create>new )?branch (?P<name>\S+){IN}", "git_branch", {}),
    (r"clone (?P<url>https?://\S+)(?: into (?P<folder>\S+))?", "git_clone", {}),
    (rf"git pull{IN}", "git_pull", {}),
    (r"(?:run|make) the tests(?: with (?P<pattern>\S+))?(?: in (?P<path>\S+))?", "run_tests", {}),
    (r"compile (?P<path>\S+)", "compile", {}),
    (r"run in (?:a )?container of (?P<image>[^\s:]+(?::[^\s:]+)?): ?(?P<command>.+)", "container_exec", {}),
    (r"run (?:the )?module (?P<path>\S+)", "wasm_run", {}),
    (r"start: ?(?P<command>.+)", "process_start", {}),
    (r"read (?:the )?process (?P<process>\w+)", "process_read", {}),
    (r"tell (?:the )?process (?P<process>\w+): ?(?P<text>.+)", "process_write", {}),
    (r"stop (?:the )?process (?P<process>\w+)", "process_stop", {}),
    (r"(?:list )?(?:the )?processes", "process_list", {}),
    (rf"push (?P<commit>[0-9a-f]+) to (?P<branch>\S+) of (?P<url>https?://\S+){IN}", "git_push", {}),
)
WHAT_I_RUN: Final = """\
- `git status` (or `git diff`, `git log`, `git branches`; `in FOLDER`), `clone URL`
- `commit: MESSAGE` (or `commit in FOLDER: MESSAGE`), `new branch NAME` (or `new branch NAME in FOLDER`)
- `start: COMMAND`, which runs on (then `read process ID`, `tell process ID: TEXT`, `stop process ID`, `list processes`)
- `run the tests` (or `run the tests with WORDS in FOLDER`), `compile FOLDER`
- `run in a container of IMAGE: COMMAND`, `run the module FILE.wasm`"""


def program_of(tool: str, groups: Mapping[str, str]) -> dict[str, Json]:
    """Arguments that the parts of a phrase are.

    >>> program_of("git_branch", {"create": "new ", "name": "topic"})
    {'name': 'topic', 'create': True}
    """
    rest: dict[str, Json] = {name: value for name, value in groups.items() if name != "create"}
    if "create" in groups:
        rest["create"] = True
    if tool == "process_write":
        rest["text"] = f"{groups['text']}\n"
    if tool == "process_read":
        rest["wait_seconds"] = 1
    return rest
