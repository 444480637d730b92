"""One question to a model that fails: the fix belongs to the words of the failure."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.tryouts.model import fix_of
from runtime.models.failures import AWAY, of_status

MODEL = "openai/gpt-4o-mini"
ADDRESS = "http://127.0.0.1:8000/v1"


def _refused(status: int) -> str:
    return of_status(status, RuntimeError("no"), MODEL, timedelta()).words


@pytest.mark.parametrize(
    ("why", "fix"),
    [
        (AWAY.words, f"Is its server running, and is the address right? It was asked at {ADDRESS}."),
        (_refused(401), "Make a new key at the vendor, and copy all of it."),
        (_refused(402), "Add credit at the vendor, or use another key."),
        (_refused(403), "Choose a model that this key may use."),
        (_refused(404), "Write the vendor, a slash, then the model's name as the vendor writes it."),
        (_refused(500), f"It was asked at {ADDRESS}."),
        (f"The model can't be used: {MODEL} names no provider.", "Its name must begin with a known vendor."),
    ],
)
def test_a_failure_of_the_model_is_told_with_itsfix_of(why: str, fix: str) -> None:
    assert fix_of(why, MODEL, ADDRESS).startswith(fix)
