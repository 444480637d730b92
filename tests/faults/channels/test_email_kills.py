"""E-mail by the real program, killed at each step between a mail and its answer: each mail is answered once."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

from bot.node.lock import control_of
from tests.contract.adapters.rigs.email import ADA, text_in
from tests.contract.adapters.stage import until
from tests.fakes import forked
from tests.fakes.dovecot import PASSWORD, program
from tests.fakes.mail import AUTHSERV, Provider, provider
from tests.faults.stage import Rows
from tests.packages import path_with_packages

pytestmark = [
    pytest.mark.timeout(180),
    pytest.mark.skipif(program() is None, reason="no Dovecot on this machine (tests/setup.sh dovecot installs it)"),
]

LEAVES_WITHIN: Final = 60.0  # seconds
ANSWERED_WITHIN: Final = 100.0  # seconds, over a kill on a busy machine
LOOK_AFTER: Final = 2  # seconds

POINTS: Final = ("fetched", "taken in", "before the end", "after the end", "answered")
"""The mail is fetched; it was taken in, and no marker is set; its answer is at the server, which has not taken it; taken
it, and not said so; said so, and nothing is checkpointed."""


class Bot:
    """`python -m bot run` over one folder, one life after another."""

    def __init__(self, folder: Path, provider: Provider) -> None:
        self._folder = folder
        self._life: forked.Begun | None = None
        account = {
            "channel": "email",
            "name": "post",
            "address": provider.address,
            "imap_host": "127.0.0.1",
            "imap_port": provider.imap.port,
            "imap_security": "none",
            "smtp_port": provider.smtp_port,
            "smtp_security": "none",
            "authserv_id": AUTHSERV,
            "look_after_seconds": LOOK_AFTER,
        }
        lines = [f"{name} = {json.dumps(value)}" for name, value in account.items()]
        settings = "[access]\nowners = ['email:{ada}']\n[nodes]\nlease_seconds = 1\n[web]\nport = 0\n[outbox]\n{waits}\n[[accounts]]\n{table}\n"
        waits = "settle_first_seconds = 0.5\nsettle_second_seconds = 1.0\nbackoff_first_seconds = 0.2\nbackoff_most_seconds = 0.5"
        text = settings.format(ada=ADA, waits=waits, table="\n".join(lines))
        (folder / "signalbox.toml").write_text(text)
        self._environment = {
            "PATH": os.defpath,
            "HOME": str(folder),
            "PYTHONPATH": path_with_packages(folder / "site"),
            "EMAIL_PASSWORD": PASSWORD,
            "SIGNALBOX_DATA_DIR": str(folder / "data"),
        }

    def begin(self) -> None:
        with (self._folder / "log").open("ab") as log:
            self._life = forked.begin(
                "bot", "run", folder=self._folder, environment=self._environment, stderr=log.fileno()
            )

    def kill(self) -> None:
        assert self._life
        self._life.kill()

    async def over(self) -> int:
        assert self._life
        code: int = await asyncio.to_thread(self._life.wait, LEAVES_WITHIN)
        self._life.stdout.close()
        self._life = None
        return code

    def settled(self) -> bool:
        """True once this life serves, and nothing of an earlier one is in doubt."""
        if not self._life or (control := control_of(self._folder / "data")) is None or control.pid != self._life.pid:
            return False
        rows = Rows(self._folder / "data" / "signalbox.db")
        return not rows.select("SELECT 1 FROM parts WHERE state <> 'shown'")

    async def leave(self) -> int:
        await until(self.settled, f"end of all work\n{self.log()}", ANSWERED_WITHIN)
        assert self._life
        self._life.terminate()
        return await self.over()

    async def end(self) -> None:
        if self._life:
            self._life.kill()
            await self.over()

    def log(self) -> str:
        return (self._folder / "log").read_text()


@asynccontextmanager
async def at_work(folder: Path) -> AsyncIterator[tuple[Provider, Bot]]:
    async with provider() as made:
        bot = Bot(folder, made)
        try:
            yield made, bot
        finally:
            await bot.end()


def written(provider: Provider, number: int) -> str:
    message_id = f"<question-{number}@example.org>"
    provider.write("list the files", sender=f"Ada <{ADA}>", message_id=message_id)
    return message_id


def answers(provider: Provider) -> Counter[str]:
    """How many answers there are to each mail, on Ada's screen."""
    return Counter(str(one.mail["In-Reply-To"]) for one in provider.sent if ADA in one.to)


def arm(point: str, provider: Provider, bot: Bot, killed: asyncio.Event) -> None:
    """Have the program killed at its next passage of this point."""

    def kill() -> None:
        bot.kill()
        killed.set()

    def at(wanted: str) -> Callable[[str], None]:
        def passed(now: str) -> None:
            if now == wanted and not killed.is_set():
                kill()

        return passed

    match point:
        case "fetched":
            provider.imap.once_asked(b"BODY.PEEK[])", kill)
        case "taken in":
            provider.imap.once_asked(b"UID STORE", kill)
        case "before the end":
            provider.faults.append(("cut before", 0.0))
            provider.on_data = at("before")
        case "after the end":
            provider.faults.append(("cut after", 0.0))
            provider.on_data = at("after")
        case _:
            provider.on_data = lambda now: now == "after" and asyncio.get_running_loop().call_soon(kill)


async def killed_at(point: str, number: int, provider: Provider, bot: Bot) -> None:
    """A mail whose answer is killed there, and the life that gives it all the same."""
    killed = asyncio.Event()
    arm(point, provider, bot, killed)
    bot.begin()
    asked = written(provider, number)
    async with asyncio.timeout(ANSWERED_WITHIN):
        await killed.wait()
    assert await bot.over() == -signal.SIGKILL
    provider.on_data = lambda now: None
    bot.begin()
    await until(lambda: answers(provider)[asked] >= 1, f"answer, killed at {point}\n{bot.log()}", ANSWERED_WITHIN)
    assert provider.box.is_seen(asked)


async def test_a_mail_whose_answer_was_taken_and_not_acknowledged_is_answered_once(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (post, bot):
        await killed_at("after the end", 1, post, bot)
        asked = written(post, 2)
        await until(lambda: answers(post)[asked] >= 1, f"answer\n{bot.log()}", ANSWERED_WITHIN)
        assert await bot.leave() == 0, bot.log()
        assert set(answers(post).values()) == {1}
        assert "The folder is empty." in text_in(post.sent[0].mail)


@pytest.mark.soak
@pytest.mark.parametrize("point", POINTS)
async def test_killed_at_each_step_each_mail_is_answered_once(tmp_path: Path, point: str) -> None:
    async with at_work(tmp_path) as (post, bot):
        for number in range(1, 4):
            await killed_at(point, number, post, bot)
            assert await bot.leave() == 0, bot.log()
        bot.begin()
        asked = written(post, 4)
        await until(lambda: answers(post)[asked] >= 1, f"answer\n{bot.log()}", ANSWERED_WITHIN)
        await asyncio.sleep(2 * LOOK_AFTER)  # in which a second look would have repeated something
        assert answers(post) == {f"<question-{number}@example.org>": 1 for number in range(1, 5)}
