"""Projects that are tested and compiled for real in the sandbox."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from runtime.contract import CardContext, CardNote, Effect, Tool, ToolContext
from runtime.errors import ToolFailed, ToolRetry
from tests.unit.tools.conftest import working
from tools.builds.tools import OwnCommands, build_tools
from tools.files.workspace import own
from tools.sandbox.bubblewrap import Bubblewrap
from tools.sandbox.shell import ShellSettings

UNITTEST = """\
import unittest

class Sums(unittest.TestCase):
    def test_fine(self): pass
    def test_wrong(self):
        self.assertEqual(3, 4)
    @unittest.skip("later")
    def test_later(self): pass
"""


@pytest.fixture
def tools(bubblewrap: Bubblewrap) -> Mapping[str, Tool]:
    return made(bubblewrap)


def made(sandbox: Bubblewrap, commands: OwnCommands | None = None, seconds: float = 60) -> Mapping[str, Tool]:
    every = build_tools(sandbox, timeout=timedelta(seconds=seconds), own=commands or OwnCommands())
    return {tool.spec.name: tool for tool in every}


def written(workspace: Path, **files: str) -> None:
    for name, text in files.items():
        path = workspace / name.replace("__", ".")
        path.write_text(text)
        own(path, ShellSettings().uid)


async def test_tests_of_python_are_told(tools: Mapping[str, Tool], workspace: Path, context: ToolContext) -> None:
    written(workspace, test_sums__py=UNITTEST)
    told = await tools["run_tests"].call({}, context)
    first, second = told.splitlines()
    assert first.startswith("unittest: 1 passed, 1 failed, 1 skipped")
    assert second.startswith("1. test_wrong (test_sums.Sums")
    assert second.endswith("(test_sums.py:6): AssertionError: 3 != 4")
    assert "1 passed, 0 failed" in await tools["run_tests"].call({"pattern": "fine"}, context)


async def test_a_file_of_results_is_read_and_removed(
    bubblewrap: Bubblewrap, workspace: Path, context: ToolContext
) -> None:
    case = '<testsuite time="1.5"><testcase classname="a" name="b"><failure message="no">a.py:7: x</failure></testcase></testsuite>'
    tools = made(bubblewrap, OwnCommands(testing=f"echo '{case}' > .signalbox-junit.xml; exit 1"))
    assert await tools["run_tests"].call({}, context) == (
        "your command: 0 passed, 1 failed, 0 skipped in 1.5 s.\n1. a::b (a.py:7): no"
    )
    assert not (workspace / ".signalbox-junit.xml").exists()
    outside = workspace.parent / "secret.txt"
    tools = made(bubblewrap, OwnCommands(testing=f"ln -s {outside} .signalbox-junit.xml"))
    assert "can't be told" in await tools["run_tests"].call({}, context)


@pytest.mark.skipif(shutil.which("gcc", path="/usr/bin") is None, reason="there is no gcc here")
async def test_complaints_of_a_compiler_name_their_line(
    tools: Mapping[str, Tool], workspace: Path, context: ToolContext
) -> None:
    written(workspace, a__c="int main(void) {\n    int x\n}\n")
    told = await tools["compile"].call({}, context)
    assert told.startswith("gcc ended with exit code 1: 1 error.\na.c:3: expected ")
    written(workspace, a__c="int main(void) { return 0; }\n")
    assert await tools["compile"].call({}, context) == "gcc: compiled."


async def test_python_is_compiled(tools: Mapping[str, Tool], workspace: Path, context: ToolContext) -> None:
    written(workspace, a__py="def\n")
    told = await tools["compile"].call({}, context)
    assert told == "python ended with exit code 1: 1 error.\na.py:1: SyntaxError: invalid syntax"


async def test_what_cannot_be_told_is_shown(bubblewrap: Bubblewrap, context: ToolContext) -> None:
    tools = made(bubblewrap, OwnCommands(testing="echo it broke; exit 7", compiling="yes no | head -c 300000; exit 2"))
    told = await tools["run_tests"].call({}, context)
    assert told == "your command ended with exit code 7; how many tests it ran can't be told.\nIt printed:\nit broke"
    assert len(await tools["compile"].call({}, context)) < 7_000


async def test_a_project_that_is_none_is_told(tools: Mapping[str, Tool], workspace: Path, context: ToolContext) -> None:
    written(workspace, notes__txt="hello")
    with pytest.raises(ToolFailed, match=r"No tests were found in '\.'"):
        await tools["run_tests"].call({}, context)
    with pytest.raises(ToolFailed, match=r"Nothing in '\.' is known how to compile"):
        await tools["compile"].call({}, context)
    with pytest.raises(ToolRetry):
        await tools["run_tests"].call({"pattern": "--rootdir=/"}, context)
    with pytest.raises(ToolFailed, match="outside the workspace"):
        await tools["compile"].call({"path": "/etc"}, context)


async def test_tests_without_end_are_stopped(workspace: Path, context: ToolContext) -> None:
    sandbox = await working(ShellSettings(timeout_seconds=1))
    tools = made(sandbox, OwnCommands(testing="echo begun; sleep 60"), seconds=1)
    with pytest.raises(ToolFailed, match=r"were stopped after 1 s\. It printed:\nbegun"):
        await tools["run_tests"].call({}, context)


def test_the_card_says_what_is_run(tools: Mapping[str, Tool], workspace: Path) -> None:
    written(workspace, go__mod="")
    for name in ("run_tests", "compile"):
        spec = tools[name].spec
        assert spec.effect is Effect.DANGER
        assert spec.card is not None
        parts = spec.card({}, CardContext(workspace))
        assert [part.text for part in parts if isinstance(part, CardNote)] == ["with go", "no network"]
