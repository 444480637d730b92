"""`signalbox secrets`: what is typed, what is told, and that no value is ever shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from bot.cli.root import cli
from bot.node.lock import holding
from bot.secrets.file import SealedFile
from bot.secrets.keys import VARIABLE, Keyring
from bot.secrets.removed import at_work
from bot.secrets.sealed import COSTS, Lock

PASSPHRASE = "sesame-open-the-door"
VALUE = "sk-a-value-that-nobody-may-see"
DONE, FAILED, WRONG_USE = 0, 1, 2


class Shell:
    """Commands in a folder of their own, by a user of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sealed = folder / "var" / "secrets.sealed"
        self.own = folder / "home" / ".config" / "signalbox" / "secrets.sealed"
        self.said = ""

    def __call__(
        self, *arguments: str, typed: str = "", passphrase: str | None = PASSPHRASE, **variables: str
    ) -> Result:
        given = {VARIABLE: passphrase, "HOME": str(self.folder / "home"), "XDG_CONFIG_HOME": None, **variables}
        result = CliRunner().invoke(cli, list(arguments), input=typed, env={"OPENAI_API_KEY": None, **given})
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        self.said += result.output
        return result

    def seal(self, name: str = "OPENAI_API_KEY", value: str = VALUE, *flags: str) -> Result:
        return self("secrets", "set", name, "--stdin", *flags, typed=f"{value}\n")

    def held(self, path: Path | None = None, passphrase: str = PASSPHRASE) -> dict[str, str]:
        opened = SealedFile(path or self.sealed).open(Keyring(variable=passphrase))
        return {name: entry.value for name, entry in at_work(opened.entries).items()}

    def rows(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = json.loads(self("secrets", "list", "--json").stdout)
        return rows


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(COSTS, Lock.PASSPHRASE, COSTS[Lock.KEY_FILE])  # what a guess costs is tested elsewhere
    return Shell(tmp_path)


def test_a_secret_is_sealed_listed_used_and_taken_out_and_never_shown(shell: Shell) -> None:
    assert shell.seal().exit_code == DONE
    assert shell.held() == {"OPENAI_API_KEY": VALUE}
    (row,) = shell.rows()
    assert (row["name"], row["where"], row["used_for"]) == ("OPENAI_API_KEY", str(shell.sealed), [])
    assert row["set_at"].startswith("20")
    shown = shell("config", "show", SIGNALBOX_MODEL__NAME="openai/x")
    assert f"OPENAI_API_KEY in {shell.sealed}" in shown.output
    assert shell("secrets", "remove", "OPENAI_API_KEY", "--yes").exit_code == DONE
    assert shell.held() == {}
    assert VALUE not in shell.said


def test_a_value_loses_the_blanks_that_came_along_when_it_was_copied(shell: Shell) -> None:
    shell.seal(value=f"  {VALUE}\r\n\n")
    assert shell.held() == {"OPENAI_API_KEY": VALUE}


def test_a_value_of_several_lines_stays_whole(shell: Shell) -> None:
    key = "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----"
    shell.seal("SIGNING", key)
    assert shell.held() == {"SIGNING": key}


@pytest.mark.parametrize("name", [VALUE, f"OPENAI_API_KEY={VALUE}", "1KEY", "a b", ""])
def test_what_is_no_name_is_refused_and_not_repeated(shell: Shell, name: str) -> None:
    refused = shell("secrets", "set", "--stdin", "--", name, typed="x")
    assert refused.exit_code == WRONG_USE
    assert "only the name belongs on the command line" in refused.output
    assert VALUE not in refused.output
    assert not shell.sealed.exists()


@pytest.mark.parametrize(("typed", "words"), [("", "is empty"), (" \n", "is empty"), ("x" * 70_000, "is too long")])
def test_what_is_no_value_changes_nothing(shell: Shell, typed: str, words: str) -> None:
    shell.seal()
    refused = shell.seal(value=typed)
    assert refused.exit_code == WRONG_USE
    assert words in refused.output
    assert shell.held() == {"OPENAI_API_KEY": VALUE}


def test_without_a_terminal_the_value_comes_from_standard_input(shell: Shell) -> None:
    refused = shell("secrets", "set", "OPENAI_API_KEY")
    assert refused.exit_code == WRONG_USE
    assert "--stdin" in refused.output


def test_a_wrong_passphrase_is_a_sentence_and_changes_nothing(shell: Shell) -> None:
    shell.seal()
    before = shell.sealed.read_bytes()
    for arguments in (["set", "OTHER", "--stdin"], ["remove", "OPENAI_API_KEY", "--yes"], ["passphrase", "--stdin"]):
        refused = shell("secrets", *arguments, typed="x", passphrase="guessed")
        assert refused.exit_code == WRONG_USE
        assert refused.output.startswith(f"signalbox: {shell.sealed}: the variable {VARIABLE} does not open it")
        assert shell.sealed.read_bytes() == before


def test_with_nothing_to_seal_with_the_ways_are_told(shell: Shell) -> None:
    refused = shell("secrets", "set", "OPENAI_API_KEY", "--stdin", typed="x", passphrase=None)
    assert refused.exit_code == WRONG_USE
    assert VARIABLE in refused.output
    assert "--key-file" in refused.output
    assert not shell.sealed.exists()


def test_a_key_file_does_without_a_passphrase(shell: Shell) -> None:
    made = shell("secrets", "set", "OPENAI_API_KEY", "--stdin", "--key-file", typed=VALUE, passphrase=None)
    assert made.exit_code == DONE
    assert (shell.own.parent / "secrets.key").stat().st_mode & 0o777 == 0o600
    assert [row["name"] for row in shell.rows()] == ["OPENAI_API_KEY"]


def test_what_was_handed_over_is_listed_and_goes_first(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "OPENAI_API_KEY").write_text("handed-over")
    variables = {"SIGNALBOX_SECRETS__FOLDER": str(folder), "SIGNALBOX_MODEL__NAME": "openai/x"}
    told = shell("secrets", "set", "OPENAI_API_KEY", "--stdin", typed=VALUE, **variables)
    assert f"OPENAI_API_KEY is in {folder} too, which overrides it." in told.output
    listed = shell("secrets", "list", **variables)
    assert str(folder) in listed.output
    assert str(shell.sealed) in listed.output
    assert "handed-over" not in shell.said


def test_the_users_file_is_another(shell: Shell) -> None:
    shell.seal("OPENAI_API_KEY", "of-the-user", "--user")
    shell.seal("OPENAI_API_KEY", "of-the-data")
    assert shell.held(shell.own) == {"OPENAI_API_KEY": "of-the-user"}
    assert shell.held() == {"OPENAI_API_KEY": "of-the-data"}
    assert {row["where"] for row in shell.rows()} == {str(shell.own), str(shell.sealed)}


def test_the_file_that_the_settings_name_is_the_one_that_is_changed(shell: Shell) -> None:
    (shell.folder / "signalbox.toml").write_text('[secrets]\nfile = "mine.sealed"\n')
    shell.seal()
    assert shell.held(shell.folder / "mine.sealed") == {"OPENAI_API_KEY": VALUE}
    assert not shell.sealed.exists()


def test_taking_out_what_is_not_there_fails(shell: Shell) -> None:
    shell.seal()
    refused = shell("secrets", "remove", "OTHER", "--yes")
    assert refused.exit_code == FAILED
    assert f"There is no OTHER in {shell.sealed}" in refused.output


def test_a_new_passphrase_is_told_where_the_old_one_has_to_be_replaced(shell: Shell) -> None:
    shell.seal()
    changed = shell("secrets", "passphrase", "--stdin", typed="another one\n")
    assert changed.exit_code == DONE
    assert f"The old passphrase came from the variable {VARIABLE}" in changed.output
    assert shell.held(passphrase="another one") == {"OPENAI_API_KEY": VALUE}


def test_hints_tell_what_keeps_a_secret_from_being_used(shell: Shell) -> None:
    assert "until model.name chooses its model" in shell.seal().output
    assert "until a setting that ends with _env names it" in shell.seal("OTHER", "something-else").output
    assert "OPENAI_API_KEY holds the same value" in shell.seal("OTHER").output
    told = shell("secrets", "set", "OPENAI_API_KEY", "--stdin", typed=VALUE, OPENAI_API_KEY="x")
    assert "is set here too, and overrides it" in told.output
    with holding(shell.folder / "var"):
        assert "Restart it" in shell.seal().output


def test_the_list_shows_what_goes_first_and_what_it_is_for(shell: Shell) -> None:
    (shell.folder / "signalbox.toml").write_text('[web]\ntoken_env = "PAGE"\n[model]\nname = "openai/x"\n')
    shell.seal("PAGE", "the-token-of-the-page")
    rows = json.loads(shell("secrets", "list", "--json", OPENAI_API_KEY="x").stdout)
    assert [(row["name"], row["where"], row["used_for"]) for row in rows] == [
        ("OPENAI_API_KEY", "the environment", ["model.api_key"]),
        ("PAGE", str(shell.sealed), ["web.token"]),
    ]


def test_the_list_skips_what_it_cannot_read_unless_the_settings_name_it(shell: Shell) -> None:
    assert "Nothing is sealed yet" in shell("secrets", "list").output
    shell.seal()
    shell.sealed.chmod(0o644)
    skipped = shell("secrets", "list")
    assert skipped.exit_code == DONE
    assert f"A sealed file is skipped: {shell.sealed}: its mode is 0644" in skipped.output
    named = shell("secrets", "list", SIGNALBOX_SECRETS__FILE="var/secrets.sealed")
    assert named.exit_code == WRONG_USE
    assert f"chmod 600 {shell.sealed}" in named.output


def test_a_secret_that_was_replaced_or_removed_is_looked_for_until_it_is_forgotten(shell: Shell) -> None:
    first, second = "sesame-of-last-year", "sesame-of-this-year"
    shell.seal("A_KEY", first)
    shell.seal("A_KEY", second)
    shell("secrets", "remove", "A_KEY", "--yes")
    shell.seal("B_KEY")
    kept = json.loads(shell("guard", "kept", "--json").stdout)
    assert [one["name"] for one in kept] == ["A_KEY", "A_KEY"]
    assert [row["name"] for row in shell.rows()] == ["B_KEY"]
    assert shell("guard", "forget", kept[0]["mark"], "--yes").exit_code == DONE
    assert [one["mark"] for one in json.loads(shell("guard", "kept", "--json").stdout)] == [kept[1]["mark"]]
    assert first not in shell.said
    assert second not in shell.said


def test_a_removed_secret_is_taken_out_of_text_and_given_to_no_setting(shell: Shell) -> None:
    shell.seal("A_KEY", "sesame-of-last-year")
    shell("secrets", "remove", "A_KEY", "--yes")
    assert "[redacted: A_KEY" in shell("guard", "test", "it was sesame-of-last-year").output
    used = {"SIGNALBOX_MODEL__NAME": "openai/x", "SIGNALBOX_MODEL__API_KEY_ENV": "A_KEY"}
    assert "the variable A_KEY is not set" in shell("guard", "test", "hello", **used).output
