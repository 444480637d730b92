"""Models made of settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from adapters.web.ideas import DEMO_IDEAS, DEMO_NOTICE
from bot.plugins.packages import made_model
from bot.settings.models.aliases import by_name, first_of
from bot.settings.models.tables import AnyModel, ModelTable
from bot.settings.settings import Settings
from bot.wiring.agents import budget_rules_of
from runtime.context.window import WINDOW_TOKENS, Source, Window
from runtime.contract import Model, ModelReply, ModelRequest, Now, OnText, Probe, no_probe
from runtime.domain.ids import digest
from runtime.models.choice.alone import Alone
from runtime.models.choice.chain import Member, ModelChain
from runtime.models.choice.cooling import Cooldowns
from runtime.models.choice.routing import Route

if TYPE_CHECKING:
    from runtime.models.account.tokens import KeyTokens
    from runtime.models.settings import ModelSettings

Tokens = Mapping[str, "KeyTokens"]
"""Tokens of sign-ins, by name."""
NO_TOKENS: Final[Tokens] = {}
YIELDING_WAIT: Final = timedelta(seconds=2)
"""A model that asks for a longer wait gives its place to another one."""


class LateDemo:
    """The demo model. Its phrases are loaded with the first message."""

    name = "demo"
    ideas = DEMO_IDEAS
    notice = DEMO_NOTICE

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        """The next turn."""
        from runtime.models.demo import Demo

        return await Demo().reply(request, on_text)


def model_of(settings: Settings, tokens: Tokens = NO_TOKENS) -> Model:
    """The model that the settings name, alone. Its client library is loaded by the first message, or now if asked to."""
    return LateDemo() if settings.model.is_demo else made_model(_lent(first_settings(settings), tokens))


def models_of(
    settings: Settings, cooldowns: Cooldowns, now: Now, probe: Probe = no_probe, tokens: Tokens = NO_TOKENS
) -> Model:
    """The model that the settings name, with all that are asked in its place."""
    if settings.model.is_demo:
        return model_of(settings)
    if not settings.models:
        ((name, given),) = every_settings(settings).items()
        return Alone(model_of(settings, tokens), name, mark_of(given), cooldowns=cooldowns, now=now)
    tables = {table.name: table for table in settings.models}
    every = {name: _lent(given, tokens) for name, given in every_settings(settings).items()}
    members = [_member(name, given, tables.get(name)) for name, given in every.items()]
    return ModelChain(members, settings.model.fallbacks, cooldowns=cooldowns, now=now, probe=probe)


def _lent(given: ModelSettings, tokens: Tokens) -> ModelSettings:
    return replace(given, tokens=tokens.get(given.login)) if given.login else given


def _member(name: str, given: ModelSettings, table: ModelTable | None) -> Member:
    price = partial(_price, given)
    route = Route(name, table.works, table.least_complexity, price) if table else Route(name, price=price)
    hasty = replace(given, yields=True, max_retries=1, longest_wait=YIELDING_WAIT)
    return Member(route, made_model(hasty), mark_of(given))


def _price(given: ModelSettings) -> float | None:
    """Price of a million tokens, read and written together; None where nobody knows."""
    if given.prices.are_set:
        return (given.prices.input or 0.0) + (given.prices.output or 0.0)
    from runtime.models.vendors import prices_of

    listed = prices_of(given.name)
    return sum(listed) if listed else None


def marks_of(settings: Settings) -> dict[str, str]:
    """Marks of all models that may answer, by what people call each."""
    return {name: mark_of(given) for name, given in every_settings(settings).items()}


def mark_of(given: ModelSettings) -> str:
    """Short digest of all by which a vendor knows us; another one when a key is changed."""
    told = "\n".join([given.name, given.api_base, given.organization, *filter(None, [given.login]), *given.keys])
    return digest(told)[:12]


def first_settings(settings: Settings) -> ModelSettings:
    """The model of [model], with what it takes over from the alias that it names."""
    first = first_of(settings.model, by_name(settings.models))
    alias = settings.model.name if first.name != settings.model.name else ""
    return _made(settings, first, first.name, settings.model.images, alias)


def every_settings(settings: Settings) -> dict[str, ModelSettings]:
    """Every model by what people call it: first the usual one, then those of [[models]]."""
    further = by_name(settings.models).items()
    usual = {settings.model.name: first_settings(settings)}
    return usual | {name: _made(settings, one, one.model, "auto", name) for name, one in further if name not in usual}


def _made(settings: Settings, one: AnyModel, name: str, images: str, alias: str) -> ModelSettings:
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
        lean=shared.lean,
        images=Images(images),
        alias=alias,
        organization=one.organization,
        login=one.login,
        controls=Controls(one.temperature, one.top_p, one.max_tokens, one.reasoning, one.seed, one.stop),
        prices=Prices(one.input_price, one.output_price, refuses_unpriced(settings)),
    )


def refuses_unpriced(settings: Settings) -> bool:
    """True if a model without a price is not asked."""
    return settings.budgets.unpriced == "refuse" and budget_rules_of(settings).is_set


def window_of(settings: Settings) -> Window:
    """The smallest window of all models that may answer: as set, else as LiteLLM's list has it, read when first asked for."""
    tables = by_name(settings.models)
    first = first_of(settings.model, tables)
    asked = [(first, first.name), *((table, table.model) for table in tables.values())]

    def smallest() -> tuple[int, Source]:
        return min((tokens_of(one, name) for one, name in asked), key=itemgetter(0))

    return Window(lambda: smallest()[0], lambda: smallest()[1])


def tokens_of(one: AnyModel, name: str) -> tuple[int, Source]:
    if one.context_tokens:
        return one.context_tokens, Source.SET
    from runtime.models.vendors import context_tokens_of

    listed = context_tokens_of(name)
    return (listed, Source.LISTED) if listed else (WINDOW_TOKENS, Source.ASSUMED)
