"""Ways by which text enters a table, a model request or a chat, and the gate of the leak guard on each.

A sink is a call of a store's writing method that takes text, or the making of a `NewDelivery` or a `ModelRequest`. They are
read from the source: which methods of the stores write, and which modules call them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from tests.security.sources import calling, texts, tree

STORE: Final = "runtime/store/"
WITHOUT_STORES: Final = ("adapters", "tools")
"""Packages that import nothing of a store, which import-linter checks."""
RECORDS: Final = ("NewDelivery", "ModelRequest")

TEXT_WRITES: Final[frozenset[str]] = frozenset(
    {
        *("accept", "name_rooms", "add_person", "admit", "rename", "pair", "join_by", "let_in"),
        *(
            "record_model",
            "spawn",
            "hand_conversation",
            "finish_tool",
            "refuse_tool",
            "finish",
            "park",
            "note",
            "keep_summary",
        ),
        *("enqueue", "put_change", "render", "render_shown", "preview", "plain", "retry", "hold", "give_up"),
        *("doubt", "drop", "detach"),
        *("end_undo", "end_answer", "pay_answer", "refill", "failed", "note_fact", "put_texts"),
        *("accepted_form", "see_form", "told_form", "accept_form"),
        *(
            "add_schedule",
            "change_schedule",
            "turn_schedule",
            "begin_report",
            "begin_goal",
            "turn_agent",
            "spawn_agent",
        ),
        *("post", "complete", "plan"),
        *("keep_said", "keep_given", "put_value", "write_summary", "end_renewal"),
        *("put_document", "note_document_fault"),
        *("accept_skill", "accept_proposed", "take_back_proposed", "use_skill"),
        *("begin_process", "happen"),
        *("add_trigger", "keep_triggers_of_file"),
        *("note_reaction", "sink_failed"),
        "mark_room",
        "import_conversation",
    }
)
"""Writing methods of the stores that take text of people, models, tools or platforms."""

OTHER_WRITES: Final[frozenset[str]] = frozenset(
    {
        *("make_token", "revoke_token", "note_use", "note_exposed", "keep_bounds"),
        *("keep_session", "drop_session", "note_turned_away", "end_session"),
        *("make_invitation", "revoke_invitation", "turn_away", "keep_languages"),
        *("call", "set_mode", "revoke", "begin_undo", "close_undos", "begin_answer", "expire"),
        *("stop_child", "end_left_children", "note_agents"),
        *("sleep", "wake", "cancel"),
        *("drop_trigger", "pause_trigger", "resume_trigger"),
        *("begin_cursor", "leave_sink", "drop_sinks", "sink_reached", "sink_told"),
        *("put_push", "drop_push", "push_told", "push_failed", "keep_task"),
        *(
            "keep_browser",
            "drop_browser",
            "browser_lost",
            "here",
            "sweep",
            "begin_telling",
            "push_taken",
            "push_not_taken",
        ),
        *("keep_login", "drop_login", "claim_login", "renew_login", "free_login", "refuse_login"),
        *("begin", "reserve", "clear", "probe", "join", "beat", "reap", "leave", "take", "shift", "ping", "hand_over"),
        *("give_up_roles", "ask_to_drain"),
        *(
            "account_identity",
            "note_account",
            "note_agents",
            "adopt",
            "mark",
            "checkpoint",
            "look_again",
            "absent",
            "repeat",
        ),
        *("apply", "end", "end_parked_runs", "forget_said", "move_on", "note_export", "put_entries", "publish_audit"),
        *("pause", "seal", "cut_audit", "requeue", "discard", "sweep"),
        *(
            "approve",
            "begin_renewal",
            "delete_value",
            "drop_expired",
            "clear_deleted",
            "end_deleted",
            "restore_room",
            "enable_summary",
            "forget",
            "forget_own",
            "pin",
            "record_uses",
        ),
        *("charge", "drop_other_dims", "keep", "tidy"),
        *("see_document", "drop_documents"),
        *("tell_of_skill", "give_up_skill"),
        *("see_document", "drop_documents", "clear_remains"),
        *("redeem", "invite", "set_role", "set_link", "sign_out", "remove", "merge", "end_other_sessions"),
        "session",  # notes when its browser was seen
        *(
            "claim",
            "claim_suspect",
            "keep_unread",
            "steer",
            "release",
            "begin_compacting",
            "end_compacting",
            "mark_tool",
            "set_zone",
            "fire",
            "fire_again",
            "run_schedule",
            "task",
            "tasks",
            "drop_task",
            "retry_task",
            "end_child",
            "processes",
            "processes_named",
        ),
    }
)
"""Writing methods that take ids, states, times, names of settings, and words of ours."""

MODEL: Final = "the model behind it is a GuardedModel, which cleans what it is sent and what it answers"
COURIERS: Final = "Couriers.post and Couriers.prepare clean it as it enters the outbox"
RECEPTION: Final = "cleaned in Reception.sink, before the store is asked"
OPERATOR: Final = "typed by an operator as a name: `new_name` refuses what the guard would take out"
SETTINGS: Final = "a name of the settings, as their owner wrote it: none"
COOLING: Final = "SharedCooldowns cleans a vendor's words about an error"

SINKS: Final[Mapping[str, tuple[frozenset[str], str]]] = {
    "bot/doors/page/conversations.py": (frozenset({"mark_room"}), "what somebody calls a conversation, cleaned here"),
    "bot/accounts/alerts.py": (frozenset({"NewDelivery"}), COURIERS),
    "bot/operator/agents.py": (frozenset({"turn_agent"}), "an operator's reason, cleaned in AgentLives"),
    "bot/operator/local.py": (frozenset({"accept"}), "an operator's press or words, while no process runs: none"),
    "bot/operator/settings/changing.py": (
        frozenset({"note_fact"}),
        "names of settings and their values, cleaned in ChangesApi",
    ),
    "bot/operator/conversations/bounds.py": (frozenset({"note_fact"}), "the path of a folder, cleaned in BoundsApi"),
    "bot/operator/settings/keys.py": (frozenset({"note_fact"}), "names of secrets"),
    "bot/operator/settings/confirming.py": (frozenset({"note_fact"}), "fixed words of ours, and a person's name"),
    "bot/own/data.py": (frozenset({"note_fact"}), "fixed words of ours, and a person's name"),
    "bot/operator/system/guard.py": (frozenset({"note_fact"}), "three numbers: none"),
    "bot/operator/conversations/copies.py": (
        frozenset({"import_conversation", "mark_room"}),
        "a file's texts, cleaned in `_cleaned`",
    ),
    "bot/migration/applying.py": (
        frozenset({"add_person", "keep_given", "rename"}),
        "memories and names of another bot, cleaned in `cleaned`; the name of a folder",
    ),
    "bot/operator/people.py": (frozenset({"add_person", "let_in", "pair", "rename"}), OPERATOR),
    "bot/http/joining.py": (
        frozenset({"join_by"}),
        "the name of who joins, refused by the door where it holds a secret",
    ),
    "bot/operator/reports.py": (frozenset({"begin_report"}), "names and options of a report; what it says, COURIERS"),
    "bot/operator/lookups/run_turns.py": (
        frozenset({"begin_report"}),
        "a report that was made before, as it was kept; what it says, COURIERS",
    ),
    "bot/operator/planning/report_preview.py": (
        frozenset({"ModelRequest"}),
        "for a template, which asks no model; its text is masked and shown to the operator alone",
    ),
    "bot/operator/harness.py": (frozenset({"begin_goal"}), "the words of a plan, cleaned as they are read"),
    "bot/operator/work/workflows.py": (
        frozenset({"begin_report"}),
        "inputs that an operator wrote, and results that were cleaned already; calls made of them pass GuardedModel",
    ),
    "runtime/workflows/goals/starting.py": (frozenset({"begin_goal"}), "a goal's words, cleaned in StartedGoals"),
    "bot/wiring/triggers/of_file.py": (frozenset({"keep_triggers_of_file"}), SETTINGS),
    "runtime/triggers/watching.py": (frozenset({"add_trigger"}), "words and wishes are cleaned in RoomWatches"),
    "runtime/workflows/starting.py": (frozenset({"begin_report"}), "inputs are cleaned in StartedFlows"),
    "bot/operator/work/memories.py": (frozenset({"keep_given"}), "what an operator wrote, cleaned in MemoryOperations"),
    "bot/operator/work/skills.py": (frozenset({"accept_skill"}), "a skill's text, cleaned in SkillOperations"),
    "bot/wiring/skills/proposals.py": (frozenset({"accept_proposed"}), "a skill's text, cleaned in WrittenProposals"),
    "bot/wiring/skills/proposal_undo.py": (
        frozenset({"take_back_proposed"}),
        "a skill's text, cleaned in WrittenUndo",
    ),
    "bot/server/new_agents.py": (frozenset({"spawn_agent"}), "texts of an agent, cleaned in NewAgents"),
    "bot/server/phases/operators_room.py": (frozenset({"NewDelivery"}), COURIERS),
    "bot/server/lifecycle.py": (frozenset({"note_fact"}), "names of nodes, and our version"),
    "runtime/events/rating.py": (frozenset({"note_reaction"}), "words beside a rating, cleaned in Ratings"),
    "runtime/events/sinks.py": (frozenset({"sink_failed"}), "words of a sink's answer, cleaned in EventSinks"),
    "bot/server/reload.py": (frozenset({"note_fact"}), "names of settings"),
    "bot/tryouts/model.py": (frozenset({"ModelRequest"}), "a fixed question of ours"),
    "bot/wiring/owner.py": (frozenset({"add_person"}), SETTINGS),
    "bot/auth/admitting.py": (
        frozenset({"admit"}),
        "a person's name, as their own provider has it, cleaned like a stranger's",
    ),
    "bot/wiring/safety/guard.py": (frozenset({"note_fact"}), "names and marks of findings"),
    "bot/wiring/safety/scan.py": (frozenset({"put_texts"}), "what the guard made of it"),
    "bot/wiring/schedules.py": (
        frozenset({"add_schedule", "change_schedule", "turn_schedule"}),
        "schedules of the settings file, as its owner wrote them: none",
    ),
    "bot/wizard/write.py": (frozenset({"add_person"}), SETTINGS),
    "bot/sdk/program.py": (
        frozenset({"add_person"}),
        "the name of a program, of few letters, as its author wrote it: none",
    ),
    "runtime/agent/delegation/hand_overs.py": (frozenset({"hand_conversation"}), "words are cleaned in HandOvers"),
    "runtime/agent/delegation/orders.py": (frozenset({"spawn"}), "goals and criteria are cleaned in Delegating"),
    "runtime/agent/duties/answering.py": (frozenset({"end_answer", "pay_answer"}), MODEL),
    "runtime/agent/duties/reminders.py": (frozenset({"refill"}), "counts of open questions, in words of ours"),
    "runtime/agent/duties/undoing.py": (frozenset({"end_undo"}), "Undoer cleans a tool's words about an error"),
    "runtime/agent/loop.py": (
        frozenset({"finish", "keep_summary", "note", "park", "record_model"}),
        f"{MODEL}; what it shows, Couriers.prepare",
    ),
    "runtime/agent/outcome.py": (frozenset({"NewDelivery"}), COURIERS),
    "runtime/delivery/posting.py": (frozenset({"NewDelivery"}), COURIERS),
    "runtime/knowledge/reading.py": (
        frozenset({"put_document", "note_document_fault"}),
        "documents and words about their faults, cleaned in KnowledgeReader",
    ),
    "runtime/agent/duties/renewing.py": (frozenset({"end_renewal"}), "lines of a model, cleaned in SummaryRenewal"),
    "runtime/context/prompt/renewals.py": (frozenset({"ModelRequest"}), MODEL),
    "runtime/agent/questions.py": (frozenset({"NewDelivery"}), "cards of calls that Door.call cleaned"),
    "runtime/agent/tool_calls.py": (
        frozenset({"accept_form", "accepted_form", "finish_tool", "refuse_tool"}),
        "results are cleaned in Calls; forms of tools by `bot.wiring.safety.tools.guarded`, as they are offered",
    ),
    "runtime/agent/processes/book.py": (
        frozenset({"begin_process", "happen"}),
        "commands are cleaned in NotedProcesses; reasons are words of ours",
    ),
    "runtime/cluster/cooldowns.py": (frozenset({"failed"}), COOLING),
    "runtime/context/builder.py": (frozenset({"ModelRequest"}), MODEL),
    "runtime/context/summaries.py": (frozenset({"ModelRequest"}), MODEL),
    "runtime/delivery/changing.py": (frozenset({"NewDelivery"}), COURIERS),
    "runtime/delivery/couriers.py": (frozenset({"enqueue", "put_change"}), COURIERS),
    "runtime/delivery/live_status.py": (
        frozenset({"preview"}),
        "previews of a GuardedModel hold back what may be a secret",
    ),
    "runtime/delivery/sender.py": (
        frozenset({"detach", "doubt", "drop", "give_up", "hold", "plain", "render", "render_shown", "retry"}),
        "rendered from what is in the outbox; reasons are cleaned in PartSender",
    ),
    "runtime/delivery/streaming.py": (frozenset({"NewDelivery"}), "previews of a GuardedModel"),
    "runtime/intake/pasted.py": (frozenset({"NewDelivery"}), COURIERS),
    "runtime/intake/reception.py": (frozenset({"accept"}), RECEPTION),
    "runtime/intake/room_names.py": (frozenset({"name_rooms"}), RECEPTION),
    "runtime/memory/book.py": (frozenset({"keep_said"}), "ToolMemories cleans what tools keep"),
    "runtime/memory/values.py": (frozenset({"put_value"}), "ToolValues cleans what tools keep"),
    "runtime/models/choice/alone.py": (frozenset({"failed"}), COOLING),
    "runtime/models/choice/chain.py": (frozenset({"failed"}), COOLING),
    "runtime/reports/fan_out.py": (frozenset({"NewDelivery"}), COURIERS),
    "runtime/schedules/task_board.py": (frozenset({"complete", "plan", "post"}), "ToolBoard cleans what tools hand on"),
    "runtime/schedules/service.py": (
        frozenset({"add_schedule", "change_schedule", "turn_schedule"}),
        "LateTimetable cleans what it hands on: wishes in a chat, on a page and of commands",
    ),
    "tools/pictures/tools.py": (frozenset({"ModelRequest"}), MODEL),
}
"""By module: its sinks, and where their text is cleaned, or why it need not be."""

NO_STORES: Final = frozenset(
    {
        "_adapter",
        "_door",
        "_roster",
        "_own",
        "_liveness",
        "_rates",
        "_sources",
        "api",
        "layers",
        "page",
        "live_status",
        "courier",
    }
)
"""Names of other things that have a method of the same name, in modules that know a store."""


HOLDERS: Final = frozenset(
    {
        *("store", "outbox", "book", "approvals", "runs", "registry", "people", "cooldowns", "intake", "cluster"),
        *("schedules", "texts", "places", "operations", "tasks", "lives", "delegation"),
        *("memories", "state_values", "person_summaries", "values", "summaries", "shelf"),
    }
)
"""Names by which objects of the product hold a store, also where its type is not imported."""


def writing_methods() -> frozenset[str]:
    """Methods of the stores that write, at once or by another one of theirs."""
    found: set[str] = set()
    for module in (module for module, text in texts().items() if module.startswith(STORE) and "Base)" in text):
        for node in ast.walk(tree(module)):
            if isinstance(node, ast.ClassDef) and any(ast.unparse(base) in ("Base", "RunBase") for base in node.bases):
                found |= _writing(node)
    return frozenset(found)


def _writing(store: ast.ClassDef) -> set[str]:
    calls = {
        one.name: {ast.unparse(call.func) for call in ast.walk(one) if isinstance(call, ast.Call)}
        for one in store.body
        if isinstance(one, ast.AsyncFunctionDef)
    }
    writing = {name for name, called in calls.items() if "self._driver.write" in called}
    writing |= {name for name, called in calls.items() if called & {f"self.{other}" for other in writing}}
    return {name for name in writing if not name.startswith("_")}


@cache
def protocols() -> frozenset[str]:
    """Names by which modules know a store."""
    protocol = tree(f"{STORE}protocol/__init__.py")
    words = {
        "Approvals",
        "Cluster",
        "Intake",
        "Outbox",
        "Runs",
        "Schedules",
        "People",
        "Operations",
        "Texts",
        "Cooling",
    }
    exported = {alias.name for node in ast.walk(protocol) if isinstance(node, ast.ImportFrom) for alias in node.names}
    return frozenset(exported & words) | {"Store"}


def sinks() -> Mapping[str, frozenset[str]]:
    """Sinks in the product, outside of the store itself, by module."""
    found = {
        module: _sinks_of(tree(module), has_stores=module.partition("/")[0] not in WITHOUT_STORES)
        for module in calling(TEXT_WRITES | {*RECORDS})
        if not module.startswith(STORE)
    }
    return {module: called for module, called in found.items() if called}


def sinks_in(source: str) -> frozenset[str]:
    return _sinks_of(ast.parse(source), has_stores=True)


def _sinks_of(source: ast.Module, *, has_stores: bool) -> frozenset[str]:
    """`has_stores`: a name such as `outbox` may be that of a store."""
    knows_a_store = any(name in protocols() for name in _imported(source))
    holders = HOLDERS if has_stores else frozenset[str]()
    return frozenset(
        name for name, receiver in _calls(source) if _is_sink(name, receiver, holders, knows_a_store=knows_a_store)
    )


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("runtime.store"):
            yield from (alias.name for alias in node.names)


def _calls(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Names that are called, each with the last name of what has it; empty for a name that stands alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node.func.attr, ast.unparse(node.func.value).rpartition(".")[2]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id, ""


def _is_sink(name: str, receiver: str, holders: frozenset[str], *, knows_a_store: bool) -> bool:
    if name in RECORDS:
        return True
    if name not in TEXT_WRITES or not receiver or receiver in NO_STORES:
        return False
    return knows_a_store or receiver.strip("_") in holders
