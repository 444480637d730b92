"""Hot queries use their partial indexes however much history there is: asked of both engines' planners."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import closing
from typing import Any

import asyncpg
import pytest
from sqlalchemy import Executable
from sqlalchemy.dialects.postgresql.asyncpg import PGDialect_asyncpg
from sqlalchemy.dialects.sqlite.base import SQLiteDialect

from runtime.store.approvals import audience, decisions, reminders
from runtime.store.cluster import agenda, nodes
from runtime.store.delegation import costs, sweeping
from runtime.store.delivery import open_deliveries
from runtime.store.intake import commands, edits, messages, places, run_stop, signals
from runtime.store.operations import audit, figures, finding, history, operators, queue_depths, retention, trail
from runtime.store.protocol import Stock
from runtime.store.runs import claims, compacting, limits, run_begin
from runtime.store.runs.closing import OPEN_RUNS
from runtime.store.runs.turns import AHEAD
from runtime.store.runs.waiting import timers, waits
from runtime.store.schedules import run_occurrence
from runtime.store.sql.driver import Compiler
from runtime.store.store import open_store
from runtime.store.upgrade import upgrade_sqlite
from runtime.timeline.trail import Thing
from tests.fakes.postgres import Postgres

pytestmark = pytest.mark.xdist_group("plans")  # filling the database takes seconds

NOW = 10**15
PERIOD = {"since": 19_900, "first": "r199", "last": "r2", "n": 10, "room": "web:main/r7"}
QUERIES: Mapping[str, tuple[Executable, Mapping[str, object], str]] = {
    "the next session": (claims.READY_LANE, {"now": NOW}, "ix_sessions_ready"),
    "what waits in a session": (run_begin.WAITING_SIGNALS, {"s": "s7"}, "ix_signals_waiting"),
    "what may join a run": (run_begin.STEERABLE, {"s": "s7", "run": "r7"}, "ix_signals_waiting"),
    "the run of a session that goes on": (claims.GOING_ON, {"s": "s7"}, "ix_runs_open"),
    "what is open in a room": (open_deliveries.OPEN_AT, {"room": "web:main/r7", "n": 20}, "ix_deliveries_open"),
    "the first open room": (open_deliveries.FIRST_ROOM, {"c": "web", "a": "main"}, "ix_deliveries_rooms"),
    "the next open room": (
        open_deliveries.NEXT_ROOM,
        {"c": "web", "a": "main", "after": "web:main/r7"},
        "ix_deliveries_rooms",
    ),
    "questions whose time is over": (decisions.OVERDUE, {"now": NOW}, "ix_approvals_pending"),
    "questions about which people are called": (reminders.TO_CALL, {"now": NOW}, "ix_approvals_calls"),
    "whether somebody spoke in a room": (
        audience.SPOKE_HERE,
        {"i": "web:ada", "room": "web:main/r7"},
        "ix_signals_actor|ix_signals_said|ix_signals_speaker",
    ),
    "what a run heard last": (audience.LAST_SAID, {"run": "r7"}, "ix_signals_run"),
    "timers whose time has come": (timers.DUE_TIMERS, {"now": "0", "n": 100}, "ix_waits_timers"),
    "what a run still waits for": (waits.SET_READY, {"run": "r7", "at": 1}, "pk_waits|autoindex_waits"),
    "open runs of a session": (OPEN_RUNS, {"s": "s7"}, "ix_runs_open"),
    "what runs of a session have yet to read": (AHEAD, {"s": "s7"}, "ix_runs_open"),
    "what is planned and at work in a room": (run_stop.SCHEDULED, {"room": "web:main/r7", "s": "s7"}, "ix_runs_open"),
    "the occurrence of a run": (run_occurrence.OF_RUN, {"run": "r7"}, "ix_occurrences_run"),
    "a twin": (messages.TWIN, {"s": "s7", "h": "h", "a": "web:ada", "since": 0}, "ix_signals_unanswered"),
    "facts not sealed yet": (audit.UNSEALED, {"n": 500}, "ix_audit_unsealed|uq_audit_number|autoindex_audit"),
    "rooms in which somebody spoke": (
        history.ROOMS,
        {"actor": "web:ada", "like": "web:main/%", "n": 200},
        "ix_signals_speaker",
    ),
    "rooms with their first words": (
        history.LISTED_ROOMS,
        {"actor": "web:ada", "like": "web:main/%", "n": 200},
        "ix_signals_said|ix_signals_speaker",
    ),
    "what was said in a room": (history.SAID, {"room": "web:main/r7", "before": NOW, "n": 200}, "ix_signals_said"),
    "how a room stands": (
        history.STATE,
        {"room": "web:main/r7", "end": "|web:main/r7", "now": NOW},
        "ix_sessions_address",
    ),
    "the summaries of a room": (
        history.SUMMARISED,
        {"room": "web:main/r7", "before": NOW, "since": 7, "n": 200},
        "ix_sessions_address",
    ),
    "what was edited in a room": (history.EDITED, {"room": "web:main/r7", "since": 7}, "ix_deliveries_edits"),
    "how many lanes are ready": (queue_depths.LANES["ready"], {}, "ix_sessions_ready"),
    "how many runs are open": (queue_depths.OPEN_RUNS, {}, "ix_runs_open"),
    "how many signals wait": (queue_depths.SIGNALS_WAITING, {}, "ix_signals_waiting"),
    "how many questions wait": (queue_depths.PENDING_COUNTS, {}, "ix_approvals_pending"),
    "how much leaves": (queue_depths.LEAVING, {}, "ix_deliveries_open|ix_deliveries_rooms"),
    "how much is stuck": (queue_depths.STUCK, {}, "ix_deliveries_stuck"),
    "how much is looked for": (queue_depths.UNSETTLED_COUNTS, {}, "ix_deliveries_open|ix_deliveries_rooms"),
    "how many nodes live": (queue_depths.LIVE_NODES, {}, "ix_nodes_live"),
    "the newest messages": (finding.NEWEST_SIGNALS, {"n": 10}, "pk_signals|autoindex_signals"),
    "the newest messages of a room": (finding.SAID_HERE, {"room": "web:main/r7", "n": 10}, "ix_signals_said"),
    "messages whose id begins so": (
        finding.BEGINNING[Thing.SIGNAL],
        {"low": "g19", "high": "g19zzz", "length": 3, "n": 10},
        "pk_signals|autoindex_signals",
    ),
    "the message with the page's id": (
        finding.OF_THE_PAGE,
        {"p": "web:main", "g": "k7"},
        "uq_signals_platform|autoindex_signals",
    ),
    "the messages of a run": (trail.OF_RUN, {"run": "r7"}, "ix_signals_run"),
    "what went astray": (trail.MOVES, {"subject": "r7"}, "ix_moves_subject"),
    "the run before a run": (
        trail.RUNS_BEFORE,
        {"s": "s7", "last": 9, "began": NOW, "run": "r7"},
        "pk_turns|autoindex_turns",
    ),
    "the newest run of a room": (operators.NEWEST_RUN_IN, {"room": "web:main/r7"}, "ix_signals_said"),
    "what is asked in a room": (operators.ASKED_IN, {"room": "web:main/r7"}, "ix_approvals_pending"),
    "the rooms of an account": (
        places.NEWEST_HEARD,
        {"beginning": "web:main/", "length": 9, "since": NOW},
        "ix_signals_said",
    ),
    "when an account was last heard": (
        places.LAST_HEARD,
        {"beginning": "web:main/", "length": 9},
        "ix_signals_said",
    ),
    "the newest message of a room": (places.MESSAGE, {"room": "web:main/r7", "at": NOW}, "ix_signals_said"),
    "what is shown in a room": (
        places.RECEIPTS_SHOWN,
        {"room": "web:main/r7", "beginning": "web:main/r7/", "length": 12, "since": NOW, "n": 1000},
        "ix_deliveries_created",
    ),
    "the last word about an account": (
        operators.NEWEST_OF,
        {"low": "o7:", "high": "o7;"},
        "uq_deliveries_origin|autoindex_deliveries",
    ),
    "who spoke last in a conversation": (
        signals.LAST_SPEAKERS,
        {"room": "web:main/r7", "n": 5},
        "ix_signals_said",
    ),
    "what is at work in a room": (commands.WORKS, {"room": "web:main/r7"}, "ix_runs_open"),
    "what waits in a room and its threads": (commands.SIGNALS_WAITING, {"room": "web:main/r7"}, "ix_signals_waiting"),
    "what is asked in a room and its threads": (
        commands.ASKED_IN_ROOM,
        {"room": "web:main/r7"},
        "ix_approvals_pending",
    ),
    "what a room costs": (
        commands.OF_ROOM,
        {"room": "web:main/r7", "first": "r199", "last": "r2", "month": NOW, "day": NOW},
        "pk_usage|autoindex_usage",
    ),
    "what a person costs": (
        commands.OF_PERSON,
        {"person": "p7", "first": "r199", "last": "r2", "month": NOW, "day": NOW},
        "pk_usage|autoindex_usage",
    ),
    "the message that an edit changes": (
        edits.STILL_WAITS,
        {"room": "web:main/r7", "a": "web:ada", "m": "m7", "nk": None},
        "ix_signals_waiting",
    ),
    "what somebody asked for in the threads of a room": (
        run_stop.IN_THREADS,
        {"room": "web:main/r7/", "who": "p7"},
        "ix_runs_open",
    ),
    "whether somebody was told": (
        messages.MARK_TOLD,
        {"room": "web:main/r7", "a": "web:ada", "since": 0},
        "ix_signals_said|ix_signals_actor|ix_signals_speaker",
    ),
    "messages of a day": (figures.MESSAGES[False], PERIOD, "pk_signals|autoindex_signals"),
    "messages of a room's day": (figures.MESSAGES[True], PERIOD, "pk_signals|autoindex_signals"),
    "runs of a day": (figures.RUNS[False], PERIOD, "ix_runs_started"),
    "runs of a room's day": (figures.RUNS[True], PERIOD, "ix_runs_started"),
    "the busiest rooms of a day": (figures.BUSIEST[False], PERIOD, "ix_runs_started"),
    "what failed on a day": (figures.RUNS_FAILED[False], PERIOD, "ix_runs_started"),
    "what was asked on a day": (figures.APPROVALS_ASKED[False], PERIOD, "ix_approvals_asked"),
    "what was shown on a day": (figures.MADE[False], PERIOD, "ix_deliveries_created"),
    "what was fired on a day": (figures.FIRED[False], PERIOD, "pk_occurrences|autoindex_occurrences"),
    "what a day costs": (figures.TOTAL[False], PERIOD, "pk_usage|autoindex_usage"),
    "what a day costs by room": (figures.COSTS[False], PERIOD, "pk_usage|autoindex_usage"),
    "what a room's day costs": (figures.COSTS[True], PERIOD, "pk_usage|autoindex_usage"),
    "questions that wait": (figures.PENDING_APPROVALS[False], PERIOD, "ix_approvals_pending"),
    "how many questions wait in a room": (figures.HOW_MANY_PENDING[True], PERIOD, "ix_approvals_pending"),
    "messages that are stuck": (figures.STUCK[False], PERIOD, "ix_deliveries_stuck"),
    "how many messages are stuck": (figures.HOW_MANY_STUCK[False], PERIOD, "ix_deliveries_stuck"),
    "the report before": (run_occurrence.PREVIOUS, {"schedule": "h7"}, "ix_occurrences_told"),
    "the occurrence before": (run_occurrence.LAST_DONE, {"schedule": "h7"}, "ix_occurrences_done"),
    "what is to be condensed": (compacting.TO_COMPACT, {"by": "n7"}, "ix_signals_condensing"),
    "nodes whose lease ended": (nodes.EXPIRED, {"now": NOW}, "ix_nodes_live"),
    "whether a lane is ready": (agenda.READY, {}, "ix_sessions_ready"),
    "whether a run is to be watched": (agenda.SUSPECT, {}, "ix_sessions_suspect"),
    "whether something is to be shown": (agenda.LEAVING, {}, "ix_deliveries_rooms"),
    "whether a fact is to be sealed": (agenda.UNSEALED, {}, "ix_audit_unsealed|autoindex_audit"),
    "when the next schedule fires": (agenda.DUE, {}, "ix_schedules_due"),
    "when something is tried again": (agenda.OCCURRENCE_TO_REPEAT, {}, "ix_occurrences_again"),
    "the call of a tool that fills a limit": (
        limits.NTH_NEWEST,
        {"tool": "look", "since": 9, "agent": "main", "person": "p", "before": 59},
        "ix_steps_called",
    ),
    "calls of an agent": (
        limits.NTH_NEWEST_OF_AGENT,
        {"agent": "main", "since": 19_900, "now": NOW, "before": 9},
        "ix_steps_called",
    ),
    "children to end": (sweeping.LEFT_OPEN, {"now": NOW, "n": 50}, "ix_children_open"),
    "ends that nobody told": (sweeping.UNTOLD, {"is_open": "open", "n": 50}, "ix_runs_open"),
    "the cost of a run": (costs.COST_OF_RUN, {"run": "r7"}, "uq_children_parent_run|autoindex_children"),
    "when the lease of another node ends": (agenda.LEASE, {"but": "n7"}, "ix_nodes_live"),
}

COUNT = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
FILL = [
    # Of 20,000 rows of history one in a thousand still waits.
    "INSERT INTO sessions SELECT 's' || i, 'main', 'web:main/r' || i, CASE WHEN i % 1000 = 7 THEN 'ready' ELSE 'idle' "
    "END, NULL, 1, 0, 0, 9, 9, i, i, 0, '' FROM n",
    "INSERT INTO signals SELECT 'g' || i, 'web:main', 'k' || i, NULL, 'said', 'normal', 'web:ada', 'Ada', 'p', "
    "'web:main/r' || i % 50, 'hello', '[]', 'h' || i, 's' || i % 50, i, CASE WHEN i % 1000 = 7 THEN 'waiting' ELSE "
    "'consumed' END, 'r' || i, NULL, i, i, CASE WHEN i % 1000 = 7 THEN NULL ELSE i END, NULL, 'm' || i, 0, 'message', '', '' FROM n",
    "INSERT INTO runs SELECT 'r' || i, 's' || i, 'web:main/r' || i, CASE WHEN i % 1000 = 7 THEN 'running' WHEN "
    "i % 1000 = 8 THEN 'ready' ELSE 'done' END, 'p', 1, 1, 1, 0, 1, '', i, i, NULL, NULL, 0, '', 0, CASE WHEN i % 10 = 3 THEN 'schedule' ELSE 'message' END, '' FROM n",
    "INSERT INTO deliveries SELECT i, 'd' || i, 'o' || i, 0, 'final', 'web', 'main', 'web:main/r' || i % 50, '{}', "
    "NULL, NULL, CASE WHEN i % 1000 = 7 THEN 'queued' ELSE 'shown' END, 2, i, '', i, NULL, NULL, '' FROM n",
    "INSERT INTO parts SELECT 'd' || i, 1, CASE WHEN i % 1000 = 7 THEN 'unsettled' ELSE 'shown' END, '', NULL, 1, i, 0, "
    "0, NULL, NULL, '', NULL, '', NULL, '[]' FROM n",
    "INSERT INTO steps SELECT 'r' || i, 2, 'tool', 'done', 'c', CASE WHEN i % 9 = 7 THEN 'look' ELSE 'shell' END, 'read', '{}', "
    "'h', '', '', 1, i, i, 'n1', 0, '', i FROM n",
    "INSERT INTO approvals SELECT 'a' || i, 'call', CASE WHEN i % 1000 = 7 THEN 'pending' ELSE 'denied' END, 'r' || i, "
    "2, 's' || i, 'web:main/r', 'shell', 'danger', '{}', 'h', 'v', '', NULL, i, i, NULL, '', NULL, NULL, '', "
    "'', '', '', '', '', '', 0, NULL FROM n",
    "INSERT INTO undos SELECT 'a' || i, 'r' || i, 2, '', i, '', NULL FROM n",
    "INSERT INTO asked_back SELECT 'a' || i, 1, NULL, i FROM n",
    "INSERT INTO waits SELECT 'r' || i, 2, 'approval', 'a' || i, CASE WHEN i % 1000 = 7 THEN NULL ELSE i END FROM n",
    "INSERT INTO audit SELECT i, CASE WHEN i > 19980 THEN NULL ELSE i END, i, 'asked', 'Ada', 's', '', '', '', '' FROM n",
    "INSERT INTO usage SELECT 'r' || i, 1, 'main', 'web:main/r' || i % 50, 'p' || i % 50, 'demo', 1, 1, 1, i, 0, '', 0 FROM n",
    "INSERT INTO moves SELECT i, 'r' || i, i, 'n1', 'resume', '' FROM n",
    "INSERT INTO turns SELECT 's' || i % 50, i, 'r' || i, 'user', 'hello', 'Ada', '[]', '', '', i, '[]', '', 0 FROM n",
    "INSERT INTO identities SELECT 'web:' || i, 'p' || i, NULL FROM n WHERE i < 50",
    "INSERT INTO schedules SELECT 'h' || i, 'n' || i, '', '', '{}', 'web:main/r' || i, '[]', '{}', 'active', '', NULL, 'a', "
    "'main', 0, 0, i, i, NULL, NULL, i, i FROM n WHERE i < 50",
    "INSERT INTO occurrences SELECT 'o' || i, 'h' || i % 50, i, CASE WHEN i % 1000 = 7 THEN 'started' ELSE 'done' END, 0, "
    "CASE WHEN i % 100 = 7 THEN 0 ELSE 1 END, '', 1, 'r' || i, NULL, i, i, 'text', 1, i, '{}', '', '' FROM n",
    "INSERT INTO children SELECT 'c' || i, 'r' || i, 2, 1, 's' || i % 50, 'r' || i, 'cs' || i, 'main', '[\"main\"]', 1, 1, 'goal', "
    "'', '', '', CASE WHEN i % 1000 = 7 THEN 'open' ELSE 'done' END, '', 1, 0, i, i, i FROM n",
    "INSERT INTO nodes (id, label, state, fence, joined_at, expires_at, agents) SELECT 'n' || i, '', CASE WHEN i % 1000 = 7 THEN 'live' ELSE 'dead' END, 1, i, i, '' FROM n",
]


@pytest.fixture(scope="module")
def embedded() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)) as raw:
        upgrade_sqlite(raw)
        for statement in FILL:
            raw.execute(statement.replace(" SELECT", f" {COUNT} SELECT", 1))
        raw.execute("ANALYZE")
        yield raw


@pytest.fixture(scope="module")
def filled_database(postgres: Postgres) -> str:
    return postgres.create_database()


@pytest.fixture
async def server(filled_database: str) -> AsyncIterator[asyncpg.Connection[Any]]:
    connection = await asyncpg.connect(filled_database)
    if await connection.fetchval("SELECT to_regclass('sessions')") is None:
        await (await open_store(filled_database)).close()
        for statement in FILL:
            await connection.execute(statement.replace(" SELECT", f" {COUNT} SELECT", 1))
        await connection.execute("ANALYZE")
    yield connection
    await connection.close()


@pytest.mark.parametrize("query", QUERIES)
def test_sqlite_uses_the_index(embedded: sqlite3.Connection, query: str) -> None:
    statement, given, index = QUERIES[query]
    compiled = Compiler(SQLiteDialect(paramstyle="qmark"))(statement)
    plan = embedded.execute(f"EXPLAIN QUERY PLAN {compiled.sql}", compiled.arguments(given)).fetchall()
    told = "\n".join(row[3] for row in plan)
    assert re.search(f"USING (COVERING )?INDEX \\w*({index})", told)


@pytest.mark.parametrize("query", QUERIES)
async def test_postgres_uses_the_index_whatever_the_parameters(server: asyncpg.Connection[Any], query: str) -> None:
    statement, given, index = QUERIES[query]
    compiled = Compiler(PGDialect_asyncpg())(statement)  # type: ignore[no-untyped-call]  # as in the driver
    await server.execute("SET plan_cache_mode = force_generic_plan")  # parameters may not help to choose
    plan = await server.fetch(f"EXPLAIN {compiled.sql}", *compiled.arguments(given))
    assert re.search(f"Scan( Backward)? using ({index})|on ({index})", "\n".join(row[0] for row in plan))


# What is old is looked for all day long: a slice must cost the same whatever the table holds.
SLICES = {
    Stock.MESSAGES: ("g100", "g12"),
    Stock.TOMBSTONES: ("g100", "g12"),
    Stock.EVENTS: ("g100", "g12"),
    Stock.DELIVERIES: (100, 300),
    Stock.RUNS: ("r100", "r12"),
    Stock.APPROVALS: ("a100", "a12"),
    Stock.MOVES: (100, 300),
    Stock.USAGE: ("r100", "r12"),
    Stock.NODES: ("n100", "n12"),
}


EMPTY_HERE = ("plans", "summaries", "memory_uses", "feedback")
"""PostgreSQL reads a table without rows in no other way."""


@pytest.mark.parametrize("stock", SLICES)
def test_sqlite_removes_what_is_old_without_a_scan(embedded: sqlite3.Connection, stock: Stock) -> None:
    for statement in _of_a_slice(stock):
        compiled = Compiler(SQLiteDialect(paramstyle="qmark"))(statement)
        given = {"after": SLICES[stock][0], "upto": SLICES[stock][1], "before": NOW, "n": 200, "above": "x"}
        plan = embedded.execute(f"EXPLAIN QUERY PLAN {compiled.sql}", compiled.arguments(given)).fetchall()
        assert [row[3] for row in plan if "SCAN" in row[3] and "SCAN anon" not in row[3]] == []


@pytest.mark.parametrize("stock", SLICES)
async def test_postgres_removes_what_is_old_without_a_scan(server: asyncpg.Connection[Any], stock: Stock) -> None:
    for statement in _of_a_slice(stock):
        compiled = Compiler(PGDialect_asyncpg())(statement)  # type: ignore[no-untyped-call]  # as in the driver
        given = {"after": SLICES[stock][0], "upto": SLICES[stock][1], "before": NOW, "n": 200, "above": "x"}
        plan = await server.fetch(f"EXPLAIN {compiled.sql}", *compiled.arguments(given))
        scanned = re.findall(r"Seq Scan on (\w+)", "\n".join(row[0] for row in plan))
        assert [
            table for table in scanned if table not in ("votes", "moves", "usage", "parts", "steps", *EMPTY_HERE)
        ] == []


def _of_a_slice(stock: Stock) -> list[Executable]:
    rule = retention.RULES[stock]
    return [rule.bound, rule.act, *rule.below]
