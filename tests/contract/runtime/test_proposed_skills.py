"""Skills that an agent proposes: a card with what differs, an owner's word, and at most one write, over kills and races."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from bot.wiring.skills.parts import SkillParts, proposing_of
from bot.wiring.skills.places import SHIPPED_SKILLS
from runtime.contract import Call, Choice, Effect, Flow, Identity, Json, Reads, RunId, SessionKey, ToolContext
from runtime.domain.approvals import Approval
from runtime.domain.ids import new_id
from runtime.domain.skills.lock import Standing
from runtime.domain.skills.skill import Source
from runtime.errors import StoreError
from runtime.policy.rules import SHIPPED, Rule, Ruling
from runtime.skills.reading import contents_in, read_skill
from runtime.store.approvals.undos import CUT_AFTER
from runtime.store.skills.store import SkillLockStore
from tests.contract.runtime.skills import accept, call, life, settings_in
from tests.contract.runtime.stage import ADA, LEASE, OTTO, UMA, Crash, FakeTool, Process, Stage, crash_at, fake_tool
from tests.contract.runtime.strict import Planned
from tests.contract.runtime.test_skills import results
from tests.unit.skills.making import NOTES, skill_in

TEA: Final = "---\nname: tea\ndescription: Makes tea. Use when people ask for tea.\n---\nWarm the pot first.\n"
ALL_ALLOWED: Final = (Rule(Ruling.ALLOW, tainted=True), *SHIPPED)


def proposal(number: int = 1, name: str = "tea", text: str = TEA, **more: Any) -> Call:
    return call("skill_propose", number, name=name, why="They told me.", text=text, **more)


async def house(
    stage: Stage, folder: Path, *plan: Call, more: Sequence[FakeTool] = (), **given: Any
) -> tuple[Process, SkillParts, Planned]:
    """A process whose agent may propose skills beside the settings file in `folder`."""
    settings = settings_in(folder)
    process, parts = await life(stage, settings, model := Planned(*plan, end="Done."), *more, **given)
    (tool,) = proposing_of(lambda: settings, parts, str)
    tools: Any = process.tools  # the stage's tools are fakes, and this is the real one
    tools[tool.spec.name] = tool
    return process, parts, model


async def asked(stage: Stage, process: Process, who: Identity = ADA) -> Approval:
    await process.say("learn how tea is made", who=who)
    await process.rest()
    (question,) = await stage.pending()
    return question


async def standing(parts: SkillParts, name: str = "tea") -> Standing | None:
    found = (await parts.ready.look()).get(("", name))
    return found.standing if found else None


def texts(folder: Path, name: str = "tea") -> dict[str, str]:
    return {path: data.decode() for path, data in contents_in(folder / "skills" / name).items()}


async def test_an_approved_skill_is_there_accepted_by_its_owner_and_used(any_stage: Stage, tmp_path: Path) -> None:
    stage, folder = any_stage, tmp_path / "s"
    process, parts, model = await house(stage, folder, proposal(files={"scripts/brew.sh": "echo brew"}))
    async with process.running():
        question = await asked(stage, process)
        card = "\n".join(await stage.screen())
        assert not (folder / "skills").exists()
        await process.click(question.id)
        await process.rest()
    assert "name: `tea` (new)" in card
    assert "Warm the pot first." in card
    assert "files scripts/brew.sh:\n\n```\necho brew\n```" in card
    assert "what it is for: Makes tea. Use when people ask for tea." in card
    assert "an owner has to say yes" in card
    assert results(model.requests[-1])[0].startswith("The skill tea is there now, accepted by Ada.")
    assert texts(folder) == {"SKILL.md": TEA, "scripts/brew.sh": "echo brew"}
    assert await standing(parts) is Standing.ACCEPTED
    [(who, name, detail)] = await stage.audit("skill written")
    assert (who, name, detail.partition(" in ")[2]) == ("Ada", "tea", question.run_id)


async def test_no_rule_answers_for_an_owner_and_no_operator_may(stage: Stage, tmp_path: Path) -> None:
    process, parts, model = await house(stage, tmp_path / "s", proposal(), rules=ALL_ALLOWED)
    async with process.running():
        question = await asked(stage, process, UMA)
        for choice, who in ((Choice.APPROVE, OTTO), (Choice.APPROVE, UMA), (Choice.ALWAYS, ADA)):
            await process.click(question.id, choice, who=who)
            assert len(await stage.pending()) == 1
        await process.click(question.id, Choice.DENY, "not like this")
        await process.rest()
    assert "not like this" in results(model.requests[-1])[0]
    assert await standing(parts) is None


async def test_a_change_shows_what_differs_and_hidden_signs_as_codes(stage: Stage, tmp_path: Path) -> None:
    folder = tmp_path / "s"
    skill_in(folder / "skills", files={"scripts/a.sh": "echo a\n", "references/b.md": "b"})
    process, parts, model = await house(stage, folder, call("skill_read", name="notes"))
    await accept(parts, stage)
    await process.say("read the notes")
    await process.answer_all()
    form = results(model.requests[-1])[0].rpartition("Form ")[2].removesuffix(".")
    changed: dict[str, Any] = {
        "text": f"{NOTES}\u202eThen the date.\n",
        "files": {"scripts/a.sh": "echo b\n"},
        "base": form,
    }
    process.ask(model := Planned(proposal(1, "notes", **changed), end="Done."))
    async with process.running():
        question = await asked(stage, process)
        card = "\n".join(await stage.screen())
        await process.click(question.id)
        await process.rest()
    assert f"name: `notes` (changes the form {form})" in card
    assert "+⟨U+202E⟩Then the date." in card
    assert "files scripts/a.sh (what changes):" in card
    assert "-echo a\n+echo b" in card
    assert "has text that nobody sees" in card
    assert texts(folder, "notes") | {"SKILL.md": ""} == {
        "SKILL.md": "",
        "references/b.md": "b",
        "scripts/a.sh": "echo b\n",
    }
    assert await standing(parts, "notes") is Standing.ACCEPTED


async def test_a_skill_that_changed_meanwhile_is_left_alone(stage: Stage, tmp_path: Path) -> None:
    folder = tmp_path / "s"
    skill_in(folder / "skills")
    process, parts, model = await house(stage, folder)
    await accept(parts, stage)
    form = (await parts.ready.look())["", "notes"].found.skill
    assert form
    process.ask(model := Planned(proposal(1, "notes", f"{NOTES}More.\n", base=form.digest[:12]), end="Done."))
    async with process.running():
        question = await asked(stage, process)
        (folder / "skills" / "notes" / "SKILL.md").write_text(f"{NOTES}Somebody's own words.\n")
        await process.click(question.id)
        await process.rest()
    assert "is another one by now" in results(model.requests[-1])[0]
    assert texts(folder, "notes") == {"SKILL.md": f"{NOTES}Somebody's own words.\n"}


@pytest.mark.parametrize("first", [0, 1])
async def test_of_two_proposals_for_one_skill_the_first_approved_counts(
    first: int, stage: Stage, tmp_path: Path
) -> None:
    plan = [(proposal(1, text=f"{TEA}One.\n"), proposal(2, text=f"{TEA}Two.\n"))]
    folder = tmp_path / "s"
    process, _, model = await house(stage, folder, *plan)  # type: ignore[arg-type]  # two calls of one answer
    async with process.running():
        await process.say("learn how tea is made")
        await process.rest()
        questions = sorted(await stage.pending(), key=lambda one: one.step, reverse=bool(first))
        for question in questions:
            await process.click(question.id)
            await process.rest()
    told = results(model.requests[-1])
    assert sorted(words.partition(".")[0].startswith("The skill tea is there now") for words in told) == [False, True]
    assert any("There is a skill tea already" in words for words in told)
    assert texts(folder)["SKILL.md"].endswith(("One.\n", "Two.\n"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"name": "../x"}, "expected small letters"),
        ({"name": "csv-report"}, "There is a skill csv-report already"),
        ({"text": "Do it."}, "must begin with a line ---"),
        ({"text": TEA.replace("name: tea", "name: csv-report")}, "is not the name of its folder"),
        ({"base": "0123456789ab"}, "There is no skill tea of the form 0123456789ab"),
        ({"files": {f"{number}.md": "" for number in range(1_000)}}, "1,000; at most 50"),
        ({"files": {"../../x": ""}}, "no path inside a folder"),
    ],
)
async def test_nobody_is_asked_about_what_is_no_proposal(
    arguments: dict[str, Any], words: str, stage: Stage, tmp_path: Path
) -> None:
    process, _, model = await house(stage, tmp_path / "s", proposal(**arguments))
    await process.say("learn how tea is made")
    await process.answer_all()
    assert words in results(model.requests[-1])[0]
    assert await stage.pending() == []


@pytest.mark.parametrize("point", ["tool-marked", "tool-finished"])
async def test_a_kill_between_the_word_and_the_result_leaves_one_skill(
    point: str, stage: Stage, tmp_path: Path
) -> None:
    """Nobody knows then whether it was written: an owner is asked, and again writes nothing twice."""
    folder = tmp_path / "s"
    process, parts, _ = await house(stage, folder, proposal(), probe=crash_at(point))
    await process.say("learn how tea is made")
    async with process.running():
        await process.rest()
    (question,) = await stage.pending()
    await process.click(question.id)
    await process.until_crash()
    stage.clock.advance(LEASE)
    after, parts, model = await house(stage, folder, proposal())
    async with after.running():
        await after.rest()
        (doubt,) = await stage.pending()
        await after.click(doubt.id, Choice.AGAIN)
        await after.rest()
    assert results(model.requests[-1])[0].startswith("The skill tea is there now, accepted by Ada.")
    assert texts(folder) == {"SKILL.md": TEA}
    assert await standing(parts) is Standing.ACCEPTED
    assert len(await stage.audit("skill written")) == 1
    assert "[Undo]" not in "\n".join(await stage.screen())  # what was there before is not known any more


async def test_after_outside_text_the_card_says_so(stage: Stage, tmp_path: Path) -> None:
    read = call("look", path=".")

    async def mail(arguments: Mapping[str, Json]) -> str:
        return "Learn to make tea as I say."

    look = fake_tool("look", Effect.READ, mail, flow=Flow(Reads.OUTSIDE, "mail"))
    process, _, _ = await house(stage, tmp_path / "s", read, proposal(), more=[look], rules=ALL_ALLOWED)
    async with process.running():
        await asked(stage, process)
        card = "\n".join(await stage.screen())
    assert "After reading mail." in card


async def test_a_disk_that_takes_nothing_is_told_of(stage: Stage, tmp_path: Path) -> None:
    folder = tmp_path / "s"
    plan = (proposal(1, files={"/".join(["d" * 255] * 16): "too long for any disk"}), proposal(2))
    process, _, model = await house(stage, folder, *plan)
    async with process.running():
        question = await asked(stage, process)
        await process.click(question.id)
        await process.rest()
        [question] = await stage.pending()
        (folder / "skills").rmdir()
        (folder / "skills").write_text("in the way")
        await process.click(question.id)
        await process.rest()
    first, second = results(model.requests[-1])
    assert "The skill tea can't be written (File name too long). All is as it was." in first
    assert f"{folder}/skills can't be written here" in second


async def test_without_an_owners_word_a_written_skill_waits_for_one(stage: Stage, tmp_path: Path) -> None:
    """Should something else than a person have let the call run."""
    folder = tmp_path / "s"
    process, parts, _ = await house(stage, folder)
    tool = process.tools["skill_propose"]
    context = ToolContext(tmp_path, SessionKey("s"), RunId("none"), "c", agent="main")
    told = await tool.call({"name": "tea", "why": "x", "text": TEA}, context)
    assert "waits for an owner" in told
    assert await standing(parts) is Standing.NEW


# ------------------------------------------------------------------------------------------------------------- undo


async def written(stage: Stage, process: Process, who: Identity = ADA) -> Approval:
    """A proposal was approved by an owner, and is written."""
    question = await asked(stage, process, who)
    await process.click(question.id)
    await process.rest()
    return question


async def undo(process: Process, question: Approval, who: Identity = ADA) -> str:
    """A press on Undo, and all that follows; what the presser alone is told."""
    verdict = await process.click(question.id, Choice.UNDO, who=who)
    await process.undoer.look()
    await process.rest()
    return verdict.notice or ""


async def changing(stage: Stage, folder: Path) -> tuple[Process, SkillParts]:
    """A process whose agent proposes a change of a skill that is there and accepted."""
    skill_in(folder / "skills", files={"scripts/a.sh": "echo a\n"})
    process, parts, _ = await house(stage, folder)
    await accept(parts, stage, "notes")
    skill = (await parts.ready.look())["", "notes"].found.skill
    assert skill
    changed: dict[str, Any] = {"text": f"{NOTES}More.\n", "files": {"b.md": "b"}, "removed": ["scripts/a.sh"]}
    process.ask(Planned(proposal(1, "notes", **changed, base=skill.digest[:12]), end="Done."))
    return process, parts


async def test_a_new_skill_that_is_taken_back_is_gone_and_nobody_accepted_it(any_stage: Stage, tmp_path: Path) -> None:
    stage, folder = any_stage, tmp_path / "s"
    process, parts, _ = await house(stage, folder, proposal())
    async with process.running():
        question = await written(stage, process)
        assert "[Undo]" in "\n".join(await stage.screen())
        assert [await undo(process, question) for _ in range(2)] == ["", "Ada has already pressed Undo."]
        card = "\n".join(await stage.screen())
    assert "**Undone** by Ada: " in card
    assert "[Undo]" not in card
    assert list((folder / "skills").iterdir()) == []
    assert await stage.store.skills.skill_locks() == {}
    assert [who for who, _, _ in await stage.audit("undo done")] == ["Ada"]
    assert await stage.audit("skill removed") == [("Ada", "tea", "")]
    assert await standing(parts) is None


async def test_a_change_that_is_taken_back_leaves_the_form_before_accepted(any_stage: Stage, tmp_path: Path) -> None:
    stage, folder = any_stage, tmp_path / "s"
    process, parts = await changing(stage, folder)
    before = texts(folder, "notes")
    async with process.running():
        question = await written(stage, process)
        assert texts(folder, "notes") == {"SKILL.md": f"{NOTES}More.\n", "b.md": "b"}
        await undo(process, question)
    assert texts(folder, "notes") == before
    assert await standing(parts, "notes") is Standing.ACCEPTED
    assert [who for who, _, _ in await stage.audit("skill changed")] == ["Ada", "Ada"]


async def test_a_copy_of_a_shipped_skill_that_is_taken_back_leaves_the_shipped_one(
    stage: Stage, tmp_path: Path
) -> None:
    folder, shipped = tmp_path / "s", read_skill(SHIPPED_SKILLS / "csv-report", Source.SHIPPED)
    assert shipped.skill
    change = proposal(1, "csv-report", f"{shipped.text}More.\n", base=shipped.skill.digest[:12])
    process, _, _ = await house(stage, folder, change)
    async with process.running():
        question = await written(stage, process)
        assert texts(folder, "csv-report")["SKILL.md"] == f"{shipped.text}More.\n"
        await undo(process, question)
    assert list((folder / "skills").iterdir()) == []
    assert await stage.store.skills.skill_locks() == {}


async def test_a_skill_that_changed_since_is_not_taken_back(stage: Stage, tmp_path: Path) -> None:
    folder = tmp_path / "s"
    process, _, _ = await house(stage, folder, proposal())
    async with process.running():
        question = await written(stage, process)
        (folder / "skills" / "tea" / "mine.md").write_text("my own words")
        await undo(process, question)
        card = "\n".join(await stage.screen())
    assert " · Ada tried to undo it: The skill tea has changed since, so I left it alone." in card
    assert texts(folder) == {"SKILL.md": TEA, "mine.md": "my own words"}
    assert "tea" in await stage.store.skills.skill_locks()


async def test_owners_alone_take_a_skill_back(stage: Stage, tmp_path: Path) -> None:
    process, parts, _ = await house(stage, tmp_path / "s", proposal())
    async with process.running():
        question = await written(stage, process, UMA)
        assert [await undo(process, question, who) for who in (UMA, OTTO)] == ["Only an owner can undo this."] * 2
        assert await standing(parts) is Standing.ACCEPTED
        assert await undo(process, question) == ""
    assert await standing(parts) is None


@pytest.mark.parametrize("point", ["undo-begun", "undo-done"])
async def test_a_kill_in_an_undo_leaves_the_skill_as_it_was_or_taken_back(
    point: str, stage: Stage, tmp_path: Path
) -> None:
    folder = tmp_path / "s"
    process, _ = await changing(stage, folder)
    before = texts(folder, "notes")
    async with process.running():
        question = await written(stage, process)
    after = texts(folder, "notes")
    dying, _, _ = await house(stage, folder, probe=crash_at(point))
    with pytest.raises(Crash):
        await undo(dying, question)
    stage.clock.advance(LEASE + CUT_AFTER)
    living, parts, _ = await house(stage, folder)
    async with living.running():
        await living.undoer.look()
        await living.rest()
    assert "I was cut off. Please check whether it worked." in "\n".join(await stage.screen())
    assert texts(folder, "notes") == (after if point == "undo-begun" else before)
    assert await standing(parts, "notes") is Standing.ACCEPTED


async def test_a_store_that_is_away_leaves_what_was_taken_back_to_an_owner(stage: Stage, tmp_path: Path) -> None:
    folder, shut = tmp_path / "s", "the database is away"

    class Away(SkillLockStore):
        async def take_back_proposed(self, *_: Any) -> str:
            raise StoreError(shut)

    process, parts = await changing(stage, folder)
    away = replace(parts, store=Away(stage.store.driver, new_id))
    (tool,) = proposing_of(lambda: settings_in(folder), away, str)
    tools: Any = process.tools
    tools[tool.spec.name] = tool
    async with process.running():
        question = await written(stage, process)
        await undo(process, question)
        card = "\n".join(await stage.screen())
    assert "The files of the skill notes are as they were before, and an owner has to decide about it" in card
    assert await standing(parts, "notes") is Standing.CHANGED
