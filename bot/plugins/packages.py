"""Entry points of installed packages, asked for by name only.

A look takes tens of milliseconds, so there is none for what is built in; and nothing that merely happens to be installed
is offered to anybody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Final

import structlog

from runtime.contract import Model, Tool
from runtime.errors import ConfigError
from tools.kit.plugin import TOOL_INTERFACE, ToolPlugin

if TYPE_CHECKING:
    from runtime.contract.agents.interceptors import Interceptor
    from runtime.models.settings import ModelSettings

log = structlog.get_logger("tools")

TOOLS: Final = "signalbox.tools"
MODELS: Final = "signalbox.models"
INTERCEPTORS: Final = "signalbox.interceptors"


def names_in(group: str) -> Sequence[str]:
    """The names under which packages bring something."""
    return sorted(entry_points(group=group).names)


def tools_named(names: Iterable[str], settings: Mapping[str, Mapping[str, Any]]) -> dict[str, Tool]:
    """Tools of packages, by name; one that can't be used is left out, and told in the log.

    Errors: ConfigError for one that no package provides, or that several do.
    """
    found: dict[str, Tool] = {}
    for name in names:
        check_provided(name)
        try:
            found[name] = _tool(name, settings.get(name, {}))
        except ConfigError as error:
            log.error("an installed tool isn't used", tool=name, reason=str(error))  # noqa: TRY400 - in words already
    return found


def broken_tools(names: Iterable[str], settings: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Reasons for which tools of packages can't be used, by name."""
    faults: dict[str, str] = {}
    for name in names:
        try:
            check_provided(name)
            _tool(name, settings.get(name, {}))
        except ConfigError as error:
            faults[name] = str(error)
    return faults


def check_provided(name: str) -> None:
    """Errors: ConfigError for a tool that no package provides, or that several do."""
    packages = sorted({_package(point) for point in entry_points(group=TOOLS, name=name)})
    if not packages:
        raise ConfigError(f"tools.installed: no installed package provides the tool {name}. Install one, or remove it.")
    if len(packages) > 1:
        raise ConfigError(f"tools.installed: {' and '.join(packages)} both provide the tool {name}. Uninstall one.")


def package_of(name: str) -> str:
    """The package that provides a tool; empty where none does."""
    return next((_package(point) for point in entry_points(group=TOOLS, name=name)), "")


def _tool(name: str, settings: Mapping[str, Any]) -> Tool:
    thing = brought(TOOLS, name, _no_tool)
    if isinstance(thing, ToolPlugin):
        try:
            thing = thing.made(settings)
        except Exception as error:
            raise unusable(TOOLS, name, f"it fails to make the tool ({type(error).__name__}: {error})") from error
    elif settings:
        raise ConfigError(f"tools.settings.{name}: this tool takes no settings. Remove the table.")
    if getattr(getattr(thing, "spec", None), "name", None) != name:
        raise unusable(TOOLS, name, "it provides no tool with that name")
    tool: Tool = thing
    return tool


def _no_tool(thing: object) -> str:
    if isinstance(thing, ToolPlugin) and thing.interface != TOOL_INTERFACE:
        return f"it is written for version {thing.interface} of the tool interface, and this Signalbox has {TOOL_INTERFACE}"
    return ""


def interceptor_named(name: str) -> Interceptor:
    """An interceptor of a package. Errors: ConfigError for one that nobody provides, or that is of no use."""
    found = brought(INTERCEPTORS, name, lambda thing: "" if callable(thing) else "what it provides can't be called")
    if found is None:
        known = ", ".join(names_in(INTERCEPTORS)) or "none"
        raise ConfigError(
            f"interceptors: no installed package provides the interceptor {name}. There are: {known}. Install its package, or remove it."
        )
    interceptor: Interceptor = found
    return interceptor


def model_driver(name: str) -> Callable[..., Model] | None:
    """The maker of the model `vendor/model`, where a package brings its vendor. Errors: ConfigError when it is of no use."""
    vendor, slash, _ = name.partition("/")
    return brought(MODELS, vendor, _no_maker) if slash else None


def _no_maker(thing: object) -> str:
    return "" if callable(thing) else "what it provides makes no model"


def made_model(settings: ModelSettings) -> Model:
    """The model of that name: LiteLLM's for a vendor it knows or that nobody brings, else a package's.

    Errors: ConfigError for a package that cannot be loaded, or makes none.
    """
    from runtime.models.litellm_model import LiteModel

    vendor = settings.name.partition("/")[0]
    make = _maker(settings.name)
    if make is None:
        return LiteModel(settings)
    try:
        return make(settings)
    except Exception as error:
        raise unusable(MODELS, vendor, f"it fails to make a model ({type(error).__name__}: {error})") from error


def is_asked_through_litellm(model: str) -> bool:
    """Errors: ConfigError for a package that cannot be loaded."""
    return _maker(model) is None


def _maker(model: str) -> Callable[[ModelSettings], Model] | None:
    """A package's, for a vendor that LiteLLM does not know."""
    from runtime.models.vendors import VENDORS

    return None if model.partition("/")[0] in VENDORS else model_driver(model)


def brought(group: str, name: str, wrong: Callable[[Any], str] = lambda thing: "") -> Any:
    """The object that an installed package brings under this name, or None. `wrong` is why it is of no use, if it is none.

    Errors: ConfigError when it cannot be loaded or used.
    """
    for point in entry_points(group=group, name=name):
        try:
            thing = point.load()
            why = wrong(thing)
        except Exception as error:
            raise _unusable(point, f"it cannot be loaded ({type(error).__name__}: {error})") from error
        if why:
            raise _unusable(point, why)
        return thing
    return None


def unusable(group: str, name: str, why: str) -> ConfigError:
    """The fault of a package that brings something of no use: which one, by which entry point, and what to do."""
    return next(_unusable(point, why) for point in entry_points(group=group, name=name))


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.module


def _unusable(point: EntryPoint, why: str) -> ConfigError:
    package = _package(point)
    return ConfigError(
        f"{point.name}: the package {package} provides it (entry point {point.value}), but {why}. Fix the package, or remove its use from the settings."
    )
