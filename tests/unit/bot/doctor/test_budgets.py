"""Budgets are told by doctor, and so is a model whose calls none of them can count."""

from __future__ import annotations

from pathlib import Path

from bot.doctor.services.budgets import check_budgets
from bot.doctor.subject import Subject
from tests.unit.bot.settings.test_settings import read

OWN = '[model]\nname = "openai/ours"\napi_base = "http://127.0.0.1:9/v1"\napi_key = "none"\n'


async def told(folder: Path, settings: str) -> list[tuple[str, str]]:
    found = await check_budgets(Subject(read(folder, settings), None, None, None))
    return [(one.what, one.fix) for one in found]


async def test_where_no_budget_is_set_there_is_nothing_to_tell(tmp_path: Path) -> None:
    assert await told(tmp_path, OWN) == []


async def test_each_budget_is_told_with_what_follows(tmp_path: Path) -> None:
    budgets = '[budgets]\nday = 20.0\nagent_calls_hour = 500\nover = "ask"\n'
    [(what, _), (unpriced, fix)] = await told(tmp_path, OWN + budgets)
    assert what == "day $20.00, agent_calls_hour 500 calls; then approvers are asked"
    assert unpriced == "nobody knows what openai/ours costs"
    assert fix == 'set its input_price and output_price, or budgets.unpriced = "refuse"'


async def test_a_model_without_a_price_is_no_trouble_where_no_budget_counts_dollars(tmp_path: Path) -> None:
    assert len(await told(tmp_path, OWN + "[budgets]\nagent_calls_hour = 500\n")) == 1
    assert len(await told(tmp_path, OWN + '[budgets]\nday = 1.0\nunpriced = "refuse"\n')) == 1
    assert len(await told(tmp_path, OWN + "input_price = 1.0\noutput_price = 1.0\n[budgets]\nday = 1.0\n")) == 1


async def test_a_budget_of_one_agent_is_told_with_its_name(tmp_path: Path) -> None:
    agent = '[[agents]]\nname = "ops"\nprompt = "p"\nbudget_day = 5.0\ntokens_per_hour = 1000\n'
    [(what, _), _] = await told(tmp_path, OWN + agent)
    assert what == "agent_day of ops $5.00, agent_tokens_hour of ops 1,000 tokens; then work stops"


async def test_a_voice_that_is_billed_by_tokens_needs_a_price_of_its_own(tmp_path: Path) -> None:
    voice = '[speech]\nname = "openai/gpt-4o-mini-tts"\napi_key = "none"\n'
    fix = "set speech.price to US dollars for a million characters, such as 15.0"
    [_, (what, warned)] = await told(tmp_path, f"{voice}[budgets]\nday = 1.0\n")
    assert what == "nobody knows what openai/gpt-4o-mini-tts costs for a character"
    assert warned == f'{fix}, or budgets.unpriced = "refuse"'
    [_, (_, refused)] = await told(tmp_path, f'{voice}[budgets]\nday = 1.0\nunpriced = "refuse"\n')
    assert refused == fix
    for priced in (f"{voice}price = 15.0\n", voice.replace("gpt-4o-mini-tts", "tts-1")):
        assert len(await told(tmp_path, f"{priced}[budgets]\nday = 1.0\n")) == 1
