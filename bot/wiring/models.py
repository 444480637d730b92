"""Models made of settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.plugins.packages import made_model
from bot.settings.models.aliases import by_name, first_of
from bot.settings.models.tables import AnyModel
from bot.settings.settings import Settings
from runtime.context.window import WINDOW_TOKENS, Window
from runtime.contract import Model

if TYPE_CHECKING:
    from runtime.models.settings import ModelSettings


def model_of(settings: Settings) -> Model:
    """The model that the settings name. Its client library is loaded by the first message, or now if asked to."""
    if settings.model.is_demo:
        from runtime.models.demo import Demo

        return Demo()
    return made_model(first_settings(settings))


def first_settings(settings: Settings) -> ModelSettings:
    """The model of [model], with what it takes over from the alias that it names."""
    first = first_of(settings.model, by_name(settings.models))
    return _made(settings, first, first.name, "")


def further_settings(settings: Settings) -> dict[str, ModelSettings]:
    """Every model of [[models]], by its alias."""
    tables = by_name(settings.models)
    return {name: _made(settings, table, table.model, name) for name, table in tables.items()}


def _made(settings: Settings, one: AnyModel, name: str, alias: str) -> ModelSettings:
    from runtime.models.images import Images
    from runtime.models.settings import Controls, ModelSettings, Prices

    shared = settings.model
    return ModelSettings(
        name=name,
        api_base=one.api_base,
        api_key=one.api_key.get_secret_value() if one.api_key else "",
        api_keys=tuple(key.get_secret_value() for key in one.api_keys),
        stream=shared.stream,
        timeout=shared.timeout,
        images=Images(shared.images if not alias else "auto"),
        alias=alias,
        organization=one.organization,
        controls=Controls(one.temperature, one.top_p, one.max_tokens, one.reasoning, one.seed, one.stop),
        prices=Prices(one.input_price, one.output_price),
    )


def window_of(settings: Settings) -> Window:
    """The smallest window of all models that may answer: as set, else as LiteLLM's list has it, read when first asked for."""
    tables = by_name(settings.models)
    first = first_of(settings.model, tables)
    others = [tables[name] for name in settings.model.fallbacks if name in tables]
    asked = [(first, first.name), *((table, table.model) for table in others)]

    def find() -> int:
        return min(_tokens(one, name) for one, name in asked)

    return Window(find)


def _tokens(one: AnyModel, name: str) -> int:
    if one.context_tokens:
        return one.context_tokens
    from runtime.models.vendors import context_tokens_of

    return context_tokens_of(name) or WINDOW_TOKENS
