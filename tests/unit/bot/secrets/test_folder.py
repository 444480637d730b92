"""Secrets that a container engine or a service manager hands over as plain files."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.settings.settings import Settings, load
from runtime.errors import ConfigError

URL = "postgresql://ada:sesame-open-the-door@db/signalbox"
ASKS = {"SIGNALBOX_DATABASE_URL_ENV": "DATABASE_URL"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "run" / "secrets"
    made.mkdir(parents=True)
    return made


def read(folder: Path, **variables: str) -> Settings:
    return load(environ={"SIGNALBOX_SECRETS__FOLDER": str(folder), **variables}, folder=folder.parent)


def test_a_file_stands_for_the_variable_it_is_called_as(folder: Path) -> None:
    (folder / "DATABASE_URL").write_text(f"{URL}\n")  # editors and `echo` end a line
    settings = read(folder, **ASKS)
    assert settings.database_url == URL
    assert settings.source("database_url") == f"DATABASE_URL in {folder}"
    assert "sesame-open-the-door" in settings.secret_values()


def test_a_vendors_key_is_found_under_its_usual_name(folder: Path) -> None:
    (folder / "OPENAI_API_KEY").write_text("sk-1")
    settings = read(folder, SIGNALBOX_MODEL__NAME="openai/gpt-4o-mini")
    assert settings.model.api_key is not None
    assert settings.model.api_key.get_secret_value() == "sk-1"


def test_a_variable_goes_first(folder: Path) -> None:
    (folder / "DATABASE_URL").write_text(URL)
    assert read(folder, **ASKS, DATABASE_URL="sqlite://").database_url == "sqlite:///:memory:"


@pytest.mark.parametrize("content", [None, "", " \n"])
def test_without_the_file_or_with_an_empty_one_it_is_missing(folder: Path, content: str | None) -> None:
    if content is not None:
        (folder / "DATABASE_URL").write_text(content)
    with pytest.raises(ConfigError, match="the variable DATABASE_URL is not set"):
        read(folder, **ASKS)


def test_the_folder_need_not_be_there(tmp_path: Path) -> None:
    assert read(tmp_path / "none").secrets.folder == tmp_path / "none"


def test_a_file_that_is_no_text_is_named_with_its_setting(folder: Path) -> None:
    (folder / "DATABASE_URL").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match=rf"secrets\.folder: {folder}/DATABASE_URL: it is not UTF-8 text"):
        read(folder, **ASKS)


def test_what_cannot_be_read_is_named_with_its_reason(folder: Path) -> None:
    (folder / "DATABASE_URL").mkdir()  # as root, no mode keeps us from reading a file
    with pytest.raises(ConfigError, match=r"DATABASE_URL: it cannot be read \(Is a directory\)"):
        read(folder, **ASKS)
