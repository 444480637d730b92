"""Numbers, labels and who may read them; and that people find each metric explained and on the dashboard."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import make_mocked_request
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_plain
from structlog.testing import capture_logs

from bot.accounts.naming import Called
from bot.metrics import gauges
from bot.metrics.access import OPEN, SHOW_IT, STRANGE, MetricsAccess, Objection
from bot.metrics.answers import ADOPTED, RESUMED, Answer, Answers
from bot.metrics.counting import Counting, CountingLoop
from bot.metrics.exposition import Exposition
from bot.metrics.labels import OTHER, Labels
from bot.metrics.listener import Listener, why
from bot.metrics.meters import Meters
from bot.metrics.tally import Counter, Histogram
from bot.metrics.wrappers import MeteredModel, MeteredTool
from bot.testing.scripted import Scripted
from runtime.contract import (
    Address,
    ApprovalId,
    ApprovalKind,
    Call,
    Choice,
    Clicked,
    DeliveryId,
    Effect,
    Identity,
    Json,
    ModelReply,
    ModelRequest,
    Outcome,
    RunId,
    SessionKey,
    Signal,
    SignalId,
    ToolContext,
    ToolSpec,
    Usage,
    Verdict,
)
from runtime.domain.deliveries import DeliveryState
from runtime.domain.events.sinks import Cursor
from runtime.domain.runs import RunState, StepState
from runtime.errors import Cause, ModelFailed, ToolFailed
from runtime.models.choice.cooling import Rest
from runtime.policy.budgets import DOLLAR, BudgetRules, Scope, fresh
from runtime.store.operations.queue_depths import Depths
from runtime.store.protocol import NewStep, Taken

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
DASHBOARD = json.loads((ROOT / "config" / "grafana.json").read_text(encoding="utf-8"))


# ------------------------------------------------------------------------------------------------------------ numbers


def test_a_counter_counts_each_combination_of_labels() -> None:
    counter = Counter("n_total", "", "a", "b")
    counter.add("1", "2")
    counter.add("1", "2", by=0.5)
    counter.add("1", "3")
    assert dict(counter) == {("1", "2"): 1.5, ("1", "3"): 1}
    assert counter.value("9", "9") == 0


def test_an_answer_that_a_courier_read_before_its_writer_was_told_is_its_writers() -> None:
    answers = Answers()
    answers.expect(DeliveryId("d"), RunId("r"), ADOPTED, parts=1)
    answers.expect(DeliveryId("d"), RunId("r"), RESUMED)
    answers.expect(DeliveryId("d"), RunId("r"), ADOPTED, parts=2)  # it is read again, as often as there is more of it
    assert answers.shown(DeliveryId("d"), 2) == Answer(RunId("r"), RESUMED, 2)


def test_without_labels_there_is_a_number_from_the_start() -> None:
    assert dict(Counter("n_total", "")) == {(): 0}
    assert list(Histogram("n", "", bounds=(1,))) == [()]


def test_a_value_at_a_bound_is_within_it() -> None:
    histogram = Histogram("n", "", "a", bounds=(1, 2))
    for value in (0.5, 1, 1.5, 2, 2.5, 100):
        histogram.observe(value, "x")
    assert histogram.counts("x") == (2, 2, 2)
    assert (histogram.count("x"), histogram.sum("x")) == (6, 107.5)
    assert histogram.counts("y") == (0, 0, 0)


async def test_each_question_that_one_click_settled_counts() -> None:
    meters = Meters()
    here = Address("notebook", "n1", "desk")
    click = Signal(
        "n1", "k", Identity("n:ada"), "Ada", here, Clicked(ApprovalId("b"), Choice.ALL), at := datetime.now(UTC)
    )
    taken = Taken(Verdict(Outcome.DECIDED, SignalId("s")), settled=(ApprovalId("a"), ApprovalId("b")))
    Counting(meters, Labels(), clock=lambda: at).accepted(click, taken)
    assert meters.settled.value("call", "approved") == 2


# ------------------------------------------------------------------------------------------------------------ answers


def test_an_answer_is_complete_with_its_last_part_only() -> None:
    answers = Answers()
    answers.expect(DeliveryId("d"), RunId("r"), "straight")
    assert answers.shown(DeliveryId("d"), 1) is None  # nobody knows yet how many there are
    answers.rendered(DeliveryId("d"), 2)
    assert answers.shown(DeliveryId("d"), 1) is None
    answer = answers.shown(DeliveryId("d"), 2)
    assert answer is not None
    assert (answer.run, answer.way) == ("r", "straight")
    assert len(answers) == 0


def test_what_is_known_of_an_answer_stays_when_it_is_met_again() -> None:
    answers = Answers()
    answers.expect(DeliveryId("d"), RunId("r"), "resumed")
    answers.expect(DeliveryId("d"), RunId("r"), "adopted", parts=1)
    answer = answers.shown(DeliveryId("d"), 1)
    assert answer is not None
    assert answer.way == "resumed"


def test_answers_that_never_come_do_not_fill_the_memory() -> None:
    answers = Answers(most=3)
    for number in range(10):
        answers.expect(DeliveryId(f"d{number}"), RunId("r"), "straight", parts=1)
    assert len(answers) == 3
    assert answers.shown(DeliveryId("d0"), 1) is None
    assert answers.shown(DeliveryId("d9"), 1) is not None


# ------------------------------------------------------------------------------------------------------------- labels


def test_accounts_are_called_as_in_the_settings() -> None:
    labels = Labels()
    labels.learn_account(Called("slack", "work", "T1"))
    assert labels.account("slack", "T1") == labels.courier("courier:slack:T1") == ("slack", "work")
    assert labels.role("courier:slack:T1") == "courier:slack:work"
    assert labels.role("sealer") == "sealer"
    assert labels.account("slack", "T2") == ("slack", OTHER)
    assert labels.role("courier:slack:T2") == f"courier:slack:{OTHER}"


# ----------------------------------------------------------------------------------------------------------- wrappers


def asking() -> ModelRequest:
    return ModelRequest("", [], [])


async def test_a_model_call_is_counted_with_tokens_and_dollars() -> None:
    meters = Meters()
    reply = ModelReply("hi", (), Usage("openai/gpt", 1000, 50, 2_500_000))
    model = MeteredModel(Scripted([reply, reply]), meters)
    for _ in range(2):
        assert await model.reply(asking(), lambda _: None) is reply
    assert dict(meters.model_calls) == {("scripted", "replied"): 2}
    assert dict(meters.tokens) == {("openai/gpt", "in"): 2000, ("openai/gpt", "out"): 100}
    assert meters.dollars.value("openai/gpt") == 5.0
    assert meters.model_seconds.count("scripted") == 2
    assert (meters.request_tokens.count("openai/gpt"), meters.request_tokens.sum("openai/gpt")) == (2, 2000)


def test_what_the_loop_tells_is_counted() -> None:
    meters = Meters()
    loop = CountingLoop(meters)
    loop.condensed("trim")
    loop.summary_failed()
    loop.summarised("extract", 2.0)
    loop.ended_by_guard()
    assert meters.condensed.value("trim") == 1
    assert [meters.summaries.value(outcome) for outcome in ("model", "extract", "failed")] == [0, 1, 1]
    assert (meters.summary_seconds.count(), meters.summary_seconds.sum()) == (1, 2.0)
    assert meters.guarded.value("", "ended") == 1


def test_verdicts_of_the_guard_are_counted_by_tools_that_there_are() -> None:
    meters, labels = Meters(), Labels()
    labels.learn_tools(["look"])
    steps = [
        NewStep(Call("c", tool, "{}"), Effect.READ, "h", StepState.OPEN, guard=verdict)
        for tool, verdict in (("look", "warned"), ("look", "refused"), ("made-up", "refused"), ("look", ""))
    ]
    Counting(meters, labels).recorded(steps)
    told = {labels: n for labels, n in meters.guarded if n}
    assert told == {("look", "warned"): 1, ("look", "refused"): 1, ("other", "refused"): 1}


@pytest.mark.parametrize(("error", "outcome"), [(ModelFailed("away"), "failed"), (ValueError("bug"), "broke")])
async def test_a_model_call_that_fails_is_counted_as_that(error: Exception, outcome: str) -> None:
    meters = Meters()
    with pytest.raises(type(error)):
        await MeteredModel(Scripted([error]), meters).reply(asking(), lambda _: None)
    assert dict(meters.model_calls) == {("scripted", outcome): 1}
    assert dict(meters.tokens) == {}


class Slow:
    """A tool that sleeps, or fails as given."""

    def __init__(self, error: Exception | None = None, *, limit: float = 60) -> None:
        self.spec = ToolSpec("slow", "", {}, Effect.READ, timeout=timedelta(seconds=limit))
        self._error = error

    async def call(self, arguments: Any, context: ToolContext) -> str:
        if self._error:
            raise self._error
        await asyncio.sleep(60)
        return ""

    def caution(self) -> str:
        return "careful"


CONTEXT = ToolContext(Path(), SessionKey("s"), RunId("r"), "c")
NO_ARGUMENTS: dict[str, Json] = {}


@pytest.mark.parametrize(("error", "outcome"), [(ToolFailed("no"), "failed"), (ValueError("bug"), "broke")])
async def test_a_tool_call_is_counted_by_how_it_ended(error: Exception, outcome: str) -> None:
    meters = Meters()
    with pytest.raises(type(error)):
        await MeteredTool(Slow(error), meters).call(NO_ARGUMENTS, CONTEXT)
    assert dict(meters.tool_calls) == {("slow", outcome): 1}
    assert meters.tool_seconds.count("slow") == 1


@pytest.mark.parametrize(("limit", "outcome"), [(0.02, "timeout"), (60, "cut")])
async def test_a_tool_that_took_too_long_is_told_from_one_that_was_stopped(limit: float, outcome: str) -> None:
    meters = Meters()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.03):
            await MeteredTool(Slow(limit=limit), meters).call(NO_ARGUMENTS, CONTEXT)
    assert dict(meters.tool_calls) == {("slow", outcome): 1}


# ------------------------------------------------------------------------------------------------------------- gauges


def known() -> Labels:
    labels = Labels()
    labels.learn_account(Called("web", "main", "w1"))
    return labels


def readings(depths: Depths | None, *rests: Rest) -> dict[tuple[str, ...], float]:
    found = gauges.Found(depths, rests) if depths else None
    return {(gauge.name, *labels): value for gauge, labels, value in gauges.of_store(found, known())}


def test_what_waits_is_read_by_the_names_of_accounts() -> None:
    queued = {(("web", account), DeliveryState.QUEUED): 2 for account in ("w1", "gone-1", "gone-2")}
    ages = {("web", "gone-1"): timedelta(seconds=5), ("web", "gone-2"): timedelta(seconds=7)}
    read = readings(
        Depths(
            signals=3,
            signals_age=timedelta(seconds=1.5),
            runs={RunState.PARKED: 4},
            approvals={ApprovalKind.CALL: 4},
            deliveries=queued,
            deliveries_age=ages,
        )
    )
    assert read["signalbox_signals_waiting",] == 3
    assert read["signalbox_signals_oldest_waiting_seconds",] == 1.5
    assert read["signalbox_runs_open", "parked"] == 4
    assert read["signalbox_approvals_pending", "call"] == 4
    assert read["signalbox_deliveries", "web", "main", "queued"] == 2
    assert read["signalbox_deliveries", "web", OTHER, "queued"] == 4
    assert read["signalbox_deliveries_oldest_seconds", "web", OTHER] == 7


def test_where_nothing_waits_there_is_a_zero_to_compare_with() -> None:
    read = readings(Depths(nodes=1))
    assert read.pop(("signalbox_store_up",)) == read.pop(("signalbox_nodes",)) == 1
    assert set(read.values()) == {0}
    assert read["signalbox_deliveries", "web", "main", "dead"] == 0
    assert {name for name, *_ in read} == {gauge.name for gauge in gauges.OF_THE_STORE} - {
        "signalbox_nodes",
        "signalbox_models_resting",
        "signalbox_budget_used_ratio",
        "signalbox_budgets_spent",
        "signalbox_event_sink_behind",
        "signalbox_event_sink_failing_seconds",
    }


def test_of_a_budget_the_one_who_used_most_is_told_and_how_many_spent_it() -> None:
    rules = BudgetRules({Scope.DAY: 8 * DOLLAR, Scope.PERSON_DAY: 2 * DOLLAR})
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    spent = {"p1": 2 * DOLLAR, "p2": DOLLAR}
    counters = [replace(fresh(Scope.PERSON_DAY, noon), subject=name, spent=used) for name, used in spent.items()]
    found = gauges.Found(Depths(), rules=rules, budgets=counters)
    read = {(gauge.name, *labels): value for gauge, labels, value in gauges.of_store(found, known())}
    assert (read["signalbox_budget_used_ratio", "person_day"], read["signalbox_budgets_spent", "person_day"]) == (1, 1)
    assert (read["signalbox_budget_used_ratio", "day"], read["signalbox_budgets_spent", "day"]) == (0, 0)


def test_a_sink_that_takes_nothing_is_told_with_how_far_it_is_behind() -> None:
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    cursors = [Cursor("siem", 40, noon, noon - timedelta(hours=1), "It answered 500."), Cursor("file", 100, noon)]
    found = gauges.Found(Depths(), sinks=gauges.SinkState(100, cursors, noon))
    read = {(gauge.name, *labels): value for gauge, labels, value in gauges.of_store(found, known())}
    assert [read["signalbox_event_sink_behind", name] for name in ("siem", "file")] == [60, 0]
    assert [read["signalbox_event_sink_failing_seconds", name] for name in ("siem", "file")] == [3600, 0]


def test_models_that_rest_are_told_with_the_cause() -> None:
    rest = Rest("sonnet", "m", Cause.BILLING, datetime(2026, 1, 1, tzinfo=UTC), None, 1, "no credit")
    assert readings(Depths(), rest)["signalbox_models_resting", "sonnet", "billing"] == 1


def test_of_a_store_that_does_not_answer_nothing_is_made_up() -> None:
    assert readings(None) == {("signalbox_store_up",): 0}


# ------------------------------------------------------------------------------------------------------- the formats


def shown(accept: str = "") -> tuple[str, str]:
    meters = Meters()
    meters.expect_account("web", "main")
    meters.model_seconds.observe(0.3, 'odd "name"\n')
    body, content_type = Exposition(meters.all()).page(gauges.of_store(gauges.Found(Depths()), known()), accept)
    return body.decode(), content_type


def test_the_page_reads_back_in_the_plain_format() -> None:
    text, content_type = shown()
    families = {family.name: family for family in parse_plain(text)}
    assert content_type.startswith("text/plain; version=0.0.4")
    assert families["signalbox_parts"].type == "counter"
    assert families["signalbox_signals_waiting"].type == "gauge"
    [*buckets, count, total] = families["signalbox_model_call_seconds"].samples
    assert [b.value for b in buckets if b.labels["le"] in ("0.25", "0.5", "+Inf")] == [0, 1, 1]
    assert (count.value, total.value, count.labels["model"]) == (1, 0.3, 'odd "name"\n')
    assert "process_resident_memory_bytes" in families


def test_who_asks_for_openmetrics_gets_it() -> None:
    text, content_type = shown("application/openmetrics-text; version=1.0.0, text/plain;version=0.0.4;q=0.3")
    assert content_type.startswith("application/openmetrics-text; version=1.0.0")
    assert {"signalbox_parts", "signalbox_nodes"} <= {family.name for family in parse_openmetrics(text)}  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("accept", ["application/openmetrics-text; version=zz", "text/plain; version=", "*/*", ";;,"])
def test_whatever_is_asked_for_a_page_comes(accept: str) -> None:
    assert "signalbox_parts_total" in shown(accept)[0]


# -------------------------------------------------------------------------------------------------------- who may read


def request(**headers: str) -> web.Request:
    return make_mocked_request("GET", "/metrics", headers={"Host": "127.0.0.1:8080", **headers})


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost", "[::1]:9464", "LOCALHOST:1"])
def test_on_this_machine_alone_nobody_needs_a_token(host: str) -> None:
    assert MetricsAccess(None, is_open=False).objection(request(Host=host)) is None


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "[::1", "", "localhost@evil.example"])
def test_a_name_that_leads_here_from_elsewhere_is_refused(host: str) -> None:
    assert MetricsAccess(None, is_open=False).objection(request(Host=host)) is STRANGE


def test_where_others_can_ask_a_token_is_needed_and_the_sentence_names_it() -> None:
    assert MetricsAccess(None, is_open=True).objection(request()) is OPEN
    assert "metrics.token" in OPEN.sentence


@pytest.mark.parametrize(
    ("shown", "objection"),
    [
        ("Bearer right", None),
        ("Bearer wrong", SHOW_IT),
        ("right", SHOW_IT),
        ("Bearer rïght", SHOW_IT),
        ("", SHOW_IT),
    ],
)
@pytest.mark.parametrize("is_open", [True, False])
def test_with_a_token_it_is_always_asked_for(shown: str, objection: Objection | None, is_open: bool) -> None:
    assert MetricsAccess("right", is_open=is_open).objection(request(Authorization=shown, Host="any")) is objection


# ----------------------------------------------------------------------------------------------------- a port of its own


@pytest.fixture
def taken() -> Iterator[socket.socket]:
    """A port that another program has."""
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        yield other


async def hello(_: web.Request) -> web.Response:
    return web.Response(text="numbers")


async def until(holds: Callable[[], bool]) -> None:
    while not holds():  # noqa: ASYNC110 - a line in the log sets no event
        await asyncio.sleep(0.01)


async def test_a_port_in_use_is_told_once_and_taken_when_it_is_free(taken: socket.socket) -> None:
    port = taken.getsockname()[1]
    listener = Listener([web.get("/metrics", hello)], "127.0.0.1", port, again=timedelta(seconds=0.01))
    with capture_logs() as logged:

        def lines() -> list[Any]:
            """Its own: what a test before this one left to run may say something too."""
            return [line for line in logged if line["event"].startswith("metrics are")]

        async with asyncio.timeout(20), asyncio.TaskGroup() as group:
            serving = group.create_task(listener.run())
            await until(lambda: len(lines()) == 1)
            await asyncio.sleep(0.1)  # some more tries
            assert [line["event"] for line in lines()] == ["metrics are not served"]
            assert f"metrics.port: {port} on 127.0.0.1 is in use" in lines()[0]["reason"]
            taken.close()
            await until(lambda: len(lines()) == 2)
            async with ClientSession() as session, session.get(f"http://127.0.0.1:{port}/metrics") as answer:
                assert await answer.text() == "numbers"
            serving.cancel()
    assert [line["event"] for line in lines()] == ["metrics are not served", "metrics are served"]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (PermissionError(13, "denied"), "metrics.port: this user may not listen on port 80"),
        (OSError(99, "not available"), 'metrics.host: "h" is not an address of this machine'),
        (socket.gaierror(-2, "unknown"), 'metrics.host: "h" is not an address of this machine'),
        (OSError(12, "no memory"), "metrics.port: 80 on h cannot be listened on"),
    ],
)
def test_whatever_keeps_it_from_listening_names_the_setting(error: OSError, words: str) -> None:
    assert why(error, "h", 80).startswith(words)


# ------------------------------------------------------------------------------------------------- explained to people


def every_metric() -> dict[str, tuple[str, ...]]:
    """Names with their labels."""
    return {metric.name: metric.labels for metric in (*Meters().all(), *gauges.ALL_GAUGES)}


@pytest.mark.parametrize("name", every_metric())
def test_every_metric_is_documented_with_its_labels(name: str) -> None:
    rows = re.findall(rf"^\| `{name}` \| (\w+) \|([^|]*)\| [^|]+ \|$", PAGE, re.MULTILINE)
    assert [(kind, tuple(re.findall(r"`(\w+)`", row))) for kind, row in rows] == [(kinds()[name], every_metric()[name])]


def kinds() -> dict[str, str]:
    return {metric.name: type(metric).__name__.lower() for metric in (*Meters().all(), *gauges.ALL_GAUGES)}


def test_no_metric_is_documented_that_is_not_there() -> None:
    assert set(re.findall(r"\bsignalbox_\w+", PAGE)) - _series(every_metric()) == set()


def test_names_follow_the_conventions_of_prometheus() -> None:
    for metric in Meters().all():
        assert metric.name.endswith("_total") == isinstance(metric, Counter)
        assert isinstance(metric, Counter) or metric.name.endswith(("_seconds", "_operations", "_tokens"))
    assert not any(gauge.name.endswith("_total") for gauge in gauges.ALL_GAUGES)


def test_no_label_can_name_a_person_a_room_or_a_message() -> None:
    labels = {label for labels in every_metric().values() for label in labels}
    assert labels == {
        *("channel", "account", "kind", "outcome", "way", "how", "state", "model", "direction", "tool", "trouble"),
        *("change", "role", "version", "step", "verdict", "cause", "instead_of", "budget", "sink"),
        *("gate", "detector", "action"),
    }


def _series(metrics: dict[str, tuple[str, ...]]) -> set[str]:
    """Every name under which Prometheus knows them."""
    histograms = {metric.name for metric in Meters().all() if isinstance(metric, Histogram)}
    return set(metrics) | {f"{name}_{end}" for name in histograms for end in ("bucket", "sum", "count")}


# -------------------------------------------------------------------------------------------------------- the dashboard


def expressions() -> list[str]:
    return [target["expr"] for panel in panels() for target in panel.get("targets", [])]


def panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = DASHBOARD["panels"]
    return found


def test_the_dashboard_asks_for_metrics_that_are_there() -> None:
    own = _series(every_metric())
    asked = {name for expression in expressions() for name in re.findall(r"\b(?:signalbox|process)_\w+", expression)}
    assert {name for name in asked if name.startswith("signalbox_")} - own == set()
    assert {name for name in asked if name.startswith("process_")} <= {
        "process_resident_memory_bytes",
        "process_cpu_seconds_total",
        "process_open_fds",
    }
    assert len(asked) > 30


def test_every_metric_is_on_the_dashboard() -> None:
    asked = " ".join(expressions())
    assert [name for name in every_metric() if not re.search(rf"\b{name}", asked)] == []


def test_the_dashboard_groups_by_labels_that_the_metrics_have() -> None:
    for expression in expressions():
        names = re.findall(r"\b(signalbox_\w+?)(?:_bucket|_sum|_count)?\b(?=[\[{ )]|$)", expression)
        have = {label for name in names for label in every_metric().get(name, ())} | {"le", "instance"}
        grouped = re.findall(r"by \(([^)]*)\)", expression)
        assert {label.strip() for group in grouped for label in group.split(",")} <= have, expression


def test_the_dashboard_can_be_imported_anywhere() -> None:
    [source, *_] = DASHBOARD["templating"]["list"]
    assert (source["type"], source["query"], source["name"]) == ("datasource", "prometheus", "datasource")
    shown = [panel for panel in panels() if panel["type"] != "row"]
    assert {panel["datasource"]["uid"] for panel in shown} == {"${datasource}"}
    assert DASHBOARD["id"] is None
    assert len({panel["id"] for panel in panels()}) == len(panels())
    assert [panel["title"] for panel in panels() if panel["type"] == "row"] == [
        "Promise",
        "Traffic",
        "Model and money",
        "Conversations",
        "Tools",
        "Approvals",
        "Outbox",
        "Store",
        "Nodes",
        "Schedules",
    ]


def test_no_panel_of_the_dashboard_lies_on_another() -> None:
    cells: set[tuple[int, int]] = set()
    for panel in panels():
        at = panel["gridPos"]
        own = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not own & cells, panel["title"]
        assert at["x"] + at["w"] <= 24
        cells |= own
