"""The webhooks of the settings, put together: their rooms and people looked up when a request comes."""

from __future__ import annotations

from adapters.webhook.adapter import Webhooks
from adapters.webhook.settings import SIGNATURE_HEADER, TOKEN_HEADER, Hook, Proof, identity_of
from bot.accounts.naming import Account, Accounts
from bot.settings.hooks import HookTable
from bot.settings.settings import Settings
from runtime.contract import Address, Identity, NewId, Now
from runtime.errors import ConfigError
from runtime.workspace.workspaces import WorkspaceFolders


def webhooks_of(
    settings: Settings, accounts: Accounts[Account], workspaces: WorkspaceFolders, now: Now, new_id: NewId
) -> Webhooks:
    """Errors: ConfigError when a secret is not there."""
    return Webhooks(
        [hook_of(table) for table in settings.hooks],
        address_of=lambda text: address_of(text, accounts),
        actor_of=lambda hook: actor_of(hook, accounts),
        keep=lambda address, path, body: keep(workspaces, address, path, body, new_id()),
        now=now,
    )


def hook_of(table: HookTable) -> Hook:
    return Hook(
        name=table.name,
        to=table.to,
        proof=_proof(table),
        prompt=table.prompt,
        urgency=table.urgency,
        person=table.person,
        dedupe_header=table.dedupe_header,
        dedupe_within=table.dedupe_within,
        headers=table.headers,
        fields=table.fields,
        per_minute=table.per_minute,
    )


def _proof(table: HookTable) -> Proof:
    if table.secret is None:
        raise ConfigError(f'hook "{table.name}": its secret is missing; set secret_env, or seal it: signalbox secrets')
    return Proof(
        kind=table.verify,
        secret=table.secret.get_secret_value(),
        header=table.header or (TOKEN_HEADER if table.verify == "token" else SIGNATURE_HEADER),
        prefix=table.prefix,
        signed=table.signed or ("{timestamp}.{body}" if table.timestamp_header else "{body}"),
        timestamp_header=table.timestamp_header,
        id_header=table.dedupe_header,
        tolerance=table.tolerance,
    )


def address_of(text: str, accounts: Accounts[Account]) -> Address | None:
    """Its room; None while the account isn't known to its platform. Its sender tries again, so the last start's identity, which
    another token would belie, isn't gone by."""
    return None if accounts.awaits(text) else accounts.address(text)


def actor_of(hook: Hook, accounts: Accounts[Account]) -> Identity | None:
    """As whom it acts; None while the account in that person's identity is not known to its platform."""
    if not hook.person:
        return identity_of(hook.name)
    return None if accounts.awaits(hook.person) else Identity(accounts.identity(hook.person))


def keep(workspaces: WorkspaceFolders, address: Address, path: str, body: bytes, mark: str) -> None:
    """A file of the room's workspace, written where no tool can reach it and then moved to its place. Errors: OSError."""
    arriving = workspaces.arriving(mark)
    try:
        arriving.write_bytes(body)
        workspaces.keep(address, path, arriving)
    finally:
        arriving.unlink(missing_ok=True)
