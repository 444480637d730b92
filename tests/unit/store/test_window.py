"""The window of a rolling upgrade: which migrations an older program bears, and which databases this one works on."""

from __future__ import annotations

import ast
import sqlite3
from datetime import UTC, datetime, timedelta

import pytest

from runtime.contract import NodeId
from runtime.errors import StoreError
from runtime.store import window
from runtime.store.cluster.nodes import ADD_NODE, CONTRACTS_MADE, join
from runtime.store.expanding import faults, faults_of_revisions
from runtime.store.protocol.leases import UNTOLD
from runtime.store.schema import REVISION
from runtime.store.upgrade import create_sqlite, upgrade_sqlite
from runtime.store.window import check_contracts, is_newer

BEARS = [
    'op.add_column("rooms", sa.Column("language", sa.Text(), nullable=False, server_default=""))',
    'op.add_column("rooms", sa.Column("language", sa.Text(), nullable=True))',
    'op.create_table("new", sa.Column("id", sa.Text(), nullable=False), sa.UniqueConstraint("id"))',
    'op.create_table("new")\n    op.create_index("ix", "new", ["id"], unique=True)',
    'op.create_index("ix", "rooms", ["name"])',
    'op.alter_column("rooms", "name", nullable=True)',
    'op.alter_column("rooms", "name", existing_type=sa.Text(), server_default="")',
    "op.execute(\"UPDATE rooms SET name = 'x'\")",
]
BREAKS = [
    'op.drop_table("rooms")',
    'op.drop_column("rooms", "name")',
    'op.drop_index("ix")',
    'op.rename_table("rooms", "places")',
    'op.alter_column("rooms", "name", new_column_name="title")',
    'op.alter_column("rooms", "name", nullable=False)',
    'op.alter_column("rooms", "name", type_=sa.Integer())',
    'op.add_column("rooms", sa.Column("language", sa.Text(), nullable=False))',
    'op.add_column("rooms", sa.Column("number", sa.Text(), unique=True))',
    'op.create_index("ix", "rooms", ["name"], unique=True)',
    'op.create_unique_constraint("uq", "rooms", ["name"])',
    'op.create_check_constraint("ck", "rooms", "name <> 1")',
    'with op.batch_alter_table("rooms") as batch:\n        batch.drop_column("name")',
    'op.execute("ALTER TABLE rooms DROP COLUMN name")',
    'op.execute(f"ALTER TABLE {name} RENAME TO x")',
    'op.get_bind().execute(sa.text("ALTER TABLE rooms ALTER COLUMN name SET NOT NULL"))',
]


def written(body: str, name: str = "upgrade") -> ast.Module:
    return ast.parse(f"def {name}() -> None:\n    {body}\n")


@pytest.mark.parametrize("body", BEARS)
def test_what_only_adds_is_borne_by_older_programs(body: str) -> None:
    assert list(faults(written(body))) == []


@pytest.mark.parametrize("body", BREAKS)
def test_what_takes_away_or_demands_is_refused_outside_of_a_contract(body: str) -> None:
    assert list(faults(written(body)))
    assert list(faults(written(body, "contract"))) == []


def test_every_revision_of_the_window_keeps_to_it() -> None:
    assert faults_of_revisions() == []


def test_a_contract_that_this_program_does_not_know_outgrew_it(monkeypatch: pytest.MonkeyPatch) -> None:
    check_contracts([])
    with pytest.raises(StoreError, match="revision 9000 took away"):
        check_contracts(["9000"])
    monkeypatch.setattr(window, "CONTRACTS", ("9000",))
    check_contracts(["9000"])


def test_a_node_looks_for_contracts_behind_its_own_row() -> None:
    """One that is just being made holds the table of nodes: a look before the row would be too early."""
    now = datetime(2026, 3, 1, tzinfo=UTC)
    op = join(NodeId("n"), "host/1", timedelta(seconds=5), False, "", UNTOLD, now)
    assert next(op)[0] is ADD_NODE
    assert op.send([])[0] is CONTRACTS_MADE
    with pytest.raises(StoreError, match="revision 9000 took away"):
        op.send([("9000",)])


def test_a_revision_is_newer_unless_it_is_one_of_ours() -> None:
    assert [is_newer(revision) for revision in (REVISION, "0001", "9000")] == [False, False, True]


def test_an_embedded_database_of_a_newer_program_is_refused() -> None:
    """It has one program at a time: nothing rolls there, and a backup leads back."""
    raw = sqlite3.connect(":memory:", isolation_level=None)
    create_sqlite(raw)
    raw.execute("UPDATE alembic_version SET version_num = '9000'")
    with pytest.raises(StoreError, match="newer than this program"):
        upgrade_sqlite(raw)
