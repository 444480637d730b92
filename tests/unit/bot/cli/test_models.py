"""`signalbox models`: what is listed is what the settings say, and what is tried is asked on the wire."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli.root import cli
from bot.operator.client import connected
from bot.server.process import serving as process
from bot.telemetry import logs
from bot.testing.openai.server import OpenAI, Reply
from bot.testing.serve import serving
from bot.tryouts.served import is_local
from runtime.http.errors import Refusal
from tests.unit.bot.operator.test_schedules import House
from tests.unit.bot.settings.test_settings import read

pytestmark = [
    pytest.mark.xdist_group("litellm"),
    pytest.mark.timeout(120),  # the first test here imports LiteLLM, which takes seconds
    pytest.mark.filterwarnings("ignore:.*`ReadOnly` qualifier"),
]

TEXT = """
[model]
name = "openai/gpt-4o"
api_key = "k1"
api_base = "{url}"
fallbacks = ["sonnet"]
[[models]]
name = "sonnet"
model = "anthropic/claude-sonnet-4-5"
for = ["coding", "planning"]
least_complexity = 60
[[models]]
name = "local"
model = "openai/llama3"
api_base = "{url}"
context_tokens = 8000
input_price = 0.1
output_price = 0.2
"""


@pytest.fixture(autouse=True)
def _log_of_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command sets up the log of its process, and here that is the process of the tests: what they read would go astray."""
    monkeypatch.setattr(logs, "configure", lambda *_, **__: None)


@contextmanager
def at_work(server: OpenAI) -> Iterator[str]:
    """The server in a thread of its own: a command has an event loop of its own too."""
    ready, done, found = threading.Event(), asyncio.Event(), list[str]()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with serving(server.app()) as url:
            found.append(f"{url}/v1")
            ready.set()
            await done.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(20)
        yield found[0]
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join(20)
        loop.close()


def told(folder: Path, url: str, *words: str) -> tuple[int, str]:
    file = folder / "signalbox.toml"
    file.write_text(TEXT.replace("{url}", url), encoding="utf-8")
    ended = CliRunner().invoke(cli, ["models", *words, "--config", str(file)], env={"ANTHROPIC_API_KEY": ""})
    return ended.exit_code, ended.output


def test_each_model_is_asked_once_and_told_with_its_time_and_price(tmp_path: Path) -> None:
    server = OpenAI([Reply("ready", usage=(1000, 10)), Reply("ready", usage=(1000, 10))])
    with at_work(server) as url:
        code, printed = told(tmp_path, url, "test", "openai/gpt-4o", "local", "--json")
    rows = json.loads(printed)
    assert code == 0
    assert [(row["name"], row["text"], row["cost_micros"]) for row in rows] == [
        ("openai/gpt-4o", "ready", 2600),
        ("local", "ready", 102),
    ]
    assert all(0 < row["first_seconds"] <= row["seconds"] for row in rows)
    assert len(server.requests) == 2


def test_a_model_that_fails_makes_the_command_fail_and_the_others_are_told_all_the_same(tmp_path: Path) -> None:
    with at_work(OpenAI([Reply("ready"), Reply("no such model", status=404)], models=["qwen3:8b", "phi4"])) as url:
        code, printed = told(tmp_path, url, "test", "openai/gpt-4o", "local")
    assert code == 1
    assert "openai/gpt-4o: first words after" in printed
    assert f"local: failed. The server at {url} has no model llama3. It has: qwen3:8b, phi4." in printed


def test_a_name_that_is_no_model_is_told_with_those_that_are(tmp_path: Path) -> None:
    code, printed = told(tmp_path, "http://127.0.0.1:1/v1", "test", "sonet")
    assert code == 2
    assert "There is no model sonet. There are: openai/gpt-4o, sonnet, local." in printed


@pytest.mark.parametrize(
    ("api_base", "expected"),
    [
        ("http://localhost:11434", True),
        ("http://127.0.0.1:8000/v1", True),
        ("http://10.1.2.3/v1", True),
        ("http://[::1]:80", True),
        ("http://gpu:8000", True),
        ("http://gpu.local", True),
        ("https://api.openai.com/v1", False),
        ("https://8.8.8.8", False),
        ("", False),
    ],
)
def test_a_local_server_is_known_by_its_address(api_base: str, expected: bool) -> None:
    assert is_local(api_base) is expected


# ------------------------------------------------------------------------------------ of a process at work, and its page


@asynccontextmanager
async def house_of(folder: Path) -> AsyncIterator[House]:
    """A house whose usual model refuses its key, and whose local one answers in its place."""
    server = OpenAI()
    server.revoked.add("k1")
    async with serving(server.app()) as url:
        text = (
            TEXT.replace("{url}", f"{url}/v1")
            .replace("for =", 'api_key = "k2"\nfor =')
            .replace('["sonnet"]', '["local"]')
        )
        settings = read(folder, f"{text}[web]\nport = 0\n[budgets]\nday = 20.0\nagent_calls_hour = 500\n")
        async with process(settings, with_link=False) as ready, connected(ready.control) as api:
            yield House(ready, api)


async def test_a_model_at_rest_is_listed_and_shown_until_somebody_clears_it(tmp_path: Path) -> None:
    async with house_of(tmp_path) as house:
        assert [row["state"] for row in await house.api.models()] == ["well"] * 3
        await house.api.say("reports", "hello", "event-0001")
        async with asyncio.timeout(60):
            while not (resting := await house.api.cooldowns()):  # noqa: ASYNC110 - over HTTP
                await asyncio.sleep(0.05)
        assert [(row["model"], row["cause"], row["until"]) for row in resting] == [("openai/gpt-4o", "auth", None)]
        first = (await house.api.models())[0]
        assert first["state"] == "resting"
        assert first["cooldown"] == resting[0]
        page = await house.page("/console/models")
        assert ("Everybody, a day" in page, "$20.00" in page, "500 calls" in page) == (True, True, True)
        assert "until its settings or key change" in page
        assert page.count("Clear cooldown") == 1
        assert (await house.api.clear_cooldown("openai/gpt-4o"))["state"] == "well"
        assert await house.api.cooldowns() == []
        assert "Clear cooldown" not in await house.page("/console/models")
        with pytest.raises(Refusal, match="isn't resting"):
            await house.api.clear_cooldown("openai/gpt-4o")
        async with house.browser("uma", "user") as browser, browser.get("/console/models") as answer:
            assert answer.status == 403


async def test_what_is_listed_is_what_the_settings_say(tmp_path: Path) -> None:
    async with house_of(tmp_path) as house:
        rows = await house.api.models()
        assert [(row["name"], row["vendor"], row["usual"], row["fallback"]) for row in rows] == [
            ("openai/gpt-4o", "openai", True, None),
            ("sonnet", "anthropic", False, None),
            ("local", "openai", False, 1),
        ]
        assert [(row["window"], row["window_source"]) for row in rows] == [
            (128_000, "listed"),
            (200_000, "listed"),
            (8_000, "set"),
        ]
        assert [(row["price"], row["price_source"]) for row in rows] == [
            ("$2.5 in, $10 out", "listed"),
            ("$3 in, $15 out", "listed"),
            ("$0.1 in, $0.2 out", "set"),
        ]
        assert (rows[1]["for"], rows[1]["least_complexity"]) == (["coding", "planning"], 60)
        assert rows[2]["key"] == "not needed"
        assert "k2" not in json.dumps(rows)
        assert await house.api.model("anthropic/claude-sonnet-4-5") == rows[1]
        with pytest.raises(Refusal, match="There is no model opus"):
            await house.api.model("opus")
