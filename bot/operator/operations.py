"""Operations of an operator. The API and, with no process running, the command line are both made of it.

Every answer is a plain value that JSON can hold. What cannot be done is a Refusal, whose sentence tells why.
"""

from __future__ import annotations

from typing import Any, Final

from bot.operator.access.forgetting import ForgettingApi
from bot.operator.access.invitations import InvitationsApi
from bot.operator.access.logins import LoginsApi
from bot.operator.access.tokens import TokensApi
from bot.operator.actor import Actor
from bot.operator.api import OPERATIONS, Operation, OperatorApi
from bot.operator.approvals.grants import GrantsApi
from bot.operator.approvals.modes import ModesApi
from bot.operator.approvals.questions import QuestionsApi
from bot.operator.audit import AuditApi
from bot.operator.context import OperatorContext
from bot.operator.conversations.bounds import BoundsApi
from bot.operator.conversations.copies import CopiesApi
from bot.operator.conversations.deliveries import DeliveriesApi
from bot.operator.conversations.prompts import PromptsApi
from bot.operator.conversations.rooms import RoomsApi
from bot.operator.harness import HarnessApi
from bot.operator.lookups.run_turns import RunTurnsApi
from bot.operator.lookups.runs import RunsApi
from bot.operator.lookups.trails import TracesApi
from bot.operator.partial_api import PartialApi
from bot.operator.people import PeopleApi
from bot.operator.planning.previews import PreviewsApi
from bot.operator.settings.changing import ChangesApi
from bot.operator.settings.confirming import ConfirmationApi
from bot.operator.settings.keys import KeysApi
from bot.operator.settings.reading import SettingsApi
from bot.operator.system.agents import AgentsApi
from bot.operator.system.guard import ScansApi
from bot.operator.system.health import HealthApi
from bot.operator.system.models import ModelsApi
from bot.operator.system.nodes import NodesApi
from bot.operator.system.overview import OverviewApi
from bot.operator.work.events import EventsApi
from bot.operator.work.goals import GoalsApi
from bot.operator.work.handed_on import HandedOnApi
from bot.operator.work.hands import HandsApi
from bot.operator.work.knowledge import KnowledgeApi
from bot.operator.work.memories import MemoriesApi
from bot.operator.work.processes import ProcessesApi
from bot.operator.work.reports import ReportsApi
from bot.operator.work.schedules import SchedulesApi
from bot.operator.work.skills import SkillsApi
from bot.operator.work.tasks import TasksApi
from bot.operator.work.triggers import TriggersApi
from bot.operator.work.workflows import WorkflowsApi

PARTS: Final[tuple[type[PartialApi], ...]] = (
    RunsApi,
    RunTurnsApi,
    QuestionsApi,
    GrantsApi,
    ModesApi,
    PromptsApi,
    RoomsApi,
    BoundsApi,
    DeliveriesApi,
    CopiesApi,
    OverviewApi,
    SettingsApi,
    ChangesApi,
    ConfirmationApi,
    KeysApi,
    HealthApi,
    NodesApi,
    ScansApi,
    ModelsApi,
    AgentsApi,
    TracesApi,
    AuditApi,
    EventsApi,
    PeopleApi,
    InvitationsApi,
    ForgettingApi,
    TokensApi,
    LoginsApi,
    SchedulesApi,
    PreviewsApi,
    ReportsApi,
    TasksApi,
    ProcessesApi,
    HandedOnApi,
    TriggersApi,
    HandsApi,
    GoalsApi,
    WorkflowsApi,
    HarnessApi,
    MemoriesApi,
    KnowledgeApi,
    SkillsApi,
)
"""One for each noun."""


def _done_by(name: str) -> type[PartialApi]:
    """The part that does an operation. Errors: ValueError unless it is one of them alone."""
    (part,) = (one for one in PARTS if name in vars(one))
    return part


DONE_BY: Final = {name: _done_by(name) for name in OPERATIONS}


class Operations(OperatorApi):
    """The whole API on the store, for one actor. Each part asks for the role that an operation needs."""

    def __init__(self, context: OperatorContext, actor: Actor) -> None:
        self._context = context
        self.actor = actor

    async def ask(self, operation: Operation, values: dict[str, Any]) -> Any:
        part = DONE_BY[operation.name](self._context, self.actor)
        return await getattr(part, operation.name)(**values)
