"""How people reach a room: over a fake channel, or over the page. What is handed over is written down with its time."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Protocol

from tests.faults.sides import WebSide
from tests.soak.diary import Complaint, Diary
from tests.soak.plan import ADA, WEB
from tests.soak.platforms import Platform, Shown


class Street(Protocol):
    """One place. An `event` that is handed over again is the same event. Returns once the place has it for good."""

    place: str

    async def say(self, room: str, text: str, event: str, who: str = ADA) -> None: ...

    async def click(self, room: str, approval: str, choice: str, event: str, who: str = ADA) -> None: ...

    async def stop(self, room: str, event: str) -> None: ...

    async def look(self, room: str) -> list[Shown]:
        """The bot's messages in `room`, in the order shown."""


class FakeStreet:
    """The platform repeats what is not acknowledged."""

    def __init__(self, platform: Platform, diary: Diary) -> None:
        self.place = platform.kind
        self._platform = platform
        self._diary = diary
        self._message_ids: dict[str, str] = {}

    async def say(self, room: str, text: str, event: str, who: str = ADA) -> None:
        self._diary.write("said", place=self.place, room=room, event=event, text=text, who=who)
        same = {"message_id": self._message_ids[event]} if event in self._message_ids else {}
        taken = await self._platform.driver.say(text, room=room, user=who, id=event, **same)
        self._message_ids[event] = taken["message_id"]

    async def click(self, room: str, approval: str, choice: str, event: str, who: str = ADA) -> None:
        about = {"approval": approval, "choice": choice, "who": who}
        self._diary.write("clicked", place=self.place, room=room, event=event, **about)
        await self._platform.driver.click(approval, choice, room=room, user=who, id=event)

    async def stop(self, room: str, event: str) -> None:
        self._diary.write("stopped", place=self.place, room=room, event=event, who=ADA)
        await self._platform.driver.stop(room=room, id=event)

    async def look(self, room: str) -> list[Shown]:
        return list(self._platform.board.rooms[room].values())


class WebStreet:
    """The page, by loopback. The first try of an event that will come again is cut; each is sent until it is taken."""

    place = WEB

    def __init__(self, side: WebSide, diary: Diary) -> None:
        self._side = side
        self._diary = diary
        self._seen: dict[str, dict[str, Shown]] = {}

    async def say(self, room: str, text: str, event: str, who: str = ADA) -> None:
        self._diary.write("said", place=WEB, room=room, event=event, text=text, who=who)
        await self._post(f"/api/rooms/{room}/messages", event, text=text)

    async def click(self, room: str, approval: str, choice: str, event: str, who: str = ADA) -> None:
        about = {"approval": approval, "choice": choice, "who": who}
        self._diary.write("clicked", place=WEB, room=room, event=event, **about)
        await self._post(f"/api/approvals/{approval}", event, room=room, choice=choice)

    async def stop(self, room: str, event: str) -> None:
        self._diary.write("stopped", place=WEB, room=room, event=event, who=ADA)
        await self._post(f"/api/rooms/{room}/stop", event)

    async def look(self, room: str) -> list[Shown]:
        """The last page. Errors: Complaint when something is gone that people saw before."""
        page = [shown_of(entry, room) for entry in await self._page(room) if entry["author"] == "agent"]
        now = {shown.id: shown for shown in page}
        oldest = min((shown.at for shown in page), default=0.0)
        for before in self._seen.setdefault(room, {}).values():
            if before.at > oldest and before.id not in now:
                words = f"{before.first[:80]!r} stood in {room} and is gone."
                raise Complaint("visible part", words, delivery=before.id.rpartition(".")[0])
        self._seen[room] |= now
        return list(self._seen[room].values())

    async def _page(self, room: str) -> list[dict[str, Any]]:
        told = await self._side._call("GET", f"/api/rooms/{room}/timeline")
        entries: list[dict[str, Any]] = told["entries"]
        return entries

    async def _post(self, path: str, event: str, **fields: str) -> None:
        await self._side._post(path, {"id": event, **fields})
        self._diary.write("acked", event=event)


def shown_of(entry: dict[str, Any], room: str) -> Shown:
    """Every entry of the page carries the id of its part."""
    buttons = entry["buttons"]
    text, approval = entry["markdown"], buttons[0]["approval_id"] if buttons else ""
    at = datetime.fromisoformat(entry["at"]).timestamp()
    choices = tuple(button["choice"] for button in buttons)
    return Shown(WEB, room, entry["id"], at, text, text, approval, choices, part=entry["id"])
