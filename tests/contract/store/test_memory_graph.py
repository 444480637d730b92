"""What is known about a thing by its name, one or two steps away, as it stands now and where it may be read."""

from __future__ import annotations

from dataclasses import replace

from runtime.contract.memory.facts import MemoryActor, MemoryKind, Reader, ScopeKind
from runtime.store.memory.graph import ABOUT_ROWS_MAX
from tests.contract.store.stage import OTHER_ROOM, Stage
from tests.contract.store.test_memories import GROUP, actor, kept


async def related(stage: Stage, by: MemoryActor, one: str, kind: str, other: str, scope: ScopeKind) -> None:
    await kept(
        stage,
        f"{one} {kind} {other}",
        by,
        scope=scope,
        kind=MemoryKind.RELATION,
        subject=one,
        relation=kind,
        object=other,
    )


async def test_two_steps_reach_what_belongs_to_a_neighbour(stage: Stage) -> None:
    ada = await actor(stage, at=GROUP)
    for one, kind, other in (("Bo", "works at", "Acme"), ("Acme", "sits in", "Graz"), ("Graz", "lies in", "Styria")):
        await related(stage, ada, one, kind, other, ScopeKind.ROOM)
    await kept(stage, "Bo likes tea", ada, scope=ScopeKind.ROOM, subject="Bo", relation="likes", object="tea")
    reader = Reader("main", GROUP)

    async def about(name: str, depth: int = 1) -> list[str]:
        return [one.text for one in await stage.store.memories.about(reader, name, depth)]

    assert await about("bo ") == ["Bo likes tea", "Bo works at Acme"]
    assert await about("BO", 2) == ["Bo likes tea", "Bo works at Acme", "Acme sits in Graz"]
    assert await about("graz") == ["Graz lies in Styria", "Acme sits in Graz"]
    assert await about("nobody", 2) == await about("", 2) == []


async def test_what_has_ended_or_is_read_elsewhere_is_no_neighbour(stage: Stage) -> None:
    ada = await actor(stage, at=GROUP)
    for town in ("Graz", "Wien"):
        text = f"Bo lives in {town}"
        await kept(stage, text, ada, scope=ScopeKind.ROOM, subject="Bo", relation="lives in", object=town)
    await related(stage, replace(ada, room=OTHER_ROOM), "Wien", "has", "a secret", ScopeKind.ROOM)
    await related(stage, ada, "Graz", "has", "a clock", ScopeKind.ROOM)
    found = await stage.store.memories.about(Reader("main", GROUP), "Bo", 2)
    assert [one.text for one in found] == ["Bo lives in Wien"]


async def test_a_thing_with_many_neighbours_shows_fifty(stage: Stage) -> None:
    ada = await actor(stage, at=GROUP)
    for number in range(ABOUT_ROWS_MAX + 5):
        await related(stage, ada, "hub", "knows", f"n{number}", ScopeKind.AGENT)
    found = await stage.store.memories.about(Reader("main", OTHER_ROOM), "hub", 2)
    assert len({one.id for one in found}) == len(found) == ABOUT_ROWS_MAX
