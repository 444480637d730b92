"""Names of models: what they stand for, and what is wrong with them when all are looked at together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from bot.settings.faults import nearest
from bot.settings.models.tables import AUTO, DEMO, AnyModel, Model, ModelTable

if TYPE_CHECKING:
    from bot.settings.sources import Layers

Fault = tuple[str, str]
"""The setting, and what is wrong with it."""

OWN_KEYS: Final = ("api_key", "api_key_env", "api_keys", "api_key_envs", "login")
BESIDE: Final = ("embeddings", "images", "transcription", "speech")
"""Tables of models that do not answer people."""
NAMED: Final = ("model", *BESIDE)
"""Tables whose model stands under `name`."""
OF_THE_TABLE: Final = ("name", "model", "works", "least_complexity")


def asked_vendors(layers: Layers) -> Iterator[tuple[str, str]]:
    """Tables that name a vendor's model and need its key, as `models[1]`, with that model."""
    for place in BESIDE:
        if isinstance(named := layers.get(f"{place}.name"), str) and named not in ("", DEMO):
            yield place, named
    tables = layers.tables("models")
    aliases = {table.get("name") for _, table in tables}
    first = layers.get("model.name")
    for place, model in (("model", first), *((place, table.get("model")) for place, table in tables)):
        if isinstance(model, str) and model not in (DEMO, AUTO) and model not in aliases:
            yield place, model


def key_names(layers: Layers, place: str) -> Sequence[str]:
    """Variables that hold the several keys of a table."""
    named = layers.get(f"{place}.api_key_envs")
    return [name for name in named if isinstance(name, str)] if isinstance(named, list | tuple) else []


def faults_together(layers: Layers) -> Iterator[Fault]:
    """Faults of [model] and all [[models]]."""
    tables = layers.tables("models")
    stands_for = {table["name"]: table.get("model") for _, table in tables if isinstance(table.get("name"), str)}
    yield from _circles(layers, stands_for)
    yield from _fallbacks(layers, stands_for)
    for place in ("model", *(place for place, _ in tables)):
        yield from _keys(layers, place)
        yield from _prices(layers, place, stands_for)
    for place, table in tables:
        if table.get("model") == DEMO:
            yield f"{place}.model", 'the demo model stands alone; name a vendor\'s model, such as "openai/gpt-4o"'
    for place, model in asked_vendors(layers):
        if "/" not in model and (fault := _no_vendor(model, layers.get(f"{place}.api_base"), stands_for)):
            yield f"{place}.{'name' if place in NAMED else 'model'}", fault


def _circles(layers: Layers, stands_for: Mapping[str, Any]) -> Iterator[Fault]:
    for place, table in layers.tables("models"):
        seen, name = [str(table.get("name"))], table.get("model")
        while isinstance(name, str) and name in stands_for and name not in seen:
            seen.append(name)
            name = stands_for[name]
        if name == seen[0]:
            yield f"{place}.model", f"leads in a circle: {' → '.join([*seen, seen[0]])}; name a vendor's model in one"


def _fallbacks(layers: Layers, stands_for: Mapping[str, Any]) -> Iterator[Fault]:
    named, first = layers.get("model.fallbacks"), layers.get("model.name")
    names = [name for name in named if isinstance(name, str)] if isinstance(named, list | tuple) else []
    for number, name in enumerate(names):
        if name not in stands_for:
            yield "model.fallbacks", f'"{name}" names no model; {_fix(name, stands_for)}'
        elif name == first or name in names[:number]:
            where = "is the model itself" if name == first else "is named twice"
            yield "model.fallbacks", f'"{name}" {where}; take it out'
    if names and first in (None, DEMO):
        yield "model.fallbacks", 'the demo model never fails; set model.name to a model such as "openai/gpt-4o"'


def _keys(layers: Layers, place: str) -> Iterator[Fault]:
    given = [name for name in OWN_KEYS if layers.get(f"{place}.{name}")]
    several = [name for name in given if name.startswith("api_keys") or name == "api_key_envs"]
    one = [name for name in given if name not in several]
    if one and several:
        yield layers.title(f"{place}.{several[0]}"), f"is set, and {one[0]} too; keep one of them"
    if place == "model" and layers.get("model.name") == AUTO and given:
        yield (
            f"model.{given[0]}",
            'is set, but "auto" chooses the vendor by its key; set model.name to one model instead',
        )


def _prices(layers: Layers, place: str, stands_for: Mapping[str, Any]) -> Iterator[Fault]:
    """A price that is left out would be none, so that half of each call were free; an alias may have it from its model."""
    read, written = f"{place}.input_price", f"{place}.output_price"
    is_alias = layers.get("model.name" if place == "model" else f"{place}.model") in stands_for
    missing = [name for name in (read, written) if layers.get(name) is None]
    if len(missing) == 1 and not is_alias:
        yield layers.title(missing[0]), "is missing, and the other price is set; set both, with 0 for what is free"


def _no_vendor(model: str, api_base: object, stands_for: Mapping[str, Any]) -> str:
    """The fault of a name without a vendor that neither LiteLLM nor an alias knows."""
    from runtime.models.vendors import fault_of

    fault = fault_of(model, api_base if isinstance(api_base, str) else "")
    near = nearest(model, stands_for)
    if fault is None:
        return ""
    if near:
        return f'"{model}" names no model; did you mean {near}?'
    return f"{fault}; [[models]] has {', '.join(stands_for)}" if stands_for else fault


def _fix(name: str, stands_for: Mapping[str, Any]) -> str:
    near = nearest(name, stands_for)
    return f"did you mean {near}?" if near else "add it under [[models]]"


def by_name(models: tuple[ModelTable, ...]) -> dict[str, ModelTable]:
    """Every model by its alias, with what it takes over from the one that it stands for."""
    tables = {table.name: table for table in models}
    return {name: _whole(table, tables) for name, table in tables.items()}


def first_of(model: Model, models: Mapping[str, ModelTable]) -> Model:
    """[model] with what it takes over from the alias that it names."""
    base = models.get(model.name)
    return model.model_copy(update=_missing(model, base) | {"name": base.model}) if base else model


def _whole(table: ModelTable, tables: Mapping[str, ModelTable]) -> ModelTable:
    base = tables.get(table.model)
    if base is None:
        return table
    base = _whole(base, tables)
    return table.model_copy(update=_missing(table, base) | {"model": base.model})


def _missing(one: AnyModel, base: AnyModel) -> dict[str, Any]:
    """Values that `one` leaves open and `base` has. Keys go together: one of its own takes the place of all."""
    has_keys = any(name in one.model_fields_set for name in OWN_KEYS)
    return {
        name: getattr(base, name)
        for name in AnyModel.model_fields
        if name not in (*one.model_fields_set, *OF_THE_TABLE) and not (has_keys and name in OWN_KEYS)
    }
