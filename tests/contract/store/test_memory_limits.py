"""Memories that end: by their time, by newer values, by the limits of a scope, and under the scan of the leak guard."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from runtime.contract.memory.facts import MemoryRequest, Scope, ScopeKind, Trust
from runtime.domain.memory.keeping import MEMORIES_MAX, PROPOSAL_LIFE, PROPOSALS_FULL, PROPOSED_MAX, SCOPE_FULL
from runtime.domain.memory.terms import terms_of
from runtime.store.memory.ending.expiring import ENDED_VALUES_MAX
from runtime.store.protocol.memory.finding import Sought
from tests.contract.store.stage import Stage
from tests.contract.store.test_memories import GROUP, actor, kept, texts


async def test_rows_whose_time_is_over_are_not_read_and_go(stage: Stage) -> None:
    await stage.say("hello")
    ada = await actor(stage)
    await kept(stage, "I like tea", ada)
    await kept(stage, "I'm in Graz today", ada, expires_at=stage.clock() + timedelta(hours=8))
    proposed = await kept(stage, "Ada has a cat", ada, trust=Trust.STAGED)
    assert proposed.memory.expires_at == stage.clock() + PROPOSAL_LIFE
    stage.clock.advance(hours=8)
    assert await texts(stage, ada) == ["Ada has a cat", "I like tea"]
    again = await kept(stage, "I'm in Graz today", ada)
    assert (again.was_known, again.memory.expires_at) == (True, None)
    stage.clock.advance(hours=91 * 24)
    assert await texts(stage, ada) == ["I'm in Graz today", "I like tea"]
    duty = await stage.duty("retention")
    assert [await stage.store.retention.drop_expired(duty) for _ in range(2)] == [1, 0]
    assert sorted(await stage.column("SELECT text FROM memories")) == ["I like tea", "I'm in Graz today"]
    assert await stage.column("SELECT count(*) FROM forgotten") == [0]


async def test_of_what_changes_all_the_time_few_earlier_values_are_kept(stage: Stage) -> None:
    ada = await actor(stage)
    for number in range(ENDED_VALUES_MAX + 5):
        await kept(stage, f"build {number}", ada, scope=ScopeKind.ROOM, subject="build", relation="number")
    assert await stage.column("SELECT count(*) FROM memories") == [ENDED_VALUES_MAX + 1]
    assert f"build {ENDED_VALUES_MAX + 4}" in await texts(stage, ada)


async def test_a_scope_has_its_limits(stage: Stage) -> None:
    ada = await actor(stage)
    await stage.store.memories.keep_given(MemoryRequest("one"), "main", Scope(ScopeKind.AGENT), actor="cli")
    copied = "agent, scope, reach, kind, subject, relation, object, subject_key, relation_key, object_key, text"
    rest = "importance, pinned, valid_from, uses, created_at"
    for trust, number in (("low", PROPOSED_MAX), ("said", MEMORIES_MAX - PROPOSED_MAX - 1)):
        await stage.write(
            f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :m) INSERT INTO memories (id, hash, "
            f"trust, {copied}, {rest}) SELECT :t || i, :t || i, :t, {copied}, {rest} FROM memories, n WHERE text = 'one' "
            "AND trust = 'said' AND number = (SELECT min(number) FROM memories)",
            m=number,
            t=trust,
        )
    two = MemoryRequest("two", scope=ScopeKind.AGENT)
    assert await stage.store.memories.keep_said(replace(two, trust=Trust.LOW), ada) == PROPOSALS_FULL
    assert await stage.store.memories.keep_said(two, ada) == SCOPE_FULL
    assert (await kept(stage, "ONE", ada, scope=ScopeKind.AGENT)).was_known


async def test_what_a_scan_redacts_is_not_found_by_the_old_words(stage: Stage) -> None:
    ada = await actor(stage, at=GROUP)
    await kept(stage, "the key is orchid", ada, scope=ScopeKind.ROOM)
    (memory,) = await stage.column("SELECT id FROM memories")
    await stage.write("INSERT INTO memory_vectors VALUES (:m, 'small', 'r', 1, :v)", m=memory, v=b"0000")
    [row] = await stage.store.texts.texts("memories", limit=10)
    assert row.room == GROUP
    await stage.store.texts.put_texts("memories", [(row, {"text": "the key is [redacted: key ·1234]"})])
    sought = Sought(await stage.store.memories.reader_at("main", GROUP, None), stage.clock())
    search = stage.store.memory_search
    assert not (await search.by_words(sought, terms_of("orchid"))).rows
    assert len((await search.by_words(sought, terms_of("redacted"))).rows) == 1
    assert await stage.column("SELECT count(*) FROM memory_vectors") == [0]
