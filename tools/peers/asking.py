"""Tools that ask peers: a task is given once, followed by its id over restarts, and goes on once a person answered its question."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Final

from runtime.contract import (
    Asking,
    Call,
    Carries,
    Effect,
    Flow,
    Json,
    Reads,
    RunId,
    Tool,
    ToolContext,
    ToolTurn,
    Turn,
)
from runtime.contract.agents.peers import PeerTask, PeerTasks
from runtime.errors import ToolFailed, ToolRetry
from runtime.text.outside import stripped
from tools.kit.declare import tool
from tools.kit.keys import key_of
from tools.mcp.asked.held import ANSWERED_WITH
from tools.peers.answers import PeerAnswer
from tools.peers.client import A2A_ASK, PeerClient

ASKS_YOU: Final = "a2a_asks_you"
GOES_ON: Final = "a2a_goes_on"
LAST_LOOK_TIME: Final = timedelta(seconds=10)
"""For the last request, before the tool's own time is over."""
FIRST_PAUSE: Final = 0.2  # seconds
LONGEST_PAUSE: Final = 10.0  # seconds
ASKS_MAX: Final = 10
PEERS_TIMEOUT: Final = timedelta(seconds=60)
QUESTION_SHOWN_MAX_CHARS: Final = 900
PEER_FLOW: Final = Flow(Reads.OUTSIDE, A2A_ASK, carries={"peer": Carries.RECIPIENT, "text": Carries.WORDS})
GOES_ON_FLOW: Final = Flow(Reads.OUTSIDE, A2A_ASK, carries={"call": Carries.DETAIL, "answer": Carries.WORDS})
NO_PEER: Final = "There is no peer {name!r}. There are: {names}."
STILL: Final = "{name} still works on it, as task {task}. Call a2a_ask with this task and without text to look again."
ASKED_NOW: Final = "{name} asks a person something before it goes on. What comes of it stands below."
OVER_WITH: Final = "{name} ended the task as {state}. {text}"


class AskedPeers:
    """Peers of the settings, and the calls that ask them."""

    def __init__(self, peers: Mapping[str, PeerClient], book: PeerTasks) -> None:
        self._peers = peers
        self._book = book

    def client(self, name: str) -> PeerClient:
        """Errors: ToolRetry names those there are."""
        if name not in self._peers:
            raise ToolRetry(NO_PEER.format(name=name, names=", ".join(self._peers)))
        return self._peers[name]

    async def ask(self, name: str, text: str, task: str, context: ToolContext) -> str:
        """Give a peer a task, or say more about one. The same call again goes on with what it began."""
        client = self.client(name)
        key = await self._key(client, context)
        kept = await self._book.peer_task(key)
        if kept is None or not kept.task:
            if not text:
                return await self._looked_at(client, task)
            answer = await client.send(text, key_of(key, text), task=task)
            kept = PeerTask(key=key, run=context.run_id, peer=name, task=answer.id, context=answer.context)
            if answer.id:
                await self._book.keep_peer_task(kept)
        else:
            answer = await client.task(kept.task)
        return await self._followed(client, kept, answer)

    async def _key(self, client: PeerClient, context: ToolContext) -> str:
        """The key of a call: that of the one which it is made again for, unless what that began was cancelled."""
        own, before = f"{context.run_id}-{context.call_id}", context.repeats
        if before is None or before.call != context.call_id or await self._book.peer_task(own):
            return own
        key = f"{before.run}-{before.call}"
        kept = await self._book.peer_task(key)
        if kept is None or kept.run == context.run_id:
            return key
        if not kept.task or (await client.task(kept.task)).state == "canceled":
            return own
        await self._book.keep_peer_task(replace(kept, run=context.run_id))  # which asks people from now on
        return key

    async def _looked_at(self, client: PeerClient, task: str) -> str:
        if not task:
            raise ToolRetry("Say something in `text`, or name a `task` to look at.")
        return _told(client.terms.name, await client.task(task))

    async def go_on(self, key: str, said: str, context: ToolContext) -> str:
        """Give a peer the answer of a person; where it has that already, follow the task only."""
        kept = await self._book.peer_task(key)
        if kept is None or kept.run != context.run_id:
            raise ToolFailed("The task that asked isn't known here any more.")
        client = self.client(kept.peer)
        answer = await client.task(kept.task)
        if answer.asks:
            message = key_of(key, str(kept.asks), said)
            answer = await client.send(said, message, task=kept.task, context=kept.context)
        return await self._followed(client, kept, answer)

    async def _followed(self, client: PeerClient, kept: PeerTask, answer: PeerAnswer) -> str:
        """The task at its end, or once it asks; or as it stands when its time is over."""
        pause, loop = FIRST_PAUSE, asyncio.get_running_loop()
        end = loop.time() + (client.terms.timeout - LAST_LOOK_TIME).total_seconds()
        while not (answer.is_over or answer.asks) and loop.time() + pause < end:
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
            answer = await client.task(answer.id)
        if not answer.asks:
            await self._end(kept)
            return _told(client.terms.name, answer)
        if kept.asks >= ASKS_MAX:
            await self._end(kept)
            raise ToolFailed(f"{client.terms.name} asked {ASKS_MAX} times and didn't finish. Nobody is asked again.")
        asked = stripped(answer.text).text[:QUESTION_SHOWN_MAX_CHARS].strip() or "Please go on."
        await self._book.keep_peer_task(replace(kept, question=asked, asks=kept.asks + 1))
        return ASKED_NOW.format(name=client.terms.name)

    async def _end(self, kept: PeerTask) -> None:
        if kept.question:
            await self._book.keep_peer_task(replace(kept, question=""))

    async def next_call(self, run: RunId, turns: Sequence[Turn]) -> Call | None:
        """The call that a run makes next for a peer that asks: the question, and then the answer to it."""
        for kept in await self._book.asking_peers(run):
            ident = f"a2a-{kept.asks}-{key_of(kept.key)}"
            told = next(_results(turns, f"{ident}-ask"), None)
            if told is None:
                question = f"{kept.peer} asks: {kept.question}"
                return _call(f"{ident}-ask", ASKS_YOU, {"question": question})
            if next(_results(turns, f"{ident}-go"), None) is None:
                return _call(f"{ident}-go", GOES_ON, {"call": kept.key, "answer": _answer(told)})
        return None

    async def skills(self) -> str:
        lines = []
        for name, client in self._peers.items():
            try:
                skills = (await client.card()).skills
                lines += [f"{name}:", *(f"- {one}" for one in skills or ["it names no skill"])]
            except ToolFailed as error:
                lines.append(f"{name}: {error}")
        return "\n".join(lines)


def peer_tools(asked: AskedPeers, names: Sequence[str], timeout: timedelta) -> Sequence[Tool]:
    """Tools over the peers of the settings; the last two are called by runs on their own account."""

    @tool(effect=Effect.READ, timeout=PEERS_TIMEOUT, seldom=True, flow=Flow(Reads.OUTSIDE, A2A_ASK, carries={}))
    async def a2a_peers() -> str:
        """List the agents of other systems, and what they can do."""
        return await asked.skills()

    # Idempotent: a call that was cut by a kill goes on with the task that it gave, by its id.
    @tool(effect=Effect.WRITE, idempotent=True, timeout=timeout, seldom=True, flow=PEER_FLOW)
    async def a2a_ask(
        peer: Annotated[str, "Its name."],
        context: ToolContext,
        text: Annotated[str, "All that it must know."] = "",
        task: Annotated[str, "To look at a task, or say more about it."] = "",
    ) -> str:
        """Ask an agent of another system."""
        return await asked.ask(peer, text, task, context)

    @tool(effect=Effect.READ, flow=Flow(Reads.OURS, stays=True, carries={}))
    async def a2a_asks_you(question: str) -> str:
        """Ask a person what a peer wants to know."""
        raise ToolFailed("A person answers this, so it cannot be called.")

    @tool(effect=Effect.WRITE, idempotent=True, timeout=timeout, flow=GOES_ON_FLOW)
    async def a2a_goes_on(call: str, answer: str, context: ToolContext) -> str:
        """Give a peer the answer of a person."""
        return await asked.go_on(call, answer, context)

    called = f"{a2a_ask.spec.description} There are: {', '.join(names)}."
    return [
        a2a_peers,
        replace(a2a_ask, spec=replace(a2a_ask.spec, description=called)),
        replace(a2a_asks_you, spec=replace(a2a_asks_you.spec, untold=True, asks=_asking)),
        replace(a2a_goes_on, spec=replace(a2a_goes_on.spec, untold=True)),
    ]


def _asking(arguments: Mapping[str, Json]) -> Asking:
    return Asking(str(arguments.get("question", "")))


def _call(ident: str, name: str, arguments: Mapping[str, Json]) -> Call:
    return Call(ident, name, json.dumps(arguments, ensure_ascii=False))


def _results(turns: Sequence[Turn], call: str) -> Iterator[str]:
    return (turn.text for turn in reversed(turns) if isinstance(turn, ToolTurn) and turn.call_id == call)


def _answer(told: str) -> str:
    """A person's words, as the result of the question tells them; else that result, such as that nobody answered."""
    found = ANSWERED_WITH.search(told)
    return str(json.loads(found[1])) if found else told


def _told(name: str, answer: PeerAnswer) -> str:
    match answer.state:
        case "completed":
            return answer.text or f"{name} is done, and says nothing."
        case "failed" | "canceled" | "rejected":
            raise ToolFailed(OVER_WITH.format(name=name, state=answer.state, text=answer.text).strip())
        case _:
            return STILL.format(name=name, task=answer.id)
