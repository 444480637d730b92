"""The operators' API: each operation declared once, with its method, path, role and parameters.

`Client` sends what is called here, `bot.http.operator_api` makes the routes, and `Operations` does the work, for the
routes and for commands while no process runs.
"""

# mypy: disable-error-code="empty-body"

import inspect
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any, Final, ParamSpec, TypeVar

from bot.operator.views import View
from runtime.contract import Role

ROOT: Final = "/console/api"

# Kinds of parameters, which routes read each in its way. A plain `str` is checked where it is used.
Word = Annotated[str, "printable, on one line"]
EventId = Annotated[str, "a new one for each event: the same id again counts as a repeat"]
Form = Annotated[Mapping[str, Any], "the whole body"]
Position = Annotated[int, "the number of an event; 0 is before the first"]

Given = ParamSpec("Given")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Operation:
    """A row of the API: `subject` is the parameter that stands in the path as {id}, `fields` come as query or body."""

    name: str
    method: str
    path: str
    role: Role
    subject: str
    fields: tuple[inspect.Parameter, ...]

    @property
    def form(self) -> str:
        """The parameter that is the whole body; empty where each is a field of it."""
        return next((field.name for field in self.fields if field.annotation == Form), "")

    def values(self, *given: object, **named: object) -> dict[str, Any]:
        """Arguments of a call, with the defaults of what it leaves out, by the names of the parameters.

        Errors: TypeError for what is no parameter of it, or given twice: it would be lost.
        """
        names = [self.subject] * bool(self.subject) + [field.name for field in self.fields]
        strange = [repr(value) for value in given[len(names) :]] + [name for name in named if name not in names]
        twice = [name for name in names[: len(given)] if name in named]
        if strange or twice:
            known = f"it takes {', '.join(names)}" if names else "it takes nothing"
            fault = f"is no argument of it: {', '.join(strange)}" if strange else f"is given twice: {', '.join(twice)}"
            raise TypeError(f"{self.name}: {fault}; {known}")
        usual = {field.name: field.default for field in self.fields if field.default is not field.empty}
        return {**usual, **dict(zip(names, given, strict=False)), **named}


OPERATIONS: Final[dict[str, Operation]] = {}
"""All of them, by name, in the order of their declaration."""

Stub = Callable[Given, Coroutine[Any, Any, Answer]]


def get(path: str) -> Callable[[Stub[Given, Answer]], Stub[Given, Answer]]:
    """Declare an operation that looks; its parameters come as a query."""
    return _declare("GET", path, Role.OPERATOR)


def post(path: str, role: Role = Role.OPERATOR) -> Callable[[Stub[Given, Answer]], Stub[Given, Answer]]:
    """Declare an operation that changes something; its parameters come as a JSON object."""
    return _declare("POST", path, role)


def _declare(method: str, path: str, role: Role) -> Callable[[Stub[Given, Answer]], Stub[Given, Answer]]:
    def declare(stub: Stub[Given, Answer]) -> Stub[Given, Answer]:
        _, *fields = inspect.signature(stub).parameters.values()
        subject = fields.pop(0).name if "{id}" in path else ""
        operation = Operation(stub.__name__, method, path, role, subject, tuple(fields))
        OPERATIONS[operation.name] = operation

        @wraps(stub)
        async def ask(self: "OperatorApi", *given: object, **named: object) -> Any:
            return await self.ask(operation, operation.values(*given, **named))

        return ask  # type: ignore[return-value]  # the stub's own parameters

    return declare


class OperatorApi:
    """The operations. Answers are plain values that JSON can hold. Errors: BotError with a sentence for the operator."""

    async def ask(self, operation: Operation, values: dict[str, Any]) -> Any:
        """Have an operation done elsewhere, for whoever does not override it."""
        raise NotImplementedError(operation.name)

    @get("/overview")
    async def overview(self) -> View: ...

    @get("/today")
    async def today(self) -> View: ...

    @get("/runs")
    async def runs(self, state: str = "", limit: int = 100, room: str = "") -> list[View]: ...

    @get("/runs/{id}")
    async def run(self, run_id: str) -> View: ...

    @post("/runs/{id}/stop")
    async def stop_run(self, run_id: str) -> View: ...

    @post("/runs/{id}/again")
    async def run_again(self, run_id: str) -> View: ...

    @get("/approvals")
    async def approvals(
        self, state: str = "", limit: int = 100, room: str = "", person: str = "", order: str = ""
    ) -> list[View]: ...

    @get("/approvals/{id}")
    async def approval(self, approval_id: str) -> View: ...

    @post("/approvals/{id}")
    async def decide(self, approval_id: str, choice: str, reason: str = "") -> View: ...

    @get("/modes")
    async def modes(self) -> list[View]: ...

    @post("/modes")
    async def set_mode(self, room: Word, mode: Word) -> View: ...

    @post("/approvals/{id}/edit")
    async def edit(self, approval_id: str, arguments: str) -> View: ...

    @post("/approvals/{id}/always")
    async def always(self, approval_id: str, fields: Form) -> View: ...

    @post("/approvals/{id}/ask")
    async def ask_back(self, approval_id: str, question: str = "") -> View: ...

    @get("/budgets")
    async def budgets(self) -> list[View]: ...

    @get("/grants")
    async def grants(self) -> list[View]: ...

    @get("/grants/{id}")
    async def grant(self, grant_id: str) -> View: ...

    @post("/grants/{id}/revoke")
    async def revoke(self, grant_id: str) -> View: ...

    @get("/agents")
    async def agents(self) -> list[View]: ...

    @get("/agents/{id}")
    async def agent(self, name: str) -> View: ...

    @post("/agents/{id}/suspend")
    async def suspend_agent(self, name: str, reason: Word = "") -> View: ...

    @post("/agents/{id}/resume")
    async def resume_agent(self, name: str, reason: Word = "") -> View: ...

    @post("/agents/{id}/terminate", Role.OWNER)
    async def terminate_agent(self, name: str, reason: Word = "") -> View: ...

    @get("/models")
    async def models(self) -> list[View]: ...

    @get("/models/{id}")
    async def model(self, name: str) -> View: ...

    @get("/cooldowns")
    async def cooldowns(self) -> list[View]: ...

    @post("/cooldowns/{id}/clear")
    async def clear_cooldown(self, model: str) -> View: ...

    @get("/deliveries")
    async def deliveries(self, state: str = "", limit: int = 100, room: str = "") -> list[View]: ...

    @get("/deliveries/{id}")
    async def delivery(self, delivery_id: str) -> View: ...

    @post("/deliveries/{id}/requeue")
    async def requeue(self, delivery_id: str) -> View: ...

    @post("/deliveries/{id}/discard")
    async def discard(self, delivery_id: str) -> View: ...

    @get("/conversation-copies")
    async def copy_conversation(self, room: str) -> View: ...

    @post("/conversation-copies")
    async def import_conversation(self, fields: Form) -> View: ...

    @get("/trace")
    async def traceable(self, room: str = "", limit: int = 100) -> list[View]: ...

    @get("/trace/{id}")
    async def trace(self, message: str) -> View: ...

    @get("/people")
    async def people(self) -> list[View]: ...

    @post("/people", Role.OWNER)
    async def add_person(self, name: Word, role: Word, identities: Sequence[str] = ()) -> View: ...

    @get("/pairings")
    async def pairings(self) -> list[View]: ...

    @post("/pairings", Role.OWNER)
    async def pair(self, code: Word, name: Word = "", role: Word = "") -> View: ...

    @post("/pairings/{id}/accept", Role.OWNER)
    async def let_in(self, identity: str, name: Word = "", role: Word = "") -> View: ...

    @post("/pairings/{id}/refuse", Role.OWNER)
    async def turn_away(self, identity: str) -> View: ...

    @get("/invitations")
    async def invitations(self) -> list[View]: ...

    @post("/invitations", Role.OWNER)
    async def invite(self, role: Word = "user", until: Word = "1d", at: Word = "") -> View: ...

    @post("/invitations/{id}/revoke", Role.OWNER)
    async def revoke_invitation(self, which: str) -> View: ...

    @post("/people/{id}/role", Role.OWNER)
    async def set_role(self, name: str, role: Word) -> View: ...

    @post("/people/{id}/link", Role.OWNER)
    async def link(self, name: str, at: Word = "") -> View: ...

    @post("/people/{id}/rename", Role.OWNER)
    async def rename_person(self, name: str, new: Word) -> View: ...

    @get("/people/{id}/merging")
    async def merging(self, name: str, into: Word) -> View: ...

    @get("/people/{id}/sessions")
    async def sessions(self, name: str) -> list[View]: ...

    @post("/people/{id}/end-session", Role.OWNER)
    async def end_session(self, name: str, session: Word) -> View: ...

    @post("/people/{id}/merge", Role.OWNER)
    async def merge_people(self, name: str, into: Word) -> View: ...

    @post("/people/{id}/remove", Role.OWNER)
    async def remove_person(self, name: str) -> View: ...

    @post("/people/{id}/forget", Role.OWNER)
    async def forget_person(self, name: str, confirm: Word = "") -> View: ...

    @post("/forgettings/{id}", Role.OWNER)
    async def continue_forgetting(self, which: str) -> View: ...

    @post("/forgettings", Role.OWNER)
    async def forgettings(self) -> list[View]: ...

    @post("/people/{id}/export", Role.OWNER)
    async def export_person(self, name: str) -> View: ...

    @post("/people/{id}/exported", Role.OWNER)
    async def export_page(self, name: str, fields: Form) -> View: ...

    @post("/people/{id}/sign-out", Role.OWNER)
    async def sign_out(self, name: str) -> View: ...

    @get("/tokens")
    async def tokens(self) -> list[View]: ...

    @post("/tokens", Role.OWNER)
    async def make_token(
        self,
        name: Word,
        role: Word = "user",
        agents: Sequence[str] = (),
        rooms: Sequence[str] = (),
        until: Word = "",
        per_minute: Word = "",
    ) -> View: ...

    @post("/tokens/{id}/revoke", Role.OWNER)
    async def revoke_token(self, name: str) -> View: ...

    @post("/reload", Role.OWNER)
    async def reload(self) -> View: ...

    @get("/settings")
    async def settings(self, search: str = "") -> View: ...

    @get("/settings/{id}")
    async def setting(self, name: str) -> View: ...

    @post("/settings/{id}/try", Role.OWNER)
    async def try_settings(self, name: str, fields: Form) -> View: ...

    @post("/settings/{id}", Role.OWNER)
    async def change_settings(self, name: str, fields: Form) -> View: ...

    @post("/settings-edited", Role.OWNER)
    async def settings_edited(self, fields: Form) -> View: ...

    @post("/secrets/{id}", Role.OWNER)
    async def set_secret(self, name: str, fields: Form) -> View: ...

    @post("/model-keys", Role.OWNER)
    async def try_model_key(self, fields: Form) -> View: ...

    @get("/channels")
    async def channels(self) -> list[View]: ...

    @post("/channels/{id}", Role.OWNER)
    async def connect_channel(self, channel: str, fields: Form) -> View: ...

    @post("/confirmation", Role.OWNER)
    async def confirm(self, link: str) -> View: ...

    @post("/save", Role.OWNER)
    async def save(self) -> View: ...

    @post("/guard/scan", Role.OWNER)
    async def scan_texts(self, fields: Form) -> View: ...

    @post("/guard/scanned", Role.OWNER)
    async def note_scan(self, counts: Form) -> View: ...

    @get("/logs")
    async def logs(
        self,
        after: Position = 0,
        limit: int = 200,
        level: str = "",
        text: str = "",
        trace: str = "",
        room: str = "",
    ) -> View: ...

    @get("/nodes")
    async def nodes(self) -> list[View]: ...

    @post("/nodes/{id}/drain", Role.OWNER)
    async def drain_node(self, name: str, within: Word = "10 minutes") -> View: ...

    @post("/nodes/{id}/remove", Role.OWNER)
    async def remove_node(self, name: str) -> View: ...

    @get("/doctor")
    async def doctor(self) -> View: ...

    @post("/doctor")
    async def examine(self) -> View: ...

    @get("/support")
    async def support(self) -> View: ...

    @get("/schedules")
    async def schedules(self, state: str = "", room: str = "") -> list[View]: ...

    @post("/schedule-previews")
    async def preview_schedule(self, fields: Form) -> View: ...

    @post("/report-previews")
    async def preview_report(self, fields: Form) -> View: ...

    @get("/destinations")
    async def destinations(self, query: str = "", limit: int = 100) -> list[View]: ...

    @post("/schedules")
    async def add_schedule(self, fields: Form) -> View: ...

    @get("/schedules/{id}")
    async def schedule(self, name: str) -> View: ...

    @post("/schedules/{id}")
    async def change_schedule(self, name: str, fields: Form) -> View: ...

    @get("/schedules/{id}/history")
    async def schedule_history(self, name: str, limit: int = 20) -> list[View]: ...

    @post("/schedules/{id}/pause")
    async def pause_schedule(self, name: str, reason: Word = "") -> View: ...

    @post("/schedules/{id}/resume")
    async def resume_schedule(self, name: str) -> View: ...

    @post("/schedules/{id}/remove")
    async def remove_schedule(self, name: str) -> View: ...

    @post("/schedules/{id}/run")
    async def run_schedule(self, name: str) -> View: ...

    @get("/tasks")
    async def tasks(self, state: str = "", room: str = "") -> list[View]: ...

    @get("/tasks/{id}")
    async def task(self, name: str) -> View: ...

    @post("/tasks/{id}/drop")
    async def drop_task(self, name: str) -> View: ...

    @post("/tasks/{id}/retry")
    async def retry_task(self, name: str) -> View: ...

    @get("/processes")
    async def processes(self, room: str = "") -> list[View]: ...

    @post("/processes/{id}/stop")
    async def stop_process(self, name: str) -> View: ...

    @get("/children")
    async def handed_on(self, state: str = "", room: str = "", run: str = "") -> list[View]: ...

    @get("/children/{id}")
    async def child(self, name: str) -> View: ...

    @post("/children/{id}/stop")
    async def stop_child(self, name: str) -> View: ...

    @get("/triggers")
    async def triggers(self) -> list[View]: ...

    @post("/triggers/{id}/resume")
    async def resume_trigger(self, name: str) -> View: ...

    @post("/triggers/{id}/end")
    async def end_trigger(self, name: str) -> View: ...

    @post("/triggers/{id}/pause")
    async def pause_trigger(self, name: str) -> View: ...

    @get("/hands")
    async def hands(self) -> list[View]: ...

    @get("/goals")
    async def goals(self, state: str = "") -> list[View]: ...

    @get("/goals/{id}")
    async def goal(self, name: str) -> View: ...

    @post("/goals/{id}/stop")
    async def stop_goal(self, name: str) -> View: ...

    @get("/logins")
    async def logins(self) -> list[View]: ...

    @post("/logins/{id}", role=Role.OWNER)
    async def keep_login(self, name: str, fields: Form) -> View: ...

    @post("/logins/{id}/out", role=Role.OWNER)
    async def drop_login(self, name: str) -> View: ...

    @get("/workflows")
    async def workflows(self) -> list[View]: ...

    @get("/workflows/{id}")
    async def workflow(self, name: str) -> View: ...

    @post("/workflows/{id}/start")
    async def start_workflow(self, name: str, to: str, inputs: Mapping[str, Any]) -> View: ...

    @get("/workflow-runs")
    async def workflow_runs(self, name: str = "", state: str = "") -> list[View]: ...

    @get("/workflow-runs/{id}")
    async def workflow_run(self, which: str) -> View: ...

    @post("/workflow-runs/{id}/cancel")
    async def cancel_workflow(self, which: str) -> View: ...

    @post("/workflow-runs/{id}/resume")
    async def resume_workflow(self, which: str) -> View: ...

    @get("/harness")
    async def harness_runs(self) -> list[View]: ...

    @post("/harness-plans")
    async def init_harness(self, to: Word, text: str, agent: Word = "") -> View: ...

    @post("/harness")
    async def run_harness(self, to: Word, agent: Word = "") -> View: ...

    @get("/harness/{id}")
    async def harness_run(self, which: str) -> View: ...

    @post("/harness/{id}/resume")
    async def resume_harness(self, which: str) -> View: ...

    @get("/memories")
    async def memories(self, agent: str = "", scope: str = "", room: str = "", limit: int = 100) -> list[View]: ...

    @get("/memories/counts")
    async def memory_counts(self) -> list[View]: ...

    @post("/memories")
    async def put_memory(
        self, text: str, scope: Word, agent: Word = "", room: Word = "", subject: Word = "", relation: Word = ""
    ) -> View: ...

    @get("/memories/{id}")
    async def memory(self, name: str) -> View: ...

    @post("/memories/{id}/accept")
    async def accept_memory(self, name: str) -> View: ...

    @post("/memories/{id}/delete")
    async def delete_memory(self, name: str) -> View: ...

    @get("/knowledge")
    async def knowledge(self) -> list[View]: ...

    @get("/knowledge-search")
    async def search_knowledge(self, query: Word, pack: str = "") -> list[View]: ...

    @get("/knowledge/{id}")
    async def knowledge_documents(self, name: str) -> list[View]: ...

    @get("/skills")
    async def skills(self) -> list[View]: ...

    @get("/skills/{id}")
    async def skill(self, name: str) -> View: ...

    @post("/skills/{id}/approve", Role.OWNER)
    async def approve_skill(self, name: str, form: Word = "") -> View: ...

    @post("/skills/{id}/remove", Role.OWNER)
    async def remove_skill(self, name: str) -> View: ...

    @get("/reports")
    async def reports(self) -> list[View]: ...

    @post("/reports")
    async def make_report(self, name: Word, to: Sequence[str], options: Mapping[str, Any]) -> View: ...

    @post("/reports/text")
    async def print_report(self, name: Word, options: Mapping[str, Any]) -> View: ...

    @get("/reports/{id}")
    async def report(self, report_id: str) -> View: ...

    @get("/reach")
    async def reach(self, room: Word) -> View: ...

    @get("/events")
    async def events(
        self, after: Position = 0, limit: int = 100, room: str = "", session: str = "", run: str = "", word: str = ""
    ) -> View: ...

    @get("/runs/{id}/events")
    async def run_events(self, run_id: str, after: Position = 0) -> list[View]: ...

    @get("/event-sinks")
    async def event_sinks(self) -> list[View]: ...

    @get("/checkpoints")
    async def checkpoints(self, room: str = "", limit: int = 100) -> list[View]: ...

    @get("/feedback")
    async def feedback(self, days: int = 30, room: str = "", limit: int = 100) -> list[View]: ...

    @get("/audit/rows")
    async def audit(self, kind: str = "", limit: int = 100) -> list[View]: ...

    @post("/audit/export", Role.OWNER)
    async def export_audit(self, fields: Form) -> View: ...

    @get("/audit")
    async def verify_audit(self) -> View: ...

    @get("/rooms")
    async def rooms(self, limit: int = 100) -> list[View]: ...

    @post("/rooms/{id}/messages")
    async def say(self, room: str, text: str, id: EventId, agent: Word = "") -> View: ...

    @post("/rooms/{id}/bounds", Role.OWNER)
    async def bound(self, room: str, fields: Form) -> View: ...

    @get("/context")
    async def context(self, room: Word, agent: Word = "") -> View: ...

    @get("/prompt")
    async def prompt(self, room: Word, agent: Word = "") -> View: ...

    @get("/rooms/{id}/timeline")
    async def room(self, room: str) -> View: ...

    @get("/rooms/{id}/wait")
    async def change(self, room: str, seen: str = "", seconds: int = 25) -> View: ...
