"""Doctor tells how strict the leak guard is, and looks at its key."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.doctor.guard import check_guard
from bot.doctor.subject import Subject
from bot.secrets.file import SealedFile
from bot.secrets.keys import Passphrase
from bot.secrets.sealed import Entry, Lock
from bot.wiring.safety.guard import KEY_FILE, key_of
from runtime.contract import Finding, Level
from tests.unit.bot.settings.test_settings import read

MODEL = '[model]\nname = "openai/ours"\napi_base = "http://127.0.0.1:9/v1"\napi_key = "a-long-key-of-ours"\n'
RULES = '[[guard_rules]]\nname = "code name"\nwords = ["bluebird"]\n'


async def told(folder: Path, settings: str, data: Path) -> list[Finding]:
    subject = Subject(read(folder, f'data_dir = "{data}"\n{settings}'), None, None, None)
    return list(await check_guard(subject))


async def test_it_tells_modes_values_and_rules(tmp_path: Path) -> None:
    [found] = await told(tmp_path, MODEL + RULES, tmp_path)
    assert (found.level, found.id) == (Level.OK, "guard.secrets")
    modes = "secrets redact, random text warn, personal data off"
    assert found.what == f"{modes}; values held: 1; own rules: 1; stricter rooms: 0"


async def test_sealed_secrets_count_as_values(tmp_path: Path) -> None:
    words = tmp_path / "passphrase"
    words.write_text("sesame\n")
    words.chmod(0o600)
    sealed = SealedFile(tmp_path / "secrets.sealed")
    opened = sealed.make(Passphrase("sesame", "test"), Lock.PASSPHRASE)
    sealed.change(
        opened, lambda entries: entries.update({"WIKI": Entry("another-key-of-ours", datetime(2026, 8, 1, tzinfo=UTC))})
    )
    found = await told(tmp_path, f'[secrets]\npassphrase_file = "{words}"\n{MODEL}', tmp_path)
    assert "values held: 2" in found[0].what


@pytest.mark.parametrize("mode", ["off", "warn"])
async def test_a_guard_that_takes_nothing_out_is_a_warning(tmp_path: Path, mode: str) -> None:
    [found] = await told(tmp_path, f'{MODEL}[guard]\nsecrets = "{mode}"\n', tmp_path)
    assert (found.level, found.fix) == (Level.WARNING, 'set secrets = "redact" in [guard]')


async def test_its_key_is_for_this_user_alone(tmp_path: Path) -> None:
    key_of(tmp_path)
    found = (await told(tmp_path, MODEL, tmp_path))[1]
    assert (found.level, found.id) == (Level.OK, "guard.key")
    (tmp_path / KEY_FILE).chmod(0o640)
    found = (await told(tmp_path, MODEL, tmp_path))[1]
    assert (found.level, found.fix) == (Level.WARNING, f"chmod 600 {tmp_path / KEY_FILE}")
    assert "(mode 0640)" in found.what


async def test_half_a_key_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / KEY_FILE).write_bytes(b"half")
    found = (await told(tmp_path, MODEL, tmp_path))[1]
    assert (found.level, found.what) == (Level.ERROR, f"{tmp_path / KEY_FILE} has 4 bytes instead of 32")


@pytest.mark.parametrize(("pattern", "is_wide"), [(".*", True), ("[A-Za-z]", True), ("[0-9]+", False), ("^$", False)])
async def test_a_rule_that_finds_something_everywhere_is_a_warning(tmp_path: Path, pattern: str, is_wide: bool) -> None:
    rules = f'[[guard_rules]]\nname = "x"\npattern = "{pattern}"\n'
    found = [one.what for one in await told(tmp_path, MODEL + rules, tmp_path) if one.id == "guard.wide"]
    assert found == (['guard_rules[1] ("x") finds something in almost any text'] if is_wide else [])
