"""Work of a first message that is done after the start, so that its answer is not much later than others."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bot.node.lean_classes import write_ahead
from bot.plugins.packages import is_asked_through_litellm
from bot.server.phases.engine import EnginePhase
from bot.settings.settings import Settings
from bot.telemetry.instrument import Duty
from bot.wiring.models.made import first_settings
from runtime.markup import parse
from runtime.models.litellm_loading import preload
from runtime.store.store import Store


def loading_ahead(settings: Settings, store: Store, engine: EnginePhase) -> Iterator[Duty]:
    """LiteLLM is loaded at the start, unless the first model is the demo or a package's."""
    if settings.model.preload and not settings.model.is_demo:
        first = first_settings(settings)
        if is_asked_through_litellm(first.name):
            beside = (
                partial(_message, store),
                partial(parse, "**ready**"),
                partial(_schemas, engine),
                partial(_windows, engine),
            )
            yield partial(preload, first.name, beside, lean=first.lean)


def _message(store: Store) -> None:
    """Have the statements of a message compiled, and what makes its objects written."""
    from bot.server.phases.message_classes import CLASSES

    store.prepare()
    write_ahead(CLASSES)


def _schemas(engine: EnginePhase) -> None:
    """Have the tools' schemas made, which they are when they are first read."""
    for tool in engine.toolkit.toolbox.tools.values():
        dict(tool.spec.schema)


def _windows(engine: EnginePhase) -> None:
    """Have the models' windows looked up in LiteLLM's list, which takes some 15 ms to read."""
    for agent in engine.agents.values():
        _ = agent.limits.window.tokens
