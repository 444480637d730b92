"""The audit of a store: sealed in order by one node, and what was changed behind its back is found."""

from __future__ import annotations

import asyncio

import pytest

from runtime.contract import NodeId
from runtime.domain.audit_chain import FIRST_HASH, Verifier
from runtime.store.protocol import Head
from tests.contract.store.stage import TTL, Stage


async def sealed(stage: Stage) -> Head:
    """Some facts, all sealed."""
    for n in range(5):
        await stage.say(f"message {n}")
    head = await stage.store.audit.seal(await stage.duty("sealer"), await stage.store.audit.audit_head())
    assert head is not None
    return head


async def fault(stage: Stage, head: Head) -> str | None:
    verifier, after = Verifier(head.number, head.hash), 0
    while rows := await stage.store.audit.audit_rows(after, limit=4):
        verifier.take(rows)
        after = rows[-1].number or 0
    return verifier.fault()


async def test_before_the_first_seal_the_head_is_empty(stage: Stage) -> None:
    await stage.say("hello")
    assert await stage.store.audit.audit_head() == Head(0, FIRST_HASH)
    assert await stage.store.audit.audit_rows(0) == []


async def test_all_facts_are_numbered_without_gaps(stage: Stage) -> None:
    head = await sealed(stage)
    rows = await stage.store.audit.audit_rows(0)
    assert [row.number for row in rows] == list(range(1, head.number + 1))
    assert await stage.column("SELECT count(*) FROM audit WHERE number IS NULL") == [0]


async def test_the_head_is_the_last_row(stage: Stage) -> None:
    head = await sealed(stage)
    last = (await stage.store.audit.audit_rows(head.number - 1))[-1]
    assert head == Head(last.number or 0, last.hash) == await stage.store.audit.audit_head()


async def test_sealing_in_pieces_makes_one_chain(stage: Stage) -> None:
    duty, head = await stage.duty("sealer"), await stage.store.audit.audit_head()
    for n in range(6):
        await stage.say(f"message {n}")
        after = await stage.store.audit.seal(duty, head, limit=2)
        assert after is not None
        assert after.number <= head.number + 2
        head = after
    assert await fault(stage, head) is None


async def test_sealing_nothing_keeps_the_head(stage: Stage) -> None:
    head = await sealed(stage)
    assert await stage.store.audit.seal(await stage.duty("sealer"), head) == head


async def test_a_node_that_lost_the_duty_seals_nothing(stage: Stage) -> None:
    duty = await stage.duty("sealer")
    await stage.say("hello")
    await stage.store.cluster.join(NodeId("heir"), "", TTL, alone=True)
    before = await stage.everything()
    assert await stage.store.audit.seal(duty, Head(0, FIRST_HASH)) is None
    assert await stage.everything() == before


async def test_facts_of_many_tasks_are_sealed_once_each(stage: Stage) -> None:
    await asyncio.gather(*(stage.say(f"m{n}") for n in range(50)))
    head = await stage.store.audit.seal(await stage.duty("sealer"), await stage.store.audit.audit_head())
    assert head is not None
    assert await stage.column("SELECT count(*) FROM audit") == [head.number]
    assert await fault(stage, head) is None


async def test_an_untouched_audit_has_no_fault(stage: Stage) -> None:
    assert await fault(stage, await sealed(stage)) is None


TAMPERINGS = {
    "a changed detail": ("UPDATE audit SET detail = 'x' WHERE number = 4", "row 4"),
    "a changed time": ("UPDATE audit SET at = at + 1 WHERE number = 4", "row 4"),
    "a removed row": ("DELETE FROM audit WHERE number = 4", "row 4"),
    "a removed first row": ("DELETE FROM audit WHERE number = 1", "row 1"),
    "an inserted row": (
        "INSERT INTO audit (number, at, kind, actor, subject, detail, previous, hash) "
        "SELECT max(number) + 1, 0, 'x', 'x', 'x', 'x', 'x', 'x' FROM audit",
        "row 10",
    ),
    "a cut tail": ("DELETE FROM audit WHERE number > 6", "row 7"),
    "an emptied audit": ("DELETE FROM audit", "row 1"),
}


@pytest.mark.parametrize("how", TAMPERINGS)
async def test_tampering_is_found_at_its_first_row(stage: Stage, how: str) -> None:
    head = await sealed(stage)
    assert head.number == 9
    change, expected = TAMPERINGS[how]
    await stage.write(change)
    found = await fault(stage, head)
    assert found is not None
    assert found.startswith(f"{expected}:")


async def test_rows_sealed_after_the_signed_head_are_no_fault(stage: Stage) -> None:
    head = await sealed(stage)
    await stage.say("later")
    await stage.store.audit.seal(await stage.duty("sealer"), head)
    assert await fault(stage, head) is None


async def test_the_newest_rows_come_first_sealed_or_not(stage: Stage) -> None:
    await sealed(stage)
    await stage.store.cluster.note_fact("leak guard", "", "web:main/room", "GitHub token ·4f2a at delivery, redact")
    book = stage.store.audit
    newest = await book.newest_audit(limit=3)
    assert [row.number for row in newest[1:]] == sorted((row.number or 0 for row in newest[1:]), reverse=True)
    [row] = await book.newest_audit("leak guard", limit=3)
    assert row == newest[0]
    assert (row.kind, row.number, row.detail) == ("leak guard", None, "GitHub token ·4f2a at delivery, redact")
    assert await book.newest_audit("leak", limit=3) == []
