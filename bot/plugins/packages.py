"""What installed packages bring by entry points: asked for by name only.

A look takes tens of milliseconds, so there is none for what is built in; and nothing that merely happens to be installed
is offered to anybody.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import entry_points
from typing import Any

from runtime.errors import ConfigError


def names_in(group: str) -> Sequence[str]:
    """The names under which packages bring something."""
    return sorted(entry_points(group=group).names)


def brought(group: str, name: str) -> Any:
    """What an installed package brings under this name, or None. Errors: ConfigError when it cannot be loaded."""
    for point in entry_points(group=group, name=name):
        try:
            return point.load()
        except Exception as error:
            package = point.dist.name if point.dist else point.module
            raise ConfigError(
                f"{name}: the package {package} brings it, and it cannot be loaded ({type(error).__name__}: {error}). "
                "Mend the package, or take what needs it out of the settings."
            ) from error
    return None
