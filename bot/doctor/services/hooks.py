"""The webhooks: where each is called, how, and which room reads it."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.webhook.settings import ROUTE
from bot.doctor.subject import Subject, fine
from bot.settings.hooks import HookTable
from runtime.contract import Finding


async def check_hooks(subject: Subject) -> Sequence[Finding]:
    web = subject.settings.web
    host = f"[{web.host}]" if ":" in web.host else web.host
    return [_told(hook, f"http://{host}:{web.port or '(a free one)'}") for hook in subject.settings.hooks]


def _told(hook: HookTable, base: str) -> Finding:
    path, proof = ROUTE.format(name=hook.name), "a token" if hook.verify == "token" else "a signature"
    return fine(f"hooks.{hook.name}", f"POST {base}{path} with {proof} goes to {hook.to} ({hook.urgency.value})")
