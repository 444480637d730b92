"""People who are forgotten, and what is known of one: for owners alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar

from bot.operator.access.wishes import wishes_of
from bot.operator.actor import Actor
from bot.operator.context import OperatorContext
from bot.operator.partial_api import PartialApi, by_role
from bot.operator.people import IN_SETTINGS, NOBODY_NAMED, done
from bot.operator.views import View
from bot.operator.views import at as moment_of
from runtime.contract import PEOPLE, Role
from runtime.domain.forgetting.person import Needles
from runtime.forgetting.forgetter import STAGES, Forgetter
from runtime.http.errors import Refusal
from runtime.store.operations.texts import is_key
from runtime.store.protocol import Unmoved
from runtime.store.protocol.memory.forgetting import Forgetting
from runtime.text.words import listed, marked, say

EXPORT_PAGE_ROWS: Final = 500
LISTED_FORGETTINGS: Final = 50
OUTSIDE: Final = (
    marked("messages on the chat platforms: delete them there"),
    marked("backups made so far: a restore leaves this person out, but their files still have them"),
    marked("log files of this program, and whatever collects them"),
    marked("event sinks, also those that are files"),
    marked("files that the agent wrote in rooms of several people"),
    marked("the settings file, and documents and skills of yours"),
)
"""Places that this program doesn't reach."""
UNANSWERED: Final = marked(
    "Nobody may answer these questions now: {ids}. Name other approvers, or stop the work that asks."
)


When = TypeVar("When", datetime, str)


@dataclass(frozen=True, slots=True)
class ForgetOperations:
    """Forgetting and export, for one owner; `own`: the export of whoever asks, for themselves."""

    context: OperatorContext
    actor: Actor
    own: bool = False

    async def preview(self, name: str) -> View:
        """Tell what would become of somebody, and change nothing. Errors: Refusal for one who can't be forgotten."""
        needles = await self._known(name)
        await self._may_go(name, needles)
        return {
            "name": name,
            "identities": sorted(one for one in needles.ids if one != needles.person),
            "rooms": len(needles.rooms),
            "asked_at": await self.asked_at(name),
            "also_called": sorted({*needles.names} - {name}),
            "outside": [*map(say, OUTSIDE)],
            "told": say(
                "{name} is forgotten for good: what they wrote, what was answered to them, their conversations, files, "
                "memories, schedules and grants go. In what others wrote and decided, a mark stands in place of their name.",
                name=name,
            ),
        }

    async def begin(self, name: str, confirm: str) -> View:
        """From here on nobody knows them; `continue_forgetting` does the rest, or the running process by itself."""
        needles = await self._known(name)
        if confirm != name:
            raise Refusal(400, say("To forget {name} for good, write that name once more.", name=name))
        await self._may_go(name, needles)
        made = await self.context.store.forgettings.begin(name, actor=self.actor.name)
        if isinstance(made, Unmoved):
            done(made, name)
            raise AssertionError("unreachable")
        self.context.notifier.notify(PEOPLE)
        view = _view(made.forgetting)
        told = say(
            "{name} is no longer known. All that is kept of them is going now; `signalbox people forgotten` shows how far that is.",
            name=name,
        )
        return {
            **view,
            "told": told,
            "schedules": made.schedules,
            "unanswered": await self._unanswered(made.forgetting.id),
        }

    async def _may_go(self, name: str, needles: Needles) -> None:
        """Errors: Refusal."""
        if places := self.context.written(name, sorted(needles.ids)):
            raise Refusal(409, say(IN_SETTINGS, name=name, places=listed(places)))
        everybody = await self.context.store.people.people()
        owners = [known.person.name for known in everybody if known.person.role is Role.OWNER]
        if owners == [name]:
            done(Unmoved.LAST_OWNER, name)

    async def asked_at(self, name: str) -> str | None:
        """Time at which they asked for it themselves, if they did and still want it; not another one who was called so."""
        known = await self.context.store.people.person_named(name)
        return moment_of((await wishes_of(self.context)).standing(known.identities if known else ()))

    async def _unanswered(self, which: str) -> list[str]:
        """Questions that only they could answer; operators are told."""
        left = await self.context.store.forgettings.unanswerable(self.context.rights())
        ids = [str(one.id) for one in left]
        if ids:
            await self._forgetter.tell(f"forgotten:{which}", say(UNANSWERED, ids=", ".join(ids)))
        return ids

    async def proceed(self, which: str) -> View:
        try:
            return _view(await self._forgetter.step(which))
        except KeyError:
            raise Refusal(404, say("Nobody is being forgotten under {which}.", which=which)) from None

    async def listed(self) -> list[View]:
        return [_view(one) for one in await self.context.store.forgettings.newest(LISTED_FORGETTINGS)]

    async def export(self, name: str) -> View:
        """Tables and rooms for an export. The audit says who asked for it."""
        needles = await self._known(name)
        await self.context.store.forgettings.note_export(name, actor=self.actor.name)
        rooms = await self.context.store.forgettings.rooms_below([*needles.rooms])
        tables = self.context.store.forgettings.exported_tables()
        return {"name": name, "tables": [*tables], "rooms": [str(room) for room in rooms]}

    async def export_page(self, name: str, fields: Mapping[str, Any]) -> View:
        table, after = fields.get("table"), fields.get("after")
        if not isinstance(table, str) or table not in self.context.store.forgettings.exported_tables():
            raise Refusal(400, "`table` must be one of those that the export named.")
        if not (after is None or is_key(table, after)):
            raise Refusal(400, "`after` must be a key of the table, or null.")
        key = None if after is None else tuple(after)
        page = await self.context.store.forgettings.export_page(
            table, key, await self._known(name), limit=EXPORT_PAGE_ROWS, own=self.own
        )
        return {"rows": [{**row} for row in page.rows], "after": page.after and [*page.after]}

    async def _known(self, name: str) -> Needles:
        needles = await self.context.store.forgettings.needles(name)
        if needles is None or (self.own and needles.person != self.actor.person.id):
            raise Refusal(404, say(NOBODY_NAMED, name=name))
        return needles

    @property
    def _forgetter(self) -> Forgetter:
        if self.context.forgetter is None:
            raise Refusal(409, marked("Nobody can be forgotten here."))
        return self.context.forgetter


def _view(one: Forgetting) -> View:
    is_done = one.ended_at is not None
    return {
        "id": one.id,
        "mark": one.mark,
        "stage": one.stage,
        "step": len(STAGES) if is_done else STAGES.index(one.stage) + 1,
        "of": len(STAGES),
        "rows": one.changed,
        "done": is_done,
        "began_at": one.wanted_at.isoformat(timespec="seconds"),
    }


@by_role
class ForgettingApi(PartialApi):
    """Forgetting and exporting a person."""

    async def forget_person(self, name: str, confirm: str = "") -> View:
        """Begin to forget somebody for good, with their name once more as `confirm`; without it tell what that would do."""
        return await (self._forgetting.begin(name, confirm) if confirm else self._forgetting.preview(name))

    async def continue_forgetting(self, which: str) -> View:
        """One slice of it. A running process goes on by itself too."""
        return await self._forgetting.proceed(which)

    async def forgettings(self) -> list[View]:
        return await self._forgetting.listed()

    async def export_person(self, name: str) -> View:
        return await self._forgetting.export(name)

    async def export_page(self, name: str, fields: Mapping[str, Any]) -> View:
        return await self._forgetting.export_page(name, fields)

    @property
    def _forgetting(self) -> ForgetOperations:
        return ForgetOperations(self._context, self.actor)
