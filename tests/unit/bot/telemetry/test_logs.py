"""Logs: one id follows, no secret shows, and libraries speak the same way."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from structlog.testing import capture_logs

from bot.telemetry import logs


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    logging.captureWarnings(False)
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def lines(out: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


def configured(level: str = "info", *secrets: str) -> io.StringIO:
    out = io.StringIO()
    logs.configure(level, "json", secrets, stream=out)
    return out


def test_a_bound_id_is_on_every_line_until_then() -> None:
    out, log = configured(), structlog.get_logger("test")
    with structlog.contextvars.bound_contextvars(run="r1"):
        log.info("inside")
        logging.getLogger("some.library").warning("also %s", "inside")
    log.info("outside")
    assert [line.get("run") for line in lines(out)] == ["r1", "r1", None]
    assert [line["event"] for line in lines(out)] == ["inside", "also inside", "outside"]


def test_secrets_do_not_show() -> None:
    out, log = configured("info", "sesame-open-the-door"), structlog.get_logger("test")
    log.info("with sesame-open-the-door in it", api_key="anything", url="http://x/?k=sesame-open-the-door")
    try:
        raise ValueError("sesame-open-the-door")
    except ValueError:
        log.exception("failed")
    assert "sesame" not in out.getvalue()
    assert "anything" not in out.getvalue()


def test_lines_below_the_level_are_not_made() -> None:
    out, log = configured("warning"), structlog.get_logger("test")
    log.info("quiet")
    logging.getLogger("some.library").info("quiet")
    log.warning("loud")
    assert [line["event"] for line in lines(out)] == ["loud"]


def test_a_person_reads_plain_lines() -> None:
    out = io.StringIO()
    logs.configure("info", "human", stream=out)
    structlog.get_logger("test").info("started", port=1)
    assert "started" in out.getvalue()
    assert "port=1" in out.getvalue()
    assert "{" not in out.getvalue()


def test_a_stream_that_is_gone_is_no_reason_to_stop() -> None:
    out = configured()
    out.close()
    structlog.get_logger("test").info("nobody hears this")


def test_the_level_can_be_set_while_loggers_are_in_use() -> None:
    out, log = configured("warning"), structlog.get_logger("test")
    bound = log.bind(run="r1")
    for level in ("debug", "error", "info"):
        log.debug("debug", set_to=level)
        bound.warning("warning", set_to=level)
        logging.getLogger("some.library").info("library")
        logs.set_level(level)
    log.info("at last")
    # Each round is told at the level that the one before it set; the first one at the level of the start.
    assert [line["event"] for line in lines(out)] == ["warning", "debug", "warning", "library", "at last"]


def test_a_level_that_is_set_leaves_alone_how_a_program_around_us_tells_its_lines() -> None:
    logs.set_level("error")
    with capture_logs() as told:
        structlog.get_logger("theirs").info("all is well")
    assert [line["event"] for line in told] == ["all is well"]
