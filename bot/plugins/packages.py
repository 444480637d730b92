"""Entry points of installed packages, asked for by name only.

A look takes tens of milliseconds, so there is none for what is built in; and nothing that merely happens to be installed
is offered to anybody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Final

from runtime.contract import Model, Tool
from runtime.errors import ConfigError

if TYPE_CHECKING:
    from runtime.models.settings import ModelSettings

TOOLS: Final = "signalbox.tools"
MODELS: Final = "signalbox.models"


def names_in(group: str) -> Sequence[str]:
    """The names under which packages bring something."""
    return sorted(entry_points(group=group).names)


def tools_named(names: Iterable[str]) -> dict[str, Tool]:
    """Tools of packages, by name. Errors: ConfigError for one that no package brings, or that cannot be used."""
    return {name: _tool(name) for name in names}


def _tool(name: str) -> Tool:
    tool: Tool | None = brought(TOOLS, name)
    if tool is None:
        raise ConfigError(f"tools.installed: no installed package provides the tool {name}. Install one, or remove it.")
    if getattr(getattr(tool, "spec", None), "name", None) != name:
        raise ConfigError(f"tools.installed: the package of {name} provides no tool with that name. Fix the package.")
    return tool


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


def _unusable(point: EntryPoint, why: str) -> ConfigError:
    package = point.dist.name if point.dist else point.module
    return ConfigError(
        f"{point.name}: the package {package} provides it (entry point {point.value}), but {why}. Fix the package, or remove its use from the settings."
    )
