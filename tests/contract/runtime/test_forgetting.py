"""A person is forgotten: nothing of them is left in any table, file or backup, and everything else goes on.

Otto talks, is quoted, decides and plans; then every place that can hold a text is looked through for his words, his name and
his ids. What the flows of this test don't reach is planted by plain SQL, a row and a text in every column.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from sqlalchemy import LargeBinary, Table, Text, text

from bot.operator.audit import verify
from bot.testing.clocks import HandClock
from bot.testing.scripted import Answer, Scripted
from runtime.audit.anchor import HeadFile
from runtime.audit.keys import AuditKey
from runtime.audit.published import SignedEnds
from runtime.contract import Addressing, Call, Choice, Effect, FileRef, Identity, Json, Outcome, Person, Role, Said
from runtime.contract.memory.facts import MemoryActor, MemoryRequest, ScopeKind
from runtime.domain.approvals import Rights
from runtime.domain.forgetting.person import Needles
from runtime.forgetting import forgetter as module
from runtime.forgetting.forgetter import Forgetter
from runtime.guard.stored import Form
from runtime.store.operations.text_columns import TEXT_COLUMNS
from runtime.store.operations.text_kinds import Fixed, Forgets, Free
from runtime.store.programs.peers import KeptPeerTask
from runtime.store.protocol import Unmoved
from runtime.store.protocol.memory.forgetting import Begun, Forgetting, RowChange
from runtime.store.schema import metadata
from runtime.store.sql.driver import Op
from runtime.store.store import open_store
from runtime.workspace.disk_space import DiskBounds, DiskSpace
from runtime.workspace.forgotten_files import ForgottenFiles
from tests.contract.runtime.stage import ADA, OTTO, UMA, Process, Stage, address, fake_tool

WORDS: Final = "Quillfeather"
CODE: Final = "zq77kx"
SAID: Final = f"The ship is called {WORDS} and its code is {CODE}."
REASON: Final = "it is not too hasty"
TRACES: Final = (WORDS, CODE, REASON, "Otto", "page:otto", "otto-dm")
OPERATORS_WORDS: Final = {
    f"{table}.{column}"
    for table, columns in TEXT_COLUMNS.items()
    for column, one in columns.items()
    if one.forgets is Forgets.STAYS
}
LOOK: Final = Call("c1", "look", json.dumps({"path": f"{WORDS}.txt"}))
WRITE: Final = Call("c2", "write", json.dumps({"text": f"Ask Otto for {CODE}"}))
DM: Final = "otto-dm"


def forgetter(stage: Stage, page_rows: int = 200) -> Forgetter:
    return Forgetter(
        store=stage.store.forgettings,
        files=ForgottenFiles(lambda: [stage.workspaces], stage.folder / "uploads"),
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


async def say(process: Process, words: str, who: Identity) -> None:
    """In a room of several."""
    signal = process.stage.signal(Said(words), who, "r1")
    await process.reception.sink(replace(signal, reach=Addressing.MENTION))
    await process.answer_all()


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
    await say(process, SAID, OTTO)
    await say(process, "What does Otto sail, and when?", UMA)
    await say(process, "Write it down for me", UMA)
    [asked] = await stage.pending()
    await process.click(asked.id, Choice.APPROVE, REASON, who=OTTO)
    await process.answer_all()
    private = stage.signal(Said(f"My code is {CODE}"), OTTO, DM)
    await process.reception.sink(replace(private, private=200, reach=Addressing.DIRECT))
    await process.answer_all()
    await say(process, f"Write {CODE} down", OTTO)
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


async def test_what_others_said_and_decided_stays_without_them(any_stage: Stage) -> None:
    stage = any_stage
    await lived(stage)
    for name in ("otto", "uma"):
        asked = await stage.rows("SELECT run_id FROM signals WHERE actor = :a AND run_id IS NOT NULL", a=f"page:{name}")
        kept = KeptPeerTask(key=name, run=asked[0][0], peer="billing", task="t", context="", sealed="a question")
        await stage.store.peer_tasks.keep_task(kept)
    one = await forget(stage)
    assert await stage.rows("SELECT key, sealed FROM peer_tasks") == [("uma", "a question")]
    said = [row[0] for row in await stage.rows("SELECT text FROM signals WHERE actor = 'page:uma' ORDER BY id")]
    assert said == [f"What does {one.mark} sail, and when?", "Write it down for me"]
    turns = "\n".join(row[0] for row in await stage.rows("SELECT text FROM turns WHERE role = 'assistant'"))
    assert "It sails on Monday." in turns
    assert "(forgotten)" in turns
    shown = "SELECT d.id FROM deliveries d JOIN runs r ON r.id = d.run_id WHERE d.state = 'shown' AND r.requester <> :m"
    answers = {row[0] for row in await stage.rows(shown, m=one.mark)}
    assert answers
    assert answers == {row[0] for row in await stage.rows("SELECT delivery_id FROM parts")}, "what was shown to others"
    [decided] = await stage.rows("SELECT decided_name, decided_by, reason FROM approvals WHERE choice = 'approve'")
    assert decided == (one.mark, one.mark, "")
    assert await stage.rows("SELECT actor FROM audit WHERE kind = 'approval approved'") == [(one.mark,)]
    assert not await stage.pending()


async def test_somebody_who_was_removed_can_still_be_forgotten_by_name(any_stage: Stage) -> None:
    stage = any_stage
    process = await lived(stage)
    stage.otto = (await otto(stage)).id  # type: ignore[attr-defined]
    await seal(stage, process)
    await stage.store.people.remove("Otto", actor="Ada")
    assert WORDS in str(await everywhere(stage)), "removed people's words stay"
    assert (await stage.store.forgettings.needles("Otto") or Needles()).person == stage.otto  # type: ignore[attr-defined]
    await forget(stage)
    assert await everywhere(stage) == {}
    assert await stage.store.forgettings.begin("Otto", actor="Ada") is Unmoved.NOBODY
    assert await stage.store.forgettings.begin("Nobody", actor="Ada") is Unmoved.NOBODY


async def test_whoever_writes_again_is_a_stranger(stage: Stage) -> None:
    process = await lived(stage)
    await forget(stage)
    await say(process, "Hello again", OTTO)
    assert await stage.store.people.person_named("Otto") is None
    assert await stage.rows("SELECT person_id FROM signals WHERE text = 'Hello again'") in ([], [(None,)])


async def test_a_kill_between_any_two_slices_is_gone_on_from(stage: Stage) -> None:
    process = await lived(stage)
    stage.otto = (await otto(stage)).id  # type: ignore[attr-defined]
    await seal(stage, process)
    one, slices = await begun(stage), 0
    while one.ended_at is None:
        one = await forgetter(stage, page_rows=2).step(one.id)  # another process each time
        slices += 1
    assert slices > len(metadata.tables)
    assert await everywhere(stage) == {}
    assert await stage.store.forgettings.open_ones() == []


async def test_a_row_of_the_audit_that_is_cut_meanwhile_leaves_no_other_one_changed_and_untold(
    any_stage: Stage,
) -> None:
    stage = any_stage
    process = await stage.process(Scripted(["Yes."]))
    await say(process, SAID, OTTO)
    await seal(stage, process)
    first, second = (await stage.store.forgettings.entries_after(0, limit=2))[:2]
    gone = replace(second, hash="0" * 64)
    rows = [replace(one, actor="forgotten") for one in (first, gone)]
    assert not await stage.store.forgettings.put_entries(rows, "told", "mark")
    told = await verify(stage.store.audit, ends=SignedEnds(stage.folder))
    assert (told["whole"], told["fault"]) == (True, None)
    assert not await stage.rows("SELECT actor FROM audit WHERE kind = 'audit redacted'")


async def test_the_last_owner_and_nobody_are_refused(stage: Stage) -> None:
    assert await stage.store.forgettings.begin("Ada", actor="Ada") is Unmoved.LAST_OWNER
    assert await stage.store.forgettings.begin("Nobody", actor="Ada") is Unmoved.NOBODY


async def test_the_name_of_another_person_stays_whatever_it_has_in_it(stage: Stage) -> None:
    assert await stage.store.people.add_person("Otto Normal", Role.USER, [Identity("page:normal")], actor="test")
    process = await stage.process(Scripted(["Otto and Otto Normal sail."]))
    await say(process, "Who sails?", UMA)
    one = await forget(stage)
    assert (await stage.answers())[0] == f"{one.mark} and Otto Normal sail."
    assert await stage.store.people.person_named("Otto Normal")


async def test_files_that_they_sent_go_and_those_of_others_stay(stage: Stage) -> None:
    process = await stage.process(Scripted(["Thanks."] * 3))
    folder = stage.workspaces.folder(address())
    (folder / "uploads").mkdir()
    for name in ("theirs.txt", "ours.txt"):
        (folder / "uploads" / name).write_text(SAID)
    for who, name in ((OTTO, "theirs.txt"), (UMA, "ours.txt")):
        sent = stage.signal(Said("Look", (FileRef(name, f"uploads/{name}", 3),)), who, "r1")
        await process.reception.sink(replace(sent, reach=Addressing.MENTION))
        await process.answer_all()
    alone = stage.signal(Said("Hi"), OTTO, DM)
    await process.reception.sink(replace(alone, reach=Addressing.DIRECT))
    await process.answer_all()
    await DiskSpace(DiskBounds(), stage.folder / "uploads").keep(folder / "theirs.txt", 3, (await otto(stage)).id)
    private = stage.workspaces.folder(address(DM))
    (private / "notes.txt").write_text(SAID)
    await forget(stage)
    assert [path.name for path in (folder / "uploads").iterdir()] == ["ours.txt"]
    assert not private.exists()
    assert not [*(stage.folder / "uploads").iterdir()]


async def test_no_byte_of_them_is_left_in_the_file_of_the_database(clock: HandClock, tmp_path: Path) -> None:
    store = await open_store(f"sqlite:///{tmp_path / 'signalbox.db'}", now=clock)
    stage = Stage(store, clock, tmp_path / "w")
    stage.folder.mkdir()
    await stage.open()
    process = await lived(stage)
    person = (await otto(stage)).id
    await seal(stage, process)
    await forget(stage)
    assert _bytes_of_them(tmp_path, person) == set()
    await store.close()
    assert _bytes_of_them(tmp_path, person) == set()


def _bytes_of_them(folder: Path, person: str) -> set[tuple[str, str]]:
    return {
        (path.name, trace)
        for path in folder.glob("signalbox.db*")
        for trace in (WORDS, CODE, "Otto", person)
        if trace.encode() in path.read_bytes()
    }


async def test_a_question_that_only_they_could_answer_is_told(stage: Stage) -> None:
    process = await stage.process(Scripted([WRITE]), [fake_tool("write", Effect.WRITE)])
    await say(process, "Write it down for me", UMA)
    [asked] = await stage.pending()
    by_otto, by_operators = Rights(approvers=frozenset({OTTO})), Rights()
    assert await stage.store.forgettings.unanswerable(by_otto) == []
    await begun(stage)
    assert [one.id for one in await stage.store.forgettings.unanswerable(by_otto)] == [asked.id]
    assert await stage.store.forgettings.unanswerable(by_operators) == []
    assert (await process.click(asked.id, Choice.APPROVE, who=OTTO)).outcome is Outcome.REFUSED
    await process.click(asked.id, Choice.APPROVE, who=ADA)
    assert not await stage.pending()


async def test_whoever_else_may_answer_is_called_when_the_card_was_with_them_alone(stage: Stage) -> None:
    process = await stage.process(Scripted(["Hi.", WRITE, "Hi."]), [fake_tool("write", Effect.WRITE)])
    alone = stage.signal(Said("Hi"), OTTO, DM)
    await process.reception.sink(replace(alone, reach=Addressing.DIRECT))
    await process.answer_all()
    await say(process, "Write it down for me", UMA)
    [asked] = await stage.pending()
    alone = stage.signal(Said("Hi"), ADA, "ada-dm")
    await process.reception.sink(replace(alone, reach=Addressing.DIRECT))
    await process.answer_all()
    await process.reminders.look()
    cards = "SELECT address FROM deliveries WHERE origin = :o AND address <> 'page:main/r1'"
    assert await stage.rows(cards, o=f"approval:{asked.id}") == [("page:main/otto-dm",)]
    await forget(stage)
    await process.reminders.look()
    assert await stage.rows(cards, o=f"approval:{asked.id}") == [("page:main/ada-dm",)]


# ------------------------------------------------------------------------------------------- every column of every table

PLANTED: Final = f"Otto said: the {WORDS} ({CODE})"
WRITTEN: Final = {Form.TEXT: PLANTED, Form.JSON: json.dumps({"say": [PLANTED]}), Form.THINKING: json.dumps([PLANTED])}


SPECIAL: Final[dict[str, dict[str, Any]]] = {
    "audit": {"number": None, "hash": "", "salt": ""},
    "memories": {"scope": "room|page:main/r1", "kind": "fact", "trust": "said"},
    "signals": {"actor": "page:otto", "address": "page:main/r1", "files": "[]"},
}
"""Values that rows are read by."""


def _planted(about: object, identity: str) -> str:
    """A value for a column, as far as it may have something of a person."""
    match about:
        case Free():
            return WRITTEN[about.form]
        case Fixed(forgets=Forgets.OWNER):
            return "main"
        case Fixed(forgets=Forgets.IDS | Forgets.RESEALED):
            return f"page:{identity}"
        case _:
            return "x"


def _row(table: Table) -> dict[str, Any]:
    columns = TEXT_COLUMNS[table.name]
    return {
        one.name: _planted(columns[one.name], "otto") if isinstance(one.type, Text) else b"x" if _is_bytes(one) else 0
        for one in table.columns
        if not _is_numbered(table, one.name)
    } | SPECIAL.get(table.name, {})


def _is_bytes(column: Any) -> bool:
    return isinstance(column.type, LargeBinary)


def _is_numbered(table: Table, column: str) -> bool:
    return table.columns[column].autoincrement is True


async def test_every_text_column_loses_them_as_it_declares(any_stage: Stage) -> None:
    """One row for each table, of nobody in particular: names, words and ids of his stand in each column that may have them."""
    stage = any_stage
    process = await stage.process(Scripted(["Yes."]))
    await say(process, SAID, OTTO)
    stage.otto = (await otto(stage)).id  # type: ignore[attr-defined]
    walked = [one for one in metadata.sorted_tables if one.name not in ("people", "identities", "forgettings", "nodes")]

    def plant() -> Op[None]:
        for table in walked:
            values = _row(table)
            names = ", ".join(values)
            yield text(f"INSERT INTO {table.name} ({names}) VALUES ({', '.join(f':{one}' for one in values)})"), values

    await stage.store.driver.write(plant)
    held = await everywhere(stage)
    expected = {
        f"{table.name}.{name}"
        for table in walked
        for name, one in TEXT_COLUMNS[table.name].items()
        if one.forgets in (Forgets.WORDS, Forgets.IDS)
    }
    assert expected - {"signals.files"} <= held.keys()
    await forget(stage)
    assert await everywhere(stage) == {}


# --------------------------------------------------------------------------------------------------- beside other work


async def change(stage: Stage, sql: str, **given: object) -> None:
    def write() -> Op[None]:
        yield text(sql), given

    await stage.store.driver.write(write)


async def test_words_that_two_people_shared_who_are_forgotten_at_once_are_gone(any_stage: Stage) -> None:
    stage = any_stage
    process = await stage.process(Scripted(["Aye.", "Aye.", f"She is called {WORDS}."]))
    for who in (OTTO, UMA):
        await say(process, SAID, who)
    await say(process, "What is she called?", ADA)
    one, other, work = await begun(stage), await begun(stage, "Uma"), forgetter(stage)
    while one.ended_at is None or other.ended_at is None:
        one, other = await work.step(one.id), await work.step(other.id)
    assert not {place for place, kept in (await everywhere(stage)).items() if WORDS in kept}
    assert "What is she called?" in {row[0] for row in await stage.rows("SELECT text FROM signals")}


async def test_a_row_that_others_change_meanwhile_is_gone_through_again(
    any_stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each change is of a row as it was read: what somebody wrote in between is not overwritten, and not left either."""
    stage = any_stage
    await lived(stage)
    real, between = stage.store.forgettings.apply, 3

    async def apply(table: str, changes: Sequence[RowChange], *, actor: str) -> int:
        nonlocal between
        if table == "turns" and between and any(one.new for one in changes):
            between -= 1
            await change(
                stage, "UPDATE turns SET text = text || ' And Otto again.' WHERE text LIKE '%sails on Monday%'"
            )
        return await real(table, changes, actor=actor)

    monkeypatch.setattr(stage.store.forgettings, "apply", apply)
    one = await forget(stage)
    assert between == 0
    assert "Otto" not in (texts := "\n".join(row[0] for row in await stage.rows("SELECT text FROM turns")))
    assert texts.count(f" And {one.mark} again.") == 3


async def test_their_own_work_is_waited_for_and_ended_where_it_waits_by_then(
    any_stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = any_stage
    monkeypatch.setattr(module, "WORK_LOOK_SECONDS", 0)
    await lived(stage)
    stage.otto = (await otto(stage)).id  # type: ignore[attr-defined]
    [(run,)] = await stage.rows("SELECT id FROM runs WHERE state = 'parked'")
    await change(stage, "UPDATE runs SET state = 'running' WHERE id = :r", r=run)
    one, work = await begun(stage), forgetter(stage)
    for _ in range(4):
        one = await work.step(one.id)
        stage.clock.advance(timedelta(hours=1))
    assert one.stage == "waiting"
    await change(stage, "UPDATE runs SET state = 'parked' WHERE id = :r", r=run)  # it asked somebody
    while one.ended_at is None:
        one = await work.step(one.id)
    assert await everywhere(stage) == {}
    assert not await stage.rows("SELECT id FROM runs WHERE state IN ('running', 'parked')")
