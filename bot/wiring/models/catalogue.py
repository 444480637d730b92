"""Catalogue of the models in the settings: how each is reached, what it can hold and what it costs. Nothing is asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.secrets import model_keys
from bot.settings.models.aliases import by_name, first_of
from bot.settings.models.tables import AnyModel, ModelTable
from bot.settings.settings import Settings
from bot.wiring.models.made import every_settings, mark_of, tokens_of
from runtime.context.window import Source
from runtime.contract import Work

if TYPE_CHECKING:
    from runtime.models.settings import ModelSettings

SET: Final = "set"
BY_LIST: Final = "listed"
NO_PRICE: Final = "unknown"
NO_COST: Final = "free"
NO_KEY_NEEDED: Final = "not needed"
KEY_MISSING: Final = "missing"


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens read and written, and who says so: set, listed (LiteLLM), free, or unknown."""

    source: str
    input: float | None = None
    output: float | None = None


@dataclass(frozen=True, slots=True)
class ListedModel:
    """One model. `fallback` counts from 1 among those that stand in; `key` is where it was found, missing or not needed."""

    name: str
    given: ModelSettings
    works: tuple[Work, ...]
    least_complexity: int | None
    is_usual: bool
    fallback: int | None
    window: int
    window_source: Source
    price: Price
    key: str
    is_demo: bool = False

    @property
    def vendor(self) -> str:
        return model_keys.vendor(self.given.name)

    @property
    def mark(self) -> str:
        return mark_of(self.given)

    @property
    def wanted_key(self) -> str:
        """The variable to set where the key is missing."""
        return next(iter(model_keys.names(self.given.name)), "")


def catalogue_of(settings: Settings) -> list[ListedModel]:
    """All of them, the usual one first. Settings without secrets tell of keys in the environment alone."""
    tables = {table.name: table for table in settings.models}
    whole = by_name(settings.models)
    entries = []
    for name, given in every_settings(settings).items():
        one = first_of(settings.model, whole) if name == settings.model.name else whole[name]
        entries.append(_entry(settings, name, given, one, tables.get(name)))
    return entries


def _entry(settings: Settings, name: str, given: ModelSettings, one: AnyModel, table: ModelTable | None) -> ListedModel:
    tokens, source = tokens_of(one, given.name)
    fallbacks = settings.model.fallbacks
    is_demo = given.name == settings.model.name and settings.model.is_demo
    return ListedModel(
        name=name,
        given=given,
        works=table.works if table else (),
        least_complexity=table.least_complexity if table else None,
        is_usual=name == settings.model.name,
        fallback=fallbacks.index(name) + 1 if name in fallbacks else None,
        window=tokens,
        window_source=source,
        price=Price(NO_COST, 0.0, 0.0) if is_demo else _price(given),
        key=_key(settings, name, given),
        is_demo=is_demo,
    )


def _price(given: ModelSettings) -> Price:
    if given.prices.are_set:
        return Price(SET, given.prices.input or 0.0, given.prices.output or 0.0)
    from runtime.models.vendors import prices_of

    listed = prices_of(given.name)
    return Price(BY_LIST, *listed) if listed else Price(NO_PRICE)


def _key(settings: Settings, name: str, given: ModelSettings) -> str:
    if given.login:
        return f"sign-in {given.login}"
    if given.keys:
        source = next(_sources(settings, name), SET)
        return SET if source == str(settings.file) else source
    return KEY_MISSING if model_keys.names(given.name) and not given.api_base else NO_KEY_NEEDED


def _sources(settings: Settings, name: str) -> Iterator[str]:
    """Sources of a model's keys, also of one that another name stands for."""
    places = {table.name: (f"models[{number}]", table.model) for number, table in enumerate(settings.models, 1)}
    there, seen = ["model"] if name == settings.model.name else [], set[str]()
    while name in places and name not in seen:
        seen.add(name)
        place, name = places[name]
        there.append(place)
    found = (settings.sources.get(f"{place}.{key}") for place in there for key in ("api_keys", "api_key"))
    yield from filter(None, found)
