from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from runtime.contract import Effect, ToolContext
from runtime.errors import ToolFailed, ToolRetry
from tools.catalogue import first_tools
from tools.kit.process import Ended
from tools.sandbox.bubblewrap import Bubblewrap
from tools.sandbox.shell import ShellSettings, sandbox_for, told

MINUTE = timedelta(seconds=60)


def test_the_first_tools_are_these() -> None:
    tools = first_tools(ShellSettings())
    assert {name: (tool.spec.effect, list(tool.spec.schema["properties"])) for name, tool in tools.items()} == {
        "list_files": (Effect.READ, ["path"]),
        "read_file": (Effect.READ, ["path", "offset", "limit"]),
        "write_file": (Effect.WRITE, ["path", "content"]),
        "search_files": (Effect.READ, ["pattern", "path"]),
        "send_file": (Effect.READ, ["path", "name"]),
        "read_document": (Effect.READ, ["path", "url", "pages"]),
        "shell": (Effect.DANGER, ["command"]),
        "ask_person": (Effect.READ, ["question", "options", "to"]),
        "find_tools": (Effect.READ, ["words"]),
    }


def test_no_tool_with_effects_is_repeated_by_itself() -> None:
    tools = first_tools(ShellSettings())
    assert [name for name, tool in tools.items() if not tool.spec.repeatable] == ["write_file", "shell"]


def test_bare_is_never_chosen_by_itself() -> None:
    for mode in ("auto", "bwrap"):
        assert isinstance(sandbox_for(ShellSettings(sandbox=mode)), Bubblewrap)
    assert ShellSettings(sandbox="bwrap").required
    assert not ShellSettings(sandbox="auto").required


def test_the_runtime_waits_longer_than_the_command_may_take() -> None:
    assert first_tools(ShellSettings(timeout_seconds=90))["shell"].spec.timeout > timedelta(seconds=90)


async def test_a_command_that_fails_is_a_result(bubblewrap: Bubblewrap, context: ToolContext) -> None:
    shell = first_tools(ShellSettings(), sandbox=bubblewrap)["shell"]
    assert await shell.call({"command": "echo hello"}, context) == "hello\n[exit code 0]"
    assert await shell.call({"command": "echo no >&2; exit 3"}, context) == "no\n[exit code 3]"
    assert await shell.call({"command": "true"}, context) == "[no output, exit code 0]"


@pytest.mark.parametrize("arguments", [{"command": ["ls"]}, {}, {"cmd": "ls"}, {"command": "ls", "cwd": "/"}])
async def test_a_wrong_call_runs_nothing(arguments: Mapping[str, Any], context: ToolContext) -> None:
    with pytest.raises(ToolRetry):
        await first_tools(ShellSettings(sandbox="external"))["shell"].call(arguments, context)


@pytest.mark.parametrize("command", ["echo \0", "echo \ud83d"])
async def test_a_command_that_is_no_text_is_refused(command: str, context: ToolContext) -> None:
    with pytest.raises(ToolFailed, match="not valid text"):
        await first_tools(ShellSettings(sandbox="external"))["shell"].call({"command": command}, context)


def test_a_limit_that_was_reached_is_named() -> None:
    assert told(Ended("", 152, False), MINUTE) == "[no output, exit code 152 (the limit of processor time)]"
    assert told(Ended("x\n", 153, False), MINUTE) == "x\n[exit code 153 (the limit of file size)]"


def test_what_a_stopped_command_printed_is_told() -> None:
    with pytest.raises(ToolFailed, match=r"stopped after 60 s\. Until then it printed:\nhalf"):
        told(Ended("half\n", 137, True), MINUTE)
    with pytest.raises(ToolFailed, match="printed nothing"):
        told(Ended("", 137, True), MINUTE)
