"""An operator changes the settings of a process at work."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.e2e.house import PATIENCE, RUN, House, environment, open_house
from tests.e2e.visitor import visiting

pytestmark = [pytest.mark.xdist_group("e2e-reload"), pytest.mark.timeout(120)]

DENY = '[[policy]]\ntool = "write_file"\nresult = "deny"\n'
DENIED = "which I don't have here"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with open_house(tmp_path) as house:
        yield house
    assert "Traceback" not in house.log()


def change(house: House, settings: str) -> None:
    (house.folder / "signalbox.toml").write_text(settings)


def until_logged(house: House, words: str, count: int = 1) -> None:
    end = time.monotonic() + PATIENCE
    while house.log().count(words) < count:
        assert time.monotonic() < end, house.log()
        time.sleep(0.05)


async def test_a_rule_counts_for_the_next_call_without_a_restart(house: House) -> None:
    async with visiting(house.link) as owner:
        change(house, DENY + "[web]\nupload_mib = 7\n")
        told = house.command("reload")
        assert told.returncode == 0
        assert told.stdout == "Changed: policy (1 rule).\nNeeds a restart: web.upload_mib.\n"
        assert DENIED in await owner.ask(uuid4().hex, "write hello to a.txt")


async def test_a_rule_that_comes_after_the_question_stops_an_approved_call(house: House) -> None:
    async with visiting(house.link) as owner:
        room = uuid4().hex
        question = await owner.question(room, "write hello to a.txt")
        change(house, DENY.replace("[[policy]]", '[[policy]]\nname = "no files"'))
        assert house.command("reload").returncode == 0
        assert (await owner.click(room, question, "approve")).status == 200
        await owner.settled(room)
        [card] = await owner.cards(room)
        assert "not run: the rule 'no files' doesn't allow it any more" in card["markdown"]
        assert card["buttons"] == []


def test_a_hangup_reloads_too_and_a_faulty_file_changes_nothing(house: House) -> None:
    change(house, '[log]\nlevel = "loud"\n[web]\nprot = 1\n')
    house.process.send_signal(signal.SIGHUP)
    until_logged(house, "the settings are not reloaded")
    assert "log.level" in house.log()
    assert "did you mean web.port?" in house.log()
    refused = house.command("reload")
    assert refused.returncode == 2
    assert "log.level" in refused.stderr
    assert "web.prot" in refused.stderr
    change(house, DENY)
    house.process.send_signal(signal.SIGHUP)
    until_logged(house, "policy (1 rule)")
    assert house.leave() == 0


def test_without_a_process_there_is_nothing_to_reload(tmp_path: Path) -> None:
    with open_house(tmp_path) as house:
        assert house.leave() == 0
        ended = house.command("reload")
    assert ended.returncode == 1
    assert "No Signalbox runs" in ended.stderr


def test_a_closed_terminal_ends_it_as_sigterm_does(tmp_path: Path) -> None:
    """It would otherwise live on unseen, and hold the data folder."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*RUN, "run", "--port", "0"],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=take_terminal,
    )
    os.close(theirs)
    try:
        told = b""
        while b"is ready at" not in told:
            told += os.read(ours, 4096)
        os.close(ours)
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.wait()


def take_terminal() -> None:
    """Make standard input the terminal of the new session, so that its end is a hangup."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
