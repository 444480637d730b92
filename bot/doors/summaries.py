"""Sentences on operations that say of themselves no more than their name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SUMMARIES: Final[Mapping[str, str]] = {
    "runs": "Runs, newest first: of a state or a room.",
    "run": "One run with its steps.",
    "stop_run": "Stop one run with all below it.",
    "run_again": "Do the work of a schedule's or report's run once more.",
    "preview_schedule": "A schedule as it would be: its next five times, and what is wrong. Nothing is kept.",
    "preview_report": "A report's text and charts as they would be now. Nothing is posted.",
    "destinations": "Rooms that reports may go to, by name.",
    "grant": "One grant: what it allows, and what it does now.",
    "revoke": "End a grant.",
    "deliveries": "Deliveries, newest first: of a state or a room.",
    "delivery": "One delivery with its parts.",
    "requeue": "Send again what is on hold or dead.",
    "discard": "Give up a delivery that waits.",
    "schedule_history": "What a schedule did, newest first.",
    "add_schedule": "Add a schedule.",
    "change_schedule": "Change a schedule.",
    "pause_schedule": "Pause a schedule.",
    "resume_schedule": "Let a paused schedule go on.",
    "remove_schedule": "Remove a schedule.",
    "drop_task": "Drop a task.",
    "retry_task": "Work on a task that failed once more.",
    "stop_child": "Stop work that was handed on.",
    "workflow": "One workflow with its steps.",
    "cancel_workflow": "Cancel a workflow that was begun.",
    "resume_workflow": "Let a workflow that stands go on.",
    "accept_memory": "Accept a proposed memory.",
    "delete_memory": "Forget a memory for good.",
    "memory": "One memory: where it comes from, and what it replaced.",
    "put_memory": "Keep something for a room, an agent or all.",
    "knowledge": "Packs of knowledge, and how each stands.",
    "knowledge_documents": "Documents of a pack.",
    "models": "Models of the settings, and how each stands.",
    "model": "One model.",
    "cooldowns": "Models that rest after failures.",
    "clear_cooldown": "Let a resting model be asked again.",
    "overview": "Version, accounts, and how much is waiting.",
    "resume_trigger": "Let a trigger fire again.",
    "end_trigger": "End a trigger that a person asked for.",
    "stop_process": "Stop a program that an agent started.",
    "verify_audit": "Check the chain of the audit.",
}
