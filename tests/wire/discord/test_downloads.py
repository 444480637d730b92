"""Files of people: fetched by their handle, within bounds, from nowhere but Discord."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from adapters.discord.incoming.files import Downloads
from runtime.contract import FileRef, Said
from runtime.errors import Rejected, Retryable
from tests.fakes.discord_world import GENERAL
from tests.wire.discord.stage import On


async def sent(on: On, content: bytes = b"one\ntwo\n") -> FileRef:
    await on.driver.say("look", files={"notes.txt": content})
    await on.stage.taken("look")
    body = on.sink.taken[-1].body
    assert isinstance(body, Said)
    [file] = body.files
    return file


async def test_a_file_is_fetched_in_another_life_too(on: On, tmp_path: Path) -> None:
    async with on.life():
        file = await sent(on)
    async with on.life() as adapter:
        await adapter.fetch(file, tmp_path / "here", most=8)
    assert (tmp_path / "here").read_bytes() == b"one\ntwo\n"
    assert file.mime.startswith("text/plain")


async def test_a_file_that_is_too_large_is_not_taken_whatever_its_message_says(on: On, tmp_path: Path) -> None:
    async with on.life() as adapter:
        file = await sent(on, b"x" * 200_000)
        for told in (file, replace(file, size=1)):
            with pytest.raises(Rejected, match="larger than allowed"):
                await adapter.fetch(told, tmp_path / "here", most=100_000)


async def test_a_file_that_is_gone_is_rejected(on: On, tmp_path: Path) -> None:
    async with on.life() as adapter:
        file = await sent(on)
        on.fake.world.files.clear()
        with pytest.raises(Rejected, match="404"):
            await adapter.fetch(file, tmp_path / "here", most=100)
        on.fake.world.posts[on.sink.taken[-1].message_id].data["attachments"] = []
        with pytest.raises(Rejected, match="no longer on Discord"):
            await adapter.fetch(file, tmp_path / "here", most=100)
        await on.driver.do("delete", message=on.sink.taken[-1].message_id)
        with pytest.raises(Rejected, match="deleted"):
            await adapter.fetch(file, tmp_path / "here", most=100)


async def test_while_discord_is_away_it_is_fetched_later(on: On, tmp_path: Path) -> None:
    async with on.life() as adapter:
        file = await sent(on)
        await on.driver.set(away=True)
        with pytest.raises(Retryable):
            await adapter.fetch(file, tmp_path / "here", most=100)
        await on.driver.lift()
        await adapter.fetch(file, tmp_path / "here", most=100)


@pytest.mark.parametrize(
    "url",
    [
        "http://cdn.discordapp.com/a",
        "https://cdn.discordapp.com.evil.example/a",
        "https://cdn.discordapp.com:8443/a",
        "https://user@evil.example/a",
        "http://169.254.169.254/latest",
        "file:///etc/passwd",
        "http://127.0.0.1:1/a",
    ],
)
async def test_a_link_that_leads_elsewhere_is_not_followed(on: On, tmp_path: Path, url: str) -> None:
    async with on.life() as adapter:
        file = await sent(on)
        on.fake.world.posts[on.sink.taken[-1].message_id].data["attachments"][0]["url"] = url
        with pytest.raises(Rejected, match="no longer on Discord"):
            await adapter.fetch(file, tmp_path / "here", most=100)
        assert not (tmp_path / "here").exists()


@pytest.mark.parametrize("url", ["https://cdn.discordapp.com/attachments/1/2/a?ex=1", "https://media.discordapp.net/a"])
async def test_discords_own_keepers_are_known(on: On, url: str) -> None:
    adapter = on.adapter(api_base_url="")
    assert isinstance(adapter._downloads, Downloads)
    assert adapter._downloads._is_of_discord(url)
    assert not adapter._downloads._is_of_discord("http://127.0.0.1:80/a")


async def test_a_disk_that_is_full_is_no_fault_of_discord(on: On, tmp_path: Path) -> None:
    async with on.life() as adapter:
        file = await sent(on)
        with pytest.raises(FileNotFoundError):
            await adapter.fetch(file, tmp_path / "no such folder" / "here", most=100)


async def test_a_handle_of_another_room_is_only_what_the_bot_may_see(on: On, tmp_path: Path) -> None:
    async with on.life() as adapter:
        file = await sent(on)
        _, message, attachment = file.remote.split("/")
        elsewhere = replace(file, remote=f"{GENERAL}/{message}/{attachment}")
        with pytest.raises(Rejected):
            await adapter.fetch(elsewhere, tmp_path / "here", most=100)
