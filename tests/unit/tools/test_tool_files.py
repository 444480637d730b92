"""Files with tools: looked at without being run, loaded with the line of a fault, and taken up anew when they change."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

from runtime.contract import Carries, Effect, Flow, Reads, RunId, SessionKey, ToolContext
from tools.kit.declare import tool
from tools.mcp.offers import Offer
from tools.mcp.terms import Endpoint, ServerTerms
from tools.plugins.declared import SERVED_MARGIN, spec_of, told
from tools.plugins.folder import FolderTools
from tools.plugins.loading import FileBroken, tools_in
from tools.plugins.reading import beside, files_in

GOOD: Final = '''
from signalbox.tools import Effect, tool

@tool(effect=Effect.READ)
def hello() -> str:
    """Say hello."""
    return "hello"

@tool()
def anything() -> str:
    """Do anything."""
    return "done"
'''
WHERE: Final = ToolContext(Path(), SessionKey(""), RunId(""), "")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "tools.d"
    place.mkdir(mode=0o755)
    return place


def put(folder: Path, name: str, text: str = GOOD, mode: int = 0o644) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


def faults(folder: Path) -> dict[str, str]:
    return {file.path.name: file.fault for file in files_in(folder)}


def test_a_file_tells_its_tools_without_being_run(folder: Path) -> None:
    put(folder, "greet.py", f"{GOOD}\nraise SystemExit('was run')\n")
    [file] = files_in(folder)
    assert file.fault == ""
    assert file.declared == {"hello": Effect.READ, "anything": Effect.DANGER}


def test_files_for_others_to_import_are_no_tools(folder: Path) -> None:
    put(folder, "_shared.py", "WORD = 'hi'\n")
    put(
        folder,
        "greet.py",
        GOOD.replace('"hello"\n', "WORD\n").replace("from signal", "from _shared import WORD\nfrom signal"),
    )
    assert list(faults(folder)) == ["greet.py"]
    assert asyncio.run(tools_in(folder / "greet.py")["hello"].call({}, WHERE)) == "hi"


@pytest.mark.parametrize("mode", [0o664, 0o646])
def test_a_file_that_others_may_write_is_refused(folder: Path, mode: int) -> None:
    path = put(folder, "greet.py", mode=mode)
    assert faults(folder)["greet.py"] == f"others may write to {path}; run: chmod go-w {path}"


def test_nothing_is_used_of_a_folder_that_others_may_write(folder: Path) -> None:
    put(folder, "greet.py")
    folder.chmod(0o777)
    assert "others may write" in faults(folder)["greet.py"]


def test_a_link_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "greet.py").symlink_to(put(tmp_path, "elsewhere.py"))
    assert "is a link" in faults(folder)["greet.py"]


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("broken.py", "x = 1\ndef broken(:\n", "broken.py:2: invalid syntax"),
        ("Upper.py", GOOD, "its name must be lowercase letters"),
        ("nul.py", "x = 1\0", "source code string cannot contain null bytes"),
        ("large.py", "#" * 1_048_577, "it has more than 1,048,576 bytes"),
    ],
)
def test_a_broken_file_is_told_with_its_line_and_others_go_on(folder: Path, name: str, text: str, fault: str) -> None:
    put(folder, name, text)
    put(folder, "greet.py")
    assert fault in faults(folder)[name]
    assert faults(folder)["greet.py"] == ""


@pytest.mark.parametrize("text", [f"x = {'-' * 100_000}1", f"x = {'+'.join('1' * 50_000)}"], ids=["signs", "sums"])
def test_a_file_that_no_parser_gets_through_is_told_and_others_go_on(folder: Path, text: str) -> None:
    put(folder, "deep.py", text)
    put(folder, "good.py")
    assert faults(folder) == {"deep.py": "it is nested too deep to be read", "good.py": ""}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("x = 1\nimport nothing_like_this\n", "late.py:2: ModuleNotFoundError: No module named 'nothing_like_this'"),
        ("def f():\n    return 1 / 0\nf()\n", "late.py:2: ZeroDivisionError: division by zero"),
        ("x = 1\n", "late.py: there's no tool in it"),
        ("raise SystemExit(3)\n", "late.py: it ends the process (3)"),
    ],
)
def test_a_fault_while_loading_is_told_with_its_line(folder: Path, text: str, fault: str) -> None:
    with pytest.raises(FileBroken) as told_:
        tools_in(put(folder, "late.py", text))
    assert fault in str(told_.value)


def test_declarations_come_through_as_they_were_made() -> None:
    flow = Flow(Reads.PEOPLE, "mail", stays=True, carries={"word": Carries.WORDS})

    @tool(effect=Effect.WRITE, idempotent=True, output_bound=99, polls=True, seldom=True, flow=flow)
    def save(word: str) -> str:
        """Save."""
        return word

    offer = Offer("save", "Save.", save.spec.schema, declared=told(save.spec))
    made = spec_of(offer, ServerTerms("x", Endpoint("http://x"), Path("x")))
    assert (made.effect, made.repeatable, made.output_bound) == (Effect.WRITE, True, 99)
    assert (made.polls, made.seldom, made.flow, made.timeout) == (True, True, flow, save.spec.timeout + SERVED_MARGIN)


def test_what_declares_nothing_is_taken_for_the_worst() -> None:
    made = spec_of(Offer("x", "X.", {}), ServerTerms("x", Endpoint("http://x"), Path("x")))
    assert (made.effect, made.repeatable, made.flow) == (Effect.DANGER, False, Flow())


# ------------------------------------------------------------------------------------------------------- the folder


@asynccontextmanager
async def kept(folder: Path) -> AsyncIterator[tuple[FolderTools, Callable[[], object]]]:
    """A folder of trusted files, and what looks at it."""
    tools = FolderTools(folder, host_of=None, on_change=lambda: None)
    async with asyncio.TaskGroup() as group:
        yield tools, lambda: tools.look(group)


async def test_a_changed_file_is_taken_up_and_one_that_is_gone_is_left(folder: Path) -> None:
    put(folder, "greet.py")
    async with kept(folder) as (tools, look):
        assert await look()  # type: ignore[misc]
        assert sorted(tools.beside({})) == ["anything", "hello"]
        assert not await look()  # type: ignore[misc]
        put(folder, "greet.py", GOOD.replace("def hello", "def greet").replace('"hello"', '"hi"'))
        assert await look()  # type: ignore[misc]
        assert await tools.beside({})["greet"].call({}, WHERE) == "hi"
        (folder / "greet.py").unlink()
        assert await look()  # type: ignore[misc]
        assert tools.beside({}) == {}


async def test_a_file_that_breaks_takes_nothing_from_others_and_comes_back_once_mended(folder: Path) -> None:
    put(folder, "greet.py")
    put(folder, "late.py", "1 / 0\n")
    async with kept(folder) as (tools, look):
        await look()  # type: ignore[misc]
        assert sorted(tools.beside({})) == ["anything", "hello"]
        put(folder, "late.py", GOOD.replace("hello", "late").replace("anything", "later"))
        await look()  # type: ignore[misc]
        assert sorted(tools.beside({})) == ["anything", "hello", "late", "later"]


async def test_no_tool_takes_the_name_of_another(folder: Path) -> None:
    put(folder, "first.py")
    put(folder, "second.py")
    async with kept(folder) as (tools, look):
        await look()  # type: ignore[misc]
        assert sorted(tools.beside({"anything": None})) == ["hello"]
    assert tools.faults["second.py/hello"] == "second.py has a tool hello, and so has first.py: left out"
    assert tools.faults["first.py/anything"].startswith("first.py has a tool anything, and so has Signalbox")


def test_what_is_no_plain_file_takes_nothing_from_others(folder: Path) -> None:
    put(folder, "good.py")
    (folder / "data.py").mkdir()
    os.mkfifo(folder / "pipe.py", mode=0o600)
    told = faults(folder)
    assert (told["good.py"], "Is a directory" in told["data.py"], "is no plain file" in told["pipe.py"]) == (
        "",
        True,
        True,
    )
    assert list(beside(folder)) == ["good.py"]
