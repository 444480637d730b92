"""Interceptors that are programs: whatever they do, an answer or a failure comes in time."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from runtime.contract.agents.interceptors import AnswerKind, InterceptorFailed, Occasion, Point
from tools.interceptors.program import ProgramJudge
from tools.mcp.terms import Program, SandboxTerms

OCCASION: Final = Occasion(Point.BEFORE_TOOL, "main", "web:main/a", "r", "r/2", "Ada", "shell", {"arguments": {}})
ANSWERS: Final = """
import json, os, sys
for line in sys.stdin:
    question = json.loads(line)
    print(json.dumps({"id": question["id"], "answer": "deny", "reason": f"{question['tool']} {os.getpid()}"}), flush=True)
"""
FAULTS: Final = {
    "ends with 1": ("import sys; sys.exit(1)", "it ended with code 1"),
    "complains": ("import sys; print('no rules here', file=sys.stderr); sys.exit(3)", "it ended with code 3"),
    "says no JSON": ("print('yes', flush=True); input(); input()", "its answer is no line of JSON"),
    "says a list": ("print('[]', flush=True); input(); input()", "its answer is no JSON object"),
    "says nonsense": (
        """import json; n = json.loads(input())["id"]; print(json.dumps({"id": n, "answer": "maybe"}), flush=True); input()""",
        'its "answer" is none of allow, ask, deny and replace',
    ),
    "has another id": (
        """print('{"id": 99, "answer": "allow"}', flush=True); input(); input()""",
        '"id" of the question',
    ),
}


@asynccontextmanager
async def judge(folder: Path, code: str, **more: timedelta) -> AsyncIterator[ProgramJudge]:
    made = ProgramJudge(Program((sys.executable, "-c", code), folder, env={"PATH": "/usr/bin:/bin"}), **more)
    try:
        yield made
    finally:
        await made.close()


async def test_a_program_answers_and_stays(tmp_path: Path) -> None:
    async with judge(tmp_path, ANSWERS) as asked:
        first, second = await asked.ask(OCCASION), await asked.ask(OCCASION)
    assert first.kind is AnswerKind.DENY
    assert first.reason.startswith("shell ")
    assert first == second


async def test_it_is_there_before_its_first_question_and_gone_with_whoever_keeps_it(tmp_path: Path) -> None:
    code = ANSWERS.replace("for line", f"open('begun', 'w').write(str(os.getpid()))  # {tmp_path}\nfor line")
    async with judge(tmp_path, code) as asked, asyncio.TaskGroup() as group:
        keeping = group.create_task(asked.run())
        async with asyncio.timeout(20):
            while not (tmp_path / "begun").exists():  # noqa: ASYNC110 - another process writes it
                await asyncio.sleep(0.01)
        answer = await asked.ask(OCCASION)
        keeping.cancel()
    assert answer.reason == f"shell {(tmp_path / 'begun').read_text()}"
    with pytest.raises(ProcessLookupError):
        os.kill(int(answer.reason.split()[1]), 0)


@pytest.mark.parametrize("fault", FAULTS)
async def test_one_that_answers_wrongly_says_how(fault: str, tmp_path: Path) -> None:
    code, words = FAULTS[fault]
    async with judge(tmp_path, code) as asked:
        with pytest.raises(InterceptorFailed) as failed:
            await asked.ask(OCCASION)
    assert words in str(failed.value)
    assert "no rules here" not in str(failed.value), "its own words are for operators"
    assert failed.value.aside == ("its last words: no rules here" if fault == "complains" else "")


async def test_one_that_hangs_is_ended_and_another_one_answers(tmp_path: Path) -> None:
    code = f"import os, time\nif not os.path.exists('free'): time.sleep(600)\n{ANSWERS}"
    async with judge(tmp_path, code, limit=timedelta(seconds=0.05)) as asked:
        with pytest.raises(InterceptorFailed, match="no answer within"):
            await asked.ask(OCCASION)
        (tmp_path / "free").touch()
        asked._limit = 30
        assert (await asked.ask(OCCASION)).kind is AnswerKind.DENY


async def test_one_that_prints_without_an_end_is_ended(tmp_path: Path) -> None:
    code = "import os\nwhile True: os.write(1, b'x' * 65536)"
    async with judge(tmp_path, code) as asked:
        with pytest.raises(InterceptorFailed, match=r"more than 8,388,608 bytes"):
            await asked.ask(OCCASION)


async def test_one_that_complains_without_an_end_still_answers(tmp_path: Path) -> None:
    code = f"import os\nfor _ in range(1000): os.write(2, b'x' * 1000)\n{ANSWERS}"
    async with judge(tmp_path, code) as asked:
        assert (await asked.ask(OCCASION)).kind is AnswerKind.DENY


async def test_one_that_is_not_there_says_so_and_is_not_tried_at_once_again(tmp_path: Path) -> None:
    asked = ProgramJudge(Program(("no-such-warden",), tmp_path, env={"PATH": "/usr/bin"}))
    for _ in range(2):
        with pytest.raises(InterceptorFailed, match=r"^it can't be started$") as failed:
            await asked.ask(OCCASION)
        assert failed.value.aside.startswith("there is no program 'no-such-warden'")


async def test_a_question_does_not_get_the_late_answer_to_an_earlier_one(tmp_path: Path) -> None:
    """This program says again what it answered before, as one does whose answer was no longer waited for."""
    code = (
        "import json\nwhile True:\n    number = json.loads(input())['id']\n    for n in range(1, number + 1):\n"
        "        print(json.dumps({'id': n, 'answer': 'deny', 'reason': str(n)}), flush=True)"
    )
    async with judge(tmp_path, code) as asked:
        assert [(await asked.ask(OCCASION)).reason for _ in range(3)] == ["1", "2", "3"]


@pytest.fixture
def ours() -> Iterator[Path]:
    """A folder of ours, not below /tmp: that is empty in a sandbox anyway."""
    with tempfile.TemporaryDirectory(prefix="signalbox-", dir="/var/tmp") as made:
        (Path(made) / "secret").write_text("x")
        yield Path(made)


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap needs Linux")
async def test_it_runs_in_a_sandbox_that_hides_our_files(ours: Path) -> None:
    code = ANSWERS.replace("{os.getpid()}", "{os.path.exists('" + str(ours / "secret") + "')}")
    terms, env = SandboxTerms((ours,)), {"PATH": "/usr/bin:/bin"}
    asked = ProgramJudge(Program((sys.executable, "-I", "-c", code), ours / "own", env=env, sandbox=terms))
    try:
        assert (await asked.ask(OCCASION)).reason == "shell False"
    except InterceptorFailed as failed:
        if "without a sandbox" not in str(failed) or os.environ.get("CI") == "true":
            raise
        pytest.skip(str(failed))
    finally:
        await asked.close()
