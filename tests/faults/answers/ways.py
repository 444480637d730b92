"""Ways to answer: what is asked, what is pressed once a kill waits, and what has to be true when all is over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from bot.testing.channel.board import recorded
from runtime.domain.ids import new_id
from tests.faults.answers.hands import Hands, Shown, one_card
from tests.faults.app import EFFECTS
from tests.faults.points import CALLED, ENDED, UNDONE
from tests.faults.program import until
from tests.faults.stage import Rows, Stage

CLICK: Final = ("approval-decided", "accepted")
RUN: Final = ("claimed", "tool-marked", "tool-finished", "model-answered", "delivery-stored")
SENDING: Final = ("part-marked", "part-shown", "part-checkpointed")
"""Of the card that follows the decision, and of the answer; on the page both are our own commit."""
LOOKS: Final = ("--look-every", "0.2")
TWO_PEOPLE: Final = ("--set", 'policy=[{"tool": "shell", "result": "ask", "quorum": 2}]')


@dataclass
class Scene:
    """One way, played once. `word` stands in everything of it, and in nothing else."""

    on: Stage
    people: Hands
    rows: Rows
    word: str

    def calls(self, word: str = "") -> int:
        """How often a call with that word began."""
        made = recorded(self.on.program.data / EFFECTS)
        return sum((word or self.word) in str(one["arguments"]) for one in made)

    def count(self, table: str, where: str) -> int:
        ((number,),) = self.rows.select(f"SELECT count(*) FROM {table} WHERE {where}")
        return int(number)

    def pass_hours(self, hours: int) -> None:
        """So much time has passed for its question."""
        passed = hours * 3_600_000_000
        shifts = ", ".join(f"{one} = {one} - {passed}" for one in ("asked_at", "expires_at", "next_call_at"))
        self.rows.change(f"UPDATE approvals SET {shifts} WHERE arguments LIKE '%{self.word}%' AND state = 'pending'")

    def audited(self, kind: str) -> int:
        return self.count("audit", f"kind = '{kind}'")


class Way:
    """`points`: where it is killed. `settings` for the command line. `people`: how many have to say yes.

    `role` is that of the second person; `private`: whoever decides has a private chat, and was never in their room.
    """

    points: Sequence[str] = (*CLICK, *RUN)
    settings: Sequence[str] = ()
    people: int = 1
    role: str = "owner"
    private: bool = False

    def began(self, at: Scene, doubt: Shown) -> int:
        """How often the call had begun that this card is about."""
        return at.calls()

    async def ask(self, at: Scene) -> None:
        """All that comes before the press which is killed."""

    async def answer(self, at: Scene) -> None: ...

    async def is_decided(self, at: Scene) -> bool:
        return at.count("approvals", f"arguments LIKE '%{at.word}%' AND kind = 'call' AND state = 'approved'") == 1

    def check(self, at: Scene, doubts: int) -> None:
        """`doubts`: how many calls had run when a person said "Run again", since nobody could know."""
        assert at.calls() == 1 + doubts
        assert at.count("approvals", f"arguments LIKE '%{at.word}%' AND kind = 'call'") == 1


class Approve(Way):
    async def ask(self, at: Scene) -> None:
        await at.people.say(f"run: echo {at.word}")
        await one_card(at.people, at.word, button="approve")

    async def answer(self, at: Scene) -> None:
        await at.people.press(await one_card(at.people, at.word, button="approve"), "approve")


class Deny(Approve):
    points = (*CLICK, "claimed", "model-answered", "delivery-stored")

    async def answer(self, at: Scene) -> None:
        await at.people.press(await one_card(at.people, at.word, button="deny"), "deny")

    async def is_decided(self, at: Scene) -> bool:
        return at.count("approvals", f"arguments LIKE '%{at.word}%' AND kind = 'call' AND state = 'denied'") == 1

    def check(self, at: Scene, doubts: int) -> None:
        assert (at.calls(), doubts) == (0, 0)


class Edit(Approve):
    async def ask(self, at: Scene) -> None:
        await at.people.say(f"run: echo before-{at.word}")
        await one_card(at.people, at.word, button="edit")

    async def answer(self, at: Scene) -> None:
        card = await one_card(at.people, at.word, button="edit")
        await at.people.fill(card, "edit", {"argument": f"echo after-{at.word}"})

    def check(self, at: Scene, doubts: int) -> None:
        assert (at.calls(f"before-{at.word}"), at.calls(f"after-{at.word}")) == (0, 1 + doubts)
        assert at.count("audit", f"kind = 'approval edited' AND detail LIKE '%{at.word}%'") <= 1


class Quorum(Approve):
    settings = TWO_PEOPLE
    people = 2

    async def ask(self, at: Scene) -> None:
        await super().ask(at)
        await at.people.press(await one_card(at.people, at.word, button="approve"), "approve")
        await one_card(at.people, at.word, "1 of 2", button="approve")

    async def answer(self, at: Scene) -> None:
        card = await one_card(at.people, at.word, "1 of 2", button="approve")
        await at.people.press(card, "approve", second=True)

    def check(self, at: Scene, doubts: int) -> None:
        super().check(at, doubts)
        of_it = f"approval_id IN (SELECT id FROM approvals WHERE arguments LIKE '%{at.word}%' AND kind = 'call')"
        assert at.count("votes", of_it) == 2


class Granted(Approve):
    """A grant with one use is used while it is killed; what comes after is asked about."""

    points = (
        "accepted",
        "claimed",
        "step-recorded",
        "tool-marked",
        "tool-finished",
        "model-answered",
        "delivery-stored",
    )

    def began(self, at: Scene, doubt: Shown) -> int:
        return at.calls() - 1

    async def ask(self, at: Scene) -> None:
        await super().ask(at)
        card = await one_card(at.people, at.word, button="always")
        await at.people.fill(card, "always", {"where": "everywhere", "uses": "1"})

        async def ran() -> bool | None:
            return at.calls() == 1 or None

        await until(ran, "the first call")
        await at.on.until_quiet()

    async def answer(self, at: Scene) -> None:
        await at.people.say(f"run: echo {at.word}")

    async def is_decided(self, at: Scene) -> bool:
        return at.count("grants", f"pattern LIKE '%{at.word}%' AND uses_left = 0") == 1

    def check(self, at: Scene, doubts: int) -> None:
        assert at.calls() == 2 + doubts
        assert at.count("approvals", f"arguments LIKE '%{at.word}%' AND kind = 'call'") == 1
        of_it = f"subject IN (SELECT id FROM grants WHERE pattern LIKE '%{at.word}%')"
        assert at.count("audit", f"kind = 'grant used' AND {of_it}") == 1


class All(Approve):
    def began(self, at: Scene, doubt: Shown) -> int:
        return sum(at.calls(f"{one}-{at.word}") for one in "ab" if f"{one}-{at.word}" in doubt.text)

    async def ask(self, at: Scene) -> None:
        await at.people.say(f"run: echo a-{at.word}\nrun: echo b-{at.word}")
        await one_card(at.people, f"b-{at.word}", button="all")

    async def answer(self, at: Scene) -> None:
        await at.people.press(await one_card(at.people, f"b-{at.word}", button="all"), "all")

    async def is_decided(self, at: Scene) -> bool:
        return at.count("approvals", f"arguments LIKE '%{at.word}%' AND kind = 'call' AND state = 'approved'") == 2

    def check(self, at: Scene, doubts: int) -> None:
        assert at.calls() == 2 + doubts
        assert min(at.calls(f"a-{at.word}"), at.calls(f"b-{at.word}")) >= 1


class Split(Approve):
    """The first call on a list is changed, and so gets a card of its own; people deny whatever is left then."""

    points = CLICK

    async def ask(self, at: Scene) -> None:
        await at.people.say("\n".join(f"run: echo n{number}-{at.word}" for number in range(7)))
        await one_card(at.people, f"n6-{at.word}", "these 3 calls", button="approve")

    async def answer(self, at: Scene) -> None:
        card = await one_card(at.people, f"n6-{at.word}", "these 3 calls", button="approve")
        await at.people.fill(card, "edit", {"argument": f"echo after-{at.word}"})

    async def is_decided(self, at: Scene) -> bool:
        if at.count("approvals", f"arguments LIKE '%after-{at.word}%' AND state = 'approved'") == 0:
            return False
        for card in await at.people.cards(at.word):
            if "deny" in card.buttons:
                await at.people.press(card, "deny")
        return at.count("approvals", f"arguments LIKE '%{at.word}%' AND state = 'pending'") == 0

    def check(self, at: Scene, doubts: int) -> None:
        assert at.calls() == at.calls(f"after-{at.word}") == 1 + doubts
        of_it = f"arguments LIKE '%{at.word}%' AND kind = 'call'"
        assert at.count("approvals", of_it) == 7
        assert at.count("approvals", f"{of_it} AND state = 'denied'") == 6


class Undo(Way):
    points = (*CLICK, *UNDONE)
    settings = ("--undo-cut", "1")

    async def ask(self, at: Scene) -> None:
        await at.people.say(f"write hello to {at.word}.txt")
        await at.people.press(await one_card(at.people, at.word, button="approve"), "approve")
        await one_card(at.people, at.word, button="undo")
        await at.on.until_quiet()
        assert self._files(at) == 1

    async def answer(self, at: Scene) -> None:
        await at.people.press(await one_card(at.people, at.word, button="undo"), "undo")

    async def is_decided(self, at: Scene) -> bool:
        """Wanted once, and over: done, or cut off and told."""
        of_it = f"approval_id IN (SELECT id FROM approvals WHERE arguments LIKE '%{at.word}%')"
        return at.count("undos", f"{of_it} AND undone_by <> '' AND kept = ''") == 1

    def check(self, at: Scene, doubts: int) -> None:
        ended = "SELECT id FROM approvals WHERE arguments LIKE '%" + at.word + "%'"
        told = [kind for (kind,) in at.rows.select(f"SELECT kind FROM audit WHERE subject IN ({ended}) ORDER BY entry")]
        told = [kind for kind in told if kind in ("undo wanted", "undo done", "undo cut off")]
        assert told in (["undo wanted", "undo done"], ["undo wanted", "undo cut off"])
        assert (self._files(at) == 0) or told[-1] == "undo cut off"
        assert at.calls() == 1

    def _files(self, at: Scene) -> int:
        return len([*(at.on.program.data / "workspaces").glob(f"*/{at.word}.txt")])


class AskPerson(Way):
    points = (*CLICK, "claimed", "model-answered", "delivery-stored")

    async def ask(self, at: Scene) -> None:
        await at.people.say(f"ask the room which {at.word}? red, green or blue")
        await one_card(at.people, at.word, button=self._green(at))

    def _green(self, at: Scene) -> str:
        return "second" if at.on.rig is None else "green"

    async def answer(self, at: Scene) -> None:
        card = await one_card(at.people, at.word, button=self._green(at))
        await at.people.press(card, self._green(at))

    async def is_decided(self, at: Scene) -> bool:
        return at.count("approvals", f"card LIKE '%{at.word}%' AND state = 'answered' AND choice = 'second'") == 1

    def check(self, at: Scene, doubts: int) -> None:
        assert at.calls() == 0
        told = at.rows.select("SELECT text FROM turns WHERE role = 'tool'")
        assert sum('answered: "green"' in text for (text,) in told) >= 1


class Forged(Approve):
    """Presses that must not count stand before and behind the one that does."""

    role = "user"
    private = True

    async def answer(self, at: Scene) -> None:
        card = await one_card(at.people, at.word, button="approve")
        await at.people.press(card, "approve", second=True)
        await at.people.forge(card, "approve", about=new_id())
        await at.people.forge(card, "approve", elsewhere=True)
        assert at.calls() == 0
        await at.people.press(card, "approve")
        await at.people.forge(card, "deny")
        await at.people.forge(card, "deny", second=True)

    def check(self, at: Scene, doubts: int) -> None:
        super().check(at, doubts)
        of_it = f"subject IN (SELECT id FROM approvals WHERE arguments LIKE '%{at.word}%' AND kind = 'call')"
        assert at.count("audit", f"kind = 'click refused' AND {of_it}") >= 4
        assert at.count("audit", f"kind = 'approval approved' AND {of_it}") == 1


class Reminded(Approve):
    """Half of its time passes: it is put once more, whatever is killed, and either card decides."""

    points = (CALLED,)
    settings = LOOKS

    async def answer(self, at: Scene) -> None:
        at.pass_hours(7)
        await until(partial(self._is_called, at), "the reminder")

    async def _is_called(self, at: Scene) -> bool | None:
        return len(await at.people.cards(at.word, "May I")) > 1 or None

    async def is_decided(self, at: Scene) -> bool:
        for card in await at.people.cards(at.word):
            if "approve" in card.buttons:
                await at.people.press(card, "approve")
                break
        return await super().is_decided(at)

    def check(self, at: Scene, doubts: int) -> None:
        super().check(at, doubts)
        of_it = f"subject IN (SELECT id FROM approvals WHERE arguments LIKE '%{at.word}%')"
        assert at.count("audit", f"kind = 'approval called' AND {of_it}") == 1


class Expired(Approve):
    """Nobody answers: it ends once, the model is told, and a press that comes later runs nothing."""

    points = (ENDED, "claimed", "model-answered", "delivery-stored")
    settings = LOOKS

    async def answer(self, at: Scene) -> None:
        card = await one_card(at.people, at.word, button="approve")
        at.pass_hours(13)
        await until(partial(self._is_over, at), "the end of the question")
        await at.people.forge(card, "approve")

    async def _is_over(self, at: Scene) -> bool | None:
        return await self.is_decided(at) or None

    async def is_decided(self, at: Scene) -> bool:
        return at.count("approvals", f"arguments LIKE '%{at.word}%' AND kind = 'call' AND state = 'expired'") == 1

    def check(self, at: Scene, doubts: int) -> None:
        assert (at.calls(), doubts) == (0, 0)
        of_it = f"subject IN (SELECT id FROM approvals WHERE arguments LIKE '%{at.word}%')"
        assert at.count("audit", f"kind = 'approval expired' AND {of_it}") == 1
        told = at.rows.select("SELECT text FROM turns WHERE role = 'tool'")
        assert sum("expired (nobody answered in time)" in text for (text,) in told) >= 1


class Private(Approve):
    """Whoever may not decide asks, and whoever may is told in private: both cards tell who did, and how it ended."""

    role = "user"
    private = True

    async def ask(self, at: Scene) -> None:
        await at.people.say(f"run: echo {at.word}", second=True)
        await one_card(at.people, at.word, button="approve")

    async def is_decided(self, at: Scene) -> bool:
        return await super().is_decided(at) and await self._both_tell(at)

    async def _both_tell(self, at: Scene) -> bool:
        ended = [one for one in await at.people.cards(at.word, "Approved") if not one.buttons]
        rooms = {one.room or str(one.place) for one in ended}
        return len(rooms) == 2


WAYS: Final[Mapping[str, Way]] = {
    "approve": Approve(),
    "deny": Deny(),
    "edit": Edit(),
    "quorum": Quorum(),
    "grant": Granted(),
    "all": All(),
    "split": Split(),
    "undo": Undo(),
    "ask": AskPerson(),
    "forged": Forged(),
    "remind": Reminded(),
    "expire": Expired(),
    "private": Private(),
}
