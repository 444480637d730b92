"""`[[accounts]]`: one table for each account on a chat platform, checked by the channel that its `channel` names."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import (
    ConfigDict,
    Field,
    SerializeAsAny,
    TypeAdapter,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import PydanticCustomError

from bot.plugins.channels import BUILT_IN, channel
from runtime.contract import ChannelPlugin
from runtime.errors import ConfigError
from runtime.settings.accounts import Account

UNUSABLE: Final = "unusable_package"
"""The kind of a fault that is its package's, told in its own words."""

KIND: Final = Field(discriminator="channel")
TABLES: Final[Any] = reduce(or_, (plugin.settings for plugin in BUILT_IN.values()))


class UnusedAccount(Account):
    """A disabled account whose package cannot be loaded: what is set for it is left as it is."""

    model_config = ConfigDict(extra="ignore")
    channel: str


def usable_channel(table: Mapping[str, Any]) -> ChannelPlugin | None:
    """The channel of an account's table; None too where its package cannot be used, which validation tells."""
    try:
        return channel(table.get("channel"))
    except ConfigError:
        return None


def _with_packages(value: Any, check: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    """A table of a channel that a package brings is checked by that one, as the others are by theirs."""
    named = value.get("channel") if isinstance(value, dict) else None
    try:
        plugin = channel(named)
    except ConfigError as error:
        if value.get("enabled") is False:
            return UnusedAccount.model_validate(value)
        raise PydanticCustomError(UNUSABLE, "{why}", {"why": str(error)}) from None
    if plugin is None or named in BUILT_IN:
        return check(value)
    tables: Any = Annotated[TABLES | plugin.settings, KIND]
    return TypeAdapter[Account](tables).validate_python(value, context=info.context)


if TYPE_CHECKING:
    AnyAccount = Account
else:
    AnyAccount = Annotated[TABLES, KIND, WrapValidator(_with_packages), SerializeAsAny()]
