"""The accounts of the settings as adapters. A channel's client library is only loaded where an account needs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from importlib import import_module
from typing import Any

from pydantic import SecretStr

from bot.settings.accounts import AnyAccount, DiscordAccount, SlackAccount, TelegramAccount
from bot.settings.settings import Settings
from runtime.contract import AdapterContext, Address, Bucket, ChannelAdapter
from runtime.delivery.features import Features, extras_of
from runtime.errors import ConfigError

MakeAdapters = Callable[[AdapterContext], Sequence[ChannelAdapter]]
Buckets = Callable[[Address], Sequence[Bucket]]


def no_adapters(given: AdapterContext) -> Sequence[ChannelAdapter]:
    """None beside those of the settings."""
    return ()


def adapters_of(settings: Settings) -> MakeAdapters:
    """Errors: ConfigError when a channel is not part of this build, or a secret is not there."""
    return lambda given: [adapter_of(account, given) for account in settings.accounts if account.enabled]


def extras_of_account(settings: Settings, adapter: ChannelAdapter) -> Features:
    """What `adapter` offers beside its contract; a bound in the settings stands in place of the platform's own."""
    extras = extras_of(adapter)
    here = (adapter.channel, adapter.account)
    most = next((one.messages_per_second for one in settings.accounts if (one.channel, one.name) == here), 0)
    return replace(extras, buckets=_bounded(most)) if most else extras


def _bounded(most: float) -> Buckets:
    """No more than `most` in a second of the whole account."""
    own = Bucket("messages_per_second", burst=max(1, int(most)), every=timedelta(seconds=1 / most))
    return lambda address: [own]


def adapter_of(account: AnyAccount, given: AdapterContext) -> ChannelAdapter:
    match account:
        case TelegramAccount():
            return _telegram(account, given)
        case SlackAccount():
            return _slack(account, given)
        case DiscordAccount():
            return _discord(account, given)


def _telegram(account: TelegramAccount, given: AdapterContext) -> ChannelAdapter:
    token = _secret(account, "token", account.token)
    settings = _part(account, "settings").TelegramSettings(
        account=account.name,
        token=token,
        mode=account.mode,
        webhook_url=account.webhook_url,
        webhook_secret=account.webhook_secret.get_secret_value() if account.webhook_secret else webhook_secret(token),
        api_base_url=account.api_base_url,
    )
    return _made(account, "TelegramAdapter", settings, given)


def _slack(account: SlackAccount, given: AdapterContext) -> ChannelAdapter:
    is_socket = account.mode == "socket"
    settings = _part(account, "settings").SlackSettings(
        account=account.name,
        bot_token=_secret(account, "bot_token", account.bot_token),
        app_token=_secret(account, "app_token", account.app_token) if is_socket else "",
        signing_secret="" if is_socket else _secret(account, "signing_secret", account.signing_secret),
        mode=account.mode,
        api_base_url=account.api_base_url,
    )
    return _made(account, "SlackAdapter", settings, given)


def _discord(account: DiscordAccount, given: AdapterContext) -> ChannelAdapter:
    settings = _part(account, "settings").DiscordSettings(
        account=account.name,
        token=_secret(account, "token", account.token),
        api_base_url=account.api_base_url,
        shards=account.shards,
        thread_per_conversation=account.thread_per_conversation,
    )
    return _made(account, "DiscordAdapter", settings, given)


def _made(account: AnyAccount, name: str, settings: object, given: AdapterContext) -> ChannelAdapter:
    adapter: ChannelAdapter = getattr(_part(account, "adapter"), name)(settings, given)
    return adapter


def _part(account: AnyAccount, module: str) -> Any:
    try:
        return import_module(f"adapters.{account.channel}.{module}")
    except ModuleNotFoundError as error:
        what = f'account "{account.name}": the channel {account.channel} is not part of this build'
        raise ConfigError(
            f'{what} ({error.name} is missing). Install it, or set enabled = false for "{account.name}".'
        ) from error


def _secret(account: AnyAccount, name: str, value: SecretStr | None) -> str:
    if value is None:
        raise ConfigError(f'account "{account.name}": {name} is missing; set {name}_env, or seal it: signalbox secrets')
    return value.get_secret_value()


def webhook_secret(token: str) -> str:
    """The same on every node and after every start, and of no use to get back to the token."""
    return sha256(f"webhook:{token}".encode()).hexdigest()
