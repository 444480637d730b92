"""doctor tells of a model whose last call failed: the process knows it, and else the database."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.doctor.keys.model_calls import FailedCall, check_model_calls, findings
from bot.doctor.subject import Subject
from bot.wiring.models.catalogue import catalogue_of
from runtime.contract import Level
from runtime.errors import Cause
from runtime.models.choice.cooling import Failed
from runtime.store.store import open_store
from tests.unit.bot.settings.test_settings import read

OURS = '[model]\nname = "openai/gpt-4o-mini"\napi_key = "sk-{key}"\n'
REFUSED = "The model's provider refused the key (401)."


@pytest.mark.parametrize(
    ("cause", "is_usual", "level"),
    [
        ("auth", True, Level.ERROR),
        ("billing", True, Level.ERROR),
        ("away", True, Level.WARNING),
        ("auth", False, Level.WARNING),
    ],
)
def test_a_refused_key_of_the_usual_model_is_an_error(cause: str, is_usual: bool, level: Level) -> None:
    [finding] = findings([FailedCall("m", cause, REFUSED, is_usual)])
    assert (finding.level, finding.id, REFUSED in finding.what) == (level, "model.calls.m", True)
    assert all([finding.why, finding.fix])


async def test_while_no_process_runs_the_database_tells_of_the_key_that_is_set(tmp_path: Path) -> None:
    settings = read(tmp_path, OURS.format(key="old"))
    assert await check_model_calls(Subject(settings, None, None, None)) == []
    settings.data_dir.mkdir()
    store = await open_store(settings.database_url, now=lambda: datetime.now(UTC))
    [usual] = catalogue_of(settings)
    await store.cooldowns.failed(Failed(usual.name, usual.mark, Cause.AUTH, store.now(), REFUSED, alone=True))
    await store.close()
    [finding] = await check_model_calls(Subject(settings, None, None, None))
    assert (finding.level, REFUSED in finding.what) == (Level.ERROR, True)
    mended = read(tmp_path, OURS.format(key="new"))
    assert await check_model_calls(Subject(mended, None, None, None)) == []
