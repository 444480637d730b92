"""Peers: their cards are checked, a task is given once, over cut answers and kills, and a question goes to a person."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from yarl import URL

from runtime.contract import Now, RunId, SessionKey, ToolContext, ToolTurn
from runtime.contract.agents.peers import PeerTask
from runtime.egress import Egress, Opening, Response, Result, Rule
from runtime.errors import ToolFailed, ToolRetry
from tests.fakes.peer import FakePeer, serving_peer
from tools.peers.answers import answer_of
from tools.peers.asking import ASKS_YOU, GOES_ON, AskedPeers
from tools.peers.cards import NotThatPeer, PeerTerms, card_of
from tools.peers.client import A2A_ASK, PeerClient, read_json
from tools.peers.stopping import StoppedTasks

TERMS = PeerTerms("billing", "https://billing.example.org")
RUN = RunId("run-1")
PLACE = {"url": "/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
CARD = {"name": "Billing", "supportedInterfaces": [PLACE]}


@dataclass
class Kept:
    """A book in this process."""

    rows: dict[str, PeerTask] = field(default_factory=dict)
    stopped: set[str] = field(default_factory=set)

    async def peer_task(self, key: str) -> PeerTask | None:
        return self.rows.get(key)

    async def keep_peer_task(self, task: PeerTask) -> None:
        self.rows[task.key] = task

    async def stopped_peer_tasks(self) -> Sequence[PeerTask]:
        return [one for one in self.rows.values() if one.run in self.stopped and one.task]

    async def asking_peers(self, run: str) -> Sequence[PeerTask]:
        return [one for one in self.rows.values() if one.run == run and one.question]


def asked_of(peer: FakePeer, book: Kept) -> AskedPeers:
    """As a process has it that began now."""
    return AskedPeers(clients_of(peer), book)


def stopping_of(peer: FakePeer, book: Kept, now: Now = lambda: datetime.now(UTC)) -> StoppedTasks:
    return StoppedTasks(clients_of(peer), book, now=now)


def clients_of(peer: FakePeer) -> dict[str, PeerClient]:
    terms = PeerTerms("billing", peer.url, token="sesame", timeout=timedelta(seconds=30))
    egress = Egress([Rule(Result.ALLOW, A2A_ASK)], allow=[Opening.parse(URL(peer.url).authority)])
    return {"billing": PeerClient(terms, egress)}


def context(call: str = "call-1") -> ToolContext:
    return ToolContext(Path(), SessionKey("main|web:main/tea"), RUN, call)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"name": "Evil Corp"}, 'calls itself .Evil Corp.*card_name = "Evil Corp"'),
        ({"name": None}, "no card"),
        ({"supportedInterfaces": []}, "speaks no version"),
        (
            {"supportedInterfaces": [{**PLACE, "url": "https://evil.example/a2a"}]},
            "another place than its own, evil.example",
        ),
        ({"supportedInterfaces": [{**PLACE, "url": "https://[::1"}]}, "its address is none"),
        ({"supportedInterfaces": [{**PLACE, "protocolVersion": "7.0"}]}, "speaks no version"),
    ],
)
def test_a_card_of_somebody_else_or_for_another_place_is_refused_with_words(change: dict[str, Any], why: str) -> None:
    assert card_of(TERMS, CARD).url == "https://billing.example.org/a2a"
    with pytest.raises(NotThatPeer, match=why):
        card_of(TERMS, {**CARD, **change})


@pytest.mark.parametrize("version", ["1.0", "0.3"])
async def test_a_task_is_given_once_over_a_lost_answer_and_a_kill(version: str) -> None:
    async with serving_peer(version=version, lost=1) as peer:
        book = Kept()
        with pytest.raises(ToolFailed, match="gave no answer"):
            await asked_of(peer, book).ask("billing", "What is open?", "", context())
        assert book.rows == {}
        for _ in range(2):  # the second one is the same call in another process
            told = await asked_of(peer, book).ask("billing", "What is open?", "", context())
            assert told == "Done: What is open?"
        assert ([*peer.said.values()], peer.tokens) == (["What is open?"], {"Bearer sesame"})
        assert await asked_of(peer, book).skills() == "billing:\n- Bills: Looks up bills."
        more = await asked_of(peer, book).ask("billing", "And paid?", "task-1", context("call-2"))
        assert more == "Done: What is open?, And paid?"
        with pytest.raises(ToolRetry, match="There are: billing"):
            await asked_of(peer, book).ask("shipping", "Hello", "", context())


def test_an_answer_that_nobody_could_keep_or_read_is_no_answer_or_is_mended() -> None:
    nested = Response(200, TERMS.url, {}, b"[" * 100_000, truncated=False)
    with pytest.raises(ToolFailed, match="no answer of A2A"):
        read_json("billing", nested)
    part = {"text": "Half a letter: \ud83d"}
    task = {"id": "t-1", "status": {"state": "input-required", "message": {"parts": [part]}}}
    assert answer_of("billing", {"task": task}).text == "Half a letter: ?"


async def test_a_card_is_read_and_checked_anew_after_an_answer_that_is_none() -> None:
    async with serving_peer() as peer:
        asked = asked_of(peer, Kept())
        assert await asked.ask("billing", "One", "", context("call-1")) == "Done: One"
        peer.version = "0.3"
        with pytest.raises(ToolFailed, match="no answer of A2A"):
            await asked.ask("billing", "Two", "", context("call-2"))
        assert await asked.ask("billing", "Two", "", context("call-2")) == "Done: Two"


async def test_a_question_of_a_peer_goes_to_a_person_and_its_answer_to_the_same_task() -> None:
    async with serving_peer(question="Of which\u202e year?") as peer:
        book = Kept()
        told = await asked_of(peer, book).ask("billing", "What is open?", "", context())
        assert "asks a person something" in told
        asks = await asked_of(peer, book).next_call(RUN, [])
        assert asks is not None
        assert (asks.tool, "billing asks: Of which year?" in asks.arguments) == (ASKS_YOU, True)
        assert await asked_of(peer, book).next_call(RUN, []) == asks  # in another process too
        assert await asked_of(peer, book).next_call(RunId("another"), []) is None
        turns = [ToolTurn(asks.id, ASKS_YOU, 'Ada answered: "2026"')]
        goes = await asked_of(peer, book).next_call(RUN, turns)
        assert goes is not None
        assert (goes.tool, '"answer": "2026"' in goes.arguments) == (GOES_ON, True)
        key = f"{RUN}-call-1"
        for _ in range(2):
            assert await asked_of(peer, book).go_on(key, "2026", context(goes.id)) == "Done: What is open?, 2026"
        assert [*peer.said.values()] == ["What is open?", "2026"]
        assert await asked_of(peer, book).next_call(RUN, [*turns, ToolTurn(goes.id, GOES_ON, "Done")]) is None


@pytest.mark.parametrize("version", ["1.0", "0.3"])
async def test_tasks_of_a_stopped_run_are_cancelled_once_and_those_that_are_over_are_left(version: str) -> None:
    async with serving_peer(version=version, slow=True) as peer:
        book = Kept()
        asking = asyncio.ensure_future(asked_of(peer, book).ask("billing", "What is open?", "", context()))
        async with asyncio.timeout(20):
            while not any(one.task for one in book.rows.values()):  # noqa: ASYNC110 - a plain book rings no bell
                await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        peer.finished.add("task-2")
        await asked_of(peer, book).ask("billing", "And paid?", "", context("call-2"))
        stopping = stopping_of(peer, book)
        await stopping.look()
        assert peer.cancelled == []
        book.stopped.add(RUN)
        for _ in range(2):
            await stopping.look()
        assert peer.cancelled == ["task-1"]
        assert [one.task for one in book.rows.values()] == ["", ""]


async def test_a_peer_that_gives_no_answer_is_told_later_and_not_for_ever() -> None:
    async with serving_peer(lost=100) as peer:
        book, now = Kept(stopped={RUN}), [datetime(2026, 11, 26, tzinfo=UTC)]
        await book.keep_peer_task(PeerTask(key="k", run=RUN, peer="billing", task="task-1"))
        stopping = stopping_of(peer, book, lambda: now[0])
        tries = []
        for _ in range(200):
            await stopping.look()
            tries.append(100 - peer.lost)
            now[0] += timedelta(seconds=10)
        assert (tries[0], tries[1], tries[2], tries[-1]) == (1, 1, 2, 6)
        assert [one.task for one in book.rows.values()] == [""]


async def test_a_peer_that_the_settings_name_no_more_is_not_told() -> None:
    book = Kept(stopped={RUN})
    await book.keep_peer_task(PeerTask(key="k", run=RUN, peer="shipping", task="task-1"))
    async with serving_peer() as peer:
        await stopping_of(peer, book).look()
    assert [one.task for one in book.rows.values()] == [""]


async def test_a_resumed_call_goes_on_with_the_task_of_the_first_unless_that_was_cancelled() -> None:
    later = RunId("run-2")
    again = replace(context(), run_id=later, repeats=context().key)
    async with serving_peer() as peer:
        book = Kept()
        await asked_of(peer, book).ask("billing", "What is open?", "", context())
        assert await asked_of(peer, book).ask("billing", "What is open?", "", again) == "Done: What is open?"
        assert [*peer.said.values()] == ["What is open?"]
        assert [one.run for one in book.rows.values()] == [later]
    async with serving_peer(lost=1) as peer:  # it took the task, and nobody kept its name
        book = Kept()
        with pytest.raises(ToolFailed, match="gave no answer"):
            await asked_of(peer, book).ask("billing", "What is open?", "", context())
        assert await asked_of(peer, book).ask("billing", "What is open?", "", again) == "Done: What is open?"
        assert [*peer.said.values()] == ["What is open?"]
    async with serving_peer() as peer:
        book = Kept()
        await asked_of(peer, book).ask("billing", "What is open?", "", context())
        peer.cancelled.append("task-1")
        for _ in range(2):  # the second one after a kill
            assert await asked_of(peer, book).ask("billing", "What is open?", "", again) == "Done: What is open?"
        assert [*peer.said.values()] == ["What is open?"] * 2
