"""Secrets that calls may send: to the hosts they are bound to alone, and each use is recorded by its name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from bot.secrets.chain import Bound
from bot.settings.settings import Settings
from runtime.contract import ToolContext
from runtime.errors import StoreError, ToolFailed
from runtime.guard.held import SHORTEST, coded_forms, written_forms
from tools.kit.placeholders import LentSecret

SECRET_USED: Final = "secret used"  # noqa: S105 - a kind of fact
NOT_RECORDED: Final = "The use of the secret {name} can't be recorded right now ({why}). Nothing was sent."
TOO_SHORT: Final = "The secret {name} is too short to be sent by calls: eight characters or more. Nothing was sent."

NoteUse = Callable[[str, str, str, str], Awaitable[None]]
"""Records a fact: its kind, by whom, about what, and a detail. Errors: StoreError."""


class BoundSecrets:
    """Implements `tools.kit.placeholders.SecretBook`."""

    def __init__(self, secrets: Mapping[str, Bound], note: NoteUse) -> None:
        self.secrets = secrets
        self._note = note

    def bound(self) -> Mapping[str, Sequence[str]]:
        return {name: secret.hosts for name, secret in self.secrets.items()}

    async def lent(self, name: str, *, tool: str, host: str, context: ToolContext) -> LentSecret:
        value = self.secrets[name].value
        if len(value) < SHORTEST:
            raise ToolFailed(TOO_SHORT.format(name=name))
        by = context.requester.name if context.requester else context.agent
        try:
            await self._note(SECRET_USED, by, name, f"{tool} to {host}, run {context.run_id}")
        except StoreError as error:
            raise ToolFailed(NOT_RECORDED.format(name=name, why=error)) from error
        forms = {form for form in (*written_forms(value), *coded_forms(value)) if len(form) >= SHORTEST}
        return LentSecret(name, value, tuple(forms))


def bound_secrets_of(settings: Settings, note: NoteUse) -> BoundSecrets:
    """As the chain of secrets has them at a start."""
    return BoundSecrets(settings.chain.bound(settings.secrets.hosts), note)
