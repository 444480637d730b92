"""Agents of other systems that the settings name, and the tools that ask them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from bot.settings.programs.peers import PeerTable
from bot.settings.settings import Settings
from bot.wiring.logins.parts import login_sealer_of
from bot.wiring.safety.egress import rules_of
from runtime.agent.questions import OwnCall
from runtime.contract import Call, Now, RunId, Tool, Turn
from runtime.contract.agents.peers import PeerTask, PeerTasks
from runtime.egress import Egress, Opening, Result, Rule
from runtime.guard.sealing import Unsealable
from runtime.store.programs.peers import KeptPeerTask, PeerTaskStore

if TYPE_CHECKING:
    from bot.wiring.logins.sealed_files import MadeSealer
    from tools.peers.asking import AskedPeers
    from tools.peers.client import PeerClient
    from tools.peers.stopping import StoppedTasks


class SealedPeerTasks:
    """Implements `contract.PeerTasks`: in the database, where questions of peers are sealed."""

    def __init__(self, store: PeerTaskStore, sealer: MadeSealer) -> None:
        self._store = store
        self._sealer = sealer

    async def peer_task(self, key: str) -> PeerTask | None:
        row = await self._store.task_of_call(key)
        return self._opened(row) if row else None

    async def keep_peer_task(self, task: PeerTask) -> None:
        sealed = self._sealer().seal(task.question, task.key) if task.question else ""
        kept = KeptPeerTask(
            key=task.key,
            run=task.run,
            peer=task.peer,
            task=task.task,
            context=task.context,
            sealed=sealed,
            asks=task.asks,
        )
        await self._store.keep_task(kept)

    async def stopped_peer_tasks(self) -> Sequence[PeerTask]:
        return [self._opened(row) for row in await self._store.stopped_tasks()]

    async def asking_peers(self, run: str) -> Sequence[PeerTask]:
        rows = [self._opened(row) for row in await self._store.tasks_of_run(run) if row.sealed]
        return [one for one in rows if one.question]

    def _opened(self, row: KeptPeerTask) -> PeerTask:
        try:
            question = self._sealer().open(row.sealed, row.key) if row.sealed else ""
        except Unsealable:  # by a node with another key: only that one asks it
            question = ""
        return PeerTask(
            key=row.key,
            run=row.run,
            peer=row.peer,
            task=row.task,
            context=row.context,
            question=question,
            asks=row.asks,
        )


def clients_of(settings: Settings) -> Mapping[str, PeerClient]:
    """A client for each peer, by name."""
    from tools.peers.client import PeerClient

    allow = [Opening.parse(text) for text in settings.egress.allow]
    # The operator named the peers: only what their rules refuse is refused.
    own = [rule for table in settings.a2a for rule in _opened(table)]
    egress = Egress([*rules_of(settings), *own], allow=allow)
    return {table.name: PeerClient(table.terms, egress) for table in settings.a2a}


def _opened(table: PeerTable) -> Sequence[Rule]:
    from glob import escape

    from runtime.egress.places import Place
    from tools.peers.client import A2A_ASK

    place = Place.parse(table.url)
    ports = frozenset({place.port})
    return [Rule(Result.ALLOW, A2A_ASK, escape(place.host), "*", method, ports) for method in ("GET", "POST")]


def asked_peers_of(settings: Settings, store: PeerTaskStore) -> AskedPeers | None:
    """None where the settings name no peer: then nothing of it is loaded."""
    if not settings.a2a:
        return None
    from tools.peers.asking import AskedPeers

    return AskedPeers(clients_of(settings), SealedPeerTasks(store, login_sealer_of(settings)))


def stopping_of(settings: Settings, store: PeerTaskStore, now: Now) -> StoppedTasks | None:
    """Ends tasks of stopped runs at peers; None where the settings name no peer."""
    if not settings.a2a:
        return None
    from tools.peers.stopping import StoppedTasks

    return StoppedTasks(clients_of(settings), SealedPeerTasks(store, login_sealer_of(settings)), now=now)


def tools_of_peers(settings: Settings, asked: AskedPeers | None) -> Mapping[str, Tool]:
    """By name; empty where the settings name no peer."""
    if asked is None:
        return {}
    from tools.peers.asking import peer_tools

    names = [table.name for table in settings.a2a]
    made = peer_tools(asked, names, max(table.timeout for table in settings.a2a))
    return {tool.spec.name: tool for tool in made}


def known_peer_tools(settings: Settings) -> Mapping[str, Tool]:
    """Tools that are known without a process. None is to be called."""
    if not settings.a2a:
        return {}
    from tools.peers.asking import AskedPeers

    made = tools_of_peers(settings, AskedPeers({}, cast("PeerTasks", None)))
    return {name: tool for name, tool in made.items() if not tool.spec.untold}


def own_call_of(settings: Settings, store: PeerTaskStore, of_servers: OwnCall) -> OwnCall | None:
    """Names the call that a run makes next for an MCP server or a peer that asks; None where the settings have neither."""
    peers = asked_peers_of(settings, store)
    if peers is None:
        return of_servers if settings.mcp else None
    of_peers = peers.next_call

    async def next_call(run: RunId, turns: Sequence[Turn]) -> Call | None:
        return await of_servers(run, turns) or await of_peers(run, turns)

    return next_call
