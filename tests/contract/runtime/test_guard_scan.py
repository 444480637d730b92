"""A database of a version before the leak guard is looked through and cleaned, and works on.

What is said, called, given and answered in a conversation has the word "orchid" in it. Then plain SQL puts a secret in its
place in every text column, and adds a row with one to each table: so an older version may have left them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Table, Text, text

from bot.operator.audit import verify
from bot.testing.scripted import USAGE, Answer, Scripted
from bot.wiring.safety.scan import GuardScan
from runtime.contract import Call, Effect, Json, ModelReply, Reasoning
from runtime.domain.approvals import ApprovalState
from runtime.domain.ids import digest
from runtime.guard.door import OPEN_DOOR
from runtime.guard.stored import Form
from runtime.store.operations.text_columns import TEXT_COLUMNS, free_columns, scanned_tables
from runtime.store.operations.text_kinds import Free
from runtime.store.protocol import Head, RowKey, TextRow
from runtime.store.schema import metadata
from runtime.store.sql.driver import Op
from tests.contract.runtime.stage import Process, Stage, address, fake_tool
from tests.unit.guard.secrets import SECRETS

NAME, SECRET = SECRETS["github"]
WORD: Final = "orchid"
LOOK: Final = Call("c1", "look", f'{{"path": "{WORD}.txt"}}')
SHELL: Final = Call("c2", "shell", f'{{"command": "echo {WORD}"}}')
ALWAYS: Final = {
    f"{table}.{column}"
    for table in scanned_tables()
    for column, one in free_columns(table).items()
    if one.stays and not one.while_open
}
"""Columns that a scan only tells of."""

Told = dict[str, set[str]]
"""By column, why what was found there stays; an empty word where it need not."""


async def lived(stage: Stage) -> Process:
    """A conversation whose last call waits for a person."""

    async def looks(_arguments: Mapping[str, Json]) -> str:
        return f"the {WORD} is blue"

    thought = Reasoning(f"They like the {WORD}.", "m", json.dumps([{"thinking": WORD}]))
    answers: list[Answer] = [LOOK, ModelReply(f"The {WORD}.", (), USAGE, reasoning=thought), SHELL, f"Said {WORD}."]
    tools = [fake_tool("look", Effect.READ, looks), fake_tool("shell", Effect.WRITE)]
    process = await stage.process(Scripted(answers), tools)
    for words in (f"look at the {WORD}", f"say {WORD} in the shell"):
        await process.say(words)
        await process.answer_all()
    return process


async def aged(stage: Stage, process: Process) -> Head:
    """Secrets in every text column. The hash of the open call is of what it holds, as its version made it; the audit is sealed."""

    def plant() -> Op[None]:
        for name in scanned_tables():
            table = metadata.tables[name]
            yield text(_insert(table)), _fresh(table)
            for column in free_columns(name):
                yield text(f"UPDATE {name} SET {column} = replace({column}, :w, :s)"), {"w": WORD, "s": SECRET}
        for name in ("steps", "approvals"):
            change = f"UPDATE {name} SET arguments_hash = :h WHERE tool = 'shell' AND arguments <> ''"
            yield text(change), {"h": digest(SHELL.arguments.replace(WORD, SECRET))}

    await stage.store.driver.write(plant)
    duty = await stage.store.cluster.take(process.lease, "sealer")
    assert duty
    head = await stage.store.audit.seal(duty, await stage.store.audit.audit_head())
    assert head
    return head


def _insert(table: Table) -> str:
    names = [column.name for column in table.columns if not _is_numbered(table, column.name)]
    return f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})"


def _fresh(table: Table) -> dict[str, Any]:
    rows = TEXT_COLUMNS[table.name]
    return {
        column.name: _value(rows[column.name]) if isinstance(column.type, Text) else 0
        for column in table.columns
        if not _is_numbered(table, column.name)
    } | ({"number": None} if table.name == "audit" else {})


def _is_numbered(table: Table, column: str) -> bool:
    return (table.name, column) in {("deliveries", "number"), ("moves", "number"), ("audit", "entry")}


def _value(about: object) -> str:
    if not isinstance(about, Free):
        return "old"
    whole = {Form.TEXT: f"my {WORD}", Form.JSON: f'{{"say": ["{WORD}"]}}', Form.THINKING: f'["{WORD}", "m", "[]"]'}
    return whole[about.form]


async def scanned(stage: Stage, *, redact: bool = False) -> Told:
    """All tables, in small pages."""
    scan, told = GuardScan(stage.store.texts, lambda: OPEN_DOOR, page_rows=2), Told()
    for table in scanned_tables():
        after, is_over = None, False
        while not is_over:
            page = await scan.page(table, after, redact=redact)
            after, is_over = page.after, page.after is None
            for column, found, _, stays in page.told:
                assert found.startswith(f"{NAME} ·")
                told.setdefault(f"{table}.{column}", set()).add(stays)
    return told


async def holding(stage: Stage) -> set[str]:
    """Columns in which the secret stands."""
    found = set()
    for table in metadata.sorted_tables:
        for row in await stage.rows(f"SELECT * FROM {table.name}"):
            found |= {
                f"{table.name}.{one.name}"
                for one, value in zip(table.columns, row, strict=True)
                if SECRET in str(value)
            }
    return found


async def test_an_old_database_is_told_of_redacted_and_works_on(any_stage: Stage) -> None:
    stage = any_stage
    head = await aged(stage, await lived(stage))
    everywhere = {f"{table}.{column}" for table in scanned_tables() for column in free_columns(table)}
    assert await holding(stage) == everywhere

    assert (await scanned(stage)).keys() == everywhere
    assert await holding(stage) == everywhere

    await scanned(stage, redact=True)
    left = await scanned(stage)
    open_call = {"steps.arguments", "approvals.arguments"}
    assert left.keys() == ALWAYS | open_call == await holding(stage)
    assert "" not in set[str]().union(*left.values())

    [question] = await stage.pending()
    assert SECRET in question.arguments
    shell = fake_tool("shell", Effect.WRITE)
    process = await stage.process(Scripted(["Done."]), [shell])
    await process.click(question.id)
    await process.answer_all()
    assert shell.calls == [{"command": f"echo {SECRET}"}]
    assert (await stage.screen())[-1] == "Done."
    settled = await stage.store.approvals.approval(question.id)
    assert settled
    assert settled.state is ApprovalState.APPROVED

    await scanned(stage, redact=True)
    assert (await scanned(stage)).keys() == ALWAYS == await holding(stage)
    shown = await stage.store.history.view(address())
    assert [one for one in shown.entries if "[redacted: " in one.body]
    assert not [one for one in shown.entries if SECRET in repr(one)]
    assert (await verify(stage.store.audit, lambda: head))["whole"]


class Meddling:
    """The store, in which somebody else changes a row between a look and the change that follows from it."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._meddles = True

    async def texts(self, table: str, after: RowKey | None = None, *, limit: int) -> list[TextRow]:
        return await self._stage.store.texts.texts(table, after, limit=limit)

    async def put_texts(self, table: str, changes: Sequence[tuple[TextRow, Mapping[str, str]]]) -> int:
        if self._meddles:
            await self._stage.store.driver.write(_meddle)
        self._meddles = False
        return await self._stage.store.texts.put_texts(table, changes)

    async def clear_traces(self, table: str) -> None:
        raise AssertionError("not the last page")


def _meddle() -> Op[None]:
    yield text("UPDATE turns SET text = text || ' and more' WHERE text LIKE '% is blue%'"), {}


async def test_what_others_write_meanwhile_is_kept(stage: Stage) -> None:
    await aged(stage, await lived(stage))
    page = await GuardScan(Meddling(stage), lambda: OPEN_DOOR).page("turns", redact=True)
    held = [row for row in await stage.rows("SELECT * FROM turns") if "[redacted: " in str(row)]
    assert page.redacted == len(held) > 1
    [(result,)] = await stage.rows("SELECT text FROM turns WHERE text LIKE '% is blue%'")
    assert result.startswith("the [redacted: GitHub token ·")
    assert result.endswith("] is blue and more")
    assert not [column for column in await holding(stage) if column.startswith("turns.")]
