"""Parts that stand under another: which one, over kills and looks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from runtime.contract import Attempt, Content, Part, Settled
from tests.contract.courier.scripted import End, ScriptedAdapter
from tests.contract.courier.stage import Stage
from tests.contract.runtime.stage import LEASE, Crash, crash_at

REPORT = Content("head|one|two", threaded=True)


@dataclass
class Looking(ScriptedAdapter):
    """Remembers what was looked for."""

    looked: list[Part] = field(default_factory=list)

    async def settle(self, part: Part, attempt: Attempt) -> Settled:
        self.looked.append(part)
        return await super().settle(part, attempt)


async def put(stage: Stage, content: Content) -> None:
    await stage.store.outbox.enqueue(replace(stage.new("x"), content=content))


def under(adapter: ScriptedAdapter) -> list[tuple[str, str]]:
    return [(part.body, part.under) for part in adapter.screen]


async def test_of_a_threaded_delivery_the_first_part_is_in_the_room_and_the_others_under_it(any_stage: Stage) -> None:
    adapter = ScriptedAdapter()
    await put(any_stage, REPORT)
    await (await any_stage.courier(adapter=adapter)).drain()
    assert under(adapter) == [("head", ""), ("one", "0"), ("two", "0")]


@pytest.mark.parametrize("hit", [1, 2, 3])
@pytest.mark.parametrize("point", ["part-marked", "part-shown", "part-checkpointed"])
async def test_killed_in_between_each_part_stands_under_the_first_once(any_stage: Stage, point: str, hit: int) -> None:
    adapter = ScriptedAdapter()
    await put(any_stage, REPORT)
    with pytest.raises(Crash):
        await (await any_stage.courier(adapter=adapter, probe=crash_at(point, hit))).drain()
    any_stage.clock.advance(LEASE)
    await any_stage.settle(await any_stage.courier(adapter=adapter))
    assert under(adapter) == [("head", ""), ("one", "0"), ("two", "0")]


async def test_what_is_looked_for_is_looked_for_where_it_was_sent(any_stage: Stage) -> None:
    adapter = Looking(ends=[End.SHOWN, End.APPLIED, End.NOT_APPLIED])
    await put(any_stage, REPORT)
    await any_stage.settle(await any_stage.courier(adapter=adapter))
    assert {(part.body, part.under) for part in adapter.looked} == {("one", "0"), ("two", "0")}
    assert under(adapter) == [("head", ""), ("one", "0"), ("two", "0")]


async def test_what_belongs_under_an_earlier_message_is_all_there(any_stage: Stage) -> None:
    adapter = ScriptedAdapter()
    await put(any_stage, replace(REPORT, threaded=False, under="root"))
    await (await any_stage.courier(adapter=adapter)).drain()
    assert under(adapter) == [("head", "root"), ("one", "root"), ("two", "root")]


@pytest.mark.parametrize("more", [{}, {"threaded": True}, {"under": "1700000000.000100"}])
def test_a_content_comes_back_as_it_was_stored(more: dict[str, Any]) -> None:
    content = Content("hello", **more)
    assert Content.from_json(content.to_json()) == content
    assert set(more) == {name for name in ("threaded", "under") if name in content.to_json()}
