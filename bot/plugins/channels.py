"""The channels: those built in, and those that installed packages bring."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Annotated, Any, Final

from pydantic import Field, TypeAdapter

from adapters.discord.plugin import PLUGIN as DISCORD
from adapters.slack.plugin import PLUGIN as SLACK
from adapters.telegram.plugin import PLUGIN as TELEGRAM
from bot.plugins.packages import brought, names_in
from runtime.contract import ChannelPlugin, TokenForm
from runtime.settings.accounts import Account

BUILT_IN: Final[Mapping[str, ChannelPlugin]] = {one.channel: one for one in (TELEGRAM, SLACK, DISCORD)}
CHANNELS: Final = "signalbox.channels"
NAME: Final = re.compile("[a-z]+")
RESERVED: Final = frozenset({"api", "auth", "hook", "oidc", "web"})  # addresses and identities of these are our own

_known: Final = dict(BUILT_IN)


def known_channels() -> Mapping[str, ChannelPlugin]:
    """The channels built in, and those of packages that were asked for."""
    return dict(_known)  # a reload in another thread may ask for one more


def channel_names() -> Sequence[str]:
    """Names of all that there are, for people who choose among them: nothing of a package is loaded for it."""
    return [*BUILT_IN, *(name for name in names_in(CHANNELS) if name not in BUILT_IN)]


def channel(name: object) -> ChannelPlugin | None:
    """The channel of that name; None where nobody brings it. Errors: ConfigError for a package that cannot be used."""
    if not isinstance(name, str):
        return None
    plugin = BUILT_IN.get(name) or _brought_channel(name)
    if plugin is not None:
        _known[name] = plugin
    return plugin


def is_brought(name: str) -> bool:
    """True if a package brings a channel of that name. Nothing is loaded for the answer."""
    return name not in BUILT_IN and name in names_in(CHANNELS)


@cache
def _brought_channel(name: str) -> ChannelPlugin | None:
    plugin: ChannelPlugin | None = brought(CHANNELS, name, partial(_wrong, name))
    return plugin


def _wrong(name: str, plugin: object) -> str:
    """The reason this cannot be the channel of that name, or empty. An exception raised here is the package's fault too."""
    if not NAME.fullmatch(name) or name in RESERVED:
        return (
            "its name must be lowercase letters from a to z, since identities and addresses begin with it, and none of "
            + ", ".join(sorted(RESERVED))
        )
    if not isinstance(plugin, ChannelPlugin) or plugin.channel != name:
        return "it provides no ChannelPlugin with that name"
    if not issubclass(plugin.settings, Account):
        return "its settings aren't a runtime.settings.accounts.Account"
    told_apart: Any = Annotated[plugin.settings | SLACK.settings, Field(discriminator="channel")]
    TypeAdapter(told_apart)
    plugin.needed(), plugin.tokens  # both read its secrets
    return ""


def token_forms() -> Sequence[TokenForm]:
    """Every kind of token that is known, to tell one from another."""
    return [form for plugin in known_channels().values() for form in plugin.tokens]
