"""What an operation asks last: it is answered and committed, nothing may follow, and a part of another operation goes on."""

from __future__ import annotations

import pytest
from sqlalchemy import bindparam, select

from runtime.errors import StoreError
from runtime.store.common import add, at_once, going_on
from runtime.store.schema import roles
from runtime.store.sql.driver import Op
from tests.contract.statements import statement
from tests.contract.store.stage import Stage

ADD = add(roles)
THERE = select(roles.c.name).where(roles.c.name == bindparam("one"))


def kept(name: str) -> Op[list[str]]:
    row = {column.name: None for column in roles.columns} | {"name": name, "fence": 1}
    _, rows = yield at_once((ADD, row), (THERE, {"one": name}), last=True)
    return [one for (one,) in rows]


async def test_what_is_asked_last_is_answered_and_committed(stage: Stage) -> None:
    assert await stage.store.driver.write(lambda: kept("a")) == ["a"]
    assert await stage.column("SELECT name FROM roles") == ["a"]


async def test_an_operation_that_goes_on_after_its_last_queries_breaks(stage: Stage) -> None:
    def more() -> Op[None]:
        yield from kept("a")
        yield THERE, {"one": "a"}

    with pytest.raises(RuntimeError, match="asked more after its last"):
        await stage.store.driver.write(more)


async def test_a_part_of_another_operation_is_committed_with_it(stage: Stage) -> None:
    def both() -> Op[list[str]]:
        return [*(yield from going_on(kept("a"))), *(yield from kept("b"))]

    assert await stage.store.driver.write(both) == ["a", "b"]
    assert await stage.column("SELECT name FROM roles ORDER BY name") == ["a", "b"]


async def test_last_queries_that_fail_leave_nothing(stage: Stage) -> None:
    row = {column.name: None for column in roles.columns} | {"name": "a", "fence": 1}

    def failing() -> Op[None]:
        yield at_once((ADD, row), (statement("SELECT nothing_of_that_name FROM roles"), {}), last=True)

    with pytest.raises(StoreError):
        await stage.store.driver.write(failing)
    assert await stage.column("SELECT count(*) FROM roles") == [0]
