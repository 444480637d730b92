"""`[[accounts]]`: one table for each account on a chat platform, checked by the channel that its `channel` names."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field, SerializeAsAny, TypeAdapter, ValidationInfo, ValidatorFunctionWrapHandler, WrapValidator

from bot.plugins.channels import BUILT_IN, channel
from runtime.settings.accounts import Account

KIND: Final = Field(discriminator="channel")
TABLES: Final[Any] = reduce(or_, (plugin.settings for plugin in BUILT_IN.values()))


def _with_packages(value: Any, check: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    """A table of a channel that a package brings is checked by that one, as the others are by theirs."""
    named = value.get("channel") if isinstance(value, dict) else None
    plugin = channel(named)
    if plugin is None or named in BUILT_IN:
        return check(value)
    tables: Any = Annotated[TABLES | plugin.settings, KIND]
    return TypeAdapter[Account](tables).validate_python(value, context=info.context)


if TYPE_CHECKING:
    AnyAccount = Account
else:
    AnyAccount = Annotated[TABLES, KIND, WrapValidator(_with_packages), SerializeAsAny()]
