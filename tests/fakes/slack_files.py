"""Files of the fake Slack: the upload in two steps and a finish that shares later, and downloads for who may."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass

from aiohttp import web

from tests.fakes.slack_board import Board, File
from tests.fakes.slack_faults import Faults
from tests.fakes.slack_methods import Answer, Args, Method, Methods
from tests.fakes.slack_people import People
from tests.fakes.slack_rules import Refused, check_thread
from tests.fakes.slack_teams import BOT_ID, BOT_USER, Caller, caller, kind_of


@dataclass(slots=True)
class Files:
    """`methods` are the ones to extend: uploading is part of the Web API.

    `refuse_downloads`: whoever asks is shown the login page. `other_host`: where files are said to lie instead.
    """

    board: Board
    faults: Faults
    people: People
    methods: Methods
    refuse_downloads: bool = False
    other_host: str = ""

    def __post_init__(self) -> None:
        self.methods.table |= {
            "files.getUploadURLExternal": Method(lambda _, args, who: self.begin(args), "files:write"),
            "files.completeUploadExternal": Method(lambda _, args, who: self.finish(args, who), "files:write"),
            "files.info": Method(lambda _, args, who: self.info(args), "files:read"),
        }

    def begin(self, args: Args) -> Answer:
        name, size = str(args.get("filename") or ""), int(args.get("length") or 0)
        if not name or size <= 0:
            raise Refused("invalid_arguments")
        file = File(self.board.next_id("F"), name, size, user=BOT_USER)
        self.board.files[file.id] = file
        return {"upload_url": f"{self.people.url}/upload/{file.id}", "file_id": file.id}

    async def receive(self, request: web.Request) -> web.Response:
        """The bytes; an upload URL is secret, so it needs no token."""
        file = self.board.files.get(request.match_info["file"])
        data = await request.read()
        if file is None or len(data) != file.size:
            return web.Response(status=400, text="wrong size")
        file.data = data
        return web.Response(text=f"OK - {len(data)}")

    def finish(self, args: Args, who: Caller) -> Answer:
        """The file is shared: by and by, and sometimes not at all."""
        check_thread(args)
        channel = str(args.get("channel_id") or "")
        kind_of(channel)
        named = json.loads(args["files"]) if isinstance(args.get("files"), str) else args.get("files") or []
        files = [self._uploaded(one) for one in named]
        if self.faults.share == 0:
            self._share(files, args, who)
        elif self.faults.share > 0:
            asyncio.get_running_loop().call_later(self.faults.share, self._share, files, args, who)
        return {"files": [{"id": file.id, "title": file.title} for file in files]}

    def _uploaded(self, one: Args) -> File:
        file = self.board.files.get(str(one.get("id")))
        if file is None or file.data is None:
            raise Refused("file_not_found")
        file.title = str(one.get("title") or file.name)
        return file

    def _share(self, files: list[File], args: Args, who: Caller) -> None:
        thread = str(args.get("thread_ts") or "")
        message = self.board.show(
            str(args["channel_id"]),
            BOT_USER,
            team=who.team,
            bot_id=BOT_ID,
            text=str(args.get("initial_comment") or ""),
            thread_ts=thread,
            files=tuple(file.id for file in files),
            seen_after=self.board.clock() + self.faults.lag if self.faults.lag else 0.0,
        )
        for file in files:
            file.shares.append((message.channel, thread, message.ts))
        self.methods.on_shown(None, message)

    def info(self, args: Args) -> Answer:
        file = self.board.files.get(str(args.get("file")))
        if file is None:
            raise Refused("file_not_found")
        told = self.people.file(file)
        if self.other_host:
            told |= dict.fromkeys(("url_private", "url_private_download"), f"{self.other_host}/{file.id}")
        return {"file": told}

    async def download(self, request: web.Request) -> web.StreamResponse:
        """Without the token in the header Slack answers its login page, with status 200."""
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        try:
            self._may_read(caller(token, app_level=False))
        except Refused:
            return web.Response(text="<!DOCTYPE html><title>Sign in</title>", content_type="text/html")
        file = self.board.files.get(request.match_info["file"])
        if file is None or file.data is None:
            return web.Response(status=404)
        return web.Response(body=file.data, content_type=file.mimetype)

    def _may_read(self, who: Caller) -> None:
        if self.refuse_downloads or "files:read" in self.faults.without:
            raise Refused("missing_scope")


def file_names(board: Board, ids: tuple[str, ...]) -> list[str]:
    return [board.files[file].name if file in board.files else file for file in ids]
