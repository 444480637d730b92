"""What we say is on screen: whole, within the platform's limit, calling nobody, and changed where it was."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

import pytest

from runtime.contract import (
    ApprovalId,
    Button,
    Choice,
    Resting,
    Speaking,
    Thinking,
)
from runtime.domain.ids import new_id
from runtime.errors import Rejected
from runtime.markup import moment
from tests.contract.adapters.conftest import Opened
from tests.contract.adapters.rig import Skill, Trouble

CHARACTERS: Final = 30_000
WORD: Final = re.compile(r"w\d{5}")
"""Words that no dialect of Markdown changes, so that what is lost can be told on every platform."""
CJK: Final = "漢"
FAMILY: Final = "👩‍👩‍👧"  # five code points, eight units of UTF-16, one picture


async def test_an_instant_is_taken_by_every_platform_in_its_own_form(opened: Opened) -> None:
    at = datetime(2026, 11, 22, 19, 45, tzinfo=UTC)
    async with opened() as stage, stage.life() as adapter:
        await stage.say(adapter, f"**Approved** by Ada, {moment(at)}: `ls`")
        [shown] = await stage.visible()
        assert "2026-11-22 19:45 UTC" in shown.text or f"<t:{at.timestamp():.0f}:f>" in shown.text
        assert "time:" not in shown.text


class Words:
    """Numbered words."""

    def __init__(self) -> None:
        self.said = 0

    def __call__(self, count: int = 1) -> str:
        first, self.said = self.said + 1, self.said + count
        return " ".join(f"w{number:05}" for number in range(first, self.said + 1))


def page(word: Words) -> str:
    """Every construct of Markdown once, and text that is no English."""
    return f"""# {word(2)}

{word(12)} **{word(3)}** {word()} *{word(2)}* ***{word()}*** ~~{word()}~~ `{word(2)}` [{word(2)}](https://example.org/a_b_c)
and a line that breaks\\
here: {word(3)}.

## {word()}

- {word(3)}
  - {word(2)} **{word()}**
    1. {word()}
    2. {word(2)}
- [x] {word()}

3. {word(2)}
4. {word(2)}

> {word(8)}
>
> - {word(2)}

```python
{word(4)}
if a < b & c:  # *not emphasis* <b>
    {word(6)}
```

````markdown
```
{word(3)}
```
````

| {word()} | {word()} | right |
| :-- | :-: | --: |
| {word()} | `{word()}` | 1 |
| **{word()}** | {word(3)} | 2 |

---

{CJK * 40}{FAMILY * 6} {word()} {CJK * 300}

{"x" * 500} {word()}

<b>{word()}</b> &amp; {word()} \\*{word()}\\* snake_case_{word()}_too 1 < 2 > 0 & done
"""


def book(characters: int) -> tuple[str, int]:
    """Pages of at least so many characters, and how many words they hold."""
    word, pages = Words(), [""]
    while sum(map(len, pages)) < characters:
        pages.append(page(word))
    return "\n".join(pages), word.said


@pytest.mark.parametrize("characters", [10, CHARACTERS])
async def test_of_a_long_text_nothing_is_lost(opened: Opened, characters: int) -> None:
    async with opened() as stage, stage.life() as adapter:
        text, said = book(characters)
        await stage.say(adapter, text)
        shown = [message.text for message in await stage.visible()]
        whole = "\n".join(shown)
        assert WORD.findall(whole) == [f"w{number:05}" for number in range(1, said + 1)]
        assert whole.count(CJK) == text.count(CJK)
        assert whole.count(FAMILY) == text.count(FAMILY)


async def test_no_message_is_longer_than_the_platform_allows(opened: Opened) -> None:
    async with opened(Skill.SPLITS) as stage, stage.life() as adapter:
        limit = stage.rig.limit
        assert limit
        await stage.say(adapter, book(CHARACTERS)[0])
        lengths = [limit.measure(message.text) for message in await stage.visible()]
        assert len(lengths) > 1
        assert max(lengths) <= limit.most
        assert sum(lengths) / len(lengths) > limit.most / 4, "too many small messages"


async def test_a_text_that_is_all_one_word_is_cut_and_whole(opened: Opened) -> None:
    async with opened(Skill.SPLITS) as stage, stage.life() as adapter:
        limit = stage.rig.limit
        assert limit
        for one in (CJK, FAMILY, "x"):
            await stage.say(adapter, one * (limit.most + 3))
        whole = "".join(message.text for message in await stage.visible())
        assert [whole.count(one) for one in (CJK, FAMILY, "x")] == [limit.most + 3] * 3


async def test_an_open_fence_holds_everything_that_follows_it(opened: Opened) -> None:
    async with opened() as stage, stage.life() as adapter:
        await stage.say(adapter, "w00001\n\n```\nw00002 **w00003**\n\n# w00004")
        shown = "\n".join(message.text for message in await stage.visible())
        assert WORD.findall(shown) == ["w00001", "w00002", "w00003", "w00004"]
        assert "**w00003**" in shown


@pytest.mark.parametrize("text", [" ", "\n\n", "​", "---", "![](x)", "[]()", "<!-- nothing -->"])
async def test_a_text_that_draws_nothing_is_still_a_message(opened: Opened, text: str) -> None:
    async with opened() as stage, stage.life() as adapter:
        await stage.say(adapter, text)
        assert len(await stage.visible()) == 1


async def test_mass_mentions_call_nobody_and_can_still_be_read(opened: Opened) -> None:
    async with opened(Skill.MENTIONS) as stage, stage.life() as adapter:
        place = stage.rig.rooms().shared or stage.place
        calls = "@everyone @here @channel <!channel> <!here> <!everyone> <@&1> <!subteam^S1>"
        await stage.say(adapter, f"Hello {calls}, *{calls}*", address=place.address)
        await stage.say(adapter, f"> {calls}\n\n- {calls}\n\n| {calls} |\n| --- |\n| {calls} |", address=place.address)
        shown = await stage.visible(place)
        assert not any(message.calls_all for message in shown)
        assert "everyone" in shown[0].text


async def test_a_short_answer_to_a_message_is_one_message(opened: Opened) -> None:
    async with opened() as stage, stage.life() as adapter:
        await stage.rig.say(stage.place, "hello")
        await stage.taken("hello")
        [signal] = stage.sink.taken
        delivery = stage.delivery("w00001", address=signal.address, reply_to=signal.message_id)
        for part in stage.parts(adapter, delivery):
            await stage.show(adapter, part)
        [message] = await stage.visible()
        assert message.text.strip() == "w00001"


async def test_the_answer_to_a_mention_stands_where_it_was_asked(opened: Opened) -> None:
    async with opened(Skill.SHARED) as stage, stage.life() as adapter:
        rooms = stage.rig.rooms()
        for place in filter(None, (rooms.shared, rooms.thread)):
            await stage.rig.say(place, f"in {place}", mention=True)
            await stage.taken(f"in {place}")
            signal = stage.sink.said(f"in {place}")
            assert signal
            for part in stage.parts(adapter, stage.delivery("here", address=signal.address)):
                await stage.show(adapter, part)
            assert [message.text.strip() for message in await stage.visible(place)] == ["here"]
        assert await stage.visible() == []


async def test_rendering_is_pure(opened: Opened) -> None:
    async with opened() as stage, stage.life() as adapter:
        delivery = stage.delivery(book(4_000)[0])
        assert adapter.render(delivery) == adapter.render(delivery)


async def test_a_repeat_says_that_it_is_one(opened: Opened) -> None:
    async with opened(Skill.CUTS) as stage, stage.life() as adapter:
        part = stage.part(adapter, "**hello**")
        await stage.show(adapter, type(part)(part.delivery_id, part.ordinal, part.address, part.body, True))
        [message] = await stage.visible()
        assert "hello" in message.text
        assert message.text.strip("* ") != "hello"


# --------------------------------------------------------------------------------------------------------- changes


async def test_a_changed_message_is_the_same_message(opened: Opened) -> None:
    async with opened(Skill.EDITS) as stage, stage.life() as adapter:
        assert adapter.features().edits
        receipt = await stage.show(adapter, stage.part(adapter, "one"))
        [before] = await stage.visible()
        await stage.edit(adapter, receipt, stage.part(adapter, "two"))
        [after] = await stage.visible()
        assert (after.id, after.text.strip(), after.version) == (before.id, "two", 1)


async def test_a_change_that_changes_nothing_is_no_error(opened: Opened) -> None:
    """An edit whose answer was lost is simply made again."""
    async with opened(Skill.EDITS) as stage, stage.life() as adapter:
        receipt = await stage.show(adapter, stage.part(adapter, "one"))
        for _ in range(2):
            await stage.edit(adapter, receipt, stage.part(adapter, "two"))
        assert [message.text.strip() for message in await stage.visible()] == ["two"]


async def test_a_decided_card_has_no_buttons(opened: Opened) -> None:
    async with opened(Skill.EDITS) as stage, stage.life() as adapter:
        approval = ApprovalId(new_id()[:22])
        pressed = Button(approval, Choice.APPROVE, "Approve"), Button(approval, Choice.DENY, "Deny")
        receipt = await stage.show(adapter, stage.part(adapter, "**May I run `shell`?**", *pressed))
        [card] = await stage.visible()
        assert [press.label for press in card.buttons] == ["Approve", "Deny"]
        await stage.edit(adapter, receipt, stage.part(adapter, "**Approved** by Ada: `shell`"))
        [card] = await stage.visible()
        assert card.buttons == ()
        assert "Approved" in card.text


async def test_the_longest_payload_of_a_button_fits(opened: Opened) -> None:
    """An approval's id has at most 22 characters."""
    async with opened() as stage, stage.life() as adapter:
        approval = ApprovalId("A" * 22)
        row = [Button(approval, choice, f"Choice {choice}") for choice in Choice]
        await stage.say(adapter, "Which?", *row)
        [card] = await stage.visible()
        assert [press.label for press in card.buttons] == [button.label for button in row]


async def test_a_long_card_keeps_its_buttons_under_its_end(opened: Opened) -> None:
    async with opened() as stage, stage.life() as adapter:
        approval = ApprovalId(new_id()[:22])
        pressed = Button(approval, Choice.APPROVE, "Approve"), Button(approval, Choice.DENY, "Deny")
        text, said = book(9_000)
        await stage.say(adapter, text, *pressed)
        *before, last = await stage.visible()
        assert [press.label for press in last.buttons] == ["Approve", "Deny"]
        assert not any(message.buttons for message in before)
        assert len(WORD.findall("\n".join(m.text for m in (*before, last)))) == said


async def test_text_whose_form_is_refused_goes_plain(opened: Opened) -> None:
    async with opened(Skill.PLAIN) as stage, stage.life() as adapter:
        await stage.rig.fault(Trouble.FORM)
        delivery = stage.delivery("**w00001** and `w00002`")
        [wire] = adapter.render(delivery)
        [part] = stage.parts(adapter, delivery)
        with pytest.raises(Rejected) as refused:
            await stage.show(adapter, part)
        assert refused.value.form
        assert await stage.visible() == []
        assert wire.fallback is not None
        await stage.show(adapter, type(part)(part.delivery_id, 1, part.address, wire.fallback))
        [message] = await stage.visible()
        assert message.plain
        assert WORD.findall(message.text) == ["w00001", "w00002"]


# ----------------------------------------------------------------------------------------------------- at the side


async def test_being_at_work_leaves_no_message(opened: Opened) -> None:
    async with opened() as stage, stage.life() as adapter:
        offered = adapter.features()
        for event in (Thinking(), Speaking("so far"), Resting()):
            if show := offered.progress:
                show(stage.place.address, event)
        if offered.types:
            assert offered.types.typing_lasts.total_seconds() >= 1
            await offered.types.typing(stage.place.address, "is thinking")
            await offered.types.typing(stage.place.address, "")
        if offered.drafts and offered.drafts.drafts(stage.place.address):
            await offered.drafts.draft(stage.place.address, "so **far")
        assert await stage.visible() == []


async def test_rooms_have_buckets_of_their_own_and_one_together(opened: Opened) -> None:
    async with opened(Skill.RATES) as stage, stage.life() as adapter:
        buckets = adapter.features().buckets
        if buckets is None:
            pytest.skip(f"{stage.rig.name}: it tells no rates")
        one, other = stage.rig.places(2)
        keys = [{bucket.key for bucket in buckets(place.address)} for place in (one, other)]
        assert keys[0] != keys[1]
        assert all(bucket.burst >= 1 for bucket in buckets(one.address))
        assert all(bucket.every.total_seconds() > 0 for bucket in buckets(one.address))


def test_the_words_of_a_book_are_all_different() -> None:
    text, said = book(CHARACTERS)
    assert len(set(WORD.findall(text))) == said > 500
