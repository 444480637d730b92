"""Scenario 32: a long reply is a file beside how it begins; where the file is refused, all of the text follows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from runtime.contract import ChannelAdapter, Delivery, DeliveryId, FileRef, Part, Receipt, Wire
from runtime.errors import Rejected
from tests.contract.adapters.conftest import Opened
from tests.contract.adapters.rig import Skill, Trouble
from tests.contract.adapters.stage import Stage

WORD = re.compile(r"w\d{5}")
LONG = "# w00000\n\n" + "\n\n".join(" ".join(f"w{n:05}" for n in range(k, k + 20)) for k in range(1, 4_000, 20))
WORDS = WORD.findall(LONG)
FILE = FileRef("reply.md", "replies/run.md", len(LONG))


def long_reply(stage: Stage) -> Delivery:
    """A final text that is in a file already, as the agent leaves it."""
    delivery = stage.delivery(LONG)
    file = stage.given.workspaces.folder(delivery.address) / FILE.path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(LONG)
    return replace(delivery, content=replace(delivery.content, text_file=FILE))


async def shown(stage: Stage, adapter: ChannelAdapter, delivery: Delivery, preview: Receipt | None = None) -> None:
    """Show it as the courier does: the first over a preview, what was refused for its form by what stands for it."""
    wires = adapter.render(delivery)
    assert not any(wire.more for wire in wires[:-1])
    bodies, number = list(wires), 0
    while bodies:
        wire, number = bodies.pop(0), number + 1
        part = Part(delivery.id, number, delivery.address, wire.body)
        try:
            await (stage.edit(adapter, preview, part) if preview and number == 1 else stage.show(adapter, part))
        except Rejected as error:
            if not error.form or wire.fallback is None:
                raise
            bodies = [Wire(wire.fallback), *map(Wire, wire.more), *bodies]
            number -= 1
        preview = preview if number == 0 else None


def carries_files(adapter: ChannelAdapter) -> None:
    if adapter.features().fetch is None:
        pytest.skip(f"{adapter.channel} carries no files: it is never given a text as one")


async def texts(stage: Stage) -> Sequence[str]:
    return [message.text for message in await stage.visible()]


async def test_a_long_reply_is_a_file_and_how_it_begins(opened: Opened) -> None:
    async with opened(Skill.FILES) as stage, stage.life() as adapter:
        carries_files(adapter)
        await shown(stage, adapter, long_reply(stage))
        messages = await stage.visible()
        assert [name for message in messages for name in message.files] == ["reply.md"]
        whole = "\n".join(message.text for message in messages)
        begun = WORD.findall(whole)
        assert begun == WORDS[: len(begun)]
        assert 0 < len(begun) < 300
        assert "reply.md" in whole


async def test_where_the_file_is_refused_all_of_the_text_is_shown(opened: Opened) -> None:
    async with opened(Skill.FILES, Skill.PLAIN) as stage, stage.life() as adapter:
        carries_files(adapter)
        if stage.rig.channel == "slack":
            pytest.skip("its fake refuses blocks, and never a file: see the file that is gone")
        if stage.rig.channel == "matrix":
            pytest.skip("the opening is a message before the file, and is what is refused: see the file that is gone")
        await stage.rig.fault(Trouble.FORM, count=1)
        await shown(stage, adapter, long_reply(stage))
        messages = await stage.visible()
        assert not any(message.files for message in messages)
        assert WORD.findall("\n".join(message.text for message in messages))[-len(WORDS) :] == WORDS


async def test_where_the_file_is_gone_all_of_the_text_is_shown(opened: Opened) -> None:
    async with opened(Skill.FILES) as stage, stage.life() as adapter:
        carries_files(adapter)
        delivery = long_reply(stage)
        (stage.given.workspaces.folder(delivery.address) / FILE.path).unlink()
        await shown(stage, adapter, delivery)
        assert WORD.findall("\n".join(await texts(stage)))[-len(WORDS) :] == WORDS


async def test_a_file_that_a_tool_made_a_link_is_not_sent(opened: Opened) -> None:
    """Else a tool could have any file of this machine sent into the chat."""
    async with opened(Skill.FILES) as stage, stage.life() as adapter:
        carries_files(adapter)
        delivery = long_reply(stage)
        folder = stage.given.workspaces.folder(delivery.address)
        (folder.parent / "hidden").mkdir()
        (folder.parent / "hidden" / "run.md").write_text("a secret of this machine")
        (folder / FILE.path).unlink()
        (folder / "replies").rmdir()
        (folder / "replies").symlink_to(folder.parent / "hidden")
        await shown(stage, adapter, delivery)
        assert not any(message.files for message in await stage.visible())
        assert WORD.findall("\n".join(await texts(stage)))[-len(WORDS) :] == WORDS


async def test_over_a_preview_it_is_a_file_too(opened: Opened) -> None:
    """The preview of a long reply is there already: it becomes how the reply begins."""
    async with opened(Skill.FILES, Skill.EDITS) as stage, stage.life() as adapter:
        carries_files(adapter)
        assert adapter.features().edits
        preview = await stage.show(adapter, stage.part(adapter, "w00000 …"))
        await shown(stage, adapter, replace(long_reply(stage), edits=DeliveryId("preview")), preview)
        messages = await stage.visible()
        assert [name for message in messages for name in message.files] == ["reply.md"]
        assert messages[0].version >= 1
        begun = WORD.findall("\n".join(message.text for message in messages))
        assert begun == WORDS[: len(begun)]
        assert 0 < len(begun) < 300
