"""Settings of an agent inside a program: those of the file, with what the program says in their place."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypedDict

import structlog

from bot.plugins.packages import model_driver
from bot.settings.faults import nearest
from bot.settings.models.aliases import by_name, first_of
from bot.settings.settings import Settings, load, load_usable
from bot.telemetry import logs
from runtime.domain.agents.manifest import MAIN
from runtime.errors import ConfigError
from runtime.models.vendors import fault_of


class Controls(TypedDict, total=False):
    """Controls of what the model writes: of [model] in the settings, by the names that model libraries have."""

    temperature: float
    top_p: float
    max_tokens: int
    effort: str
    seed: int
    stop: Sequence[str]


SETTING_OF_CONTROL: Final[Mapping[str, str]] = MappingProxyType(
    {
        "temperature": "model.temperature",
        "top_p": "model.top_p",
        "max_tokens": "model.max_tokens",
        "effort": "model.reasoning",
        "seed": "model.seed",
        "stop": "model.stop",
    }
)
NO_SETTINGS: Final = (
    "There are no settings here: no signalbox.toml in {folder}, and no model is named. Make one with `signalbox init`, name "
    'its file with config="…", or name a model: model="demo" needs no key.'
)
NO_CONTROL: Final = "{name}: there is no such control. {hint}There are: {known}."
NO_SUCH_MODEL: Final = "model.name: {fault}, or the name of a table of [[models]]."
NO_SUCH_AGENT: Final = "agent: there is no agent {name!r} in these settings. There are: {known}."


def settings_for(
    config: Path | str | None,
    *,
    agent: str,
    model: str,
    data_dir: Path | str | None,
    channels: bool,
    controls: Controls,
    tools: Collection[str],
    more: Mapping[str, object],
) -> Settings:
    """Settings of one agent. Errors: ConfigError for whatever is wrong in them, or in what the program says."""
    over: dict[str, object] = {**more, **_controls(controls)}
    if model:
        over["model.name"] = model
    if data_dir is not None:
        over["data_dir"] = str(data_dir)
    file = Path(config) if config is not None else None
    if tools:
        over["tools.of_programs"] = [*dict.fromkeys([*load_usable(file)[0].tools.of_programs, *tools])]
    settings = load(file, over)
    if settings.file is None and settings.source("model.name") == "default":
        raise ConfigError(NO_SETTINGS.format(folder=Path.cwd()))
    check_agent(agent, settings)
    if model:
        _check_vendor(settings)
        settings = _asked_first(settings, agent or MAIN)
    return settings if channels else settings.for_one_question()


def check_agent(name: str, settings: Settings) -> None:
    """Errors: ConfigError names the agents that there are."""
    known = [MAIN, *(table.name for table in settings.agents if table.name != MAIN)]
    if name and name not in known:
        raise ConfigError(NO_SUCH_AGENT.format(name=name, known=", ".join(known)))


def _controls(given: Controls) -> dict[str, object]:
    for name in given:
        if name not in SETTING_OF_CONTROL:
            near = nearest(name, SETTING_OF_CONTROL)
            hint = f"Did you mean {near}? " if near else ""
            raise ConfigError(NO_CONTROL.format(name=name, hint=hint, known=", ".join(SETTING_OF_CONTROL)))
    named = {SETTING_OF_CONTROL[name]: value for name, value in given.items()}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in named.items()}


def _check_vendor(settings: Settings) -> None:
    """Errors: ConfigError for a model of a vendor that nobody knows, before the first message is."""
    first = first_of(settings.model, by_name(settings.models))
    if "/" not in first.name or model_driver(first.name) is not None:
        return
    if fault := fault_of(first.name, first.api_base):
        raise ConfigError(NO_SUCH_MODEL.format(fault=fault))


def _asked_first(settings: Settings, agent: str) -> Settings:
    """The model that the program names goes before one that the agent has of its own."""
    tables = tuple(one.model_copy(update={"model": ""}) if one.name == agent else one for one in settings.agents)
    return settings.model_copy(update={"agents": tables})


def warn_only(settings: Settings) -> None:
    """Warnings go to standard error, without secrets, unless the program has set its logs up."""
    if not structlog.is_configured():
        logs.configure("warning", settings.log.format, settings.secret_values())
