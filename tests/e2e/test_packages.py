"""Two packages, written down in docs/extend.md and built in an empty folder: a channel, a tool and a model of others."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fakes import forked
from tests.fakes.fresh import SERVING, AllFresh
from tests.unit.test_docs import DOCS, ROOT, _environment, _pattern, _squeezed, blocks

pytestmark = [pytest.mark.xdist_group("e2e-packages"), pytest.mark.timeout(180)]

PAGE = DOCS / "extend.md"
PIP = (sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index")
STEPS = next(block.text for block in blocks(PAGE) if "packages" in block.marks)


def written(folder: Path) -> None:
    """The files of the page."""
    for block in blocks(PAGE):
        for mark in block.marks:
            if mark.startswith("file="):
                file = folder / mark.removeprefix("file=")
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(block.text, encoding="utf-8")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the settings of the page, and its packages installed beside them."""
    folder = tmp_path_factory.mktemp("packages")
    written(folder)
    subprocess.run([*PIP, "--target", "site", "./lines", "./notebook"], cwd=folder, check=True, timeout=120)
    return folder


def environment(folder: Path) -> dict[str, str]:
    return _environment(folder) | {"PYTHONPATH": f"{ROOT}{os.pathsep}{folder / 'site'}"}


def run(command: str, folder: Path) -> str:
    ended = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    return ended.stdout


def signalbox(home: Path, *arguments: str, place: Path | None = None, **variables: str) -> tuple[int, str]:
    """A command beside these packages and those of `place`, forked instead of loaded: its exit code, and what it told."""
    path = os.pathsep.join(str(one) for one in (ROOT, home / "site", place) if one)
    given = _environment(home) | {"PYTHONPATH": path} | variables
    ended = forked.run("bot", *arguments, folder=home, environment=given, seconds=60)
    return ended.returncode, (ended.stdout + ended.stderr).decode()


def steps() -> Iterator[tuple[str, str]]:
    for piece in STEPS.removeprefix("$ ").split("\n$ "):
        command, _, shown = piece.partition("\n")
        yield command, shown


def test_what_the_page_builds_from_empty_folders_works(home: Path) -> None:
    working: list[subprocess.Popen[bytes]] = []
    try:
        for command, shown in steps():
            if command.endswith(" &"):
                begun = f"exec env {command.removesuffix(' &')}"
                working.append(subprocess.Popen(["sh", "-c", begun], cwd=home, env=environment(home)))
                continue
            told = run(command, home)
            assert _pattern(shown, "").fullmatch(_squeezed(told)), f"$ {command}\n{told}"
    finally:
        for process in working:
            process.terminate()
        for process in working:
            try:
                process.wait(20)
            finally:
                process.kill()


def test_its_secret_is_asked_for_as_any_other(home: Path) -> None:
    _, told = signalbox(home, "run")
    assert 'accounts[1].pin ("mine"): is missing; set the variable NOTEBOOK_PIN' in told


def test_a_fault_of_its_table_is_told_with_the_nearest_name(home: Path) -> None:
    account = '{channel = "notebook", name = "mine", foldr = "desk", pin = "1234"}'
    _, told = signalbox(home, "run", SIGNALBOX_ACCOUNTS=f"[{account}]")
    assert 'accounts[1].foldr ("mine"): there is no such setting' in told
    assert "did you mean accounts[1].folder?" in told
    assert 'expected the PIN of a notebook ("pin-" and four digits, on its cover)' in told
    assert "1234" not in told.replace(account, "")


def test_a_token_of_another_channel_is_told_as_that(home: Path) -> None:
    wrong = '{channel = "telegram", name = "tg", token = "pin-1234"}'
    right = '{channel = "notebook", name = "mine", pin = "pin-1235"}'
    assert "this is the PIN of a notebook" in signalbox(home, "run", SIGNALBOX_ACCOUNTS=f"[{wrong}, {right}]")[1]


def test_the_model_that_would_run_is_the_one_that_is_tried(home: Path, tmp_path: Path) -> None:
    (tmp_path / "signalbox.toml").write_text('data_dir = "var"\n[model]\nname = "acme/lines"\n')
    _, told = signalbox(home, "doctor", "--model", "--config", f"{tmp_path}/signalbox.toml")
    assert re.search(r"^ok +model +it answers, in 0\.\d s$", told, re.MULTILINE), told


def test_init_offers_what_is_installed(home: Path, tmp_path: Path) -> None:
    arguments = ("--yes", "--channel", "notebook", "--config", f"{tmp_path}/made.toml")
    _, told = signalbox(home, "init", *arguments, NOTEBOOK_PIN="pin-1234")
    made = (tmp_path / "made.toml").read_text()
    assert 'channel = "notebook"' in made, told
    assert 'pin_env = "NOTEBOOK_PIN"' in made
    assert "pin-1234" not in made + told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[tools]\ninstalled = ["count_words"]\n', "no installed package provides the tool count_words"),
        ('[tools]\ninstalled = ["shell"]\n', "tools.installed: shell is built in"),
        ('[[accounts]]\nchannel = "scroll"\nname = "a"\n', 'expected "telegram", "slack" or "discord"'),
    ],
)
def test_what_nobody_brings_is_named(home: Path, tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "signalbox.toml").write_text(text)
    assert told in signalbox(home, "run", "--config", f"{tmp_path}/signalbox.toml")[1]


SCROLL = """
from dataclasses import replace
from typing import Literal
from adapters.telegram.plugin import PLUGIN as TELEGRAM
from pydantic import field_validator
from runtime.contract.plugins import no_faults
from runtime.settings.accounts import Account

class ScrollAccount(Account):
    channel: Literal["scroll"]
    ink: str = ""
    ink_env: str = ""

    @field_validator("ink")
    @classmethod
    def mixed(cls, ink: str) -> str:
        return {"": ""}[ink]

def smudged(table):
    raise RuntimeError("no ink")

PLUGIN = replace(TELEGRAM, channel="scroll", settings=ScrollAccount, secrets={}, others=(), modes=(), faults=no_faults)
SMUDGED = replace(PLUGIN, faults=smudged)
UNTOLD = replace(PLUGIN, settings=Account)
FOREIGN = replace(PLUGIN, settings=dict)
def unmade(account, given):
    raise OSError("no pen")

UNMADE = replace(PLUGIN, make=unmade, check=None)
FORMLESS = replace(PLUGIN, secrets={"ink": "black"})
"""
ACCOUNT = '[[accounts]]\nchannel = "scroll"\nname = "a"\n'
ORIGIN = "the package broken provides it (entry point {}), but"
FIX = "Fix the package, or remove its use from the settings."


def broken(folder: Path, settings: str, point: str = "no_such_module:PLUGIN") -> Callable[..., tuple[int, str]]:
    """Settings beside a package whose channel is of no use; runs commands that find both."""
    about = folder / "broken-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[signalbox.channels]\nscroll = {point}\n")
    (folder / "scroll.py").write_text(SCROLL)
    (folder / "signalbox.toml").write_text(settings)
    config = ("--config", f"{folder}/signalbox.toml")
    return lambda home, *words, **variables: signalbox(home, *words, *config, place=folder, **variables)


@pytest.mark.parametrize(
    ("point", "why"),
    [
        ("no_such_module:PLUGIN", "it cannot be loaded (ModuleNotFoundError: No module named 'no_such_module')"),
        ("scroll:smudged", "it provides no ChannelPlugin with that name"),
        ("scroll:FOREIGN", "its settings aren't a runtime.settings.accounts.Account"),
        ("scroll:UNTOLD", "it cannot be loaded (PydanticUserError: "),
        ("scroll:FORMLESS", "it cannot be loaded (AttributeError: "),
        ("scroll:PLUGIN", "it can't check the settings of this account (KeyError: 'red')"),
        ("scroll:SMUDGED", "it can't check the settings of this account (RuntimeError: no ink)"),
    ],
)
def test_a_package_of_no_use_is_told_beside_all_other_faults(home: Path, tmp_path: Path, point: str, why: str) -> None:
    settings = f'data_dir = "var"\n[log]\nlevel = "loud"\n{ACCOUNT}'
    command = broken(tmp_path, settings + ("ink = 'red'\n" if point == "scroll:PLUGIN" else ""), point)
    code, told = command(home, "run")
    assert f'accounts[1] ("a"): scroll: {ORIGIN.format(point)} {why}' in told.replace("].ink (", "] (")
    assert told.count(FIX) == 1
    assert "log.level: got " in told
    assert code == 2
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("point", "why"),
    [
        ("no_such_module:PLUGIN", "it cannot be loaded (ModuleNotFoundError: No module named 'no_such_module')"),
        ("scroll:PLUGIN", "what it provides makes no model"),
        ("scroll:smudged", "it fails to make a model (RuntimeError: no ink)"),
    ],
)
def test_a_models_package_of_no_use_is_told_by_a_start_and_by_the_try(
    home: Path, tmp_path: Path, point: str, why: str
) -> None:
    command = broken(tmp_path, 'data_dir = "var"\n[model]\nname = "blot/lines"\n')
    (tmp_path / "broken-1.0.dist-info" / "entry_points.txt").write_text(f"[signalbox.models]\nblot = {point}\n")
    told = f"blot: {ORIGIN.format(point)} {why}. {FIX}"
    code, said = command(home, "run")
    assert (code, said.endswith(f"signalbox: {told}\n")) == (2, True), said
    _, looked = command(home, "doctor", "--model")
    assert re.search(rf"^ERROR +model +{re.escape(told)}$", looked, re.MULTILINE), looked
    assert "a fault of Signalbox" not in looked


def test_an_account_that_its_package_cannot_make_ends_the_start_in_one_sentence(home: Path, tmp_path: Path) -> None:
    code, told = broken(tmp_path, f'data_dir = "var"\n[web]\nport = 0\n{ACCOUNT}', "scroll:UNMADE")(home, "run")
    why = f'{ORIGIN.format("scroll:UNMADE")} it cannot make the account "a" (OSError: no pen)'
    assert (code, told.endswith(f"signalbox: scroll: {why}. {FIX}\n")) == (2, True), told


def test_doctor_tells_of_a_package_of_no_use_and_looks_at_the_rest(home: Path, tmp_path: Path) -> None:
    _, told = broken(tmp_path, f'data_dir = "var"\n[log]\nlevel = "loud"\n{ACCOUNT}')(home, "doctor")
    assert ORIGIN.format("no_such_module:PLUGIN") in told
    assert "log.level: got " in told
    assert re.search(r"^ok +", told, re.MULTILINE)
    assert "Traceback" not in told


def test_nothing_of_a_package_is_loaded_for_a_disabled_account(home: Path, tmp_path: Path) -> None:
    account = f'{ACCOUNT}enabled = false\npin = "pin-1234"\nink_env = "SIGNALBOX_INK"\n'
    command = broken(tmp_path, f'data_dir = "var"\n{account}', "loud:PLUGIN")
    (tmp_path / "loud.py").write_text("print('I was loaded')\nraise ImportError('and broke')\n")
    _, told = command(home, "doctor", SIGNALBOX_INK="red")
    assert re.search(r"^ok +scroll +turned off: enabled is false$", told, re.MULTILINE), told
    assert "I was loaded" not in told
    assert "and broke" not in told
    assert "SIGNALBOX_INK" not in told
    assert "pin-1234" not in told + command(home, "config", "show", SIGNALBOX_INK="red")[1]


@pytest.mark.xdist_group("fresh")
def test_nothing_is_looked_for_where_all_is_built_in(tmp_path: Path, fresh: AllFresh) -> None:
    """Neither a start nor its settings pay for packages that nobody named."""
    code = (
        "import bot.plugins.packages as p; p.entry_points = None\n"
        "from bot.settings.settings import load; from bot.server.app import build; import asyncio\n"
        "made = lambda: load(environ={'TELEGRAM_BOT_TOKEN': '123456:' + 'a' * 35}, overrides={'web.port': 0, 'data_dir': 'var'})\n"
        "async def start():\n    app = await build(made()); await app.store.close()\n"
        "asyncio.run(start()); print('begun')"
    )
    (tmp_path / "var").mkdir()
    ended = fresh.after(*SERVING).run(code, folder=tmp_path, environment=_environment(tmp_path))
    assert ended.stdout == "begun\n", ended.stderr
