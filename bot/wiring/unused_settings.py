"""Settings and variables that have no effect, or cannot work: for doctor, and for the log of a start. Cheap."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import structlog

from bot.plugins.packages import model_driver
from bot.secrets import account_keys
from bot.settings.models.tables import DEMO
from bot.settings.secrets import asked_for
from bot.settings.settings import Settings
from runtime.contract import Finding, Level
from runtime.errors import ConfigError

DATABASE: Final = "DATABASE_URL"
"""What hosts set for the programs they run; no setting of ours reads it unasked."""


def tell_unused(settings: Settings) -> None:
    """Log each, a line for one."""
    log = structlog.get_logger("settings")
    for one in unused_settings(settings):
        log.warning(one.what, setting=one.id, effect=one.why, fix=one.fix)


def unused_settings(settings: Settings) -> Iterator[Finding]:
    """Settings that nobody is likely to mean."""
    yield from half_set_accounts(settings)
    yield from unknown_models(settings)
    if settings.source("database_url") == "default":
        yield from unused_database(settings)


def half_set_accounts(settings: Settings) -> Iterator[Finding]:
    """Of a platform without an account, some variables are set, and another that belongs to them is not."""
    theirs = {account.channel for account in settings.accounts}
    for plugin, there, missing in account_keys.incomplete(settings.chain.is_handed_over):
        if plugin.channel not in theirs:
            others = f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'}"
            what = f"{there} is set but {others} not, so there's no {plugin.title} account"
            fix = f"set {' and '.join(missing)} too, or write the account under [[accounts]]"
            yield Finding(Level.WARNING, plugin.channel, what, "Nobody is answered there.", fix)


def unknown_models(settings: Settings) -> Iterator[Finding]:
    """Names that lead to no vendor, or to a package of no use."""
    aliases = {one.name for one in settings.models}
    if settings.model.name not in (DEMO, *aliases):
        yield from _unknown(settings, "model.name", settings.model.name, settings.model.api_base)
    for number, one in enumerate(settings.models, 1):
        if one.model not in aliases:
            yield from _unknown(settings, f"models[{number}].model", one.model, one.api_base)


def _unknown(settings: Settings, setting: str, name: str, api_base: str) -> Iterator[Finding]:
    from runtime.models.vendors import fault_of

    if (fault := fault_of(name, api_base)) is None:
        return
    why, fix = "Every message to it will end in an error.", f"set {setting} ({settings.source(setting)})"
    try:
        if not model_driver(name):
            yield Finding(Level.ERROR, setting, fault, why, fix)
    except ConfigError as error:
        yield Finding(Level.ERROR, setting, str(error), "Signalbox won't start.", f"fix the package, or {fix}")


def unused_database(settings: Settings) -> Iterator[Finding]:
    """The database that others would use is not ours."""
    if settings.chain.is_handed_over(DATABASE) and DATABASE not in asked_for(settings):
        what = f"{DATABASE} is set but not used"
        why = f"Signalbox uses database_url ({settings.source('database_url')})."
        fix = f'set database_url_env = "{DATABASE}" to use it, or unset the variable'
        yield Finding(Level.WARNING, "settings.unused_database", what, why, fix)
