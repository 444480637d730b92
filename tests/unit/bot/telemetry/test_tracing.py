"""One trace a message, over real OTLP to a stand-in for a collector; and nothing at all of it when it is off."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from structlog.testing import capture_logs

from bot.telemetry.tracing.exporter import Telling
from bot.telemetry.tracing.identity import root_id, trace_id
from bot.testing.scripted import Answer
from runtime.domain.ids import new_id
from runtime.errors import ConfigError, ModelFailed
from tests.fakes.collector import Seen, collecting
from tests.fakes.fresh import SERVING, AllFresh
from tests.unit.bot.notebook import LIST, WRITE, running


def tree(spans: Sequence[Seen]) -> dict[str, str]:
    """The name of each span's parent, by its own name; empty for the first."""
    names = {span.id: span.name for span in spans}
    return {span.name: names.get(span.parent, span.parent) for span in spans}


async def test_a_message_is_one_trace_from_its_acceptance_to_its_answer(tmp_path: Path) -> None:
    async with collecting() as collector:
        async with running(tmp_path, [LIST, "done"], telemetry__endpoint=collector.url) as at_work:
            verdict = await at_work.say("list the files")
            await at_work.notebook.until("done")
        spans = collector.spans
    assert {span.trace for span in spans} == {f"{trace_id(verdict.signal_id):032x}"}
    assert tree(spans) == {
        "message": "",
        "run": "message",
        "chat scripted": "run",
        "execute_tool list_files": "run",
        "show": "message",
    }
    assert len(collector.named("chat scripted")) == 2
    [run] = collector.named("run")
    assert run.attributes == {"signalbox.run": verdict.signal_id, "signalbox.resumed": False}
    assert run.resource["service.name"] == "signalbox"
    assert [span.events for span in collector.named("chat scripted")] == [[], ["first words"]]
    assert all(not span.failed for span in spans)


async def test_a_run_that_waits_holds_no_span_open_and_goes_on_in_its_trace_in_another_process(
    tmp_path: Path,
) -> None:
    async with collecting() as collector:
        async with running(tmp_path, [WRITE], telemetry__endpoint=collector.url) as first:
            verdict = await first.say("write it")
            await first.notebook.until("write_file")
        assert [run.attributes["signalbox.resumed"] for run in collector.named("run")] == [False]
        async with running(tmp_path, ["done"], telemetry__endpoint=collector.url) as second:
            await second.approve()
            await second.notebook.until("done")
        work = [span for span in collector.spans if span.name != "message"]
    assert {span.trace for span in work} == {f"{trace_id(verdict.signal_id):032x}"}
    assert [run.attributes["signalbox.resumed"] for run in collector.named("run")] == [False, True]
    assert {run.parent for run in collector.named("run")} == {f"{root_id(verdict.signal_id):016x}"}
    assert len(collector.named("execute_tool write_file")) == 1


async def test_what_people_models_and_tools_said_is_in_no_trace(tmp_path: Path) -> None:
    answers: list[Answer] = [WRITE, "the secret answer"]
    async with (
        collecting() as collector,
        running(tmp_path, answers, cut=1, telemetry__endpoint=collector.url) as at_work,
    ):
        await at_work.say("the secret question")
        await collector.until(lambda c: any(span.failed for span in c.named("show")))
    assert b"secret" not in b"".join(collector.raw)


async def test_what_fails_is_told_by_the_class_of_its_error(tmp_path: Path) -> None:
    async with collecting() as collector:
        failing = [ModelFailed("the secret vendor is away")]
        async with running(tmp_path, failing, telemetry__endpoint=collector.url) as at_work:
            await at_work.say("hello")
            await at_work.notebook.until("vendor")
    assert [span.failed for span in collector.named("chat scripted")] == ["ModelFailed"]
    assert [span.failed for span in collector.named("run")] == [""]  # the person was told: the run did its work


async def test_an_event_that_comes_again_begins_no_trace(tmp_path: Path) -> None:
    async with collecting() as collector:
        async with running(tmp_path, ["done"], telemetry__endpoint=collector.url) as at_work:
            for _ in range(3):
                await at_work.say("hello", key="the same")
            await at_work.notebook.until("done")
        assert len(collector.named("message")) == 1


async def test_only_a_share_is_traced_and_then_whole_traces(tmp_path: Path) -> None:
    async with collecting() as collector:
        async with running(
            tmp_path,
            [f"answer {n}." for n in range(40)],
            telemetry__endpoint=collector.url,
            telemetry__sample=0.5,
        ) as at_work:
            for number in range(40):
                await at_work.say(f"question {number}")
                await at_work.notebook.until(f"answer {number}.")
        traces = {span.trace for span in collector.spans}
    assert 3 < len(traces) < 37  # of a fair coin, outside of this once in 10^8 times
    assert all(
        {span.name for span in collector.spans if span.trace == trace} == {"message", "run", "chat scripted", "show"}
        for trace in traces
    )


async def test_a_collector_that_is_away_stops_nobody(tmp_path: Path) -> None:
    async with collecting() as collector:
        collector.refuse = True
        async with asyncio.timeout(20):
            async with running(tmp_path, ["one.", "two."], telemetry__endpoint=collector.url) as at_work:
                for words in ("one.", "two."):
                    await at_work.say(words)
                    await at_work.notebook.until(words)
    assert collector.spans == []


class Shaky(SpanExporter):
    """Takes spans or not, as listed."""

    def __init__(self, taken: Sequence[bool]) -> None:
        self._taken = list(taken)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.SUCCESS if self._taken.pop(0) else SpanExportResult.FAILURE


def test_the_log_says_once_that_traces_are_lost_and_once_that_they_are_taken_again() -> None:
    exporter = Telling(Shaky([True, False, False, False, True, True, False]), "http://collector/v1/traces")
    with capture_logs() as lines:
        for _ in range(7):
            exporter.export([])
    assert [line["event"] for line in lines] == ["traces are lost", "traces are taken again", "traces are lost"]
    assert lines[0]["reason"].startswith("telemetry.endpoint: http://collector/v1/traces doesn't accept traces")


async def test_the_token_is_shown_to_the_collector(tmp_path: Path) -> None:
    async with (
        collecting() as collector,
        running(
            tmp_path, ["done"], telemetry__endpoint=collector.url, telemetry__token="tell-nobody-of-this"
        ) as at_work,
    ):
        await at_work.say("hello")
        await at_work.notebook.until("done")
    assert collector.headers[0]["Authorization"] == "Bearer tell-nobody-of-this"


# ---------------------------------------------------------------------------------------------------------- identity


def test_the_id_of_a_message_is_the_id_of_its_trace() -> None:
    ids = [new_id() for _ in range(1000)]
    assert len({trace_id(one) for one in ids}) == len({root_id(one) for one in ids}) == 1000
    assert all(0 < trace_id(one) < 1 << 128 and 0 < root_id(one) < 1 << 64 for one in ids)


def test_what_was_not_made_by_us_has_a_trace_too() -> None:
    assert trace_id("run-1") == trace_id("run-1") != trace_id("run-2")
    assert 0 < trace_id("run-1") < 1 << 128


# ------------------------------------------------------------------------------------------------------ on and off

WITHOUT = """
import sys
{before}
from bot.server.instruments import instruments_of
from bot.settings.settings import load
instruments_of(load(overrides={overrides}, environ={{}}))
print([name for name in sys.modules if name.split(".")[0] in ("opentelemetry", "google", "prometheus_client")])
"""


@pytest.mark.xdist_group("fresh")
def test_off_means_that_nothing_of_it_is_loaded(fresh: AllFresh) -> None:
    done = fresh.after(*SERVING).run(WITHOUT.format(before="", overrides="{}"))
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


@pytest.mark.xdist_group("fresh")
def test_wanted_without_its_extra_the_start_says_what_to_install(fresh: AllFresh) -> None:
    before = "sys.modules['opentelemetry.sdk.trace'] = sys.modules['opentelemetry.exporter.otlp'] = None"
    done = fresh.after(*SERVING).run(
        WITHOUT.format(before=before, overrides='{"telemetry.endpoint": "http://127.0.0.1:4318"}')
    )
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(
        f"{ConfigError.__module__}.ConfigError: telemetry.endpoint: the package that sends traces is not installed"
    )
    assert 'pip install "signalbox-bot[otel]"' in last
