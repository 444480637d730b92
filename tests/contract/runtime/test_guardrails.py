"""A start without the leak guard, and a stricter one, are in the audit."""

from __future__ import annotations

import pytest

from bot.settings.safety.guard import Guardrails
from bot.settings.settings import Settings
from bot.wiring.safety.guard import note_start
from tests.contract.runtime.stage import Stage

TOLD = {
    Guardrails.AS_SET: [],
    Guardrails.OFF: [("", "process", "started without guardrails")],
    Guardrails.ENFORCED: [("", "process", "started with all guardrails enforced")],
}


@pytest.mark.parametrize("guardrails", Guardrails)
async def test_a_start_that_overrides_the_guard_is_in_the_audit(stage: Stage, guardrails: Guardrails) -> None:
    await note_start(Settings().guarded_by(guardrails), stage.store.cluster)
    assert await stage.audit("leak guard") == TOLD[guardrails]
