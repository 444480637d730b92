"""The accounts of the settings as adapters. A channel's client library is only loaded where an account needs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

from bot.accounts.supervisor import Buckets
from bot.plugins.channels import BUILT_IN, CHANNELS, channel
from bot.plugins.packages import unusable
from bot.settings.settings import Settings
from runtime.contract import AdapterContext, Bucket, ChannelAdapter
from runtime.errors import BotError, ConfigError
from runtime.settings.accounts import Account

MakeAdapters = Callable[[AdapterContext], Sequence[ChannelAdapter]]


def no_adapters(given: AdapterContext) -> Sequence[ChannelAdapter]:
    """None beside those of the settings."""
    return ()


def adapters_of(settings: Settings) -> MakeAdapters:
    """Errors: ConfigError when a channel is not part of this build, or a secret is not there."""
    return lambda given: [adapter_of(account, given) for account in settings.accounts if account.enabled]


def buckets_of(settings: Settings, adapter: ChannelAdapter) -> Buckets | None:
    """The account's own rate limit from the settings, in place of the platform's, if they set one."""
    here = (adapter.channel, adapter.account)
    most = next((one.messages_per_second for one in settings.accounts if (one.channel, one.name) == here), 0)
    if not most:
        return None
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
    except Exception as error:
        if plugin.channel in BUILT_IN or isinstance(error, BotError):
            raise
        why = f'it cannot make the account "{account.name}" ({type(error).__name__}: {error})'
        raise unusable(CHANNELS, plugin.channel, why) from error


def absent(account: Account, missing: str | None) -> ConfigError:
    what = f'account "{account.name}": the channel {account.channel} is not part of this build'
    return ConfigError(f'{what} ({missing} is missing). Install it, or set enabled = false for "{account.name}".')
