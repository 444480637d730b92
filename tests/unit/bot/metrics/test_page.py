"""`/metrics` of a whole process: what people did is what it shows, whatever else is wrong."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest
from aiohttp import ClientConnectorError, ClientSession
from prometheus_client.parser import text_string_to_metric_families as parse

from bot.testing.scripted import Answer
from runtime.contract import Call
from runtime.errors import ModelFailed, StoreError
from tests.fakes.ports import free_port
from tests.unit.bot.notebook import LIST, WRITE, Running, running

Numbers = dict[tuple[str, ...], float]
MADE_UP = Call("c3", "launch_rocket", "{}")


async def read(url: str, **headers: str) -> tuple[int, str]:
    async with ClientSession() as session, session.get(f"{url}/metrics", headers=headers) as answer:
        return answer.status, await answer.text()


async def numbers(at_work: Running) -> Numbers:
    """The values of all samples, by name and labels in the order of their names."""
    status, text = await read(at_work.url)
    assert status == 200
    return {
        (sample.name, *(sample.labels[label] for label in sorted(sample.labels))): sample.value
        for family in parse(text)
        for sample in family.samples
    }


async def with_some(at_work: Running, *sample: str) -> Numbers:
    """The numbers once `sample` is above 0: what is on screen is counted a moment later, after its checkpoint."""
    async with asyncio.timeout(30):
        while not (found := await numbers(at_work)).get(sample):  # noqa: ASYNC110 - Prometheus has no event either
            await asyncio.sleep(0.02)
        return found


async def test_what_happened_is_what_it_shows(tmp_path: Path) -> None:
    answers: list[Answer] = [(LIST, MADE_UP), WRITE, "done", ModelFailed("the vendor is away")]
    async with running(tmp_path, answers) as at_work:
        await at_work.say("list and write")
        await at_work.notebook.until("write_file")
        asked = await numbers(at_work)
        await at_work.approve()
        await at_work.notebook.until("done")
        await with_some(at_work, "signalbox_answer_lag_seconds_count", "main", "notebook", "resumed")
        await at_work.say("and now?")
        after = await with_some(at_work, "signalbox_answer_lag_seconds_count", "main", "notebook", "straight")
    assert asked["signalbox_approvals_pending", "call"] == asked["signalbox_runs_open", "parked"] == 1
    assert {name: after[name] for name in EXPECTED} == EXPECTED
    assert after["signalbox_answer_lag_seconds_sum", "main", "notebook", "straight"] < 60


EXPECTED: Numbers = {
    ("signalbox_signals_total", "main", "notebook", "said", "accepted"): 2,
    ("signalbox_signals_total", "main", "notebook", "clicked", "decided"): 1,
    ("signalbox_claim_lag_seconds_count",): 2,
    ("signalbox_answer_lag_seconds_count", "main", "notebook", "straight"): 1,
    ("signalbox_answer_lag_seconds_count", "main", "notebook", "resumed"): 1,
    ("signalbox_runs_begun_total", "new"): 2,
    ("signalbox_runs_begun_total", "resumed"): 1,
    ("signalbox_runs_total", "done"): 1,
    ("signalbox_runs_total", "failed"): 1,
    ("signalbox_runs_total", "parked"): 1,
    ("signalbox_steps_total", "model"): 3,
    ("signalbox_steps_total", "tool"): 2,
    ("signalbox_model_calls_total", "scripted", "replied"): 3,
    ("signalbox_model_calls_total", "scripted", "failed"): 1,
    ("signalbox_model_tokens_total", "in", "scripted"): 3,
    ("signalbox_tool_calls_total", "done", "list_files"): 1,
    ("signalbox_tool_calls_total", "done", "write_file"): 1,
    ("signalbox_tool_calls_total", "refused", "other"): 1,
    ("signalbox_approvals_asked_total", "call"): 1,
    ("signalbox_approvals_total", "call", "approved"): 1,
    ("signalbox_approval_age_seconds_count", "call"): 1,
    ("signalbox_approvals_pending", "call"): 0,
    ("signalbox_runs_open", "parked"): 0,
    ("signalbox_node_changes_total", "joined"): 1,
    ("signalbox_nodes",): 1,
    ("signalbox_adapter_connected", "main", "notebook"): 1,
    ("signalbox_adapter_connected", "main", "web"): 1,
    ("signalbox_role_changes_total", "taken", "courier:notebook:main"): 1,
    ("signalbox_store_up",): 1,
    ("signalbox_deliveries", "main", "notebook", "dead"): 0,
}


async def test_a_parked_run_that_a_person_stops_is_counted_as_over(tmp_path: Path) -> None:
    async with running(tmp_path, [WRITE]) as at_work:
        await at_work.say("write")
        await at_work.notebook.until("write_file")
        await at_work.say("/stop")
        after = await with_some(at_work, "signalbox_runs_total", "stopped")
    states = {name[1]: value for name, value in after.items() if name[0] == "signalbox_runs_total" and value}
    assert states == {"parked": 1, "stopped": 1}
    assert after["signalbox_runs_open", "parked"] == 0


async def test_a_part_that_is_cut_is_uncertain_then_absent_then_shown(tmp_path: Path) -> None:
    async with running(
        tmp_path, ["done"], cut=1, outbox__settle_first_seconds=0.05, outbox__settle_second_seconds=0.1
    ) as at_work:
        await at_work.say("hello")
        after = await with_some(at_work, *PART, "shown")
    outcomes = {name[3]: value for name, value in after.items() if name[:3] == PART and value}
    assert outcomes == {"uncertain": 1, "absent": 1, "shown": 1}
    assert after["signalbox_send_seconds_count", "main", "notebook", "uncertain"] == 1


PART = ("signalbox_parts_total", "main", "notebook")


async def test_a_store_that_is_away_is_told_and_the_rest_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away() -> None:
        raise StoreError("it is away")

    async with running(tmp_path, ["done"]) as at_work:
        await at_work.say("hello")
        await at_work.notebook.until("done")
        monkeypatch.setattr(at_work.app.store.driver, "read", lambda _: away())
        after = await numbers(at_work)
    assert after["signalbox_store_up",] == 0
    assert after["signalbox_runs_total", "done"] == 1
    assert ("signalbox_signals_waiting",) not in after


async def test_off_there_is_nothing(tmp_path: Path) -> None:
    async with running(tmp_path, [], metrics__enabled=False) as at_work:
        assert (await read(at_work.url))[0] == 404


async def test_where_others_reach_the_page_the_metrics_need_their_token(tmp_path: Path) -> None:
    others = ["bot.example.org"]
    async with running(tmp_path, [], web__hosts=others) as at_work:
        status, text = await read(at_work.url)
    assert (status, "metrics.token" in text) == (403, True)
    async with running(tmp_path, [], web__hosts=others, metrics__token="tell-nobody-of-this") as at_work:
        assert (await read(at_work.url))[0] == 401
        assert (await read(at_work.url, Authorization="Bearer tell-nobody-of-this"))[0] == 200


async def test_a_metrics_port_in_use_keeps_nobody_from_being_answered(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        async with running(tmp_path, ["done"], metrics__port=taken.getsockname()[1]) as at_work:
            await at_work.say("hello")
            await at_work.notebook.until("done")


async def once_there(url: str) -> tuple[int, str]:
    async with asyncio.timeout(30):
        while True:
            try:
                return await read(url)
            except ClientConnectorError:
                await asyncio.sleep(0.02)


async def test_on_a_port_of_their_own_they_are_not_on_the_page(tmp_path: Path) -> None:
    port = free_port()
    async with running(tmp_path, [], metrics__port=port) as at_work:
        status, text = await once_there(f"http://127.0.0.1:{port}")
        assert (status, "signalbox_nodes 1.0" in text) == (200, True)
        assert (await read(at_work.url))[0] == 404
