"""Sealed files on the disk, their chain, and the settings that find their secrets there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.secrets.chain import Chain, members
from bot.secrets.disk import replace
from bot.secrets.errors import NoPassphrase, NoSealedFile, SecretsError, WrongMode, WrongPassphrase
from bot.secrets.file import SealedFile
from bot.secrets.keys import VARIABLE, Keyring, Passphrase
from bot.secrets.sealed import Entry, Lock, seal
from bot.settings.settings import Settings, load, load_usable
from runtime.errors import ConfigError
from tests.fakes.ending import Ending

ROOT = Path(__file__).parents[4]
AT = datetime(2026, 8, 1, tzinfo=UTC)
OPENS = Keyring(variable="sesame-open-the-door")


def sealed(path: Path, passphrase: str = "sesame-open-the-door", **secrets: str) -> SealedFile:
    path.parent.mkdir(parents=True, exist_ok=True)
    entries = {name: Entry(value, AT) for name, value in secrets.items()}
    replace(path, seal(entries, passphrase, Lock.KEY_FILE))  # the cheap kind: this is not about its cost
    return SealedFile(path)


def put(file: SealedFile, **secrets: str) -> None:
    file.change(file.open(OPENS), lambda entries: entries.update({k: Entry(v, AT) for k, v in secrets.items()}))


def values(file: SealedFile) -> dict[str, str]:
    return {name: entry.value for name, entry in file.open(OPENS).entries.items()}


# ---------------------------------------------------------------------------------------------------------- one file


def test_what_is_put_in_is_there_and_only_for_us(tmp_path: Path) -> None:
    file = sealed(tmp_path / "s", A="1")
    put(file, B="2")
    assert values(file) == {"A": "1", "B": "2"}
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o660, 0o400, 0o700])
def test_any_other_mode_is_refused_with_the_command_that_mends_it(tmp_path: Path, mode: int) -> None:
    file = sealed(tmp_path / "s", A="1")
    file.path.chmod(mode)
    with pytest.raises(WrongMode, match=rf"{file.path}: its mode is {mode:04o}.*chmod 600 {file.path}$"):
        file.open(OPENS)


def test_a_wrong_passphrase_names_file_and_variable_and_changes_nothing(tmp_path: Path) -> None:
    file = sealed(tmp_path / "s", A="1")
    before = file.path.read_bytes()
    with pytest.raises(WrongPassphrase) as caught:
        file.open(Keyring(variable="guessed-wrong"))
    assert str(caught.value).startswith(f"{file.path}: the variable {VARIABLE} does not open it")
    assert "guessed-wrong" not in str(caught.value)
    assert file.path.read_bytes() == before


def test_without_any_passphrase_the_ways_to_give_one_are_told(tmp_path: Path) -> None:
    path = tmp_path / "s"
    replace(path, seal({}, "x", Lock.PASSPHRASE))
    with pytest.raises(NoPassphrase, match=rf"{path}.*{VARIABLE}.*secrets.passphrase_file"):
        SealedFile(path).open(Keyring())


def test_damage_is_told_from_a_wrong_passphrase(tmp_path: Path) -> None:
    file = sealed(tmp_path / "s", A="1")
    file.path.write_bytes(file.path.read_bytes()[:-3])
    with pytest.raises(SecretsError, match=f"{file.path}: it was cut short or changed") as caught:
        file.open(OPENS)
    assert not isinstance(caught.value, WrongPassphrase)


def test_what_is_no_file_or_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SecretsError, match="it isn't a file"):
        SealedFile(tmp_path).open(OPENS)
    with pytest.raises(NoSealedFile, match=r"the file doesn't exist.*secrets set"):
        SealedFile(tmp_path / "none").open(OPENS)
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(SecretsError, match="it isn't a file"):  # and nobody waits for a writer
        SealedFile(tmp_path / "pipe").open(OPENS)


def test_a_new_passphrase_keeps_the_secrets_and_shuts_out_the_old_one(tmp_path: Path) -> None:
    file = sealed(tmp_path / "s", A="1")
    file.reseal(file.open(OPENS), Passphrase("another", "here"), Lock.PASSPHRASE)
    with pytest.raises(WrongPassphrase):
        file.open(OPENS)
    opened = file.open(Keyring(variable="another"))
    assert opened.lock is Lock.PASSPHRASE
    assert opened.entries["A"] == Entry("1", AT)


def test_a_file_that_somebody_else_made_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    file = sealed(tmp_path / "s", A="1")
    with pytest.raises(SecretsError, match="just made it"):
        file.make(Passphrase("x", "here"), Lock.PASSPHRASE)
    assert values(file) == {"A": "1"}


def test_of_many_changes_at_once_none_is_lost(tmp_path: Path) -> None:
    file = sealed(tmp_path / "s")
    threads = [threading.Thread(target=put, args=(file,), kwargs={f"N{number}": "x"}) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(values(file)) == [f"N{number}" for number in range(8)]


WRITER = """
import sys
from pathlib import Path
from bot.secrets.disk import replace
size = 0
print("begun", flush=True)
while True:
    size += 1
    replace(Path(sys.argv[1]), b"%d " % size * 20_000)
"""


@pytest.mark.parametrize("pause", [0.002, 0.01, 0.03])
def test_a_kill_leaves_the_old_one_or_the_new_one(tmp_path: Path, pause: float) -> None:
    path = tmp_path / "s"
    command = [sys.executable, "-c", WRITER, str(path)]
    with Ending(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        while not path.exists():
            pass
        threading.Event().wait(pause)
        writer.send_signal(signal.SIGKILL)
    words = path.read_bytes().split()
    assert len(words) == 20_000
    assert len(set(words)) == 1
    replace(path, b"mended")  # what the kill left behind is in nobody's way
    assert [left.name for left in tmp_path.iterdir()] == ["s"]


def test_a_full_disk_keeps_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = sealed(tmp_path / "s", A="1")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SecretsError, match=r"cannot be written \(No space left on device\); nothing was changed"):
        put(file, B="2")
    monkeypatch.undo()
    assert values(file) == {"A": "1"}


# -------------------------------------------------------------------------------------------------- the passphrase


def test_a_passphrase_file_gives_its_first_line(tmp_path: Path) -> None:
    (tmp_path / "p").write_text("sesame-open-the-door\r\nnot this\n")
    assert Keyring(file=tmp_path / "p").passphrase(tmp_path, Lock.PASSPHRASE).text == "sesame-open-the-door"


@pytest.mark.parametrize(("data", "words"), [(b"", "empty"), (b"\n", "empty"), (b"\xff\xfe", "not UTF-8")])
def test_a_passphrase_file_that_holds_none_is_told(tmp_path: Path, data: bytes, words: str) -> None:
    (tmp_path / "p").write_bytes(data)
    with pytest.raises(SecretsError, match=f"{tmp_path / 'p'}: the passphrase file is {words}"):
        Keyring(file=tmp_path / "p").passphrase(tmp_path, Lock.PASSPHRASE)


def test_the_person_is_asked_last_and_only_for_a_passphrase(tmp_path: Path) -> None:
    asked: list[str] = []

    def ask(words: str) -> str:
        asked.append(words)
        return "typed"

    assert Keyring(variable="set", ask=ask).passphrase(tmp_path, Lock.PASSPHRASE).text == "set"
    assert asked == []
    assert Keyring(ask=ask).passphrase(tmp_path, Lock.PASSPHRASE).text == "typed"
    with pytest.raises(NoPassphrase, match="key file"):
        Keyring(ask=ask).passphrase(tmp_path, Lock.KEY_FILE)
    assert len(asked) == 1


def test_a_key_file_is_made_once_and_is_only_for_us(tmp_path: Path) -> None:
    keyring = Keyring(key_file=tmp_path / "config" / "secrets.key")
    key = keyring.key()
    assert keyring.key() == key
    assert len(key.text) >= 43  # 256 bits
    assert keyring.passphrase(tmp_path, Lock.KEY_FILE) == key
    (tmp_path / "config" / "secrets.key").chmod(0o644)
    with pytest.raises(WrongMode):
        keyring.passphrase(tmp_path, Lock.KEY_FILE)


# ------------------------------------------------------------------------------------------------------- the chain


class House:
    """A folder with settings, and sealed files at each place of the chain."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.named = folder / "named.sealed"
        self.local = folder / "var" / "secrets.sealed"
        self.own = folder / "home" / ".config" / "signalbox" / "secrets.sealed"

    def load(self, text: str = "", **variables: str) -> Settings:
        return load(self._write(text), environ=self._with(variables))

    def load_some(self, text: str, *demand: str) -> Settings:
        """With these secrets at hand, and no others."""
        return load(self._write(text), environ=self._with({}), demand=demand)

    def faults(self, text: str = "", **variables: str) -> str:
        with pytest.raises(ConfigError) as caught:
            self.load(text, **variables)
        return str(caught.value)

    def usable(self, text: str = "", **variables: str) -> tuple[Settings, ConfigError | None]:
        return load_usable(self._write(text), environ=self._with(variables))

    def _write(self, text: str) -> Path:
        file = self.folder / "signalbox.toml"
        file.write_text(text)
        return file

    def _with(self, variables: dict[str, str]) -> dict[str, str]:
        return {"HOME": str(self.folder / "home"), VARIABLE: "sesame-open-the-door", **variables}


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


NAMED = '[secrets]\nfile = "named.sealed"\n[model]\nname = "openai/x"\n'
MODEL = '[model]\nname = "openai/x"\n'


def key_of(settings: Settings) -> str:
    assert settings.model.api_key is not None
    return settings.model.api_key.get_secret_value()


def test_the_nearest_wins_environment_then_named_then_data_then_user(house: House) -> None:
    sealed(house.own, OPENAI_API_KEY="of-the-user")
    assert key_of(house.load(MODEL)) == "of-the-user"
    sealed(house.local, OPENAI_API_KEY="of-the-data")
    assert key_of(house.load(MODEL)) == "of-the-data"
    sealed(house.named, OPENAI_API_KEY="of-the-settings")
    assert key_of(house.load(NAMED)) == "of-the-settings"
    assert key_of(house.load(NAMED, OPENAI_API_KEY="of-the-environment")) == "of-the-environment"


def test_config_says_where_a_secret_came_from(house: House) -> None:
    sealed(house.local, OPENAI_API_KEY="sk-sesame")
    settings = house.load(MODEL)
    assert settings.source("model.api_key") == f"OPENAI_API_KEY in {house.local}"
    assert "sk-sesame" not in f"{settings.shown()} {settings!r}"


def test_a_twin_names_a_sealed_secret_as_well_as_a_variable(house: House) -> None:
    sealed(house.local, MY_TOKEN="sesame-token-of-mine")
    settings = house.load('[web]\ntoken_env = "MY_TOKEN"\n')
    assert settings.web.token is not None
    assert settings.web.token.get_secret_value() == "sesame-token-of-mine"
    assert settings.web.token_env == "MY_TOKEN"


def test_the_address_of_a_database_can_be_sealed(house: House) -> None:
    sealed(house.local, DB="postgresql://me:p%40ss-word@host/x")
    settings = house.load('database_url_env = "DB"\n')
    assert settings.database_url == "postgresql://me:p%40ss-word@host/x"
    assert {"p%40ss-word", "p@ss-word"} <= set(settings.secret_values())


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda path: path.chmod(0o644), "its mode is 0644"),
        (lambda path: path.write_bytes(path.read_bytes()[:-9]), "cut short or changed"),
        (lambda path: sealed(path, "another"), "the passphrase is wrong"),
        (lambda path: path.unlink(), "the file doesn't exist"),
    ],
    ids=["mode", "damage", "passphrase", "missing"],
)
def test_the_file_that_the_settings_name_must_work(house: House, harm: object, words: str) -> None:
    sealed(house.named, OPENAI_API_KEY="x")
    sealed(house.local, OPENAI_API_KEY="would do")
    assert callable(harm)
    harm(house.named)
    told = house.faults(NAMED, OPENAI_API_KEY="would do too")
    assert f"secrets.file: {house.named}: " in told
    assert words in told


@pytest.mark.parametrize(
    "harm",
    [
        lambda path: path.chmod(0o644),
        lambda path: path.write_bytes(b"stale"),
        lambda path: sealed(path, "another"),
    ],
    ids=["mode", "damage", "passphrase"],
)
def test_another_file_that_cannot_be_read_is_skipped_with_a_warning(house: House, harm: object) -> None:
    sealed(house.own, OPENAI_API_KEY="sk-sesame")
    sealed(house.local, OPENAI_API_KEY="hidden")
    assert callable(harm)
    harm(house.local)
    settings = house.load(MODEL)
    assert key_of(settings) == "sk-sesame"
    (skipped,) = settings.chain.skipped
    assert str(skipped).startswith(f"{house.local}: ")


def test_a_stale_file_of_the_user_does_not_hide_the_one_of_the_data_folder(house: House) -> None:
    sealed(house.own, "an old passphrase", OPENAI_API_KEY="stale")
    sealed(house.local, OPENAI_API_KEY="fresh")
    assert key_of(house.load(MODEL)) == "fresh"


def test_a_missing_secret_is_told_with_the_files_that_were_skipped(house: House) -> None:
    sealed(house.local, OPENAI_API_KEY="x").path.chmod(0o644)
    told = house.faults(MODEL)
    assert "signalbox secrets set OPENAI_API_KEY" in told
    assert f"A sealed file was skipped: {house.local}: its mode is 0644" in told


def test_no_file_is_opened_while_the_environment_has_what_is_needed(house: House) -> None:
    sealed(house.local, OPENAI_API_KEY="x").path.chmod(0o644)
    settings = house.load(MODEL, OPENAI_API_KEY="y")
    assert settings.chain.skipped == []


def test_the_passphrase_is_no_setting_and_a_slip_in_its_name_is_told(house: House) -> None:
    house.load()
    told = house.faults("", SIGNALBOX_SECRETS_PASPHRASE="x")
    assert f"did you mean {VARIABLE}?" in told


def test_a_named_passphrase_file_opens_what_a_key_sealed(house: House) -> None:
    sealed(house.local, OPENAI_API_KEY="sk-sesame")
    (house.folder / "pass").write_text("sesame-open-the-door\n")
    text = f'[secrets]\npassphrase_file = "pass"\n{MODEL}'
    assert key_of(house.load(text, **{VARIABLE: ""})) == "sk-sesame"


# ---------------------------------------------------------------------------------------------------------- demand


def test_a_client_of_the_process_opens_nothing_and_demands_nothing(house: House) -> None:
    sealed(house.named, "another", OPENAI_API_KEY="x")
    settings = house.load_some(NAMED)
    assert settings.model.api_key is None
    with pytest.raises(ConfigError, match=r"named\.sealed"):
        settings.with_secrets()


def test_an_address_that_was_not_asked_for_is_no_address_of_another_database(house: House) -> None:
    sealed(house.local, DB="postgresql://me:sesame@host/x")
    text = f'database_url_env = "DB"\n{MODEL}'
    settings = house.load_some(text)
    assert settings.database_url == "sealed:"
    assert settings.database_file is None
    assert settings.with_secrets("database_url").database_url == "postgresql://me:sesame@host/x"


# ----------------------------------------------------------------------------------------------------------- reuse


@pytest.mark.parametrize(
    ("text", "variables", "names"),
    [
        (
            '[web]\ntoken_env = "T"\n',
            {"T": "same-sesame-for-both", "OPENAI_API_KEY": "same-sesame-for-both"},
            "web.token (T) and model.api",
        ),
        (
            'database_url = "postgresql://me:same-sesame-for-both@h/x"\n',
            {"OPENAI_API_KEY": "same-sesame-for-both"},
            "database_url",
        ),
        ('[web]\ntoken = "sesame-open-the-door"\n', {"OPENAI_API_KEY": "x"}, f"web.token ({{file}}) and {VARIABLE}"),
    ],
)
def test_one_value_under_two_purposes_is_refused_with_both_names(
    house: House, text: str, variables: dict[str, str], names: str
) -> None:
    sealed(house.named)
    told = house.faults(f"{text}{NAMED}", **variables)
    assert "hold the same value" in told
    assert names.format(file=house.folder / "signalbox.toml") in told
    assert "sesame" not in told


def test_a_sealed_value_under_two_names_counts_too(house: House) -> None:
    sealed(house.local, OPENAI_API_KEY="same-sesame-for-both", PAGE="same-sesame-for-both")
    told = house.faults(f'[web]\ntoken_env = "PAGE"\n{MODEL}')
    assert "web.token (PAGE in " in told
    assert "model.api_key (OPENAI_API_KEY in " in told
    assert "sesame" not in told


def test_different_values_and_the_same_purpose_are_fine(house: House) -> None:
    sealed(house.local, OPENAI_API_KEY="sk-one", PAGE="another-sesame-for-it")
    house.load(f'[web]\ntoken_env = "PAGE"\n{MODEL}')


# --------------------------------------------------------------------------------------------------------- masking


def test_everything_that_was_opened_is_to_be_masked(house: House) -> None:
    sealed(house.local, OPENAI_API_KEY="sk-one", OTHER="two-two")
    held = house.load(MODEL, ANTHROPIC_API_KEY="of-another-vendor").secret_values()
    assert {"sk-one", "two-two", "sesame-open-the-door", "of-another-vendor"} <= set(held)


# ------------------------------------------------------------------------------------------------- what can be used


def test_wrong_settings_are_left_out_for_those_who_look(house: House) -> None:
    settings, faults = house.usable("[web]\nport = 9000\nhost = 7\nprot = 1\n[run]\nmax_iterations = true\n")
    assert settings.web.port == 9000
    assert settings.web.host == "127.0.0.1"
    assert [name in str(faults) for name in ("web.host", "web.prot", "run.max_iterations")] == [True] * 3


def test_a_file_that_is_no_toml_leaves_the_defaults(house: House) -> None:
    settings, faults = house.usable("[web\n")
    assert settings.web.port == 8080
    assert "not TOML" in str(faults)


def test_settings_without_a_fault_have_none(house: House) -> None:
    assert house.usable(MODEL, OPENAI_API_KEY="x")[1] is None


def test_the_chain_has_each_file_once(tmp_path: Path) -> None:
    found = members(tmp_path / "a" / "secrets.sealed", tmp_path / "a", tmp_path / "b")
    assert [member.named for member in found] == [True, False]
    assert Chain({}, found[1:], Keyring()).find("ANYTHING") is None


def test_a_variable_that_a_setting_names_is_no_setting_whatever_it_is_called(house: House) -> None:
    named = house.load('[web]\ntoken_env = "SIGNALBOX_PAGE"\n', SIGNALBOX_PAGE="sesame-of-the-page")
    assert named.source("web.token") == "SIGNALBOX_PAGE"
    named = house.load("", SIGNALBOX_WEB__TOKEN_ENV="SIGNALBOX_PAGE", SIGNALBOX_PAGE="sesame-of-the-page")
    assert named.source("web.token") == "SIGNALBOX_PAGE"
    assert "SIGNALBOX_PAGE: there is no such setting" in house.faults("", SIGNALBOX_PAGE="sesame-of-the-page")
