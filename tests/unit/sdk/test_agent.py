"""An agent inside a program: it answers, tells of its runs, waits for decisions, and says what it cannot do."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.node.lock import AlreadyRunning
from bot.sdk.events import Event, QuestionAsked, QuestionSettled, RunEnded, TextGrew, ToolEnded, ToolStarted
from bot.sdk.results import Question
from bot.sdk.run import Run
from bot.testing.agents import scripted_agent
from bot.testing.scripted import held
from runtime.contract import Call, Effect, FileRef, ToolContext
from runtime.domain.approvals import ApprovalState
from runtime.domain.programs.followed import FollowState
from runtime.errors import AgentClosed, ConfigError, Declined, ModelFailed, RunFailed
from tools.kit.declare import tool

OPS = '[[agents]]\nname = "ops"\nprompt = "You watch servers."\ntools = ["read_file"]\n'
NOTE = """
[inputs]
words = "hello"

[[steps]]
name = "ok"
ask = "Write a note?"
options = ["Yes", "No"]

[[steps]]
name = "write"
when = "steps.ok.text == 'Yes'"
tool = "write_file"
arguments = { path = "note.txt", content = "{{ inputs.words }}" }
"""
LETTER = Call("c1", "send_letter", '{"text": "hello"}')


def send_letter(text: str) -> str:
    """Send a letter."""
    return f"Sent: {text}"


@tool(effect=Effect.READ)
def draw(context: ToolContext) -> str:
    """Draw a picture."""
    (context.workspace / "a.txt").write_text("a house")
    context.attach(FileRef("a.txt", "a.txt", 7))
    return "Drawn."


@tool(effect=Effect.READ)
def stumble() -> str:
    """Fail, with words that are nobody's business."""
    raise ValueError("the password is swordfish")


def allowed(question: Question) -> bool:
    return True


def broken(question: Question) -> bool:
    raise TimeoutError("of its own")


async def events_of(run: Run, seconds: float = 20) -> list[Event]:
    async with asyncio.timeout(seconds):
        return [event async for event in run]


async def test_a_question_is_answered_and_a_session_remembers(tmp_path: Path) -> None:
    async with scripted_agent(tmp_path, "Hello, Ada!", "You are Ada.") as agent:
        session = await agent.session("ada")
        answer = await session.ask("I'm Ada.")
        assert (str(answer), answer.state, answer.agent) == ("Hello, Ada!", FollowState.DONE, "main")
        assert (answer.usage.model, answer.usage.input_tokens) == ("scripted", 1)
        assert str(await session.ask("Who am I?")) == "You are Ada."
        with pytest.raises(Declined, match="no such room for this program"):
            await agent.session("slack:work/C1")
        assert [turn.text for turn in agent.model.requests[1].turns] == ["I'm Ada.", "Hello, Ada!", "Who am I?"]
        assert [(line.text, line.is_agent) for line in await session.history(2)] == [
            ("Who am I?", False),
            ("You are Ada.", True),
        ]


async def test_a_key_is_answered_once_and_stands_for_its_words(tmp_path: Path) -> None:
    async with scripted_agent(tmp_path, "Once.") as agent:
        first = await agent.run("Do it.", key="nightly-1")
        assert str(await first.wait(timeout=20)) == "Once."
        again = await agent.run("Do it.", key="nightly-1")
        assert (again.id, again.repeated, str(await again.wait(timeout=20))) == (first.id, True, "Once.")
        with pytest.raises(Declined, match="was used for another request"):
            await agent.run("Do something else.", key="nightly-1")
        with pytest.raises(Declined, match="key must be 1 to 128"):
            await agent.run("Do it.", key="two words")
        with pytest.raises(Declined, match="text: String should have at least 1 character"):
            await agent.ask("")


async def test_a_bare_function_asks_and_its_run_tells_each_thing_once(tmp_path: Path) -> None:
    async with scripted_agent(tmp_path, LETTER, "It's on its way.", tools=[send_letter]) as agent:
        run, seen = await agent.run("Write to Bo."), list[Event]()
        async with asyncio.timeout(20):
            async for event in run:
                seen.append(event)
                if isinstance(event, QuestionAsked):
                    assert (event.question.tool, event.question.arguments) == ("send_letter", {"text": "hello"})
                    await run.approve(event.question, "go")
        told = [event for event in seen if not isinstance(event, TextGrew)]
        assert [type(event) for event in told] == [QuestionAsked, QuestionSettled, ToolStarted, ToolEnded, RunEnded]
        settled, ended = told[1], told[3]
        assert isinstance(settled, QuestionSettled)
        assert (settled.decided.state, settled.decided.by) == (ApprovalState.APPROVED, "test")
        assert isinstance(ended, ToolEnded)
        assert "Sent: hello" in ended.text
        again = await events_of(run)
        assert [type(event) for event in again] == [ToolStarted, ToolEnded, RunEnded]
        with pytest.raises(Declined, match="doesn't wait for the question"):
            await run.deny("0123456789012345678901")


async def test_where_people_are_asked_the_answer_says_so_and_others_may_decide(tmp_path: Path) -> None:
    async with scripted_agent(tmp_path, LETTER, "Then not.", tools=[send_letter]) as agent:
        run = await agent.run("Write to Bo.")
        answer = await run.answered(timeout=20)
        assert (answer.is_over, answer.text, str(answer)) == (False, "", "I wait until people decide: send_letter.")
        with pytest.raises(TimeoutError, match="The run goes on"):
            await run.wait(timeout=0.05, decide=lambda question: None)
        with pytest.raises(TimeoutError, match="of its own"):
            await run.wait(timeout=20, decide=broken)

        async def too_late(question: Question) -> bool:
            await agent.api.decide(question.id, "deny", "not today")  # as a person would, on the page
            return True

        assert str(await run.wait(timeout=20, decide=too_late)) == "Then not."
        assert "not today" in agent.model.requests[1].turns[-1].text
        with pytest.raises(Declined, match="doesn't wait for the question"):
            await run.approve(answer.questions[0])


async def test_a_program_that_may_not_decide_is_told_so(tmp_path: Path) -> None:
    async with scripted_agent(tmp_path, LETTER, tools=[send_letter], role="user") as agent:
        run = await agent.run("Write to Bo.")
        with pytest.raises(Declined, match="needs the role operator"):
            await run.wait(decide=allowed, timeout=20)
        await run.stop()
        with pytest.raises(RunFailed) as failed:
            await run.wait(timeout=20)
        assert failed.value.state == "stopped"


async def test_a_tool_that_raises_is_told_to_the_model_without_its_words(tmp_path: Path) -> None:
    async with scripted_agent(tmp_path, Call("c1", "stumble", "{}"), "That didn't work.", tools=[stumble]) as agent:
        assert str(await agent.ask("Stumble.")) == "That didn't work."
        assert "ValueError" in agent.model.requests[1].turns[-1].text
        assert "swordfish" not in agent.model.requests[1].turns[-1].text


async def test_files_come_with_the_answer(tmp_path: Path) -> None:
    async with scripted_agent(tmp_path, Call("c1", "draw", "{}"), "Here.", tools=[draw]) as agent:
        (file,) = (await agent.ask("Draw a house.")).files
        assert (file.name, file.size, await file.read()) == ("a.txt", 7, b"a house")
        assert (await file.save(tmp_path)).read_bytes() == b"a house"


async def test_a_run_is_heard_while_it_speaks_and_can_be_stopped(tmp_path: Path) -> None:
    slow = held("never said", said="Once upon a")
    async with scripted_agent(tmp_path, slow) as agent:
        run = await agent.run("Tell a story.")
        async with asyncio.timeout(20):
            async for event in run:
                if isinstance(event, TextGrew):
                    assert event.text == "Once upon a"
                    break
        waiting = asyncio.ensure_future(run.wait())
        await asyncio.sleep(0)
        waiting.cancel()  # whoever waits may stop waiting: the run goes on
        assert (await run.look()).state is FollowState.WORKING
        await run.stop()
        await run.stop()
        ended = (await events_of(run))[-1]
        assert isinstance(ended, RunEnded)
        assert ended.answer.state is FollowState.STOPPED


async def test_a_model_that_fails_is_an_error_in_words(tmp_path: Path) -> None:
    async with scripted_agent(tmp_path, ModelFailed("The model is away.")) as agent:
        with pytest.raises(RunFailed, match="The model is away") as failed:
            await agent.ask("Are you there?")
        assert failed.value.run


async def test_a_signal_is_attended_to_once(tmp_path: Path) -> None:
    async with scripted_agent(tmp_path, "I've seen it.") as agent:
        told = await agent.signal("ci", "build.failed", "main is red", key="build-7", payload={"job": 7})
        assert (told.outcome, told.attention) == ("accepted", "runs")
        session = await agent.session("signals")
        assert (await session.shown("I've seen it.", timeout=20)).is_agent
        assert (
            await agent.signal("ci", "build.failed", "main is red", key="build-7", payload={"job": 7})
        ).id == told.id
        with pytest.raises(Declined, match="urgency"):
            await agent.signal("ci", "build.failed", "main is red", urgency="panic")
        assert len(agent.model.requests) == 1


async def test_agents_are_asked_by_name_with_their_own_tools(tmp_path: Path) -> None:
    (tmp_path / "signalbox.toml").write_text(OPS)
    async with scripted_agent(tmp_path, "All is well.", "I am main.", agent="ops") as agent:
        assert (await agent.ask("How is it?")).agent == "ops"
        assert "You watch servers." in agent.model.requests[0].system
        assert [one.name for one in agent.model.requests[0].tools] == ["read_file"]
        assert (await agent.ask("Who are you?", agent="main")).agent == "main"
        with pytest.raises(ConfigError, match=r"no agent 'sales' in these settings. There are: main, ops"):
            await agent.ask("Who are you?", agent="sales")
    with pytest.raises(ConfigError, match="the agent ops may not use send_letter"):
        await scripted_agent(tmp_path, agent="ops", tools=[send_letter]).__aenter__()


async def test_a_workflow_is_begun_decided_about_and_waited_for(tmp_path: Path) -> None:
    (tmp_path / "signalbox.toml").write_text("")
    (tmp_path / "workflows").mkdir()
    (tmp_path / "workflows" / "note.toml").write_text(NOTE)

    def decide(question: Question) -> bool | str:
        return "Yes" if question.kind == "answer" else question.arguments == {"path": "note.txt", "content": "hi"}

    async with scripted_agent(tmp_path) as agent:
        flow = await agent.workflow("note", {"words": "hi"})
        ended = await flow.wait(decide=decide, timeout=20)
        assert {name: step.state for name, step in ended.steps.items()} == {"ok": "succeeded", "write": "succeeded"}
        other = await agent.workflow("note")
        await other.cancel()
        with pytest.raises(RunFailed, match="The workflow note ended as"):
            await other.wait(timeout=20)
        with pytest.raises(Declined, match="note"):
            await agent.workflow("not")


# ------------------------------------------------------------------------------------------------- open and closed


async def test_a_closed_agent_says_so_and_what_it_took_in_is_answered_by_the_next(tmp_path: Path) -> None:
    slow = held("Too late.")
    async with scripted_agent(tmp_path, slow, settings={"nodes.shutdown_seconds": 1}) as agent:
        with pytest.raises(AlreadyRunning, match=r"data_dir: .* is in use by .* set another data_dir"):
            await scripted_agent(tmp_path).__aenter__()
        with pytest.raises(ConfigError, match="is open already"):
            await agent.__aenter__()
        run = await agent.run("Answer me.", key="k")
        await slow.begun.wait()
        waiting = asyncio.ensure_future(run.wait())
        await asyncio.sleep(0)
    for asked in (agent.ask("More?"), run.look(), waiting, run.stop()):
        with pytest.raises(AgentClosed, match="goes on with it"):
            await asked
    async with scripted_agent(tmp_path, "I'm back.") as later:
        assert str(await later.ask("Answer me.", key="k")) == "I'm back."


async def test_an_error_of_the_block_comes_out_as_itself(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        async with scripted_agent(tmp_path):
            raise ZeroDivisionError
    agent = scripted_agent(tmp_path / "b")
    with pytest.raises(AgentClosed):
        await agent.ask("Before it is open?")


async def test_an_agent_belongs_to_its_loop(tmp_path: Path) -> None:
    async with scripted_agent(tmp_path) as agent:
        with pytest.raises(AgentClosed, match="another event loop"):
            await asyncio.to_thread(lambda: asyncio.run(agent.ask("From afar?")))


async def test_a_script_that_is_too_short_fails_the_test(tmp_path: Path) -> None:
    with pytest.raises(
        AssertionError, match="asked 1 times, and the script has no answer for the last one, which ended: 'Hi'"
    ):
        async with scripted_agent(tmp_path) as agent:
            await agent.ask("Hi")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([42], r"tools\[0\]: 42 is no tool"),
        (["read_file"], r"tools\[0\]: 'read_file' is no tool"),
        ([send_letter, send_letter], "two are called send_letter"),
        ([lambda text: text], r"tools\[0\]: .* needs a"),
    ],
)
def test_what_is_no_tool_is_told_by_its_number(given: list[object], words: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=words):
        scripted_agent(tmp_path, tools=given)  # type: ignore[arg-type]


async def test_a_tool_takes_no_name_of_ours(tmp_path: Path) -> None:
    def read_file(path: str) -> str:
        """Read a file."""
        return path

    with pytest.raises(ConfigError, match="read_file is the name of a tool that is there already"):
        await scripted_agent(tmp_path, tools=[read_file]).__aenter__()
