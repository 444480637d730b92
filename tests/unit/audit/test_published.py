"""Several nodes share an audit: each verifies the whole of it, and who verifies can't sign."""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.operator.audit import exported, verify
from runtime.audit.anchor import CheckpointFile, HeadFile, head_words
from runtime.audit.exported import ends_of, fault_of, row_of
from runtime.audit.keys import AuditKey, checks_out
from runtime.audit.published import SignedEnds
from runtime.audit.redactions import redaction
from runtime.audit.trimmer import Trimmer
from runtime.audit.witness import Witness
from runtime.contract import NodeId, Role
from runtime.domain.audit_chain import REDACTED, reads
from runtime.domain.ids import new_id
from runtime.store.common import fact
from runtime.store.protocol import AuditSignature, Duty, Head
from runtime.store.sql.driver import Op
from runtime.store.store import Store
from tests.contract.runtime.stores import memory_store
from tests.contract.store.stage import HandClock

DAY = timedelta(days=1)


class Cluster:
    """One audit, and folders of nodes that share it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.clock = HandClock()
        self.store: Store = memory_store(self.clock)
        self.duty = Duty("", NodeId(""), 0)

    async def open(self) -> None:
        lease = await self.store.cluster.join(NodeId("n"), "", 999 * DAY, alone=False)
        duty = await self.store.cluster.take(lease, "sealer")
        assert duty
        self.duty = duty

    def folder(self, node: str) -> Path:
        folder = self.root / node
        folder.mkdir(exist_ok=True)
        return folder

    def ends(self, node: str) -> SignedEnds:
        return SignedEnds(self.folder(node), shared=True)

    async def seal(self, node: str, rows: int = 3) -> Head:
        """Some days pass, and a node seals what happened."""
        for _ in range(rows):
            await self.store.people.add_person(new_id(), Role.USER, [], actor="test")
            self.clock.advance(hours=24)
        head = await self.store.audit.seal(self.duty, await self.store.audit.audit_head())
        assert head
        HeadFile(self.folder(node)).write(head)
        await self.ends(node).publish(self.store.audit, head)
        return head

    async def witness(self, node: str) -> None:
        await Witness(self.store.audit, HeadFile(self.folder(node), shared=True), self.ends(node)).look()

    async def told(self, node: str) -> dict[str, object]:
        return dict(await verify(self.store.audit, ends=self.ends(node)))

    async def fault(self, node: str) -> object:
        return (await self.told(node))["fault"]

    async def write(self, sql: str, **given: object) -> None:
        def op() -> Op[None]:
            yield text(sql), given

        await self.store.driver.write(op)


@pytest.fixture
async def cluster(tmp_path: Path) -> Cluster:
    made = Cluster(tmp_path)
    await made.open()
    return made


async def test_each_node_verifies_what_another_sealed_and_trimmed(cluster: Cluster) -> None:
    await cluster.seal("one", 10)
    own = CheckpointFile(cluster.folder("one"))
    trimmer = Trimmer(book=cluster.store.audit, file=own, keep=3 * DAY, now=cluster.clock, ends=cluster.ends("one"))
    head = await cluster.store.audit.audit_head()
    await trimmer.trim(cluster.duty, head)
    await cluster.ends("one").publish(cluster.store.audit, head)
    for node in ("one", "two"):
        told = await cluster.told(node)
        assert (told["whole"], told["removed"], told["fault"]) == (True, own.read() and own.read().number, None)  # type: ignore[union-attr]
    assert (await cluster.told("two"))["keys"] == [AuditKey(cluster.folder("one")).public]


async def test_a_tail_that_is_cut_is_missed_on_every_node(cluster: Cluster) -> None:
    await cluster.seal("one")
    await cluster.witness("two")
    await cluster.write("DELETE FROM audit WHERE number > 2")
    assert ["missing" in str(await cluster.fault(node)) for node in ("one", "two", "three")] == [True] * 3
    await cluster.write("DELETE FROM audit_signatures")
    assert ["missing" in str(await cluster.fault(node)) for node in ("one", "two")] == [True] * 2


async def test_a_node_signs_no_tail_that_does_not_follow_the_one_it_knows(cluster: Cluster) -> None:
    known = await cluster.seal("one")
    await cluster.witness("two")
    await cluster.seal("one")
    await cluster.write("UPDATE audit SET detail = 'x' WHERE number = 5")
    await cluster.witness("two")
    assert HeadFile(cluster.folder("two")).read() == known


async def test_a_published_head_that_its_key_did_not_sign_counts_for_nothing(cluster: Cluster) -> None:
    head, key = await cluster.seal("one"), AuditKey(cluster.folder("one")).public
    for forged in (AuditSignature(key, Head(9, "x"), AuditKey(cluster.folder("x")).sign(head_words(Head(9, "x")))),):
        await cluster.store.audit.publish_audit(forged)
        assert (await cluster.ends("two").anchors(cluster.store.audit)).heads == []
    assert head.number == 3


async def test_the_first_head_of_a_key_is_told_in_the_audit(cluster: Cluster) -> None:
    await cluster.seal("one")
    await cluster.seal("one")
    [row] = await cluster.store.audit.newest_audit("audit key", limit=9)
    assert row.actor == AuditKey(cluster.folder("one")).public


def test_a_head_of_an_earlier_version_still_counts(tmp_path: Path) -> None:
    key = b"k" * 32
    (tmp_path / "audit.key").write_bytes(key)
    signature = hmac.digest(key, head_words(Head(4, "abc")).encode(), "sha256").hex()
    (tmp_path / "audit.head").write_text(json.dumps({"number": 4, "hash": "abc", "signature": signature}))
    assert HeadFile(tmp_path).read() == Head(4, "abc")


def test_who_has_the_public_key_checks_a_head_and_signs_none(tmp_path: Path) -> None:
    key, words = AuditKey(tmp_path), head_words(Head(4, "abc"))
    public, signature = key.public, key.sign(words)
    assert checks_out(public, words, signature)
    assert not checks_out(public, head_words(Head(5, "abc")), signature)
    by_public_key = hmac.digest(bytes.fromhex(public), words.encode(), "sha256").hex()
    assert not checks_out(public, words, by_public_key)
    assert not key.signed(words, by_public_key)


def test_the_head_beside_the_key_is_written_without_a_library_and_counts_beside_that_key_alone(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    HeadFile(tmp_path).write(Head(4, "abc"))
    said = json.loads((tmp_path / "audit.head").read_text())
    assert AuditKey(tmp_path).signed(head_words(Head(4, "abc")), said["signature"])
    assert not AuditKey(tmp_path / "other").signed(head_words(Head(4, "abc")), said["signature"])
    assert "key" not in said


# -------------------------------------------------------------------------------------------- rows without somebody


async def _redacted(cluster: Cluster, signed_by: str) -> None:
    """Row 2 loses its words, and a row says so that one of the folders signed."""
    await cluster.write("UPDATE audit SET subject = 'forgotten', salt = '' WHERE number = 2")
    row = (await cluster.store.audit.audit_rows(1, limit=1))[0]
    detail = redaction(AuditKey(cluster.folder(signed_by)), [(2, reads(row))])

    def op() -> Op[None]:
        yield from fact(cluster.clock(), REDACTED, "test", "", detail)

    await cluster.store.driver.write(op)


async def test_a_redacted_row_is_told_as_such_and_the_chain_stays_whole(cluster: Cluster) -> None:
    await cluster.seal("one")
    await _redacted(cluster, "one")
    await cluster.seal("one")
    for node in ("one", "two"):
        assert (await cluster.told(node))["redacted"] == 1
        assert await cluster.fault(node) is None


async def test_a_redacted_row_that_is_changed_again_is_named(cluster: Cluster) -> None:
    await cluster.seal("one")
    await _redacted(cluster, "one")
    await cluster.write("UPDATE audit SET actor = 'somebody else' WHERE number = 2")
    assert str(await cluster.fault("one")).startswith("row 2: changed")


async def test_a_redaction_that_a_stranger_signed_counts_for_nothing(cluster: Cluster) -> None:
    await cluster.seal("one")
    await _redacted(cluster, "stranger")
    assert str(await cluster.fault("one")).startswith("row 2: changed")


async def test_a_row_is_sealed_with_a_salt_that_its_hash_needs(cluster: Cluster) -> None:
    await cluster.seal("one")
    rows = await cluster.store.audit.audit_rows(0)
    assert len({row.salt for row in rows}) == len(rows)
    await cluster.write("UPDATE audit SET salt = '' WHERE number = 2")
    assert str(await cluster.fault("one")).startswith("row 2: changed")


# ---------------------------------------------------------------------------------------------------- an exported audit


async def _export(cluster: Cluster) -> list[str]:
    await cluster.seal("one")
    await _redacted(cluster, "one")
    await cluster.seal("one")
    page = await exported(cluster.store.audit, cluster.ends("one"), 0)
    return [json.dumps(page["signed"]), *map(json.dumps, page["rows"])]


def _checked(lines: list[str]) -> str | None:
    rows = [*map(row_of, lines[1:])]
    return fault_of(ends_of(lines[0]), rows, rows)[0]


async def test_an_exported_audit_is_verified_with_the_public_key_alone(cluster: Cluster) -> None:
    lines = await _export(cluster)
    assert _checked(lines) is None
    assert ends_of(lines[0]).key == AuditKey(cluster.folder("one")).public


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: [*lines[:3], *lines[4:]],
        lambda lines: lines[:-1],
        lambda lines: [*lines[:3], lines[3].replace("person added", "person removed"), *lines[4:]],
        lambda lines: [lines[0].replace('"head": [7', '"head": [6'), *lines[1:-1]],
        lambda lines: [lines[0].replace('"keys": [', '"keys": ["ab", '), *lines[1:]],
    ],
    ids=["a row away", "the last row away", "another word", "a shorter head", "one key more"],
)
async def test_a_changed_export_is_told(change: Callable[[list[str]], list[str]], cluster: Cluster) -> None:
    lines = await _export(cluster)
    changed = change(lines)
    assert changed != lines
    assert _checked(changed) is not None
