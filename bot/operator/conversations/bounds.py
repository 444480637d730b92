"""Bounds for a conversation that `signalbox ask` begins: an agent, a model, fewer tools, and a folder to work in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from adapters.web.adapter import CHANNEL
from bot.operator.agents import NO_AGENT
from bot.operator.partial_api import PartialApi, by_role
from bot.operator.settings.changing import BY_COMMAND_ALONE
from bot.operator.views import View
from runtime.contract import Address
from runtime.domain.agents.bounds import Bounds, is_bounded, unmatched
from runtime.domain.agents.globs import ANYTHING
from runtime.domain.agents.manifest import MAIN
from runtime.guard.findings import Gate
from runtime.http.errors import Refusal
from runtime.text.words import say
from runtime.workspace.lent import lend

GLOBS_MAX: Final = 100
NOT_NEW: Final = "Bounds are for a new conversation that `signalbox ask` begins."
NO_MODEL: Final = "There is no model {name}. There are: {names}."
NO_TOOL: Final = "No tool fits {globs}. {agent} has: {names}."
BAD_GLOBS: Final = f"`tools` is a list of at most {GLOBS_MAX} names or globs."
OTHER_BOUNDS: Final = "This conversation has other bounds already."
NO_FOLDERS: Final = "Only a running Signalbox lends a folder."


@by_role
class BoundsApi(PartialApi):
    """Bounds of conversations."""

    async def bound(self, room: str, fields: Mapping[str, Any]) -> View:
        """Bound a new conversation; the same once more changes nothing."""
        if not self.actor.hand:  # whoever holds a browser of an owner has no folder of the machine to lend
            raise Refusal(403, say(BY_COMMAND_ALONE))
        address = Address(CHANNEL, self._context.web_account, room)
        if not is_bounded(address):
            raise Refusal(400, NOT_NEW)
        agents = {row["name"]: row for row in self._context.agents()}
        agent = str(fields.get("agent") or MAIN)
        if agent not in agents:
            raise Refusal(404, say(NO_AGENT, name=agent, names=", ".join(agents)))
        bounds = Bounds(self._globs(fields.get("tools"), agents[agent]), self._model(str(fields.get("model") or "")))
        folder = str(fields.get("workspace") or "")
        if folder:
            self._check_lendable(agent, Path(folder))
        if not await self._store.lives.keep_bounds(address, bounds):
            raise Refusal(409, OTHER_BOUNDS)
        if folder:  # only now: other bounds of that room would work in it too
            self._lend(agent, address, Path(folder))
            cleaned = self._context.door().clean(folder, Gate.HANDED_ON)
            await self._store.cluster.note_fact("folder lent", self.actor.name, str(address), cleaned)
        names = [name for name in agents[agent]["has"] if unmatched(bounds.tools, [name]) != list(bounds.tools)]
        return {"room": room, "agent": agent, "model": bounds.model, "tools": names, "workspace": folder}

    def _globs(self, given: object, agent: View) -> tuple[str, ...]:
        if not given:
            return (ANYTHING,)
        if not (isinstance(given, list) and len(given) <= GLOBS_MAX and all(isinstance(one, str) for one in given)):
            raise Refusal(400, BAD_GLOBS)
        if lost := unmatched(given, agent["has"]):
            raise Refusal(
                404, NO_TOOL.format(globs=", ".join(lost), agent=agent["name"], names=", ".join(agent["has"]) or "none")
            )
        return tuple(given)

    def _model(self, name: str) -> str:
        """The name of a model, if it is another one than the usual."""
        models = self._context.models()
        names: Sequence[str] = [one.name for one in models]
        usual = [one.given.name for one in models if one.is_usual]
        if name and name not in (*names, *usual):
            raise Refusal(404, NO_MODEL.format(name=name, names=", ".join(names)))
        return "" if name in usual else name

    def _check_lendable(self, agent: str, folder: Path) -> None:
        """Errors: Refusal."""
        context = self._context
        if context.live_settings is None:
            raise Refusal(409, NO_FOLDERS)
        workspaces = context.folders(agent)
        why = workspaces.lending.refusal(folder, uid=workspaces.uid)
        if why:
            raise Refusal(403, why)

    def _lend(self, agent: str, address: Address, folder: Path) -> None:
        workspaces = self._context.folders(agent)
        try:
            lend(workspaces.root, workspaces.path(address).name, folder)
        except OSError as error:
            raise Refusal(409, f"{workspaces.root} can't be written: {error.strerror}.") from error
