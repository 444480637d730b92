"""The table of operations: what it declares is what the client sends, the routes read and `Operations` does."""

from __future__ import annotations

from inspect import signature

import pytest

from bot.http.operator_api import READERS
from bot.operator.api import OPERATIONS, Operation, OperatorApi
from bot.operator.operations import DONE_BY
from runtime.contract import Role

ALL = list(OPERATIONS.values())


@pytest.mark.parametrize("operation", ALL, ids=lambda operation: operation.name)
def test_what_is_declared_is_done_with_the_same_parameters(operation: Operation) -> None:
    names = [operation.subject] * bool(operation.subject) + [field.name for field in operation.fields]
    done = list(signature(vars(DONE_BY[operation.name])[operation.name]).parameters.values())[1:]
    assert [one.name for one in done] == names
    assert [one.default for one in done][bool(operation.subject) :] == [field.default for field in operation.fields]
    assert all(field.annotation in READERS for field in operation.fields)


def test_no_two_operations_share_a_route_and_all_are_for_operators() -> None:
    assert len({(one.method, one.path) for one in ALL}) == len(ALL)
    assert all(one.role >= Role.OPERATOR for one in ALL)


def test_what_a_call_leaves_out_is_sent_as_declared() -> None:
    assert OPERATIONS["runs"].values("done") == {"state": "done", "limit": 100, "room": ""}
    assert OPERATIONS["decide"].values("a1", choice="deny") == {"approval_id": "a1", "choice": "deny", "reason": ""}


@pytest.mark.parametrize(
    ("name", "given", "named", "told"),
    [
        (
            "runs",
            ("done", 10, "web:main/a", "more"),
            {},
            "runs: is no argument of it: 'more'; it takes state, limit, room",
        ),
        (
            "decide",
            ("a1",),
            {"chioce": "deny"},
            "decide: is no argument of it: chioce; it takes approval_id, choice, reason",
        ),
        ("requeue", ("d1",), {"delivery_id": "d2"}, "requeue: is given twice: delivery_id; it takes delivery_id"),
        ("overview", (), {"room": "web:main/a"}, "overview: is no argument of it: room; it takes nothing"),
    ],
)
def test_what_a_call_has_too_much_is_told_with_what_there_is(
    name: str, given: tuple[object, ...], named: dict[str, object], told: str
) -> None:
    with pytest.raises(TypeError) as refused:
        OPERATIONS[name].values(*given, **named)
    assert str(refused.value) == told


async def test_an_operation_that_nobody_does_is_no_silent_answer() -> None:
    with pytest.raises(NotImplementedError):
        await OperatorApi().overview()
