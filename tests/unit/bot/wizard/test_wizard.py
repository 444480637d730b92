"""`signalbox init`, step by step: what is asked, what is made of the answers, and that nothing is written before the end."""

from __future__ import annotations

import asyncio
import threading
import tomllib
from collections.abc import Coroutine, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pytest
from aiohttp.test_utils import TestServer

from bot.secrets.file import SealedFile
from bot.secrets.keys import Keyring, Passphrase
from bot.secrets.sealed import Lock
from bot.settings.settings import load
from bot.testing.openai.server import OpenAI, Reply
from bot.wizard.draft import Draft, Flags, Kept
from bot.wizard.model import ask_model
from bot.wizard.place import ask_owner, ask_place, ask_port, folder_fault
from bot.wizard.steps import Step, walk
from bot.wizard.write import add_owner, require_free, seal_secrets, write_settings
from runtime.errors import ConfigError
from runtime.store.store import open_store

Answer = TypeVar("Answer")


class Scripted:
    """A person whose answers are written down: to each question the next one; "" is Enter."""

    def __init__(self, *answers: str) -> None:
        self.answers = [*answers]
        self.heard: list[str] = []

    def begin(self, title: str, about: str) -> None:
        self.heard.append(title)

    def say(self, words: str) -> None:
        self.heard.append(words)

    def ask(self, question: str, default: str) -> str:
        self.heard.append(question)
        return self.answers.pop(0) or default

    def secret(self, question: str) -> str:
        self.heard.append(question)
        return self.answers.pop(0)

    def choose(self, trouble: str, choices: Mapping[str, str]) -> str:
        self.heard.append(trouble)
        choice = self.answers.pop(0)
        assert choice in choices
        return choice

    def wait(self, words: str, work: Coroutine[Any, Any, Answer]) -> Answer:
        return asyncio.run(work)

    @property
    def told(self) -> str:
        return "\n".join(self.heard)


@pytest.fixture
def draft(tmp_path: Path) -> Draft:
    keyring = Keyring(variable="sesame-open-the-door", key_file=tmp_path / "config" / "secrets.key")
    return Draft(Flags(), tmp_path / "signalbox.toml", {}, keyring)


def values(draft: Draft) -> dict[str, object]:
    return {name: value for name, (value, _) in draft.settings.items()}


# ------------------------------------------------------------------------------------------------------------ the model


@pytest.fixture
def server() -> Iterator[str]:
    """A server beside the test, since each try has an event loop of its own. It refuses every key but one."""
    loop = asyncio.new_event_loop()
    fake = OpenAI(lambda _: Reply("ready") if fake.keys[-1] == "Bearer sk-good" else Reply("bad key", status=401))
    site = TestServer(fake.app())
    loop.run_until_complete(site.start_server())
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield str(site.make_url("/v1"))
    asyncio.run_coroutine_threadsafe(site.close(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def test_the_demo_needs_nothing_more(draft: Draft) -> None:
    ask_model(draft, Scripted(""))
    assert values(draft) == {}


def test_a_model_that_answers_is_written_down_and_its_key_sealed(draft: Draft, server: str) -> None:
    person = Scripted("openai/mock", server, "sk-good")
    ask_model(draft, person)
    assert values(draft) == {"model.name": "openai/mock", "model.api_base": server}
    assert draft.secrets == {"OPENAI_API_KEY": Kept("sk-good", "model.api_key")}
    assert "openai/mock answers" in person.told
    assert "sk-good" not in f"{person.told} {draft!r} {draft.toml()}"


def test_a_wrong_key_is_told_and_other_answers_may_be_given(draft: Draft, server: str) -> None:
    person = Scripted("openai/mock", server, "sk-wrong", "again", "", "", "sk-good")
    ask_model(draft, person)
    assert "refused the key (401)" in person.told
    assert "copy all of it" in person.told
    assert "sk-wrong" not in person.told
    assert draft.secrets["OPENAI_API_KEY"].value == "sk-good"


def test_a_dead_host_is_told_in_words_and_the_demo_is_a_way_out(draft: Draft) -> None:
    person = Scripted("openai/mock", "http://127.0.0.1:1/v1", "sk-good", "demo")
    ask_model(draft, person)
    assert "can't be reached" in person.told
    assert "http://127.0.0.1:1/v1" in person.told
    assert values(draft) == {}
    assert draft.secrets == {}


def test_who_knows_better_keeps_what_does_not_answer(draft: Draft) -> None:
    ask_model(draft, Scripted("openai/mock", "http://127.0.0.1:1/v1", "sk-good", "keep"))
    assert values(draft)["model.name"] == "openai/mock"
    assert draft.secrets["OPENAI_API_KEY"].value == "sk-good"


def test_a_name_without_a_vendor_is_explained(draft: Draft) -> None:
    person = Scripted("mock", "", "demo")
    ask_model(draft, person)
    assert "such as openai/gpt-4o-mini" in person.told


def test_an_address_that_is_none_is_asked_for_again(draft: Draft, server: str) -> None:
    person = Scripted("openai/mock", "127.0.0.1:80", "http://a:b@c/", server, "sk-good")
    ask_model(draft, person)
    assert person.told.count("Write an address like http://HOST:PORT/v1") == 2


def test_a_key_in_the_environment_is_found_and_not_sealed(draft: Draft, server: str) -> None:
    draft.variables = {"OPENAI_API_KEY": "sk-good"}
    person = Scripted("", server)
    ask_model(draft, person)
    assert "Model" in person.told
    assert values(draft)["model.name"] == "openai/gpt-4o-mini"  # suggested, since its key is there
    assert draft.secrets == {}


def test_a_variable_of_another_name_is_written_down(draft: Draft, server: str) -> None:
    draft.variables = {"MINE": "sk-good"}
    draft.flags = Flags(model="openai/mock", api_base=server, key_env="MINE")
    ask_model(draft, Scripted())
    assert values(draft)["model.api_key_env"] == "MINE"


def test_a_key_whose_vendor_has_no_usual_name_gets_one(draft: Draft) -> None:
    draft.flags = Flags(model="custom/x", api_base="http://127.0.0.1:1", key="sk-own", try_model=False)
    ask_model(draft, Scripted())
    assert values(draft)["model.api_key_env"] == "MODEL_API_KEY"
    assert draft.secrets["MODEL_API_KEY"].value == "sk-own"


# ------------------------------------------------------------------------------------------------------------- the rest


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="there is no /proc here")
def test_a_folder_that_the_system_does_not_let_anybody_make_is_told() -> None:
    assert "/proc" in (folder_fault(Path("/proc/nope")) or "")


def test_a_folder_that_cannot_be_is_asked_for_again(draft: Draft, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    person = Scripted("file/var", "data", "")
    ask_place(draft, person)
    assert f"{tmp_path / 'file'} isn't a folder" in person.told
    assert values(draft) == {"data_dir": "data"}
    assert draft.data_dir == tmp_path / "data"
    assert not draft.data_dir.exists()


def test_a_database_that_is_away_is_told_and_its_password_is_not(draft: Draft) -> None:
    person = Scripted("", "postgresql", "postgresql://me:sesame@127.0.0.1:1/x", "none")
    ask_place(draft, person)
    assert "cannot be reached" in person.told
    assert "sesame" not in person.told
    assert values(draft) == {}


def test_a_word_that_is_no_database_is_asked_again(draft: Draft) -> None:
    person = Scripted("", "mysql", "yes", "built-in")
    ask_place(draft, person)
    assert person.told.count('Please type "built-in" or "postgresql"') == 2
    assert values(draft) == {}


def test_the_address_of_a_database_with_a_password_is_sealed(draft: Draft) -> None:
    ask_place(draft, Scripted("", "postgresql", "postgresql://me:sesame@127.0.0.1:1/x", "keep"))
    assert values(draft) == {"database_url_env": "DATABASE_URL"}
    assert draft.database_url == "postgresql://me:sesame@127.0.0.1:1/x"
    assert "sesame" not in draft.toml()


@pytest.mark.parametrize(("said", "port"), [(["eighty", "70000", "-1", "9000"], 9000), ([""], None), (["0"], 0)])
def test_a_port_is_a_number(draft: Draft, said: list[str], port: int | None) -> None:
    person = Scripted(*said)
    ask_port(draft, person)
    assert values(draft).get("web.port") == port
    assert person.told.count("A port is a number") == len(said) - 1


@pytest.mark.parametrize("name", ["two\nlines", "\x1b[31mred", "Ada\u3164", "x" * 101])
def test_a_name_that_is_none_is_refused(draft: Draft, name: str) -> None:
    draft.flags = Flags(owner=name)
    with pytest.raises(ConfigError, match="--owner"):
        ask_owner(draft, Scripted())


def test_a_channel_joins_by_a_step_of_its_own(draft: Draft) -> None:
    def ask(draft: Draft, dialogue: object) -> None:
        draft.set("log.level", "debug")

    person = Scripted()
    walk(draft, person, [Step("Telegram", "A bot there.", ask)])
    assert person.heard == ["1/1 Telegram"]
    assert values(draft) == {"log.level": "debug"}


# ---------------------------------------------------------------------------------------------------------- the writing


def test_what_is_written_is_read_back_as_it_was_meant(draft: Draft) -> None:
    draft.set("data_dir", 'with "quotes" and \\ and ü', "a comment")
    draft.set("model.name", "openai/x")
    draft.set("web.port", 9000)
    write_settings(draft)
    read = tomllib.loads(draft.file.read_text())
    assert read == {
        "data_dir": 'with "quotes" and \\ and ü',
        "model": {"name": "openai/x"},
        "web": {"port": 9000},
    }
    assert load(draft.file, environ={"OPENAI_API_KEY": "x"}).web.port == 9000


def test_a_settings_file_that_is_there_is_shown_without_its_secrets_and_kept(draft: Draft) -> None:
    draft.file.write_text('# mine\n[web]\ntoken = "sesame"\nport = 1\n[model]\nname = "x" # sk-abcdefghijklmnop1234\n')
    with pytest.raises(ConfigError) as caught:
        require_free(draft.file, force=False)
    told = str(caught.value)
    assert all(line in told for line in ("# mine", "[web]", "port = 1", "[model]", 'name = "x"', "--force"))
    assert "sesame" not in told
    assert "sk-abc" not in told
    require_free(draft.file, force=True)
    before = draft.file.read_text()
    write_settings(draft)
    assert draft.file.with_name("signalbox.toml.bak").read_text() == before


def test_secrets_join_those_that_are_sealed_already(draft: Draft) -> None:
    opened = SealedFile(draft.sealed).make(Passphrase("sesame-open-the-door", "here"), Lock.KEY_FILE)
    draft.secrets = {"A": Kept("1", "model.api_key")}
    seal_secrets(draft, lambda file: opened)
    draft.secrets = {"B": Kept("2", "database_url")}
    seal_secrets(draft, lambda file: file.open(draft.keyring))
    entries = SealedFile(draft.sealed).open(draft.keyring).entries
    assert {name: entry.value for name, entry in entries.items()} == {"A": "1", "B": "2"}


async def test_the_first_person_is_the_owner_and_a_second_try_adds_none(draft: Draft) -> None:
    draft.owner = "Ada"
    assert await add_owner(draft) is None
    draft.owner = "Eve"
    assert await add_owner(draft) is None
    store = await open_store(draft.database_url)
    try:
        assert [(one.person.name, one.person.role.word) for one in await store.people.people()] == [("Ada", "owner")]
    finally:
        await store.close()


async def test_a_database_that_is_away_is_no_reason_to_lose_the_answers(draft: Draft) -> None:
    draft.owner = "Ada"
    draft.secrets = {"DATABASE_URL": Kept("postgresql://me:sesame@127.0.0.1:1/x", "database_url")}
    told = await add_owner(draft)
    assert told is not None
    assert "cannot be reached" in told
    assert "sesame" not in told
