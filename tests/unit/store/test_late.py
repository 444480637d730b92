"""Parts of a store that wait for their first use."""

from __future__ import annotations

from dataclasses import fields

from runtime.store.late import _Late
from runtime.store.store import open_store
from tests.unit.bot.wiring.test_loading import STORE_PARTS


async def test_each_late_part_is_made_with_its_first_use_and_asked_directly_from_then_on() -> None:
    store = await open_store("sqlite:///:memory:")
    try:
        late = [part for part in (getattr(store, field.name) for field in fields(store)) if isinstance(part, _Late)]
        assert {part._way[0].removeprefix("runtime.store.") for part in late} <= set(STORE_PARTS)
        assert late
        for part in late:
            assert part.now() is not None
            assert vars(part)["now"] == store.now
            assert type(part._part).__module__ == part._way[0]
    finally:
        await store.close()


async def test_a_late_part_has_nothing_that_the_part_has_not() -> None:
    store = await open_store("sqlite:///:memory:")
    try:
        assert not hasattr(store.figures, "no_such_thing")
    finally:
        await store.close()
