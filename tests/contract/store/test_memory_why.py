"""`why`: rows that a run was given or found, and for each other one the reason why not."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from runtime.contract.memory.facts import ScopeKind, Trust
from runtime.domain.memory.reasons import Unused
from runtime.store.protocol.memory.memories import Use
from tests.contract.store.stage import Stage
from tests.contract.store.test_memories import GROUP, actor, kept

TOWN: Final[dict[str, Any]] = {"subject": "Ada", "relation": "town"}


async def test_each_row_has_its_reason(stage: Stage) -> None:
    await stage.say("hello")
    await stage.finish(await stage.claim())
    ada = await actor(stage)
    await kept(stage, "My town is Graz", ada, **TOWN)
    tea = (await kept(stage, "I drink tea in the morning", ada)).memory
    await kept(stage, "My town is Wien", ada, **TOWN)
    await kept(stage, "Tea is sold in Linz", ada)
    await kept(stage, "My cat is called Minka", ada)
    await kept(stage, "Tea is poison", ada, trust=Trust.LOW)
    await kept(stage, "The tea is on sale", ada, expires_at=stage.clock() + timedelta(minutes=1))
    stage.clock.advance(hours=1)
    claim = await stage.begin("what teas do I drink?")
    await stage.store.memories.record_uses(claim.run_id, [Use(tea.id, 1, "given: words, 1st")])
    stage.clock.advance(hours=1)
    await kept(stage, "I drink tea at night", ada)
    told = await stage.store.memories.why(claim.run_id, ada)
    assert [(one.memory.text, one.rank, one.how) for one in told.used] == [(tea.text, 1, "given: words, 1st")]
    assert {one.memory.text: one.reason for one in told.unused} == {
        "My town is Graz": Unused.ENDED,
        "My town is Wien": Unused.NO_WORD,
        "Tea is sold in Linz": Unused.OUTRANKED,
        "My cat is called Minka": Unused.NO_WORD,
        "Tea is poison": Unused.NOT_ACCEPTED,
        "The tea is on sale": Unused.EXPIRED,
        "I drink tea at night": Unused.LATER,
    }


async def test_nothing_is_told_in_a_room_of_what_is_not_read_there(stage: Stage) -> None:
    claim = await stage.begin("what do I drink?")
    ada = await actor(stage)
    tea = (await kept(stage, "I drink tea", ada)).memory
    await stage.store.memories.record_uses(claim.run_id, [Use(tea.id, 1, "given")])
    there = replace(ada, room=GROUP)
    await kept(stage, "We deploy on Fridays", there, scope=ScopeKind.ROOM)
    told = await stage.store.memories.why(claim.run_id, there)
    assert (told.used, [one.memory.text for one in told.unused], told.elsewhere) == ((), ["We deploy on Fridays"], 1)


async def test_what_was_forgotten_is_known_by_its_id(stage: Stage) -> None:
    await stage.say("hello")
    ada = await actor(stage)
    tea = (await kept(stage, "I drink tea", ada)).memory
    assert await stage.store.memories.forgotten_at(tea.id[-8:]) is None
    await stage.store.memories.forget(tea.id, ada)
    assert await stage.store.memories.forgotten_at(tea.id[-8:]) == stage.clock()
    assert await stage.store.memories.forgotten_at("%%%%%%%%") is None
