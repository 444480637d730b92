"""Programs in a model's place: whatever they do, a turn ends with an answer or with words, and in bounded memory."""

from __future__ import annotations

import asyncio
import os
import resource
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from runtime.contract import (
    AssistantTurn,
    Call,
    Effect,
    ModelReply,
    ModelRequest,
    ToolSpec,
    ToolTurn,
    Turn,
    UserTurn,
    Work,
)
from runtime.errors import ModelFailed
from tools.executors.program_model import ProgramModel
from tools.mcp.sandbox import unseen
from tools.mcp.terms import Program

LOOK: Final = ToolSpec("look", "Look at a thing.", {"type": "object"}, Effect.READ)
ASKED: Final = ModelRequest("Be brief.", [UserTurn("Hello", "Ada")], [LOOK], room="web:main/a", step="RUN/3")
HEAD: Final = """
import json, os, sys, time


def say(turn, kind, **more):
    print(json.dumps({"id": turn["id"], "type": kind, **more}), flush=True)


"""
TURNS: Final = HEAD + "for line in sys.stdin:\n    turn = json.loads(line)\n    if turn['type'] != 'turn': continue\n"
ECHO: Final = TURNS + "    say(turn, 'end', text=f\"{turn['messages'][-1]['text']} {os.getpid()}\")\n"
GARBAGE: Final = {
    "no JSON": "print('Hello!', flush=True)",
    "an id of the future": "say({'id': turn['id'] + 1}, 'end')",
    "no turn": "say(turn, 'done')",
}


@asynccontextmanager
async def model(folder: Path, code: str, *, processes: int = 1, limit: float = 10) -> AsyncIterator[ProgramModel]:
    """It rests without waiting; how long it would have is in the list `rests`."""

    async def sleep(seconds: float) -> None:
        RESTS.append(seconds)

    RESTS.clear()
    program = Program((sys.executable, "-S", "-c", code), folder, env={"PATH": "/usr/bin:/bin"})
    made = ProgramModel(program, "ops", processes=processes, limit=timedelta(seconds=limit), sleep=sleep)
    async with asyncio.TaskGroup() as group:
        keeping = group.create_task(made.run())
        try:
            yield made
        finally:
            keeping.cancel()


RESTS: Final[list[float]] = []


async def ask(made: ProgramModel, request: ModelRequest = ASKED) -> ModelReply:
    return await made.reply(request, lambda _: None)


async def test_a_program_answers_stays_and_is_gone_with_whoever_keeps_it(tmp_path: Path) -> None:
    async with model(tmp_path, ECHO) as made:
        first, second = await ask(made), await ask(made)
    assert first.text == second.text
    assert first.text.startswith("Hello ")
    assert first.usage.model == "program:ops"
    with pytest.raises(ProcessLookupError):
        os.kill(int(first.text.split()[1]), 0)


async def test_a_turn_holds_all_that_a_program_needs(tmp_path: Path) -> None:
    turns: list[Turn] = [
        UserTurn("Hello", "Ada"),
        AssistantTurn("", (Call("c1", "look", '{"at": 1}'),)),
        ToolTurn("c1", "look", "7"),
    ]
    asked = ModelRequest("Be brief.", turns, [LOOK], working="It is noon.", room="web:main/a", step="RUN/3")
    code = TURNS + "    say(turn, 'end', text=json.dumps(turn))\n"
    async with model(tmp_path, code) as made:
        told = (await ask(made, asked)).text
        words_only = (await ask(made, ModelRequest("", turns, [LOOK], words_only=True, work=Work.SUMMARY))).text
    for part in (
        '"agent": "ops", "room": "web:main/a", "run": "RUN", "step": "RUN/3", "work": "chat"',
        '"system": "Be brief.", "working": "It is noon."',
        '{"role": "user", "text": "Hello", "author": "Ada"}',
        '{"role": "assistant", "text": "", "calls": [{"id": "c1", "tool": "look", "arguments": {"at": 1}}]}',
        '{"role": "tool", "call": "c1", "tool": "look", "text": "7"}',
        '"tools": [{"name": "look", "description": "Look at a thing.", "schema": {"type": "object"}, "effect": "read"}]',
    ):
        assert part in told
    assert '"work": "summary"' in words_only
    assert '"tools": []' in words_only


async def test_text_grows_and_thoughts_calls_and_usage_come_with_the_end(tmp_path: Path) -> None:
    code = TURNS + (
        "    say(turn, 'thought', text='Hm.')\n    say(turn, 'text', text='Let me ')\n    time.sleep(0.1)\n"
        "    say(turn, 'text', text='look.')\n    say(turn, 'call', tool='look', arguments={'at': 1})\n"
        "    say(turn, 'end', calls=[{'tool': 'look'}], usage={'input_tokens': 9, 'output_tokens': 2, 'cost_usd': 0.5})\n"
    )
    shown: list[str] = []
    async with model(tmp_path, code) as made:
        reply = await made.reply(ASKED, shown.append)
        again = await ask(made)
    assert shown[0] in ("", "Let me ")
    assert shown[-1] == reply.text == "Let me look."
    assert [(call.tool, call.arguments) for call in reply.calls] == [("look", '{"at": 1}'), ("look", "{}")]
    assert len({call.id for call in reply.calls}) == 2
    assert reply.calls == again.calls, "the same turn has the same calls"
    assert reply.reasoning is not None
    assert reply.reasoning.text == "Hm."
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.cost_micros) == (9, 2, 500_000)


@pytest.mark.parametrize("fault", GARBAGE)
async def test_garbage_is_cut_with_words_and_the_next_turn_is_answered(fault: str, tmp_path: Path) -> None:
    code = (
        TURNS
        + f"    if not os.path.exists('mended'):\n        {GARBAGE[fault]}\n        continue\n    say(turn, 'end', text='well')\n"
    )
    async with model(tmp_path, code) as made:
        with pytest.raises(ModelFailed, match="answered with something that I can't read") as failed:
            await ask(made)
        (tmp_path / "mended").touch()
        assert (await ask(made)).text == "well"
    assert failed.value.detail


async def test_what_a_program_says_of_its_failure_is_what_people_read(tmp_path: Path) -> None:
    async with model(tmp_path, TURNS + "    say(turn, 'failed', reason='No paper.')\n") as made:
        for _ in range(2):
            with pytest.raises(ModelFailed, match=r"^No paper\.$"):
                await ask(made)
    assert RESTS == [], "it works as it should"


async def test_a_line_of_a_gigabyte_is_cut_and_takes_no_memory(tmp_path: Path) -> None:
    code = TURNS + "    for _ in range(16384): os.write(1, b'x' * 65536)\n"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with model(tmp_path, code) as made:
        with pytest.raises(ModelFailed, match="said more than 8 MB in one answer"):
            await ask(made)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024, "kilobytes"


async def test_many_short_lines_are_bounded_too(tmp_path: Path) -> None:
    code = TURNS + "    while True: say(turn, 'text', text='x' * 60_000)\n"
    async with model(tmp_path, code) as made:
        with pytest.raises(ModelFailed, match="said more than 8 MB in one answer"):
            await ask(made)


async def test_complaints_without_end_neither_stop_an_answer_nor_fill_memory(tmp_path: Path) -> None:
    code = TURNS + "    for _ in range(2_000): os.write(2, b'x' * 1000)\n    say(turn, 'end', text='well')\n"
    async with model(tmp_path, code) as made:
        assert (await ask(made)).text == "well"


async def test_one_that_hangs_is_ended_with_words(tmp_path: Path) -> None:
    code = TURNS + "    if not os.path.exists('free'): time.sleep(600)\n    say(turn, 'end', text='well')\n"
    async with model(tmp_path, code, limit=0.3) as made:
        with pytest.raises(ModelFailed, match=r"gave no sign for 0\.3 seconds"):
            await ask(made)
        (tmp_path / "free").touch()
        made._limit = 10
        assert (await ask(made)).text == "well"


async def test_a_sign_of_life_keeps_a_long_turn_alive(tmp_path: Path) -> None:
    long = "for _ in range(18):\n        say(turn, 'alive')\n        time.sleep(0.05)\n"
    code = TURNS + f"    {long}    say(turn, 'end', text='well')\n"
    async with model(tmp_path, code) as made:
        await ask(made)  # it has started
        made._limit = 0.8
        assert (await ask(made)).text == "well"


async def test_one_that_dies_in_a_turn_is_asked_again(tmp_path: Path) -> None:
    code = TURNS + "    if turn['attempt'] < 3: os._exit(1)\n    say(turn, 'end', text=str(turn['attempt']))\n"
    async with model(tmp_path, code) as made:
        assert (await ask(made)).text == "3"
    assert [round(rest) for rest in RESTS] == [1, 2]


async def test_one_that_dies_in_the_middle_each_time_is_told_so(tmp_path: Path) -> None:
    async with model(tmp_path, TURNS + "    say(turn, 'alive')\n    os._exit(1)\n") as made:
        with pytest.raises(ModelFailed, match="ended in the middle of its answer"):
            await ask(made)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts programs as another user")
def test_a_program_below_tmp_that_its_user_cannot_see_is_named_without_a_sandbox_too(tmp_path: Path) -> None:
    script = tmp_path / "agent"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    told = unseen(Program((str(script),), tmp_path / "home", uid=65534, env={"PATH": "/usr/bin"}))
    assert told == f"{script} is not there for the user it runs as: keep it elsewhere than below /tmp"
    assert unseen(Program(("/bin/sh",), tmp_path / "home", uid=65534, env={"PATH": "/usr/bin"})) == ""


def test_a_script_that_is_named_as_one_sees_it_is_looked_for_where_the_program_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The very file that stands beside one is meant, and the program starts in a folder of its own."""
    (tmp_path / "bots").mkdir()
    script = tmp_path / "bots" / "agent.py"
    script.write_text("#!/bin/sh\n")
    monkeypatch.chdir(tmp_path)

    def said(*command: str, uid: int | None = None) -> str:
        return unseen(Program(command, tmp_path / "home", uid=uid, env={"PATH": "/usr/bin"}))

    below = f"{script} is not there for the user it runs as: keep it elsewhere than below /tmp"
    for command in (("/bin/sh", "bots/agent.py"), ("bots/agent.py",), ("/bin/sh", "../" * 20 + str(script)[1:])):
        assert said(*command, uid=65534) == below, command
    assert said("/bin/sh", "bots/agent.py") == f"{script} is not where it starts: name it by its whole path"
    assert said(str(script)) == f"{script} may not be run: chmod +x"
    (tmp_path / "home" / "bots").mkdir(parents=True)
    (tmp_path / "home" / "bots" / "agent.py").touch()
    assert said("/bin/sh", "bots/agent.py") == ""
    assert said("/bin/sh", "-c", "exit 1 # " + "x" * 5_000) == ""


async def test_starts_wait_ever_longer_and_at_most_a_minute(tmp_path: Path) -> None:
    async with model(tmp_path, HEAD + "print('no rules', file=sys.stderr)\nsys.exit(3)\n") as made:
        for _ in range(3):
            with pytest.raises(ModelFailed, match=r"ended without an answer, each time\. An operator finds") as failed:
                await ask(made)
    assert "no rules" not in str(failed.value), "its own words are for operators"
    assert failed.value.detail == "it ended with code 3; its last words: no rules"
    assert [round(rest) for rest in RESTS] == [1, 2, 4, 8, 16, 32, 60, 60]


async def test_the_last_words_of_one_that_ended_are_told_as_far_as_a_traceback_goes(tmp_path: Path) -> None:
    async with model(
        tmp_path, HEAD + "print('x' * 5_000, 'word ' * 100 + 'end', file=sys.stderr)\nsys.exit(3)\n"
    ) as made:
        with pytest.raises(ModelFailed) as failed:
            await ask(made)
    assert failed.value.detail.count("word ") == 100
    assert len(failed.value.detail) < 1_100


async def test_one_that_ends_after_each_answer_need_not_wait(tmp_path: Path) -> None:
    code = ECHO + "    break\n"
    async with model(tmp_path, code) as made:
        texts = {(await ask(made)).text for _ in range(3)}
    assert len(texts) == 3
    assert RESTS == []


async def test_one_that_is_not_there_says_so(tmp_path: Path) -> None:
    made = ProgramModel(Program(("no-such-agent",), tmp_path, env={"PATH": "/usr/bin"}), "ops")
    with pytest.raises(ModelFailed, match="can't be started") as failed:
        await ask(made)
    assert failed.value.detail.startswith("there is no program 'no-such-agent'")


async def test_a_turn_that_is_stopped_is_told_and_the_program_goes_on_with_the_next(tmp_path: Path) -> None:
    code = HEAD + (
        "for line in sys.stdin:\n    turn = json.loads(line)\n"
        "    if turn['type'] == 'cancel':\n        say(turn, 'end', text='late')\n"
        "    elif os.path.exists('begun'):\n        say(turn, 'end', text=str(os.getpid()))\n"
        "    else:\n        open('begun', 'w').write(str(os.getpid()))\n"
    )
    async with model(tmp_path, code) as made, asyncio.TaskGroup() as group:
        asking = group.create_task(ask(made))
        async with asyncio.timeout(20):
            while not (tmp_path / "begun").exists() or not (tmp_path / "begun").read_text():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        asking.cancel()
        await asyncio.sleep(0)
        assert (await ask(made)).text == (tmp_path / "begun").read_text()


async def test_one_that_does_not_heed_a_stop_is_ended(tmp_path: Path) -> None:
    code = TURNS + (
        "    if os.path.exists('begun'): say(turn, 'end', text='well')\n"
        "    else:\n        open('begun', 'w').close()\n        time.sleep(600)\n"
    )
    async with model(tmp_path, code) as made, asyncio.TaskGroup() as group:
        asking = group.create_task(ask(made))
        async with asyncio.timeout(20):
            while not (tmp_path / "begun").exists():  # noqa: ASYNC110 - another process writes it
                await asyncio.sleep(0.01)
        asking.cancel()
        await asyncio.sleep(0)
        for kept in made._idle:
            kept.owed_since -= 10
        assert (await ask(made)).text == "well"


async def test_several_work_side_by_side_and_no_more_than_may(tmp_path: Path) -> None:
    code = TURNS + "    time.sleep(0.2)\n    say(turn, 'end', text=str(os.getpid()))\n"
    async with model(tmp_path, code, processes=2) as made:
        texts = [reply.text for reply in await asyncio.gather(*(ask(made) for _ in range(5)))]
    assert len(set(texts)) == 2


async def test_one_that_is_replaced_ends_after_its_turn(tmp_path: Path) -> None:
    code = TURNS + (
        "    open('begun', 'w').close()\n    time.sleep(0.3)\n    say(turn, 'end', text=str(os.getpid()))\n"
    )
    async with model(tmp_path, code) as made:
        async with asyncio.timeout(20), asyncio.TaskGroup() as group:
            asking = group.create_task(ask(made))
            while not (tmp_path / "begun").exists():  # noqa: ASYNC110 - another process writes it
                await asyncio.sleep(0.01)
            made.retire()
        with pytest.raises(ProcessLookupError):
            os.kill(int(asking.result().text), 0)
