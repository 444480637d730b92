"""`[[accounts]]`: one table for each account on a chat platform, checked by the channel that its `channel` names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import (
    ConfigDict,
    Field,
    SerializeAsAny,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import PydanticCustomError

from bot.plugins.channels import BUILT_IN, CHANNELS, channel, is_brought
from bot.plugins.packages import unusable
from runtime.contract import ChannelPlugin
from runtime.errors import ConfigError
from runtime.settings.accounts import Account

UNUSABLE: Final = "unusable_package"
"""The kind of a fault that is its package's, told in its own words."""

KIND: Final = Field(discriminator="channel")
TABLES: Final[Any] = reduce(or_, (plugin.settings for plugin in BUILT_IN.values()))


class UnusedAccount(Account):
    """A disabled account of a package's channel: nothing is loaded for it, and what is set for it is left as it is."""

    model_config = ConfigDict(extra="ignore")
    channel: str


def is_unused(table: Mapping[str, Any]) -> bool:
    """True if an account's table is disabled, and of a channel that a package brings."""
    named = table.get("channel")
    return table.get("enabled") is False and isinstance(named, str) and is_brought(named)


def usable_channel(table: Mapping[str, Any]) -> ChannelPlugin | None:
    """The channel of an account's table; None too where its package is not needed, or of no use, which validation tells."""
    try:
        return None if is_unused(table) else channel(table.get("channel"))
    except ConfigError:
        return None


def faults_as_a_whole(table: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    """Faults of a table that is not disabled, as its channel sees them: the setting (empty: the account), and what is wrong."""
    plugin = usable_channel(table)
    if plugin is None or table.get("enabled") is False:
        return ()
    try:
        return list(plugin.faults(table))
    except Exception as error:
        if plugin.channel in BUILT_IN:
            raise
        return [("", str(_uncheckable(plugin.channel, error)).removesuffix("."))]


def _with_packages(value: Any, check: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    """A table of a channel that a package brings is checked by that one, as the others are by theirs."""
    if not isinstance(value, dict):
        return check(value)
    if is_unused(value):
        return UnusedAccount.model_validate(value)
    try:
        plugin = channel(value.get("channel"))
        if plugin is None or plugin.channel in BUILT_IN:
            return check(value)
        return _by_package(plugin, value, info)
    except ConfigError as error:
        raise PydanticCustomError(UNUSABLE, "{why}", {"why": str(error)}) from None


def _by_package(plugin: ChannelPlugin, value: Any, info: ValidationInfo) -> Any:
    """Errors: ValidationError; ConfigError where the check itself breaks."""
    tables: Any = Annotated[TABLES | plugin.settings, KIND]
    try:
        return TypeAdapter[Account](tables).validate_python(value, context=info.context)
    except ValidationError:
        raise
    except Exception as error:
        raise _uncheckable(plugin.channel, error) from error


def _uncheckable(name: str, error: Exception) -> ConfigError:
    return unusable(CHANNELS, name, f"it can't check the settings of this account ({type(error).__name__}: {error})")


if TYPE_CHECKING:
    AnyAccount = Account
else:
    AnyAccount = Annotated[TABLES, KIND, WrapValidator(_with_packages), SerializeAsAny()]
