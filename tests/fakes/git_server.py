"""A git server: the real `git http-backend` behind HTTP, with a login where one is wanted."""

from __future__ import annotations

import asyncio
import base64
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from aiohttp import web

BACKEND: Final = "/usr/lib/git-core/git-http-backend"
CLEAN: Final = {
    "PATH": os.defpath,
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}


def git(folder: Path, *arguments: str) -> str:
    """Output of a real git in `folder`, with no settings but the repository's."""
    command = ["git", "-c", "init.defaultBranch=main", "-c", "safe.directory=*", *arguments]
    return subprocess.run(command, cwd=folder, env=CLEAN, check=True, capture_output=True, text=True).stdout.strip()


@dataclass
class GitServer:
    """Repositories below `root`. `login` is what they ask for, `cut` cuts the connection once a push was carried out."""

    root: Path
    login: tuple[str, str] | None = None
    redirect: str = ""
    cut: bool = False
    asked: list[tuple[str, str, str]] = field(default_factory=list)

    def repository(self, name: str, files: dict[str, str]) -> Path:
        """A bare repository with one commit of `files`, which may be pushed to."""
        work, bare = self.root / f"{name}-work", self.root / f"{name}.git"
        work.mkdir(parents=True)
        git(work, "init", "-q")
        for file, text in files.items():
            (work / file).write_text(text)
        git(work, "add", "-A")
        git(work, "commit", "-q", "-m", "The first files")
        git(self.root, "clone", "-q", "--bare", str(work), str(bare))
        git(bare, "config", "http.receivepack", "true")
        git(work, "remote", "add", "origin", str(bare))
        return work

    def app(self) -> web.Application:
        app = web.Application(client_max_size=64 << 20)
        app.router.add_route("*", "/{path:.*}", self._serve)
        return app

    async def _serve(self, request: web.Request) -> web.Response:
        given = request.headers.get("Authorization", "")
        self.asked.append((request.method, request.path, given))
        if self.redirect and request.method == "GET":
            raise web.HTTPFound(f"{self.redirect}{request.path_qs}")
        if self.login and given != f"Basic {base64.b64encode(':'.join(self.login).encode()).decode()}":
            return web.Response(status=401, headers={"WWW-Authenticate": 'Basic realm="git"'}, text="Who are you?")
        variables = CLEAN | {
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
            "REQUEST_METHOD": request.method,
            "PATH_INFO": request.path,
            "QUERY_STRING": request.query_string,
            "CONTENT_TYPE": request.headers.get("Content-Type", ""),
            "REMOTE_USER": "somebody",
        }
        process = await asyncio.create_subprocess_exec(
            BACKEND, env=variables, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        said, _ = await process.communicate(await request.read())
        if self.cut and request.path.endswith("git-receive-pack") and request.method == "POST":
            assert request.transport is not None
            request.transport.abort()
        return _answer(said)


def _answer(said: bytes) -> web.Response:
    """The answer of a CGI program."""
    head, _, body = said.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
    status = int(headers.pop("Status", "200 OK").split()[0])
    return web.Response(status=status, headers=headers, body=body)
