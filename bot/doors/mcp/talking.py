"""Tools by which a program talks: it asks an agent, says something, and reads what was said."""

from __future__ import annotations

from contextlib import aclosing
from datetime import timedelta
from typing import Annotated, Final

from pydantic import Field

from bot.doors.conversing import Conversing, Wanted
from bot.doors.forms import KEY_MAX_CHARS, Strict
from bot.doors.mcp.offers import Call, Offer, Told, View
from bot.doors.page.conversations import ConversationDoors
from bot.doors.places import PlaceDoors
from bot.operator.context import OperatorContext
from runtime.domain.programs.followed import Followed, FollowState
from runtime.http.bodies import TEXT_LIMIT

WAIT_SECONDS_USUAL: Final = 50
"""Below the minute after which usual clients give a call up."""
WAIT_SECONDS_LONGEST: Final = 280
SEARCHED_ROOMS_MOST: Final = 200
USUAL_ROOM: Final = "mcp"
KEY_WORDS: Final = "The same for each try of one message: a repeat with it is the same message and does nothing twice."
ROOM_WORDS: Final = "A name of your own, such as `builds`, or an address. What was said there is remembered."
KeyField = Annotated[str, Field(description=KEY_WORDS, max_length=KEY_MAX_CHARS, pattern=r"^[!-~]*$")]
WaitField = Annotated[int, Field(description="Seconds to wait for the answer.", ge=0, le=WAIT_SECONDS_LONGEST)]
TextField = Annotated[str, Field(min_length=1, max_length=TEXT_LIMIT)]

WORDS_OF_STATE: Final = {
    FollowState.QUEUED: "It waits for its turn.",
    FollowState.WORKING: "The agent is at work.",
    FollowState.FAILED: "It failed: {error}",
    FollowState.STOPPED: "It was stopped.",
    FollowState.REFUSED: "It was refused.",
    FollowState.KEPT: "It's kept as context, without an answer.",
}
TAKEN_IN: Final = "It is stored as {id}."
ASKS: Final = "The agent waits for people to decide: {tools}."
ANSWER_LATER: Final = " The answer stays: get it with `message` and the id {id}."
NOTHING_FOUND: Final = "Nothing that you may read has these words."
NO_ROOMS_YET: Final = "There are no rooms yet in which this program spoke."


class AskAgent(Strict):
    text: TextField
    agent: Annotated[str, Field(description="Empty: your usual one.", max_length=64)] = ""
    room: Annotated[str, Field(description=ROOM_WORDS, max_length=300)] = USUAL_ROOM
    key: KeyField = ""
    wait_seconds: WaitField = WAIT_SECONDS_USUAL


class SendMessage(Strict):
    text: TextField
    room: Annotated[str, Field(description=ROOM_WORDS, max_length=300)]
    agent: Annotated[str, Field(description="Empty: your usual one.", max_length=64)] = ""
    key: KeyField = ""


class GetMessage(Strict):
    id: Annotated[str, Field(max_length=64)]
    wait_seconds: WaitField = 0


class NoArguments(Strict):
    pass


class Search(Strict):
    query: Annotated[str, Field(description="Words that a message must all have.", min_length=1, max_length=200)]


class TalkingOffers:
    def __init__(
        self, context: OperatorContext, conversing: Conversing, places: PlaceDoors, kept: ConversationDoors
    ) -> None:
        self._context = context
        self._conversing = conversing
        self._places = places
        self._kept = kept

    def offers(self) -> list[Offer]:
        return [
            Offer(
                name="ask_agent",
                words="Ask an agent and wait for its answer. Where people have to decide first, it says so at once.",
                form=AskAgent,
                serve=self.ask,
                reads=False,
            ),
            Offer(
                name="send_message",
                words="Say something to an agent without waiting. `message` has its answer later.",
                form=SendMessage,
                serve=self.send,
                reads=False,
            ),
            Offer(
                name="message",
                words="A message by its id: how it stands, and its answer.",
                form=GetMessage,
                serve=self.message,
            ),
            Offer(
                name="rooms",
                words="Rooms in which this program spoke, newest first.",
                form=NoArguments,
                serve=self.rooms,
            ),
            Offer(
                name="search_messages",
                words="Messages with all these words in the rooms where this program spoke, newest first.",
                form=Search,
                serve=self.search,
            ),
        ]

    async def ask(self, call: Call, asked: AskAgent) -> Told:
        taken = await self._conversing.say(call.caller, self._wanted(asked))
        await call.tell(TAKEN_IN.format(id=taken.id))
        return await self._awaited(call, taken.id, timedelta(seconds=asked.wait_seconds))

    def _wanted(self, asked: AskAgent | SendMessage) -> Wanted:
        key = asked.key or self._context.new_id()
        return Wanted(room=asked.room, text=asked.text, key=key, agent=asked.agent)

    async def send(self, call: Call, asked: SendMessage) -> Told:
        taken = await self._conversing.say(call.caller, self._wanted(asked))
        words = f"{taken.notice or 'It is stored and will be answered.'}{ANSWER_LATER.format(id=taken.id)}"
        return Told(words, {"id": taken.id, "outcome": taken.outcome.value, "repeated": taken.repeated})

    async def message(self, call: Call, asked: GetMessage) -> Told:
        return await self._awaited(call, asked.id, timedelta(seconds=asked.wait_seconds))

    async def _awaited(self, call: Call, signal_id: str, within: timedelta) -> Told:
        """The message once it is over or asks people, or as it is after `within`; each change is told on the way."""
        found = await self._conversing.look(call.caller, signal_id)
        async with aclosing(self._conversing.follow(call.caller, signal_id, within)) as changes:
            async for found in changes:
                if found.state.is_over or found.questions:
                    break
                await call.tell(words_of(found))
        words = words_of(found)
        return Told(words if found.state.is_over else words + ANSWER_LATER.format(id=found.id), self._view(found))

    def _view(self, found: Followed) -> View:
        return {
            "id": found.id,
            "state": found.state.value,
            "room": self._context.named(found.address),
            "agent": found.agent,
            "run": found.run,
            "text": found.text,
            "files": [one.path for one in found.files],
            "questions": [
                {"id": one.id, "tool": one.tool, "expires_at": one.expires_at.isoformat()} for one in found.questions
            ],
        }

    async def rooms(self, call: Call, asked: NoArguments) -> Told:
        rows = await self._places.listed(call.caller)
        lines = "\n".join(f"- {row['title']} ({row['room']})" for row in rows)
        return Told(lines or NO_ROOMS_YET, {"rooms": rows})

    async def search(self, call: Call, asked: Search) -> Told:
        rows = await self._kept.found(call.caller, asked.query, SEARCHED_ROOMS_MOST)
        lines = "\n".join(f"- {row['at'][:16]} {row['name'] or row['author']}: {row['text']}" for row in rows)
        return Told(lines or NOTHING_FOUND, {"found": rows})


def words_of(found: Followed) -> str:
    """A message as it stands, in words: its answer where there is one."""
    if found.state is FollowState.DONE:
        return found.text or "It's done, without words."
    if found.questions:
        return ASKS.format(tools=", ".join(sorted({one.tool or one.kind for one in found.questions})))
    return WORDS_OF_STATE.get(found.state, WORDS_OF_STATE[FollowState.WORKING]).format(error=found.error or "no reason")
