"""From nothing to an answer: `signalbox init` as a person at a terminal and as a script meet it, and what then runs."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio

from tests.e2e.house import House, environment
from tests.e2e.terminal import Terminal
from tests.fakes.serve import spawned

pytestmark = [pytest.mark.xdist_group("e2e-init"), pytest.mark.timeout(120)]

DONE, FAILED, WRONG_USE, INTERRUPTED = 0, 1, 2, 130
KEY: Final = "sk-sesame-that-nobody-may-see"
PASSPHRASE: Final = "open sesame"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def model() -> AsyncIterator[str]:
    async with spawned("bot.testing.openai.server") as (_, url):
        yield f"{url}/v1"


@pytest.fixture
def empty(tmp_path: Path) -> House:
    """A folder without settings."""
    house = House(tmp_path)
    (tmp_path / "signalbox.toml").unlink()
    return house


def terminal(house: House, *arguments: str, ignores: bool = False) -> Terminal:
    return Terminal(arguments, house.folder, environment(house.folder), ignores=ignores)


def everything(folder: Path) -> bytes:
    """All that was written, wherever it is."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


# ------------------------------------------------------------------------------------------------------- at a terminal


def test_a_person_is_led_from_nothing_to_a_process_that_asks_for_the_passphrase(empty: House, model: str) -> None:
    with terminal(empty, "init") as screen:
        for question, answer in (("Folder for the data", ""), ("Database", ""), ("Model [demo]", "openai/mock")):
            screen.reads(question)
            screen.types(answer)
        screen.reads("Address of its server")
        screen.types(model)
        screen.reads("none): ")  # what is typed before this would be seen
        screen.types(KEY)
        screen.reads("openai/mock answers")
        screen.reads("Channel (telegram, slack, discord, none) [none]")
        screen.types("")
        screen.reads("Your name")
        screen.types("Ada")
        screen.reads("Port of the web page")
        screen.types("0")
        screen.reads("key file): ")
        screen.types(PASSPHRASE)
        screen.reads("Once more: ")
        screen.types(PASSPHRASE)
        screen.reads("signalbox run")
        assert screen.ends() == DONE
        assert KEY not in screen.screen
        assert PASSPHRASE not in screen.screen
    assert KEY.encode() not in everything(empty.folder)
    with terminal(empty, "run") as screen:
        screen.reads(f"Passphrase of {empty.data / 'secrets.sealed'}: ")
        screen.types(PASSPHRASE)
        screen.reads("keep it to yourself: http")
        people = empty.command("people", "list").stdout
        answered = empty.command("ask", "good morning")
        screen.interrupts()
        assert screen.ends() == DONE
    assert re.search(r"^Ada +owner", people, re.MULTILINE)
    assert "You said: good morning" in answered.stdout


def test_a_dead_host_is_told_and_the_way_out_is_taken(empty: House) -> None:
    with terminal(empty, "init") as screen:
        for question, answer in (("Folder for the data", ""), ("Database", ""), ("Model [demo]", "openai/mock")):
            screen.reads(question)
            screen.types(answer)
        screen.reads("Address of its server")
        screen.types("http://127.0.0.1:1/v1")
        screen.reads("none): ")
        screen.types(KEY)
        screen.reads("can't be reached")
        screen.reads("Which [again]")
        screen.types("demo")
        for question in ("Channel (", "Your name", "Port of the web page"):
            screen.reads(question)
            screen.types("")
        assert screen.ends() == DONE
    assert "[model]" not in (empty.folder / "signalbox.toml").read_text()


@pytest.mark.parametrize(
    "question", ["Folder for the data", "Model [demo]", "Channel (", "Your name", "Port of the web page"]
)
def test_ctrl_c_at_any_question_leaves_nothing(empty: House, question: str) -> None:
    with terminal(empty, "init") as screen:
        for asked in (
            "Folder for the data",
            "Database",
            "Model [demo]",
            "Channel (",
            "Your name",
            "Port of the web page",
        ):
            screen.reads(asked)
            if asked == question:
                break
            screen.types("")
        screen.interrupts_question()
        assert screen.ends() == INTERRUPTED
        assert "Stopped. No settings were written." in screen.screen
        assert "Traceback" not in screen.screen
    assert everything(empty.folder) == b""


def test_ctrl_c_is_heard_where_it_was_ignored_before(empty: House) -> None:
    with terminal(empty, "init", ignores=True) as screen:
        screen.reads("Folder for the data")
        screen.interrupts_question()
        assert screen.ends() == INTERRUPTED


# --------------------------------------------------------------------------------------------------------- by a script


def test_flags_answer_every_question(empty: House, model: str) -> None:
    flags = ["--model", "openai/mock", "--api-base", model, "--key-stdin", "--data-dir", "data", "--owner", "Ada"]
    ended = empty.command("init", *flags, "--port", "0", said=KEY)
    assert (ended.returncode, ended.stderr) == (DONE, "")
    assert "openai/mock answers" in ended.stdout
    assert KEY.encode() not in everything(empty.folder) + ended.stdout.encode()
    assert f"OPENAI_API_KEY in {empty.folder / 'data' / 'secrets.sealed'}" in empty.command("config", "show").stdout
    assert re.search(r"^Ada +owner", empty.command("people", "list").stdout, re.MULTILINE)


def test_without_a_terminal_the_defaults_answer(empty: House) -> None:
    assert empty.command("init").returncode == DONE
    assert empty.command("ask", "hello").returncode == DONE


@pytest.mark.parametrize(
    ("flags", "said", "code", "words"),
    [
        (["--model", "openai/x", "--api-base", "http://127.0.0.1:1/v1"], KEY, FAILED, "can't be reached"),
        (["--model", "x", "--api-base", "http://127.0.0.1:1/v1"], KEY, FAILED, "such as openai/gpt-4o-mini"),
        (["--model", "openai/x", "--api-base", "127.0.0.1"], KEY, WRONG_USE, "--api-base"),
        (["--model", "openai/x", "--key-env", "NOT_SET"], KEY, WRONG_USE, "NOT_SET is not set"),
        (["--database-url", "postgresql://me:sesame@127.0.0.1:1/x"], KEY, FAILED, "cannot be reached"),
        (["--data-dir", "signalbox.log/var"], KEY, WRONG_USE, "--data-dir"),
        (["--port", "99999"], KEY, WRONG_USE, "--port"),
        ([], "", WRONG_USE, "standard input is empty"),
    ],
    ids=["host", "name", "address", "variable", "database", "folder", "port", "key"],
)
def test_what_does_not_work_is_a_sentence_in_time_and_nothing_is_written(
    empty: House, flags: list[str], said: str, code: int, words: str
) -> None:
    (empty.folder / "signalbox.log").touch()
    began = time.monotonic()
    ended = empty.command("init", "--key-stdin", *flags, said=said)
    assert ended.returncode == code
    assert words in ended.stderr
    assert "sesame" not in ended.stderr + ended.stdout
    assert time.monotonic() - began < 40
    assert everything(empty.folder) == b""


def test_settings_that_are_there_are_not_overwritten_unless_one_insists(empty: House) -> None:
    file = empty.folder / "signalbox.toml"
    file.write_text('[web]\ntoken = "sesame"\nport = 7777\n')
    refused = empty.command("init", "--port", "0")
    assert refused.returncode == WRONG_USE
    assert "port = 7777" in refused.stderr
    assert "sesame" not in refused.stderr
    assert "port = 7777" in file.read_text()
    assert empty.command("init", "--port", "0", "--force").returncode == DONE
    assert "port = 0" in file.read_text()
    assert "port = 7777" in (empty.folder / "signalbox.toml.bak").read_text()


# --------------------------------------------------------------------------------------------------- a wrong passphrase


def test_a_wrong_passphrase_ends_the_start_with_the_file_and_the_variable(tmp_path: Path, model: str) -> None:
    settings = f'[secrets]\nfile = "my.sealed"\n[model]\nname = "openai/mock"\napi_base = "{model}"\n'
    sealed = tmp_path / "my.sealed"
    right = House(tmp_path, settings, variables={"SIGNALBOX_SECRETS_PASSPHRASE": PASSPHRASE})
    assert right.command("secrets", "set", "OPENAI_API_KEY", "--stdin", said=KEY).returncode == DONE
    before = sealed.read_bytes()
    wrong = House(tmp_path, settings, variables={"SIGNALBOX_SECRETS_PASSPHRASE": "guessed"})
    for arguments in (["run", "--port", "0"], ["secrets", "set", "X", "--stdin"]):
        ended = wrong.command(*arguments, said="x")
        assert ended.returncode == WRONG_USE
        assert f"{sealed}: the variable SIGNALBOX_SECRETS_PASSPHRASE does not open it" in ended.stderr
        assert "guessed" not in ended.stderr
    assert sealed.read_bytes() == before
    assert f"OPENAI_API_KEY in {sealed}" in right.command("config", "show").stdout


def test_commands_need_no_passphrase_while_the_process_runs(tmp_path: Path, model: str) -> None:
    settings = f'[secrets]\nfile = "my.sealed"\n[model]\nname = "openai/mock"\napi_base = "{model}"\n'
    service = House(tmp_path, settings, variables={"SIGNALBOX_SECRETS_PASSPHRASE": PASSPHRASE})
    assert service.command("secrets", "set", "OPENAI_API_KEY", "--stdin", said=KEY).returncode == DONE
    service.start()
    try:
        operator = House(tmp_path, settings)
        asked = operator.command("ask", "hello")
        assert (asked.returncode, asked.stderr) == (DONE, "")
        assert operator.command("people", "list").returncode == DONE
    finally:
        service.kill()
    assert KEY not in service.log()
