"""The audit chain by itself: whatever is done to its rows, the first bad one is named."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeGuard

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.domain.audit_chain import FIRST_HASH, Verifier, link

STORE = Path(__file__).parents[3] / "runtime" / "store"
OURS = {
    "shown",
    "approval called",
    "schedule pause",
    "delivery split",
    "delivery {}",
    "roles handed over",
    "node lost",  # it gave no sign
    "CLOCK_SET",  # whoever set it, set it elsewhere
    "tool changed",
    "model benched",
    "child ended",
    "trigger stopped",  # as deep in the work of others as it may be
    "skill waits",  # its files are not what an owner saw
    "task {}",  # by its run, which has an end
    "kind",  # a budget's: warned, or reached
    "forgetting ended",  # whoever began it stands there
    *("sign-in renewed", "sign-in refused", "sign-in ended"),  # its issuer said so
    "REDACTED",
}
"""What the program does of itself."""
START = datetime(2026, 3, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Row:
    number: int | None
    at: datetime
    kind: str
    actor: str
    subject: str
    detail: str
    previous: str
    hash: str
    salt: str = ""


def sealed(row: Row, previous: str) -> Row:
    number = row.number or 0
    own = link(previous, number, row.at, row.kind, row.actor, row.subject, row.detail)
    return replace(row, previous=previous, hash=own)


def chain(length: int) -> list[Row]:
    rows: list[Row] = []
    for n in range(1, length + 1):
        at = START + timedelta(seconds=n)
        rows.append(sealed(Row(n, at, "asked", "Ada", f"s{n}", "", "", ""), rows[-1].hash if rows else FIRST_HASH))
    return rows


def fault(rows: list[Row], signed: list[Row]) -> str | None:
    verifier = Verifier(len(signed), signed[-1].hash if signed else FIRST_HASH)
    verifier.take(rows)
    return verifier.fault()


def test_an_empty_audit_is_whole() -> None:
    assert fault([], []) is None


@pytest.mark.parametrize("pieces", [1, 3, 10])
def test_a_whole_chain_has_no_fault_however_it_is_read(pieces: int) -> None:
    rows = chain(10)
    verifier = Verifier(10, rows[-1].hash)
    for at in range(0, 10, pieces):
        verifier.take(rows[at : at + pieces])
    assert verifier.fault() is None


def test_rows_after_the_signed_head_are_no_fault() -> None:
    assert fault(chain(10), chain(7)) is None


@given(at=st.integers(0, 9), column=st.sampled_from(["at", "kind", "actor", "subject", "detail", "previous", "hash"]))
def test_a_changed_row_is_named(at: int, column: str) -> None:
    rows = chain(10)
    value = START if column == "at" else "changed"
    rows[at] = replace(rows[at], **{column: value})  # type: ignore[arg-type]  # a column of its own type
    found = fault(rows, chain(10))
    assert found is not None
    assert found.startswith(f"row {at + 1}:")


@given(at=st.integers(0, 9))
def test_a_removed_row_is_named(at: int) -> None:
    rows = chain(10)
    del rows[at]
    found = fault(rows, chain(10))
    assert found is not None
    assert found.startswith(f"row {at + 1}:")


@given(at=st.integers(0, 9))
def test_an_inserted_row_is_named(at: int) -> None:
    rows = chain(10)
    rows.insert(at, sealed(replace(rows[at], detail="forged"), rows[at].previous))
    found = fault(rows, chain(10))
    assert found is not None
    assert found.startswith((f"row {at + 1}:", f"row {at + 2}:"))


@given(left=st.integers(0, 9))
def test_a_cut_tail_is_named_at_its_first_missing_row(left: int) -> None:
    found = fault(chain(left), chain(10))
    assert found is not None
    assert found.startswith(f"row {left + 1}:")


@given(one=st.integers(0, 9), two=st.integers(0, 9))
def test_rows_that_changed_places_are_found(one: int, two: int) -> None:
    rows = chain(10)
    rows[one], rows[two] = rows[two], rows[one]
    assert (fault(rows, chain(10)) is None) is (one == two)


def test_the_first_of_two_faults_is_named() -> None:
    rows = chain(10)
    rows[6] = replace(rows[6], detail="changed")
    rows[2] = replace(rows[2], detail="changed")
    found = fault(rows, chain(10))
    assert found is not None
    assert found.startswith("row 3:")


def test_a_chain_that_was_linked_anew_does_not_match_the_signed_head() -> None:
    signed, rows = chain(10), chain(10)
    for at in range(4, 10):
        changed = replace(rows[at], detail="changed") if at == 4 else rows[at]
        rows[at] = sealed(changed, rows[at - 1].hash)
    assert fault(rows, signed) is not None


@given(detail=st.text())
def test_any_text_can_be_sealed(detail: str) -> None:
    row = sealed(Row(1, START, "k", "a", "s", detail, "", ""), FIRST_HASH)
    assert fault([row], [row]) is None


# ------------------------------------------------------------------------------------------------------------ actors


def test_every_fact_names_who_did_it() -> None:
    """All but those of what the program does of itself."""
    facts = [call for path in STORE.rglob("*.py") for call in ast.walk(ast.parse(path.read_text())) if _is_fact(call)]
    assert len(facts) > 30
    assert {_kind(call) for call in facts if ast.unparse(call.args[2]) == "''"} == OURS


def _is_fact(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "fact"


def _kind(call: ast.Call) -> str:
    match call.args[1]:
        case ast.Constant(value=str(kind)):
            return kind
        case ast.JoinedStr(values=parts):
            return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)
        case other:
            return ast.unparse(other)
