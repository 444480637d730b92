"""Third phase: what takes messages in, works on them and shows the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import structlog

from bot.accounts.supervisor import AccountSupervisor
from bot.operator.lookups.titles import in_reports
from bot.operator.reports import LateReporters
from bot.server.new_agents import NewAgents
from bot.server.phases.accounts import AccountsPhase
from bot.server.phases.store import StorePhase
from bot.server.tools import Toolkit, toolkit_of
from bot.wiring.agents import AgentMaker, nobody_intercepts
from bot.wiring.engine import (
    fetching_of,
    files_in,
    limits_of,
    links_in,
    long_replies_of,
    marks_in,
    pace_of,
    shell_of,
)
from bot.wiring.events.readers import FeedbackReaders
from bot.wiring.knowledge.packs import book_of as packs_of
from bot.wiring.knowledge.packs import search_of as pack_search
from bot.wiring.knowledge.packs import tools_of as pack_tools
from bot.wiring.mcp import AtWork
from bot.wiring.memory.books import MemoryParts, memory_of, renewal_of, tools_of
from bot.wiring.memory.embedder import embedder_of, meaning_of
from bot.wiring.models.executors import Executors
from bot.wiring.models.media import media_of
from bot.wiring.safety.bound import bound_secrets_of
from bot.wiring.safety.guard import GuardBook, door_of
from bot.wiring.safety.tools import guarded
from bot.wiring.scheduling import reach_of, timetable_of
from bot.wiring.skills.parts import SkillParts, proposing_of, skills_of
from bot.wiring.skills.telling import SkillCommands
from bot.wiring.tools.canned import canned_of
from bot.wiring.tools.databases import query_tools
from bot.wiring.tools.peers import asked_peers_of, own_call_of, tools_of_peers
from runtime.agent.delegation.children import ChildRuns
from runtime.agent.delegation.hand_overs import HandOvers
from runtime.agent.duties.answering import Answerer
from runtime.agent.duties.compacting import Compactor
from runtime.agent.duties.reminders import Reminders
from runtime.agent.duties.renewing import SummaryRenewal
from runtime.agent.duties.undoing import Undoer
from runtime.agent.edits import Edits
from runtime.agent.loop import AgentLoop
from runtime.agent.previews import Previews
from runtime.agent.processes.book import NotedProcesses
from runtime.agent.questions import QuestionContext
from runtime.agent.registry import Agents
from runtime.chat.audience import Places
from runtime.cluster.peer_events import PeerEvents, outbox_topic
from runtime.cluster.topics import ASKED_BACK, COMPACTING, LANES, TRIGGERS, UNDOS
from runtime.context.watch import LoopNotices
from runtime.contract import QUESTIONS, Address, Model, RunId, Sink, TaskBoard, Timetable, Tool, Transcriber
from runtime.delivery.changing import RoomChanges
from runtime.delivery.context import CourierContext
from runtime.delivery.courier import Courier
from runtime.delivery.couriers import Couriers
from runtime.delivery.posting import RoomPosting
from runtime.delivery.sent_files import SentFiles
from runtime.domain.agents.manifest import MAIN, Manifest
from runtime.guard.door import Door
from runtime.guard.findings import Gate
from runtime.intake.dispatch import Dispatch
from runtime.intake.pasted import Pasted
from runtime.intake.reception import Reception
from runtime.models.guarded import GuardedModel
from runtime.reports.fan_out import Reporting
from runtime.schedules.task_board import ToolBoard
from runtime.store.protocol import Lease, NewDelivery
from runtime.triggers.watching import RoomWatches
from runtime.vectors.near import NearRows
from runtime.workflows.goals.starting import StartedGoals
from runtime.workflows.starting import StartedFlows
from tools.goals import goal_tools
from tools.kit.schemas import schema_faults
from tools.pictures.tools import Media, media_tools
from tools.posting.changes import changing_tools
from tools.posting.messages import posting_tools
from tools.sandbox.spaced import SpacedTool
from tools.skills.skills import skill_tools
from tools.watching.watches import watching_tools
from tools.workflows import WAIT_FOR_EVENT, WAIT_UNTIL, WORKFLOW_BEGIN, workflow_tools

if TYPE_CHECKING:
    from bot.wiring.safety.interceptors import InterceptorParts

log = structlog.get_logger("skills")


@dataclass(frozen=True, slots=True, kw_only=True)
class EnginePhase:
    """The engine of one process. `sink` takes signals in; `loop` works on their runs in the name of `agents`."""

    couriers: Couriers
    timetable: Timetable
    toolkit: Toolkit
    reporters: LateReporters
    agents: Agents
    loop: AgentLoop
    peers: PeerEvents
    reception: Reception
    reminders: Reminders
    children: ChildRuns
    undoer: Undoer
    answerer: Answerer
    compactor: Compactor
    renewal: SummaryRenewal | None
    previews: Previews
    guard_book: GuardBook
    door: Door
    skills: SkillParts
    meaning: NearRows
    interceptors: InterceptorParts | None
    executors: Executors
    sink: Sink


def engine_phase(base: StorePhase, at: AccountsPhase, *, model: Model, tools: Mapping[str, Tool] | None) -> EnginePhase:
    """`tools` take the place of our own, for a test."""
    book = GuardBook(base.store.cluster, base.instruments.loop)
    door = door_of(base.settings, at.named, book.told)
    at.ratings.door, at.ratings.begun = door, partial(base.notifier.notify, LANES)
    couriers = _couriers(base, at, door)
    timetable = _timetable(base, at, couriers, door)
    children, board = _children(base, couriers, lambda run: peers.stop(run)), _board(base, couriers, door)
    making = NewAgents(lives=base.store.lives, reload=at.reload, door=door, now=base.store.now)
    hands, meaning = _hands(base, lambda: agents, door), meaning_of(base.store, embedder_of(base.settings, door))
    memory = memory_of(base.settings.memory, base.store, base.notifier, lambda: door, meaning)
    guarded_model = GuardedModel(base.instruments.model(model), door)
    media, skills = media_of(base.settings, base.store.embedding_costs, guarded_model, door), _skills(base, at)
    more = _more_tools(base, at, couriers, meaning, media, skills, door)
    toolkit = _toolkit(base, at, timetable, children, hands, board, memory, making, tools, more, door)
    reporters, interceptors = _reporters(base, at), _interceptors(base, at, door)
    _offer_skills(base, skills, toolkit)
    _clean_words_of_base(base, door)
    agents, executors = _agents(base, at, guarded_model, toolkit, reporters, interceptors, door)
    board.hands_to = lambda: {name: agent.manifest.delegates_to for name, agent in agents.items()}
    places = Places(couriers.serves, at.rooms.of, links_in(at.accounts), marks_in(at.accounts))
    own_call = own_call_of(base.settings, base.store.peer_tasks, toolkit.toolbox.next_call)
    asking = QuestionContext(lambda: at.live.gate().rights, places, own_call)
    loop = _loop(base, at, agents, couriers, reporters, asking, memory, skills, media.notes, door)
    peers = PeerEvents(notifier=base.notifier, couriers=couriers, stop=loop.stop)
    reception = _reception(base, at, couriers, peers, _edits(base, at, agents), door)
    return EnginePhase(
        couriers=couriers,
        timetable=timetable,
        toolkit=toolkit,
        reporters=reporters,
        agents=agents,
        loop=loop,
        peers=peers,
        reception=reception,
        children=children,
        reminders=Reminders(approvals=base.store.approvals, now=base.store.now, context=asking),
        undoer=_undoer(base, agents, couriers, door),
        answerer=_answerer(base, agents, couriers, asking),
        compactor=_compactor(base, agents, couriers, loop, memory),
        renewal=renewal_of(memory, base.store, agents, lambda: door) if memory else None,
        previews=_previews(at, agents, loop, skills, door),
        guard_book=book,
        door=door,
        skills=skills,
        meaning=meaning,
        interceptors=interceptors,
        executors=executors,
        sink=base.instruments.sink(reception.sink),
    )


def _previews(at: AccountsPhase, agents: Agents, loop: AgentLoop, skills: SkillParts, door: Door) -> Previews:
    """Previews of requests, by which `/context` measures too."""
    previews = Previews(agents, loop.surroundings, loop.condenser)
    at.live.measures(previews.measured, _skill_commands(at, skills, door))
    return previews


def _skill_commands(at: AccountsPhase, skills: SkillParts, door: Door) -> SkillCommands:
    return SkillCommands(skills.ready, lambda: at.live.rules.agents, partial(door.clean, gate=Gate.MEMORY_WRITE))


def _skills(base: StorePhase, at: AccountsPhase) -> SkillParts:
    return skills_of(lambda: at.reload.settings, lambda: at.live.rules.agents, base.store, base.notifier)


def _offer_skills(base: StorePhase, skills: SkillParts, toolkit: Toolkit) -> None:
    """Tools of skills are there while any agent may have one, and not before."""

    def offer() -> None:
        log.info("skills changed", ready=skills.ready.names)
        timeout = shell_of(base.settings).timeout
        made = skill_tools(skills.book, toolkit.sandbox, timeout=timeout) if skills.ready.has_any else {}
        toolkit.toolbox.bring(made)

    skills.ready.changed = offer


def _edits(base: StorePhase, at: AccountsPhase, agents: Agents) -> Edits:
    return Edits(
        approvals=base.store.approvals, agents=agents, policy=at.live.policy, named=at.named, faults=schema_faults
    )


def _undoer(base: StorePhase, agents: Agents, couriers: Couriers, door: Door) -> Undoer:
    return Undoer(
        approvals=base.store.approvals,
        agents=agents,
        rung=base.notifier.listen(UNDOS),
        lease_is_fresh=base.membership.lease_is_fresh,
        nudge=couriers.nudge,
        probe=base.probe,
        clean=partial(door.clean, gate=Gate.TOOL_RESULT),
    )


def _children(base: StorePhase, couriers: Couriers, stop: Callable[[RunId], object]) -> ChildRuns:
    ready = partial(base.notifier.notify, LANES)
    return ChildRuns(store=base.store.runs, stop=stop, nudge=couriers.nudge, ready=ready)


def _hands(base: StorePhase, agents: Callable[[], Agents], door: Door) -> HandOvers:
    return HandOvers(store=base.store.runs, agents=agents, door=door, ready=partial(base.notifier.notify, LANES))


def _answerer(base: StorePhase, agents: Agents, couriers: Couriers, asking: QuestionContext) -> Answerer:
    membership = base.membership
    return Answerer(
        approvals=base.store.approvals,
        agents=agents,
        rights=asking.rights,
        node=lambda: membership.lease.node if membership.lease else None,
        rung=base.notifier.listen(ASKED_BACK),
        lease_is_fresh=membership.lease_is_fresh,
        now=base.store.now,
        nudge=couriers.nudge,
        probe=base.probe,
    )


def _compactor(
    base: StorePhase, agents: Agents, couriers: Couriers, loop: AgentLoop, memory: MemoryParts | None
) -> Compactor:
    membership = base.membership
    return Compactor(
        runs=base.store.runs,
        agents=agents,
        condenser=loop.condenser,
        node=lambda: membership.lease.node if membership.lease else None,
        rung=base.notifier.listen(COMPACTING),
        lease_is_fresh=membership.lease_is_fresh,
        nudge=couriers.nudge,
        remembering=memory.remembering if memory else None,
        probe=base.probe,
    )


def dispatch_of(base: StorePhase, at: AccountsPhase, engine: EnginePhase, lease: Lease) -> Dispatch:
    """Dispatch for one membership of this process."""
    return Dispatch(
        store=base.store.runs,
        lease=lease,
        agent=base.instruments.worker(engine.loop),
        notifier=base.notifier,
        busy=at.live.busy_rules,
        lease_is_fresh=base.membership.lease_is_fresh,
        max_crashes=base.settings.run.max_crashes,
        probe=base.probe,
    )


def _couriers(base: StorePhase, at: AccountsPhase, door: Door) -> Couriers:
    def call(address: Address) -> None:
        """Something waits for a room whose courier is at another node."""
        base.notifier.tell(outbox_topic(address))

    couriers = (_courier(base, account, door) for account in at.accounts)
    files = SentFiles(base.workspaces, door, base.new_id)
    return Couriers(couriers, base.store.outbox, call, door, files, at.lookup)


def _courier(base: StorePhase, account: AccountSupervisor, door: Door) -> Courier:
    return Courier(
        outbox=base.store.outbox,
        adapter=base.instruments.adapter(account),
        pace=pace_of(base.settings),
        context=CourierContext(
            take=base.membership.take,
            vacancy=base.membership.vacancy,
            now=base.store.now,
            on_shown=base.notifier.notify_room,
            on_dead=partial(base.notifier.notify, LANES),
            lease_is_fresh=account.may_send,
            new_id=base.new_id,
            probe=base.probe,
            clean=partial(door.clean, gate=Gate.DELIVERY),
        ),
        features=account.features(),
        previews=base.settings.outbox.previews,
    )


def _clean_words_of_base(base: StorePhase, door: Door) -> None:
    """Give the guard to parts that were made before there was one."""
    base.cooldowns.clean = partial(door.clean, gate=Gate.DELIVERY)
    for tokens in base.tokens.values():
        tokens.holds = door.guard.know


def _timetable(base: StorePhase, at: AccountsPhase, couriers: Couriers, door: Door) -> Timetable:
    return timetable_of(
        base.store,
        reach_of(at.accounts),
        new_id=base.new_id,
        agent=MAIN,
        serves=couriers.serves,
        named=at.named,
        started=lambda: base.notifier.notify(LANES),
        planning=lambda: at.live.rules.planning,
        door=lambda: door,
    )


def _board(base: StorePhase, couriers: Couriers, door: Door) -> ToolBoard:
    return ToolBoard(
        tasks=base.store.tasks,
        begun=lambda: base.notifier.notify(LANES),
        nudge=couriers.nudge,
        door=lambda: door,
    )


def _toolkit(
    base: StorePhase,
    at: AccountsPhase,
    timetable: Timetable,
    children: ChildRuns,
    hands: HandOvers,
    board: TaskBoard,
    memory: MemoryParts | None,
    making: NewAgents,
    instead: Mapping[str, Tool] | None,
    more: Mapping[str, Tool],
    door: Door,
) -> Toolkit:
    canned = canned_of(base.settings)
    toolkit = toolkit_of(
        base.settings,
        at.lookup,
        timetable=timetable,
        children=children,
        hands=hands,
        board=board,
        remembering=tools_of(memory) if memory else (),
        agents=making,
        figures=base.store.figures,
        may_read=FeedbackReaders(base.store.people, lambda: at.reload.settings.feedback.readers).may_ask,
        named=at.called,
        naming=in_reports(base.store.traces.titles, at.called),
        now=base.store.now,
        wrap=lambda tools: base.instruments.tools(canned(guarded(tools, door))),
        instead=instead,
        space=base.space,
        more=more,
        processes=_process_book(base, door),
        at_work=_at_work(base, door),
    )
    making.effects = lambda: {name: tool.spec.effect for name, tool in toolkit.toolbox.tools.items()}
    return toolkit


def _at_work(base: StorePhase, door: Door) -> AtWork:
    secrets = bound_secrets_of(base.settings, base.store.cluster.note_fact)
    if not base.settings.mcp:
        return AtWork(secrets=secrets, bound=secrets.secrets)
    from bot.wiring.logins.grants import shared_grants

    grants = shared_grants(base.settings, base.store.logins, base.new_id, holds=door.guard.know)
    return AtWork(grants, secrets, secrets.secrets)


def _reporters(base: StorePhase, at: AccountsPhase) -> LateReporters:
    gate = at.live.gate
    return LateReporters(base.store.now, flows=lambda: gate().workflows, goals=lambda: gate().goals, probe=base.probe)


def _process_book(base: StorePhase, door: Door) -> NotedProcesses:
    membership = base.membership
    return NotedProcesses(
        base.store.processes, lambda: membership.lease.node if membership.lease else None, lambda: door
    )


def _posting(base: StorePhase, at: AccountsPhase, couriers: Couriers, door: Door) -> RoomPosting:
    async def post(delivery: NewDelivery) -> bool:
        await at.lookup.until_served(delivery.address)
        return await couriers.post(delivery)

    return RoomPosting(
        post=post,
        standing=base.store.outbox.standing,
        workspaces=base.workspaces,
        new_id=base.new_id,
        door=lambda: door,
    )


def _more_tools(
    base: StorePhase,
    at: AccountsPhase,
    couriers: Couriers,
    meaning: NearRows,
    media: Media,
    skills: SkillParts,
    door: Door,
) -> Mapping[str, Tool]:
    """Tools that post messages, start workflows, search packs, ask databases, make pictures and look at them, and propose skills."""
    posting = _posting(base, at, couriers, door)
    changes = RoomChanges(
        outbox=base.store.outbox,
        change=couriers.change,
        features=couriers.features,
        new_id=base.new_id,
        door=lambda: door,
    )
    every = [*posting_tools(posting, rooms=at.lookup, named=at.called), *changing_tools(changes)]
    packs = packs_of(base.settings, pack_search(base.store, meaning), at.named)
    flows = StartedFlows(
        book=base.store.schedules,
        flows=lambda: at.live.gate().workflows,
        begun=partial(base.notifier.notify, LANES),
        lately=base.store.workflows.begun_lately,
        door=lambda: door,
    )
    goals = StartedGoals(
        book=base.store.goals,
        bounds=lambda: at.live.gate().goals,
        begun=partial(base.notifier.notify, LANES),
        door=lambda: door,
    )
    watches = RoomWatches(
        book=base.store.triggers,
        now=base.store.now,
        changed=partial(base.notifier.notify, TRIGGERS),
        door=lambda: door,
    )
    others = (
        *(*workflow_tools(flows), WORKFLOW_BEGIN, WAIT_UNTIL, WAIT_FOR_EVENT, *watching_tools(watches)),
        *goal_tools(goals, base.store.goals.cost_of),
    )
    proposing = proposing_of(lambda: at.reload.settings, skills, partial(door.clean, gate=Gate.MEMORY_WRITE))
    own = {tool.spec.name: tool for tool in (*every, *media_tools(media), *others, *proposing)}
    asking = query_tools(base.settings, at.named)
    spaced = {name: SpacedTool(tool, base.space) for name, tool in asking.items()}  # they keep files of rows
    peers = tools_of_peers(base.settings, asked_peers_of(base.settings, base.store.peer_tasks))
    return own | dict(pack_tools(base.settings, packs)) | spaced | dict(peers)


def _interceptors(base: StorePhase, at: AccountsPhase, door: Door) -> InterceptorParts | None:
    """Nothing is imported where none is set."""
    if not any(table.enabled for table in base.settings.interceptors):
        return None
    from bot.wiring.safety.interceptors import interceptors_of

    return interceptors_of(base.settings, at.named, base.store.cluster.note_fact, door)


def _agents(
    base: StorePhase,
    at: AccountsPhase,
    model: Model,
    toolkit: Toolkit,
    reporters: LateReporters,
    interceptors: InterceptorParts | None,
    door: Door,
) -> tuple[Agents, Executors]:
    """The agents of the settings, made anew whenever a reload brings others, and the programs that work in some."""
    executors = Executors(base.settings, lambda model: GuardedModel(base.instruments.model(model), door))
    maker = AgentMaker(
        prompt=at.live.prompt_of,
        model=model,
        tools=toolkit.toolbox.tools,
        workspaces=lambda name: base.workspaces if name == MAIN else base.workspaces.of(name),
        limits=limits_of(base.settings),
        sprints=reporters.sprints,
        intercepting=interceptors.of_agent if interceptors else nobody_intercepts,
        executor=executors.model,
    )
    agents = Agents(*maker.made(at.live.rules.agents))

    def renew(manifests: Mapping[str, Manifest]) -> None:
        agents.renew(*maker.made(manifests))
        executors.renewed(manifests)

    at.live.renews(renew)
    return agents, executors


def _loop(
    base: StorePhase,
    at: AccountsPhase,
    agents: Agents,
    couriers: Couriers,
    reporters: LateReporters,
    asking: QuestionContext,
    memory: MemoryParts | None,
    skills: SkillParts,
    notes: Transcriber | None,
    door: Door,
) -> AgentLoop:
    store, new_id, files_of = base.store, base.new_id, files_in(at.accounts)
    long_replies = long_replies_of(base.settings, base.workspaces, files_of, new_id)
    loop = AgentLoop(
        store=store.runs,
        agents=agents,
        policy=at.live.policy,
        lease_is_fresh=base.membership.lease_is_fresh,
        outlet=couriers,
        now=store.now,
        new_id=new_id,
        named=at.named,
        busy=at.live.busy,
        probe=base.probe,
        files=fetching_of(base.settings, files_of, store.runs.senders, new_id, base.space, base.workspaces, notes),
        long_replies=long_replies,
        reporting=Reporting(base.workspaces, new_id, long_replies.content, store.schedules.report_root),
        reporter=reporters,
        asking=asking,
        space=base.space,
        door=door,
        faults=schema_faults,
        remembering=memory.remembering if memory else None,
        notices=LoopNotices(
            asked=lambda: base.notifier.notify(QUESTIONS),
            changed=base.notifier.notify_room,
            ready=partial(base.notifier.notify, LANES),
            watched=partial(base.notifier.notify, TRIGGERS),
            watch=base.instruments.loop,
        ),
    )
    loop.surroundings.skilled = skills.skilled
    return loop


def _reception(
    base: StorePhase, at: AccountsPhase, couriers: Couriers, peers: PeerEvents, edits: Edits, door: Door
) -> Reception:
    return Reception(
        store=base.store.intake,
        gate=at.live.gate,
        notifier=base.notifier,
        outlet=couriers,
        stop=peers.stop,
        take_in=base.membership.take_in,
        heard=at.rooms.hear,
        changed=edits.check,
        probe=base.probe,
        door=door,
        pasted=Pasted(base.store.people, couriers.post, base.new_id).tell,
    )
