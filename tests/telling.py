"""What a process of pytest-xdist tells the one that writes the report: how each test ended, and else only what is wrong.

It also tells when each begins and is over, and that its fixtures were made and taken down: four messages of five, which both
sides write, read and hand to all plugins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def tell_less(config: pytest.Config) -> None:
    for plugin in config.pluginmanager.get_plugins():
        if type(plugin).__name__ == "WorkerInteractor":  # of xdist.remote, 3.8.0, which runs as a program
            plugin.sendevent = worth_telling(plugin.sendevent)


def worth_telling(send: Callable[..., None]) -> Callable[..., None]:
    def sent(name: str, **told: Any) -> None:
        is_nothing = name == "testreport" and told["data"]["when"] != "call" and told["data"]["outcome"] == "passed"
        if not is_nothing and name not in ("logstart", "logfinish"):
            send(name, **told)

    return sent
