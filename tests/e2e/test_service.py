"""A service of its own over its whole life, with the real program: two starts, a kill in mid-reply, a stop."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from tests.walks import ROOT

pytestmark = [pytest.mark.soak, pytest.mark.timeout(300)]
ANSWER = "one two three four five six seven eight nine ten"


class Machine:
    def __init__(self, folder: Path, model: str) -> None:
        self.folder = folder
        (folder / "signalbox.toml").write_text(
            f'[web]\nport = 0\n[model]\nname = "openai/slow"\napi_base = "{model}/v1"\napi_key_env = "SLOW_KEY"\n'
        )
        env = folder / "secrets.env"
        env.write_text("SLOW_KEY=sk-slow-000000000000\n")
        env.chmod(0o600)

    def begin(self, *words: str) -> subprocess.Popen[str]:
        variables = {"PATH": os.defpath, "HOME": str(self.folder), "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "bot", *words]
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.Popen(command, cwd=self.folder, env=variables, text=True, **pipes)  # type: ignore[call-overload, no-any-return]

    def call(self, *words: str) -> tuple[int, str]:
        with self.begin(*words) as process:
            try:
                out, _ = process.communicate(timeout=120)
            except BaseException:
                process.kill()  # also where the test's own time is up: it would go on without anybody
                raise
        return process.returncode, out

    def status(self) -> dict[str, object]:
        code, out = self.call("service", "status", "--json")
        found: dict[str, object] = json.loads(out)
        assert code == (0 if found["runs"] else 3)
        return found


def _requests(model: str) -> list[object]:
    with urllib.request.urlopen(f"{model}/requests") as answer:
        found: list[object] = json.load(answer)
    return found


def test_a_kill_in_mid_reply_and_a_start_answer_once(tmp_path: Path) -> None:
    fake = subprocess.Popen(
        [sys.executable, "-m", "bot.testing.openai.server", "--port", "0"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert fake.stdout is not None
    model = fake.stdout.readline().strip()
    fake.stdout.close()
    machine = Machine(tmp_path, model)
    try:
        _live(machine, model)
    finally:
        machine.call("service", "stop", "--shutdown-timeout", "5")
        fake.kill()
        fake.wait()


def _live(machine: Machine, model: str) -> None:
    slow = [{"text": ANSWER, "delay": 0.5, "slow": True}, {"text": ANSWER}]
    script = urllib.request.Request(f"{model}/script", json.dumps(slow).encode(), {"Content-Type": "application/json"})
    urllib.request.urlopen(script).close()

    assert machine.call("service", "install", "--detached", "--env", "secrets.env")[0] == 0
    both = [machine.begin("service", "start") for _ in range(2)]
    told = [process.communicate(timeout=120)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sum("It was running already." in words for words in told) == 1
    pid = machine.status()["pid"]
    assert isinstance(pid, int)

    asking = machine.begin("ask", "--json", "--room", "kitchen1", "count")
    end = time.monotonic() + 60
    while not _requests(model):
        assert time.monotonic() < end
        time.sleep(0.1)
    time.sleep(1)  # some words are written
    os.kill(pid, signal.SIGKILL)
    assert machine.status()["runs"] is False
    assert machine.call("service", "start")[0] == 0
    asking.kill()
    asking.communicate()

    code, out = machine.call("ask", "--json", "--room", "kitchen1", "--timeout", "60", "again")
    assert code == 0, out
    shown = _messages(machine)
    assert [entry["text"] for entry in shown if entry["author"] == "agent"].count(ANSWER) == 1, shown
    assert machine.call("service", "stop")[0] == 0
    assert machine.status()["runs"] is False


def _messages(machine: Machine) -> list[dict[str, str]]:
    """The conversation, as the running process has it."""
    control = json.loads((machine.folder / "var" / "control.json").read_text())
    asked = urllib.request.Request(
        f"{control['url']}/console/api/rooms/kitchen1/timeline", headers={"Authorization": f"Bearer {control['token']}"}
    )
    with urllib.request.urlopen(asked) as answer:
        return [
            {"author": one["author"], "text": one.get("markdown", one.get("text", ""))}
            for one in json.load(answer)["entries"]
        ]
