"""The documents say what is so: their links lead somewhere, their examples run, their tests exist."""

from __future__ import annotations

import ast
import os
import re
import runpy
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path

import pytest
from pydantic import BaseModel

from bot.node.lock import control_of
from bot.reference import commands as commands_doc
from bot.reference import doors as doors_doc
from bot.reference import settings
from bot.reference import tools as tools_doc
from bot.settings.settings import Settings, load
from runtime import contract
from runtime.domain import states
from runtime.store.schema import metadata
from tests.fakes import forked

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *DOCS.rglob("*.md")])
PROMISES = (DOCS / "promises.md").read_text(encoding="utf-8")
SCENARIOS = range(1, 44)

page = pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))


OWN_FILES = ("file=agents/", "file=workflows/", "file=hands/")
"""Mark of a block that is the file of an agent."""


@dataclass(frozen=True)
class Block:
    """A fenced block: its first word is the language, the rest of that line are marks."""

    language: str
    marks: Sequence[str]
    text: str


def blocks(path: Path) -> list[Block]:
    found = re.findall(r"^(`{3,})([^\n`]*)\n(.*?)^\1$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [Block(*_words(words), text) for _, words, text in found]


def prose(path: Path) -> str:
    """The page without its blocks and code."""
    text = re.sub(r"^(`{3,}).*?^\1$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]+`", "", text)


def _words(line: str) -> tuple[str, Sequence[str]]:
    language, *marks = line.split() or [""]
    return language, marks


# ----------------------------------------------------------------------------------------------------- made by a script


def test_the_commands_page_is_fresh() -> None:
    assert commands_doc.COMMANDS_PAGE.read_text(encoding="utf-8") == commands_doc.document(), (
        "run python -m bot.reference.commands"
    )


def test_the_page_of_the_rest_api_is_fresh() -> None:
    told = doors_doc.DOORS_PAGE.read_text(encoding="utf-8")
    assert told == doors_doc.doors_document(), "run python -m bot.reference.doors"


def test_the_states_page_is_fresh() -> None:
    told = (DOCS / "states.md").read_text(encoding="utf-8")
    assert told == states.document(), "run python -m runtime.domain.states >docs/states.md"


def test_the_states_page_is_what_the_script_prints(capsys: pytest.CaptureFixture[str]) -> None:
    sys.modules.pop("runtime.domain.states")
    runpy.run_module("runtime.domain.states", run_name="__main__")
    assert capsys.readouterr().out == states.document()


def test_every_setting_is_documented() -> None:
    told = settings.SETTINGS_PAGE.read_text(encoding="utf-8")
    missing = [name for name, description in _settings(Settings) if f"| `{name}` |" not in told or not description]
    assert missing == []


def _settings(model: type[BaseModel]) -> Iterator[tuple[str, str | None]]:
    for name, info in model.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            yield from _settings(info.annotation)
        else:
            yield name, info.description


def test_every_command_is_documented_with_what_it_does() -> None:
    told = commands_doc.COMMANDS_PAGE.read_text(encoding="utf-8")
    commands = list(commands_doc.commands())
    assert len(commands) > 15
    assert [path for path, command in commands if f"## `{path}" not in told or not command.help] == []


def test_the_page_of_tools_is_what_the_tools_say() -> None:
    assert tools_doc.TOOLS_PAGE.read_text(encoding="utf-8") == tools_doc.document()


# ----------------------------------------------------------------------------------------------------------- the pages


@page
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)\s]+)\)", prose(page))
    assert [target for target in targets if not _leads_somewhere(page, target)] == []


def _leads_somewhere(page: Path, target: str) -> bool:
    if re.match(r"[a-z]+:", target):
        return False  # the documents stand for themselves: no address elsewhere may go stale in them
    path, _, anchor = target.partition("#")
    found = (page.parent / path).resolve() if path else page
    return found.exists() and (not anchor or anchor in _anchors(found))


def _anchors(path: Path) -> set[str]:
    heads = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        path = waiting.pop()
        reached.add(path)
        targets = re.findall(r"\]\(([^)\s#]+\.md)", prose(path))
        waiting += [found for t in targets if (found := (path.parent / t).resolve()) not in reached]
    assert [path for path in PAGES if path not in reached and path.parent.name != "changes"] == []


@page
def test_settings_in_examples_are_settings(page: Path, tmp_path: Path) -> None:
    written = [block for block in blocks(page) if block.language == "toml"]
    for folder in ("agents", "workflows", "hands"):
        (tmp_path / folder).mkdir()
    for block in written:
        if block.marks and block.marks[0].startswith(OWN_FILES):  # there before the others: they name each other
            (tmp_path / block.marks[0].removeprefix("file=")).write_text(block.text, encoding="utf-8")
    for block in written:
        is_own = block.marks and block.marks[0].startswith(OWN_FILES)
        (tmp_path / "signalbox.toml").write_text("" if is_own else block.text, encoding="utf-8")
        load(folder=tmp_path, environ={}, demand=())  # the secrets that they name need not be there


def test_the_example_of_the_settings_is_one(tmp_path: Path) -> None:
    load(ROOT / "config" / "example.toml", environ={})


@page
def test_named_files_exist(page: Path) -> None:
    names = re.findall(
        r"`((?:bot|adapters|runtime|tools|tests|config|docs)/[\w./-]+)`", page.read_text(encoding="utf-8")
    )
    assert [name for name in names if not (ROOT / name.partition("::")[0]).exists()] == []


def test_the_glossary_has_each_word_of_the_contract_once() -> None:
    rows = re.findall(r"^\| `(\w+)` \|.*\|$", (DOCS / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(rows) == sorted(contract.__all__)


def test_the_glossary_names_columns_that_there_are() -> None:
    cells = re.findall(r"\| ([^|]*) \|$", (DOCS / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
    named = {name for cell in cells for name in re.findall(r"`(\w+\.\w+)`", cell)}
    assert named <= {str(column) for table in metadata.tables.values() for column in table.columns}


# --------------------------------------------------------------------------------------------------------- the promises


def test_every_scenario_stands_once() -> None:
    numbers = [int(number) for number in re.findall(r"^\| (\d+) \|", PROMISES, re.MULTILINE)]
    assert numbers[: len(SCENARIOS)] == list(SCENARIOS)
    assert numbers == sorted(set(numbers)), "later ones follow as they are held"


def test_every_scenario_has_a_test_or_says_that_it_is_later() -> None:
    rows = re.findall(r"^\| (\d+) \|.*\| ([^|]*) \|$", PROMISES, re.MULTILINE)
    assert [number for number, tests in rows if "::" not in tests and not tests.startswith("later")] == []


def test_promised_tests_exist() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PROMISES)
    assert len(named) > 30
    assert [f"{file}::{name}" for file, name in named if name not in _tests_in(ROOT / file)] == []


@cache
def _tests_in(file: Path) -> set[str]:
    if not file.exists():
        return set()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


# --------------------------------------------------------------------------------------------------------- the examples


@pytest.mark.timeout(180)  # seconds; about three where nothing else runs
def test_python_examples_run(tmp_path: Path) -> None:
    """In a process of their own, since they start the program."""
    for path in PAGES:
        code = "\n".join(
            block.text for block in blocks(path) if block.language == "python" and "runnable" in block.marks
        )
        if code:
            _run([sys.executable, "-c", code], tmp_path)


@pytest.mark.timeout(180)  # seconds; about ten where nothing else runs
def test_the_first_steps_work_as_told(tmp_path: Path) -> None:
    """The console blocks of start.md, against the real program: what it prints is what the page shows."""
    _work_as_told(DOCS / "start.md", tmp_path)


@pytest.mark.timeout(180)  # seconds; about ten where nothing else runs
def test_a_backup_is_made_and_restored_as_told(tmp_path: Path) -> None:
    _work_as_told(DOCS / "backup.md", tmp_path)


@pytest.mark.timeout(180)  # seconds; about five where nothing else runs
def test_a_task_is_done_in_the_background_as_told(tmp_path: Path) -> None:
    _work_as_told(DOCS / "tasks.md", tmp_path)


@pytest.mark.timeout(180)  # seconds; about five where nothing else runs
def test_something_is_remembered_corrected_and_forgotten_as_told(tmp_path: Path) -> None:
    _work_as_told(DOCS / "memory.md", tmp_path)


@pytest.mark.timeout(180)  # seconds; about five where nothing else runs
def test_documents_are_searched_as_told(tmp_path: Path) -> None:
    (tmp_path / "handbook").mkdir()
    for block in blocks(DOCS / "knowledge.md"):
        if block.marks and block.marks[0].startswith("file="):
            (tmp_path / block.marks[0].removeprefix("file=")).write_text(block.text, encoding="utf-8")
    _work_as_told(DOCS / "knowledge.md", tmp_path)


@pytest.mark.timeout(180)  # seconds; about five where nothing else runs
def test_long_work_begins_as_told(tmp_path: Path) -> None:
    _work_as_told(DOCS / "harness.md", tmp_path)


def _work_as_told(page: Path, tmp_path: Path) -> None:
    newest = ""
    with _signalbox(tmp_path):
        for command, typed, shown in _console(page):
            told = _shown(command.replace("ID", newest), tmp_path, typed)
            newest = next(iter(re.findall(r"approvals approve (\w{22})", told)), newest)
            assert _pattern(shown, newest).fullmatch(_squeezed(told)), f"$ {command}\n{told}"


def _console(path: Path) -> Iterator[tuple[str, str, str]]:
    """(command, what is typed at its prompts, what it prints) of each runnable console block."""
    for block in blocks(path):
        if block.language == "console" and "runnable" in block.marks:
            for piece in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                command, _, shown = piece.partition("\n")
                prompts = re.compile(r"^(you>|.*Enter is later>) (.+)\n", re.MULTILINE)
                typed = "".join(f"{line}\n" for _, line in prompts.findall(shown))
                yield command, typed, prompts.sub(r"\1 ", shown) + ("you> " if typed else "")


def _pattern(shown: str, newest: str) -> re.Pattern[str]:
    pieces = [re.escape(piece) for piece in _squeezed(shown.replace("ID", newest)).split("…")]
    return re.compile("(?s:.*)".join(pieces))


def _squeezed(text: str) -> str:
    """Widths of columns and blank ends are not what a page promises."""
    return "\n".join(" ".join(line.split()) for line in text.strip().splitlines())


@contextmanager
def _signalbox(folder: Path) -> Iterator[None]:
    """At work in this folder: forked instead of loaded, as its commands are."""
    process = forked.begin("bot", "run", folder=folder, environment=_environment(folder), stderr=2)
    try:
        deadline = time.monotonic() + 60
        while control_of(folder / "var") is None:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _shown(command: str, folder: Path, typed: str) -> str:
    """What a command of a page prints. One of ours alone is forked instead of loaded, with the variables before it."""
    words = shlex.split(command)
    given = dict(word.split("=", 1) for word in takewhile(lambda word: re.match(r"[A-Z_]+=", word), words))
    program, *arguments = words[len(given) :]
    if program != "signalbox" or "|" in words:
        return _run(["sh", "-c", command], folder, typed, check=False)
    environment = _environment(folder) | given
    ended = forked.run("bot", *arguments, folder=folder, environment=environment, said=typed.encode(), seconds=60)
    return (ended.stdout + ended.stderr).decode()


def _run(command: Sequence[str], folder: Path, typed: str = "", *, check: bool = True) -> str:
    ended = subprocess.run(
        command,
        cwd=folder,
        env=_environment(folder),
        input=typed,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    assert not check or ended.returncode == 0, f"{shlex.join(command)}\n{ended.stdout}"
    return ended.stdout


def _environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SIGNALBOX_")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
    return {**kept, "PATH": path, "HOME": str(folder), "PYTHONPATH": str(ROOT), "SIGNALBOX_WEB__PORT": "0"}
