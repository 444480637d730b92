"""Voice notes, heard by a program that an operator chose."""

from __future__ import annotations

import io
import os
from datetime import timedelta
from pathlib import Path

import pytest

from runtime.contract import Transcriber
from runtime.errors import ToolFailed
from tools.transcribe import CommandTranscriber


def hears(*command: str, seconds: float = 20) -> Transcriber:
    return CommandTranscriber(command, timeout=timedelta(seconds=seconds), uid=65534)


def script(text: str) -> tuple[str, ...]:
    return ("sh", "-c", text, "sh")


async def words(listener: Transcriber, name: str = "voice.ogg") -> str:
    return await listener.transcribe(io.BytesIO(b"some sound"), name)


async def test_the_words_are_what_the_program_prints() -> None:
    assert await words(hears(*script('echo; cat "$1"; echo " was heard"; echo noise >&2'))) == "some sound was heard"


async def test_the_recording_goes_where_the_command_says_and_keeps_its_ending() -> None:
    said = await words(hears("sh", "-c", 'echo "$1 $2"', "sh", "--file={file}", "--fast"))
    assert said.startswith("--file=/")
    assert said.endswith("/recording.ogg --fast")


async def test_no_shell_reads_the_command_or_the_name() -> None:
    said = await words(hears("echo", "$(id);", "{file};ls"), "a.$(id) b;c.m;p3")
    assert said.startswith("$(id); /")
    assert said.endswith("/recording.m;p3;ls")


async def test_it_gets_none_of_our_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-secret")
    assert set(await names_of_variables()) <= {"PATH", "LANG", "PWD", "SHLVL", "_", "OLDPWD"}


async def names_of_variables() -> list[str]:
    return [line.partition("=")[0] for line in (await words(hears(*script("env")))).splitlines()]


async def test_nothing_of_a_recording_stays() -> None:
    folder = Path(await words(hears(*script("pwd"))))
    assert folder.name.startswith("signalbox-voice-")
    assert not folder.exists()  # noqa: ASYNC240 - one look


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs programs as others")
async def test_as_root_it_runs_as_the_user_of_the_tools() -> None:
    assert await words(hears(*script("id -u; id -G; echo new > other && cat other"))) == "65534\n65534\nnew"


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (script("echo no model; exit 3"), "^sh ended with code 3: no model$"),
        (("/no/such/program",), r"^/no/such/program cannot be started \(No such file"),
    ],
)
async def test_trouble_is_told(command: tuple[str, ...], told: str) -> None:
    with pytest.raises(ToolFailed, match=told):
        await words(hears(*command))


async def test_a_program_that_takes_too_long_is_ended_with_its_children() -> None:
    with pytest.raises(ToolFailed, match=r"took longer than 0.2 seconds"):
        await words(hears(*script("sleep 30 & sleep 30"), seconds=0.2))
