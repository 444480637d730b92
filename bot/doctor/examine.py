"""All checks, in the order in which a person would look. One that breaks is a finding, and the rest goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import timedelta
from typing import Final

from bot.doctor.agents import check_agents
from bot.doctor.approvers import check_approvers
from bot.doctor.configuration import check_configuration
from bot.doctor.guard import check_guard
from bot.doctor.keys.auth import check_auth
from bot.doctor.keys.logins import check_logins
from bot.doctor.keys.model_calls import check_model_calls
from bot.doctor.machine.clock import check_clock
from bot.doctor.machine.event_sinks import check_event_sinks
from bot.doctor.machine.executors import check_executors
from bot.doctor.machine.interceptors import check_interceptors
from bot.doctor.machine.modules import check_modules
from bot.doctor.machine.nodes import check_nodes
from bot.doctor.machine.peers import check_peers
from bot.doctor.machine.place import check_place
from bot.doctor.machine.process import check_process
from bot.doctor.machine.programs import check_git
from bot.doctor.machine.sandbox import check_sandbox
from bot.doctor.machine.store import check_store
from bot.doctor.people import check_people
from bot.doctor.policy import check_policy
from bot.doctor.question_rooms import check_question_rooms
from bot.doctor.schedules import check_schedules
from bot.doctor.secrets import check_secrets
from bot.doctor.services.browser import check_browser
from bot.doctor.services.budgets import check_budgets
from bot.doctor.services.channels import check_channels
from bot.doctor.services.databases import check_databases
from bot.doctor.services.embeddings import check_embeddings
from bot.doctor.services.hooks import check_hooks
from bot.doctor.services.knowledge import check_knowledge
from bot.doctor.services.mcp import check_mcp
from bot.doctor.services.media import check_media
from bot.doctor.services.model import check_model
from bot.doctor.services.plugins import check_plugins
from bot.doctor.services.skills import check_skills
from bot.doctor.services.watching import check_metrics, check_telemetry
from bot.doctor.services.web import check_web
from bot.doctor.subject import Check, Subject, fault
from bot.doctor.templates import check_templates
from bot.node import lock
from bot.settings.settings import Settings
from runtime.contract import Finding, Level
from runtime.errors import ConfigError

CHECK_TIMEOUT: Final = timedelta(seconds=60)  # for one check: a model that is loaded and asked takes the longest
CHECKS: Final[Mapping[str, Check]] = {
    "settings": check_configuration,
    "secrets": check_secrets,
    "guard": check_guard,
    "data_dir": check_place,
    "process": check_process,
    "store": check_store,
    "clock": check_clock,
    "nodes": check_nodes,
    "web": check_web,
    "hooks": check_hooks,
    "event_sinks": check_event_sinks,
    "policy": check_policy,
    "agents": check_agents,
    "people": check_people,
    "approvers": check_approvers,
    "question_rooms": check_question_rooms,
    "templates": check_templates,
    "schedules": check_schedules,
    "metrics": check_metrics,
    "telemetry": check_telemetry,
    "sandbox": check_sandbox,
    "git": check_git,
    "model": check_model,
    "model.calls": check_model_calls,
    "embeddings": check_embeddings,
    "media": check_media,
    "browser": check_browser,
    "modules": check_modules,
    "budgets": check_budgets,
    "knowledge": check_knowledge,
    "skills": check_skills,
    "databases": check_databases,
    "channels": check_channels,
    "logins": check_logins,
    "auth": check_auth,
    "mcp": check_mcp,
    "a2a": check_peers,
    "plugins": check_plugins,
    "interceptors": check_interceptors,
    "executors": check_executors,
}


async def examine(
    settings: Settings,
    faults: ConfigError | None = None,
    *,
    live: bool = False,
    checks: Mapping[str, Check] = CHECKS,
) -> AsyncIterator[Finding]:
    """The findings, one after the other, as they are made."""
    pid, control = lock.holder(settings.data_dir), lock.control_of(settings.data_dir)
    subject = Subject(settings, faults, pid, control, live)
    for name, check in checks.items():
        for finding in await _made(name, check, subject):
            yield finding


def is_healthy(findings: Sequence[Finding]) -> bool:
    """Warnings are no illness."""
    return all(finding.level is not Level.ERROR for finding in findings)


async def _made(name: str, check: Check, subject: Subject) -> Sequence[Finding]:
    why = "So this wasn't checked."
    try:
        async with asyncio.timeout(CHECK_TIMEOUT.total_seconds()):
            return await check(subject)
    except TimeoutError:
        what = f"this check did not finish within {CHECK_TIMEOUT.total_seconds():g} s"
        return [fault(f"{name}.check", what, why, "check again when the machine is less busy: signalbox doctor")]
    except PermissionError as error:
        what = f"{error.filename or 'something that it reads'} is closed to this user"
        return [fault(f"{name}.check", what, why, "check again with the account that runs Signalbox, or chown it")]
    except Exception as error:  # noqa: BLE001 - a check that breaks must not hide what the others find
        what = f"this check failed: {type(error).__name__}: {error}"
        return [fault(f"{name}.check", what, why, "please report it: this is a bug in Signalbox")]
