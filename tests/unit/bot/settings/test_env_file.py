"""A file of variables: read as people write it, refused where it can't be meant, warned about where others read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.settings.given.env_file import read_env_file
from runtime.errors import ConfigError


def _file(folder: Path, text: str | bytes, mode: int = 0o600) -> Path:
    path = folder / "signalbox.env"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    path.chmod(mode)
    return path


def _fault(path: Path) -> str:
    with pytest.raises(ConfigError) as told:
        read_env_file(path)
    return str(told.value)


def test_lines_are_read_as_people_write_them(tmp_path: Path) -> None:
    text = '\ufeff# note\n\nA=1\r\nexport B = two words # note\nC="x \\"y\\"\\n" # z\nD=\'$HOME #no\'\nE=\nF=a#b\nA=2\n'
    found = read_env_file(_file(tmp_path, text)).variables
    assert found == {"A": "2", "B": "two words", "C": 'x "y"\n', "D": "$HOME #no", "E": "", "F": "a#b"}


def test_every_malformed_line_is_told_by_its_number_and_never_shown(tmp_path: Path) -> None:
    path = _file(tmp_path, 'A=1\nsk-secret-value\n2B=x\nC="open\n')
    told = _fault(path)
    assert [line.partition(": ")[0] for line in told.splitlines()] == [f"{path}:{n}" for n in (2, 3, 4)]
    assert "sk-secret" not in told


@pytest.mark.parametrize(
    ("text", "words"),
    [(b"A=\xff\xfe", "not UTF-8"), (b"A=" + b"x" * (1 << 20), "larger than"), (b"A=\0", "no variable can hold")],
)
def test_what_is_no_list_of_variables_is_refused(tmp_path: Path, text: bytes, words: str) -> None:
    assert words in _fault(_file(tmp_path, text))


def test_a_file_that_is_not_there_or_a_folder_is_refused(tmp_path: Path) -> None:
    assert "there is no file" in _fault(tmp_path / "none")
    assert "cannot be read" in _fault(tmp_path)


@pytest.mark.parametrize(("mode", "told"), [(0o644, "everybody on this machine"), (0o640, "its group"), (0o600, "")])
def test_secrets_that_others_can_read_are_warned_about(tmp_path: Path, mode: int, told: str) -> None:
    warning = read_env_file(_file(tmp_path, "OPENAI_API_KEY=sk-1\nLANG=C\n", mode)).warning
    assert (told in warning) if told else not warning
    assert "sk-1" not in warning
    assert "LANG" not in warning


def test_no_secret_is_no_warning(tmp_path: Path) -> None:
    assert not read_env_file(_file(tmp_path, "LANG=C\n", 0o644)).warning
