"""A person is forgotten: nothing of them is left in any table, file or backup, and everything else goes on.

Otto talks, is quoted, decides and plans; then every place that can hold a text is looked through for his words, his name and
his ids. What the flows of this test don't reach is planted by plain SQL, a row and a text in every column.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from sqlalchemy import Table, Text, text

from bot.operator.audit import verify
from runtime.audit.anchor import HeadFile
from runtime.audit.keys import AuditKey
from runtime.audit.published import SignedEnds
from runtime.contract import Addressing, Call, Choice, Effect, Identity, Json, Person, Role, Said
from runtime.contract.memory.facts import MemoryActor, MemoryRequest, ScopeKind
from runtime.domain.approvals import Approval
from runtime.forgetting.forgetter import Forgetter
from runtime.store.operations.text_columns import TEXT_COLUMNS
from runtime.store.operations.text_kinds import Forgets, Free
from runtime.store.protocol import Unmoved
from runtime.store.protocol.forgetting import Begun, Forgetting
from runtime.store.schema import metadata
from runtime.store.sql.driver import Op
from runtime.workspace.forgotten_files import ForgottenFiles
from tests.contract.runtime.stage import ADA, LEASE, OTTO, UMA, Process, Stage, address, fake_tool
from tests.fakes.models import Answer, Scripted

WORDS: Final = "Quillfeather"
CODE: Final = "zq77kx"
SAID: Final = f"The ship is called {WORDS} and its code is {CODE}."
TRACES: Final = (WORDS, CODE, "Otto", "page:otto", "otto-dm")
OPERATORS_WORDS: Final = {
    f"{table}.{column}"
    for table, columns in TEXT_COLUMNS.items()
    for column, one in columns.items()
    if one.forgets is Forgets.STAYS
}
LOOK: Final = Call("c1", "look", json.dumps({"path": f"{WORDS}.txt"}))
WRITE: Final = Call("c2", "write", json.dumps({"text": f"Ask Otto for {CODE}"}))
DM: Final = "otto-dm"


def forgetter(stage: Stage, page_rows: int = 3) -> Forgetter:
    return Forgetter(
        store=stage.store.forgettings,
        files=ForgottenFiles(lambda: [stage.workspaces], stage.clock),
        key=AuditKey(stage.folder),
        now=stage.clock,
        page_rows=page_rows,
    )


async def begun(stage: Stage, name: str = "Otto") -> Forgetting:
    made = await stage.store.forgettings.begin(name, actor="Ada")
    assert isinstance(made, Begun)
    return made.forgetting


async def forget(stage: Stage, name: str = "Otto") -> Forgetting:
    one, work = await begun(stage, name), forgetter(stage)
    while one.ended_at is None:
        one = await work.step(one.id)
    return one


async def seal(stage: Stage, process: Process) -> None:
    duty = await stage.store.cluster.take(process.lease, "sealer")
    assert duty
    head = await stage.store.audit.audit_head()
    if sealed := await stage.store.audit.seal(duty, head):
        HeadFile(stage.folder).write(sealed)


async def otto(stage: Stage) -> Person:
    known = await stage.store.people.person_named("Otto")
    assert known
    return known.person


async def lived(stage: Stage) -> Process:
    """Otto speaks, others speak of him, and he decides, plans and is remembered."""

    async def looks(_arguments: Mapping[str, Json]) -> str:
        return f"{WORDS} is blue"

    answers: list[Answer] = [
        LOOK,
        f"{WORDS} is blue, Otto.",
        f"Otto's ship is the {WORDS}.\nIt sails on Monday.",
        WRITE,
        "Done.",
        f"Alone with you, Otto: {CODE}.",
        WRITE,
    ]
    tools = [fake_tool("look", Effect.READ, looks), fake_tool("write", Effect.WRITE)]
    process = await stage.process(Scripted(answers), tools)
    await process.say(SAID, who=OTTO)
    await process.answer_all()
    await process.say("What does Otto sail, and when?", who=UMA)
    await process.answer_all()
    await process.say("Write it down for me", who=UMA)
    await process.answer_all()
    [asked] = await stage.pending()
    await process.click(asked.id, Choice.APPROVE, f"since {WORDS} needs it", who=OTTO)
    await process.answer_all()
    private = stage.signal(Said(f"My code is {CODE}"), OTTO, DM)
    await process.reception.sink(replace(private, private=200, reach=Addressing.DIRECT))
    await process.answer_all()
    await process.say(f"Write {CODE} down", who=OTTO)
    await process.answer_all()
    assert await stage.pending()
    who = await otto(stage)
    by = MemoryActor("main", address(), who)
    for scope in (ScopeKind.PERSON, ScopeKind.ROOM):
        request = MemoryRequest(f"Otto sails the {WORDS}.", scope=scope)
        assert not isinstance(await stage.store.memories.keep_said(request, by), str)
    return process


async def everywhere(stage: Stage, *, besides: frozenset[str] = frozenset()) -> dict[str, set[str]]:
    """Columns that still have something of him."""
    person = getattr(stage, "otto", "")
    found: dict[str, set[str]] = {}
    for table in metadata.sorted_tables:
        for row in await stage.rows(f"SELECT * FROM {table.name}"):
            for column, value in zip(table.columns, row, strict=True):
                place = f"{table.name}.{column.name}"
                kept = {trace for trace in (*TRACES, person) if trace and trace in str(value)}
                if kept and place not in OPERATORS_WORDS | besides:
                    found.setdefault(place, set()).update(kept)
    return found


async def test_nothing_of_a_person_is_left_in_any_table(any_stage: Stage) -> None:
    stage = any_stage
    process = await lived(stage)
    stage.otto = (await otto(stage)).id  # type: ignore[attr-defined]
    await seal(stage, process)
    before = {place.partition(".")[0] for place in await everywhere(stage)}
    assert {"signals", "turns", "steps", "deliveries", "parts", "approvals", "memories", "audit"} <= before
    await forget(stage)
    assert await everywhere(stage) == {}
    await seal(stage, process)
    told = await verify(stage.store.audit, ends=SignedEnds(stage.folder))
    assert (told["whole"], told["fault"]) == (True, None)
    assert told["redacted"]
