"""Every tool, called by a model on the wire in one real process."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

import pytest
from aiohttp import web

from bot.reference.tools import ALL_ON
from bot.settings.settings import load
from bot.testing.openai.server import OpenAI
from bot.testing.serve import serving
from bot.wiring.tools.known import known_tools
from tests.e2e import every_tool
from tests.e2e.browser import executable
from tests.e2e.every_tool import BROWSER, GIVES
from tests.e2e.house import open_house
from tests.e2e.scenes import Player, Scene, named, over
from tests.e2e.visitor import Visitor, until, visiting
from tests.fakes.container_program import stand_in
from tests.fakes.git_server import GitServer, git
from tests.fakes.media import MediaServer
from tests.fakes.peer import FakePeer
from tests.fakes.searching import SearchServices

pytestmark = [pytest.mark.xdist_group("e2e-tools"), pytest.mark.timeout(120)]

HOLDS: Final = {
    "handbook/tea.md": "The kettle stands on the left.",
    "skills/tea/SKILL.md": "---\nname: tea\ndescription: Makes tea. Use when people ask for tea.\n---\nWarm the pot first.\n",
    "skills/tea/scripts/brew.sh": 'echo "brews $1"',
    "workflows/tidy.toml": 'about = "Tidy"\n[[steps]]\nname = "list"\ntool = "list_files"\n',
}
FORM: Final = """<h1>Which tea?</h1><form method="post" action="/sent">
<label>Kind <input name="kind"></label><button>Send</button></form>"""
SETTINGS: Final = """
[model]
name = "openai/gpt-4o"
api_base = "{model}/v1"
api_key = "none"
[images]
name = "openai/gpt-image-1"
api_base = "{media}/v1"
api_key = "none"
[transcription]
name = "openai/whisper-1"
api_base = "{media}/v1"
api_key = "none"
[speech]
name = "openai/tts-1"
api_base = "{media}/v1"
api_key = "none"
[egress]
allow = ["{pages_at}", "{git_at}", "{peer_at}"]
[[egress.rules]]
host = "127.0.0.1"
method = "*"
ports = [{pages_port}, {git_port}]
result = "allow"
[tools.browser]
enabled = true
[tools.containers]
images = ["here:1"]
program = "{containers}"
[tools.wasm]
enabled = true
[tools.search]
provider = "searxng"
url = "{pages}"
[[git]]
url = "{git}"
[[a2a]]
name = "billing"
url = "{peer}"
[[knowledge]]
name = "handbook"
folder = "handbook"
[[databases]]
name = "tea"
url = "sqlite:///tea.db"
[[agents]]
name = "main"
skills = ["tea"]
delegates_to = ["helper"]
[[agents]]
name = "helper"
prompt = "You help."
[[policy]]
tool = "*"
result = "allow"
tainted = true
"""


@dataclass(frozen=True, slots=True)
class Outside:
    """Everything that the process asks. `told` are the results that its model was given."""

    urls: Mapping[str, str]
    player: Player
    repository: Path
    containers: Path

    @property
    def settings(self) -> str:
        """Those of a house beside it."""
        places = {f"{name}_at": url.removeprefix("http://") for name, url in self.urls.items()}
        ports = {f"{name}_port": url.rpartition(":")[2] for name, url in self.urls.items()}
        return SETTINGS.format(**self.urls, **places, **ports, containers=self.containers)


@asynccontextmanager
async def outside(folder: Path) -> AsyncIterator[Outside]:
    player, server = Player({}), GitServer(folder / "git")
    server.repository("tea", {"README": "Tea.\n"})
    apps = {"model": OpenAI(player).app(), "media": MediaServer().app(), "pages": site(), "git": server.app()}
    apps["peer"] = FakePeer().app()
    async with AsyncExitStack() as stack:
        urls = {name: await stack.enter_async_context(serving(app)) for name, app in apps.items()}
        yield Outside(urls, player, folder / "git" / "tea.git", stand_in(folder / "bin", "podman"))


def site() -> web.Application:
    """A search service, a page, and a form."""
    searching = SearchServices()
    searching.pages.append(("Tea", "https://example.org/tea", "All about tea."))
    app = searching.app()

    async def answer(request: web.Request) -> web.Response:
        fields = await request.post() if request.path == "/sent" else {}
        text = {"/form": FORM, "/sent": f"<h1>Thank you: {fields.get('kind', '')!s}</h1>"}.get(request.path)
        return web.Response(text=text or "A page about tea.", content_type="text/html" if text else "text/plain")

    app.router.add_route("*", "/{any:.*}", answer)
    return app


def furnish(folder: Path) -> None:
    """Everything that lies beside the settings."""
    for name, text in HOLDS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    with closing(sqlite3.connect(folder / "tea.db")) as made:
        made.executescript("CREATE TABLE tea (kind TEXT); INSERT INTO tea VALUES ('green');")


async def accept_skill(owner: Visitor, room: str) -> None:
    asked = await owner.ask(room, "/skills approve tea")
    assert "is accepted" in await owner.ask(room, named(r"(/skills approve tea \w+)", asked))


async def played(owner: Visitor, name: str) -> str:
    """The room of a scene that was played to its end; whoever watches takes the first answer of each card."""
    room, pressed = uuid4().hex, set[str]()
    await owner.say(room, f"scene {name}")

    async def look() -> bool | None:
        entries = await owner.entries(room)
        for button in (one["buttons"][0] for one in entries if one.get("buttons")):
            if button["approval_id"] not in pressed:
                pressed.add(button["approval_id"])
                await owner.click(room, button["approval_id"], button["choice"])
        return any(over(name) in entry.get("markdown", "") for entry in entries) or None

    await until(look, f"the end of the scene {name}")
    return room


def test_no_tool_is_without_a_scene(tmp_path: Path) -> None:
    file = tmp_path / "signalbox.toml"
    file.write_text(ALL_ON, encoding="utf-8")
    assert set(known_tools(load(file, environ={}, folder=tmp_path))) == set(GIVES)


async def test_a_model_on_the_wire_uses_every_tool_of_a_process(tmp_path: Path, sandbox: None) -> None:
    (folder := tmp_path / "house").mkdir()
    furnish(folder)
    async with outside(tmp_path) as around:
        with open_house(folder, around.settings) as house:
            async with visiting(house.link) as owner:
                await accept_skill(owner, room := uuid4().hex)
                around.player.scenes = scenes(around.urls, room)
                names = list(around.player.scenes)
                rooms = dict(zip(names, await asyncio.gather(*(played(owner, name) for name in names)), strict=True))
                shown = {name: await owner.entries(rooms[name]) for name in ("posting", "files")}
            assert "Traceback" not in house.log()
        assert failed(around.player.told) == {}
        assert git(around.repository, "log", "-1", "--format=%s", "topic") == "It's green"
    asked, posted, _ = shown["posting"]
    assert asked["reactions"] == ["👍"]
    assert (posted["markdown"], posted["rewritten"]) == ("The kettle has boiled.", True)
    assert [file["name"] for file in shown["files"][-1]["files"]][:1] == ["notes.txt"]


def scenes(urls: Mapping[str, str], room: str) -> dict[str, Callable[[], Scene]]:
    """All that this machine can play, by name."""
    plain = {scene.__name__: scene for scene in every_tool.PLAIN}
    told = {
        "schedules": every_tool.schedules(room),
        "pages": every_tool.pages(urls["pages"]),
        "git": every_tool.git(urls["git"]),
    }
    return plain | told | ({"browsing": every_tool.browsing(urls["pages"])} if executable() else {})


def failed(told: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    """Results of each tool that didn't give what it should have."""
    played = GIVES.keys() - (frozenset() if executable() else BROWSER)
    return {tool: told.get(tool, ()) for tool in played if not any(GIVES[tool] in one for one in told.get(tool, ()))}
