"""The accounts of the settings as adapters. A channel's client library is only loaded where an account needs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

from bot.plugins.channels import channel
from bot.settings.settings import Settings
from runtime.contract import AdapterContext, Address, Bucket, ChannelAdapter, Features
from runtime.errors import ConfigError
from runtime.settings.accounts import Account

MakeAdapters = Callable[[AdapterContext], Sequence[ChannelAdapter]]
Buckets = Callable[[Address], Sequence[Bucket]]


def no_adapters(given: AdapterContext) -> Sequence[ChannelAdapter]:
    """None beside those of the settings."""
    return ()


def adapters_of(settings: Settings) -> MakeAdapters:
    """Errors: ConfigError when a channel is not part of this build, or a secret is not there."""
    return lambda given: [adapter_of(account, given) for account in settings.accounts if account.enabled]


def features_of(settings: Settings, adapter: ChannelAdapter) -> Features:
    """The features of `adapter`; a bound in the settings stands in place of the platform's own."""
    features = adapter.features()
    here = (adapter.channel, adapter.account)
    most = next((one.messages_per_second for one in settings.accounts if (one.channel, one.name) == here), 0)
    return replace(features, buckets=_bounded(most)) if most else features


def _bounded(most: float) -> Buckets:
    """No more than `most` in a second of the whole account."""
    own = Bucket("messages_per_second", burst=max(1, int(most)), every=timedelta(seconds=1 / most))
    return lambda address: [own]


def adapter_of(account: Account, given: AdapterContext) -> ChannelAdapter:
    """Errors: ConfigError when its channel's client library is not there, or a secret."""
    plugin = channel(account.channel)
    if plugin is None:
        raise absent(account, account.channel)
    try:
        return plugin.make(account, given)
    except ModuleNotFoundError as error:
        raise absent(account, error.name) from error


def absent(account: Account, missing: str | None) -> ConfigError:
    what = f'account "{account.name}": the channel {account.channel} is not part of this build'
    return ConfigError(f'{what} ({missing} is missing). Install it, or set enabled = false for "{account.name}".')
