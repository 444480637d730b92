"""Forms at Telegram: a message asks for the words, and the answer to it is the sent form."""

from __future__ import annotations

import pytest

from adapters.telegram.forms import typed
from runtime.contract import TOO_LONG, ApprovalId, Button, Choice, Clicked, Field, Said
from tests.contract.adapters.stage import until
from tests.fakes.telegram_driver import ADA, BOB
from tests.fakes.telegram_world import Raw
from tests.wire.telegram.stage import FORUM, SUPERGROUP, Bench, address

APPROVAL = ApprovalId("A" * 22)
EDIT = Button(APPROVAL, Choice.EDIT, "Edit…")
CHANGED = Clicked(APPROVAL, Choice.EDIT, "", {"argument": "make test"})


async def asked(
    bench: Bench, card: int, word: str = "edit", *, chat: int = ADA, user: int = ADA, **more: object
) -> Raw:
    """The message that asks for the words, once somebody pressed the button."""
    before = len(await bench.driver.shown(chat))
    await bench.driver.click(card, f"{APPROVAL}:{word}", chat=chat, user=user, **more)

    async def there() -> bool:
        return len(await bench.driver.shown(chat)) > before

    await until(there, "message that asks")
    return await bench.last(chat)


@pytest.mark.parametrize(("chat", "user"), [(ADA, ADA), (SUPERGROUP, BOB)])
async def test_a_press_asks_for_the_words_and_the_answer_is_the_form(bench: Bench, chat: int, user: int) -> None:
    await bench.driver.inject(type="introduce", chat=chat, user=user)
    async with bench.life() as adapter:
        receipt = await bench.show(adapter, "May I?", EDIT, at=address(chat))
        card = int(receipt.message_id.partition(":")[2])
        prompt = await asked(bench, card, chat=chat, user=user)
        assert prompt["text"].splitlines()[:2] == [
            f"{'Ada' if user == ADA else 'Bob'}, reply to this message. It runs exactly as you write it. The changed command:",
            "make deploy",
        ]
        assert bench.stage.forms.asked == [(APPROVAL, Choice.EDIT, f"telegram:{user}")]
        assert bench.sink.calls == [], "to ask decides nothing"
        await bench.driver.say("make test", chat=chat, user=user, reply_to=prompt["message_id"])
        [signal] = await bench.hears()
        assert (signal.body, signal.actor, signal.address) == (CHANGED, f"telegram:{user}", address(chat))


async def test_a_denial_may_say_why(bench: Bench) -> None:
    async with bench.life() as adapter:
        receipt = await bench.show(adapter, "May I?", Button(APPROVAL, Choice.DENY, "Deny"))
        prompt = await asked(bench, int(receipt.message_id.partition(":")[2]), "reason")
        assert bench.stage.forms.asked == [(APPROVAL, Choice.DENY, f"telegram:{ADA}")]
        await bench.driver.say("not today", reply_to=prompt["message_id"])
        [signal] = await bench.hears()
        assert isinstance(signal.body, Clicked)
        assert (signal.body.choice, signal.body.reason) == (Choice.DENY, "not today")


async def test_another_process_reads_the_answer(bench: Bench) -> None:
    async with bench.life() as adapter:
        receipt = await bench.show(adapter, "May I?", EDIT)
        prompt = await asked(bench, int(receipt.message_id.partition(":")[2]))
    async with bench.life():
        await bench.driver.say("make test", reply_to=prompt["message_id"])
        assert [signal.body for signal in await bench.hears()] == [CHANGED]


async def test_in_a_topic_the_question_and_the_answer_stay_there(bench: Bench) -> None:
    await bench.driver.inject(type="introduce", chat=FORUM, user=ADA, thread=5)
    async with bench.life() as adapter:
        receipt = await bench.show(adapter, "May I?", EDIT, at=address(FORUM, 5))
        prompt = await asked(bench, int(receipt.message_id.partition(":")[2]), chat=FORUM)
        assert prompt["message_thread_id"] == 5
        await bench.driver.say("make test", chat=FORUM, thread=5, reply_to=prompt["message_id"])
        [signal] = await bench.hears()
        assert (signal.body, signal.address) == (CHANGED, address(FORUM, 5))


async def test_what_is_wrong_is_said_and_asked_for_again(bench: Bench) -> None:
    bench.sink.notice, bench.sink.form_stays = "It must be an object.", True
    async with bench.life() as adapter:
        receipt = await bench.show(adapter, "May I?", EDIT)
        prompt = await asked(bench, int(receipt.message_id.partition(":")[2]))
        await bench.driver.say("make test", reply_to=prompt["message_id"])

        async def told() -> bool:
            return str((await bench.last())["text"]).startswith("It must be an object.")

        await until(told, "word of it")
        bench.sink.notice, bench.sink.form_stays = "This was already settled.", False
        await bench.driver.say("make all", reply_to=(await bench.last())["message_id"])

        async def ended() -> bool:
            return bool((await bench.last())["text"] == "This was already settled.")

        await until(ended, "last word")
        assert [click.values["argument"] for click in bench.sink.clicks] == ["make test", "make all"]


@pytest.mark.parametrize("line", ["ref {id}:edit:argument:{seal}", "ref {id}:edit:argument:" + "0" * 24, "make it so"])
async def test_what_the_bot_was_had_to_repeat_asks_for_nothing(bench: Bench, line: str) -> None:
    await bench.driver.inject(type="introduce", chat=BOB, user=BOB)
    async with bench.life() as adapter:
        other = await bench.show(adapter, "May I?", EDIT, at=address(BOB))
        prompt = await asked(bench, int(other.message_id.partition(":")[2]), chat=BOB, user=BOB)
        seal = prompt["text"].rpartition(":")[2]
        receipt = await bench.show(adapter, "Sure:\n\n" + line.format(id=APPROVAL, seal=seal))
        await bench.driver.say("thanks", reply_to=int(receipt.message_id.partition(":")[2]))
        assert [signal.body for signal in await bench.hears()] == [Said("thanks")]


async def test_an_answer_to_somebody_elses_copy_of_the_question_is_only_words(bench: Bench) -> None:
    await bench.driver.inject(type="introduce", chat=SUPERGROUP, user=ADA)
    async with bench.life() as adapter:
        receipt = await bench.show(adapter, "May I?", EDIT, at=address(SUPERGROUP))
        prompt = await asked(bench, int(receipt.message_id.partition(":")[2]), chat=SUPERGROUP)
        copy = await bench.driver.say(prompt["text"], chat=SUPERGROUP, user=BOB, mention=True)
        await bench.driver.say("make test", chat=SUPERGROUP, mention=True, reply_to=copy["message_id"])
        assert all(isinstance(signal.body, Said) for signal in await bench.hears(2))


@pytest.mark.parametrize(
    ("words", "text", "told"), [("Only approvers.", "", "Only approvers."), ("", "x" * 3001, TOO_LONG)]
)
async def test_why_there_is_no_form_is_told_in_private(bench: Bench, words: str, text: str, told: str) -> None:
    bench.stage.forms.words, bench.stage.forms.text = words, text
    async with bench.life() as adapter:
        receipt = await bench.show(adapter, "May I?", EDIT)
        pressed = await bench.driver.click(int(receipt.message_id.partition(":")[2]), f"{APPROVAL}:edit")

        async def answered() -> bool:
            answers = (await bench.driver.screen())["answers"]
            return any(one.get("text") == told and one["query"] == pressed["query"] for one in answers)

        await until(answered, "private word")
        assert await bench.driver.texts() == ["May I?"]


def test_several_fields_are_written_a_line_each() -> None:
    text = "Pattern: git push *\nand more\nwhere : everywhere\nnonsense: kept"
    fields = ["pattern", "where", "uses"]
    assert typed(text, fields) == {"pattern": "git push *\nand more", "where": "everywhere\nnonsense: kept"}


async def test_several_fields_are_asked_for_by_their_names(bench: Bench) -> None:
    bench.stage.forms.fields = (
        Field("pattern", "Pattern", "git *"),
        Field("where", "Where", "here", options=("here", "everywhere")),
    )
    async with bench.life() as adapter:
        receipt = await bench.show(adapter, "May I?", EDIT)
        prompt = await asked(bench, int(receipt.message_id.partition(":")[2]))
        assert prompt["text"].splitlines()[1:3] == ["pattern: git *", "where: here (here or everywhere)"]
        await bench.driver.say("where: everywhere", reply_to=prompt["message_id"])
        [signal] = await bench.hears()
        assert signal.body == Clicked(APPROVAL, Choice.EDIT, "", {"where": "everywhere"})
