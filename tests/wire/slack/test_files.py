"""Files both ways: bytes up in steps, shared once; bytes down with the token in the header, to Slack alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from bot.testing.serve import serving
from runtime.contract import FileRef, Part, Receipt, Said, SettleResult, Shown
from runtime.errors import Rejected, Retryable, Uncertain
from tests.wire.slack.stage import DIRECT, THREAD, Workspace, attempt, delivery, parts

Adapter = Any
WORDS = "one\ntwo\n"


def written(on: Workspace, name: str = "report.md", text: str = WORDS) -> FileRef:
    path = on.given.workspaces.folder(DIRECT) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return FileRef(name, name, len(text))


def upload(on: Workspace, adapter: Adapter, *, file: FileRef | None = None, address: Any = DIRECT) -> Part:
    """A file to be shown: the only part of its delivery."""
    made = delivery("", files=(file or written(on),), address=address)
    folder = on.given.workspaces.folder(address)
    if not (folder / "report.md").exists():
        (folder / "report.md").write_text(WORDS)
    [one] = parts(adapter, made)
    return one


async def shown_files(on: Workspace) -> list[tuple[str, str]]:
    return [(message["thread_ts"], name) for message in (await on.screen()).ours() for name in message["files"]]


@pytest.mark.parametrize("address", [DIRECT, THREAD], ids=["direct", "thread"])
async def test_a_file_is_shown_where_it_belongs(on: Workspace, address: Any) -> None:
    async with on.life() as adapter:
        receipt = await adapter.show(upload(on, adapter, address=address))
        assert await shown_files(on) == [(address.thread, "report.md")]
        [message] = (await on.screen()).ours()
        assert receipt == Receipt(message["ts"])
        [file] = on.slack.board.files.values()
        assert file.data == WORDS.encode()


async def test_words_and_file_of_a_reply_are_two_messages(on: Workspace) -> None:
    async with on.life() as adapter:
        for one in parts(adapter, delivery("Here it is.", files=(written(on),))):
            await adapter.show(one)
        screen = await on.screen()
        assert [message["files"] for message in screen.ours()] == [[], ["report.md"]]


async def test_a_long_reply_is_a_file_under_its_beginning(on: Workspace) -> None:
    text = "\n\n".join(f"## Chapter {n}\n\n{'word ' * 200}" for n in range(1, 9))
    async with on.life() as adapter:
        [one] = parts(adapter, delivery(text, text_file=written(on, "reply.md", text)))
        await adapter.show(one)
        [message] = (await on.screen()).ours()
        assert message["files"] == ["reply.md"]
        assert message["text"].startswith("Chapter 1")
        assert "reply.md" in message["text"]


@pytest.mark.parametrize("method", ["files.getUploadURLExternal", "files.completeUploadExternal"])
async def test_a_refused_upload_leaves_its_place_to_words(on: Workspace, method: str) -> None:
    async with on.life() as adapter:
        await on.driver.fault("refuse", on=method, error="file_uploads_disabled")
        with pytest.raises(Rejected) as told:
            await adapter.show(upload(on, adapter))
        assert told.value.form
        assert "file_uploads_disabled" in str(told.value)


async def test_a_missing_scope_leaves_its_place_to_words(on: Workspace) -> None:
    await on.driver.switch(without=["files:write"])
    async with on.life() as adapter:
        with pytest.raises(Rejected, match="files:write") as told:
            await adapter.show(upload(on, adapter))
        assert told.value.form


async def test_a_file_that_is_gone_leaves_its_place_to_words(on: Workspace) -> None:
    async with on.life() as adapter:
        with pytest.raises(Rejected, match="cannot be read") as told:
            await adapter.show(upload(on, adapter, file=FileRef("gone.txt", "gone.txt", 3)))
        assert told.value.form


@pytest.mark.parametrize("path", ["../outside.txt", "/etc/hostname", "link"])
async def test_nothing_outside_of_the_rooms_folder_is_sent(on: Workspace, path: str) -> None:
    folder = on.given.workspaces.folder(DIRECT)
    (folder.parent / "outside.txt").write_text("secret")
    (folder / "link").symlink_to(folder.parent / "outside.txt")
    async with on.life() as adapter:
        with pytest.raises(Rejected, match="outside"):
            await adapter.show(upload(on, adapter, file=FileRef("x", path, 6)))
        assert on.slack.board.files == {}


@pytest.mark.parametrize("do", ["cut_before", "cut_after"])
async def test_what_is_cut_before_the_finish_may_be_done_again(on: Workspace, do: str) -> None:
    async with on.life() as adapter:
        one = upload(on, adapter)
        await on.driver.fault(do, on="files.getUploadURLExternal")
        with pytest.raises(Retryable):
            await adapter.show(one)
        await adapter.show(one)
        assert await shown_files(on) == [("", "report.md")]


async def test_a_finish_that_was_cut_after_it_was_applied_is_found(on: Workspace) -> None:
    async with on.life() as adapter:
        one, tried = upload(on, adapter), attempt(on)
        await on.driver.fault("cut_after", on="files.completeUploadExternal")
        with pytest.raises(Uncertain):
            await adapter.show(one)
        assert isinstance(await adapter.settle(one, tried), Shown)


@pytest.mark.parametrize("earlier", [0, 2])
async def test_another_life_finds_a_file_by_what_it_can_only_be(on: Workspace, earlier: int) -> None:
    async with on.life() as adapter:
        for _ in range(earlier):
            receipt = await adapter.show(upload(on, adapter, address=THREAD))
            on.places.shown.setdefault("C1", []).append((on.clock(), receipt.message_id))
        one, tried = upload(on, adapter, address=THREAD), attempt(on)
        last = await adapter.show(one)
    async with on.life() as adapter:
        assert await adapter.settle(one, tried) == Shown(last)


async def test_a_finish_that_never_arrived_is_absent_after_a_minute_and_not_before(on: Workspace) -> None:
    async with on.life() as adapter:
        one, tried = upload(on, adapter), attempt(on)
        await on.driver.fault("cut_before", on="files.completeUploadExternal")
        with pytest.raises(Uncertain):
            await adapter.show(one)
        on.clock.ahead += timedelta(seconds=30)
        with pytest.raises(Retryable, match="minute"):
            await adapter.settle(one, tried)
        on.clock.ahead += timedelta(seconds=31)
        assert await adapter.settle(one, tried) is SettleResult.ABSENT


async def test_a_file_that_is_shared_by_and_by_is_waited_for(on: Workspace) -> None:
    await on.driver.switch(share=0.2)
    async with on.life() as adapter:
        receipt = await adapter.show(upload(on, adapter))
        [message] = (await on.screen()).ours()
        assert receipt.message_id == message["ts"]


async def test_a_file_that_slack_takes_and_does_not_share_is_uncertain(on: Workspace) -> None:
    await on.driver.switch(share=-1)
    async with on.life() as adapter:
        one, tried = upload(on, adapter), attempt(on)
        with pytest.raises(Uncertain, match=r"report\.md"):
            await adapter.show(one)
        on.clock.ahead += timedelta(seconds=61)
        assert await adapter.settle(one, tried) is SettleResult.ABSENT


# ------------------------------------------------------------------------------------------------------- files in


async def received(on: Workspace, **files: str) -> FileRef:
    await on.driver.say("look", files={name.replace("_", "."): text for name, text in files.items()})
    [signal] = await on.taken()
    assert isinstance(signal.body, Said)
    [file] = signal.body.files
    return file


async def test_a_file_is_fetched_and_its_handle_is_no_link(on: Workspace, tmp_path: Path) -> None:
    async with on.life() as adapter:
        file = await received(on, notes_txt=WORDS)
        assert (file.name, file.size, file.mime) == ("notes.txt", len(WORDS), "text/plain")
        assert "http" not in file.remote
        await adapter.fetch(file, tmp_path / "here", most=100)
        assert (tmp_path / "here").read_text() == WORDS


async def test_more_bytes_than_allowed_are_not_taken(on: Workspace, tmp_path: Path) -> None:
    async with on.life() as adapter:
        file = await received(on, notes_txt="x" * 1000)
        with pytest.raises(Rejected, match="1,000"):
            await adapter.fetch(file, tmp_path / "here", most=999)
        with pytest.raises(Rejected, match="larger"):
            await adapter.fetch(replace(file, size=1), tmp_path / "here", most=999)


async def test_a_file_that_is_gone_or_not_ours_to_read_is_refused(on: Workspace, tmp_path: Path) -> None:
    async with on.life() as adapter:
        file = await received(on, notes_txt=WORDS)
        with pytest.raises(Rejected, match="file_not_found"):
            await adapter.fetch(replace(file, remote="F0"), tmp_path / "here", most=100)
        await on.driver.switch(without=["files:read"])
        with pytest.raises(Rejected, match="files:read"):
            await adapter.fetch(file, tmp_path / "here", most=100)


async def test_a_login_page_is_not_taken_for_the_file(on: Workspace, tmp_path: Path) -> None:
    async with on.life() as adapter:
        file = await received(on, notes_txt=WORDS)
        on.slack.files.refuse_downloads = True
        with pytest.raises(Rejected, match="files:read"):
            await adapter.fetch(file, tmp_path / "here", most=100)


async def test_the_token_goes_to_slack_and_nowhere_else(on: Workspace, tmp_path: Path) -> None:
    asked: list[str] = []

    async def note(request: web.Request) -> web.Response:
        asked.append(request.headers.get("Authorization", ""))
        return web.Response(text="gotcha")

    elsewhere = web.Application()
    elsewhere.add_routes([web.get("/{tail:.*}", note)])
    async with on.life() as adapter, serving(elsewhere) as url:
        file = await received(on, notes_txt=WORDS)
        on.slack.files.other_host = url
        with pytest.raises(Rejected, match="isn't stored on Slack"):
            await adapter.fetch(file, tmp_path / "here", most=100)
        assert asked == []


async def test_a_cut_download_is_worth_another_try(on: Workspace, tmp_path: Path) -> None:
    async with on.life() as adapter:
        file = await received(on, notes_txt=WORDS)
        await on.driver.fault("cut_before", on="files.info", count=3)
        with pytest.raises(Retryable):
            await adapter.fetch(file, tmp_path / "here", most=100)
        await on.driver.lift()
        await adapter.fetch(file, tmp_path / "here", most=100)
