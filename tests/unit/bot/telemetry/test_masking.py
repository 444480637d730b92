"""No secret is shown: values we hold in any writing, and whatever looks like a key."""

from __future__ import annotations

import base64
import io
import json
import logging
import sys
from collections.abc import Iterator
from urllib.parse import quote

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from bot.telemetry import logs
from bot.telemetry.masking import mask_tracebacks
from runtime.guard.masks import HIDDEN, Mask, hide

PRIVATE = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nsesamesesame/+=\n-----END RSA PRIVATE KEY-----"

SHAPES = [
    "sk-abcdEFGH12345678",
    "sk-proj-abcd_EFGH-12345678",
    "sk-ant-api03-abcdEFGH12345678",
    "ghp_" + "a1B2" * 9,
    "gho_" + "a1B2" * 9,
    "github_pat_" + "11ABC_" * 8,
    "AIza" + "Sy_-0" * 7,
    "xoxb-123456789012-abcdefABCDEF",
    "xoxp-123456789012-abcdefABCDEF",
    "xapp-1-A0123456789-abcdef",
    "123456789:AAF" + "x_Y-" * 8,
    "MTIzNDU2Nzg5MDEyMzQ1Njc4.GabcDE." + "x" * 38,
    PRIVATE,
]


@pytest.mark.parametrize("secret", SHAPES, ids=lambda text: text[:12])
@pytest.mark.parametrize(
    "around", ["{}", "key={} and more", '"{}"', "({})", "Bearer {},", "\x1b[35m{}\x1b[0m", "https://h/{}/x"]
)
def test_what_looks_like_a_key_is_hidden_wherever_it_stands(secret: str, around: str) -> None:
    assert hide(around.format(secret)) == around.format(HIDDEN)


@pytest.mark.parametrize(
    "text",
    [
        "2026-08-01T10:20:30.123456Z",
        "task-abcdefghijklmnopqrstuvwxyz",
        "risk-adjusted-return-of-capital",
        "01JD8Z2F4X9YQWERTYUIOPASDF",
        "web:main/room01 12345:8080",
        "8f14e45fceea167a5a36dedd4bea2543",
        "runtime.store.sql.sqlite.SqliteDriver",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
    ],
)
def test_what_does_not_stays(text: str) -> None:
    assert hide(text) == text


def test_a_private_key_without_its_end_does_not_take_the_rest_along() -> None:
    line = json.dumps({"event": "read -----BEGIN PRIVATE KEY-----\nMIIEsesame\nsesame", "run": "r1"})
    told = hide(line)
    assert "sesame" not in told
    assert json.loads(told)["run"] == "r1"


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=16), st.text(max_size=20), st.text(max_size=20))
def test_a_long_value_we_hold_is_hidden_wherever_it_stands(secret: str, before: str, after: str) -> None:
    assert secret not in Mask([secret])(f"{before}{secret}{after}").replace(HIDDEN, "\0")


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=8, max_size=15),
    st.sampled_from(
        ["", " ", "=", '"', "Bearer ", "https://h/", "(", "\n", "a\\n", "\\u001b[35m", "\x1b[1m", "key%3D"]
    ),
    st.sampled_from(["", " ", ",", '"', "/x", ")", ".", "@host", "\n"]),
)
def test_a_short_value_is_hidden_as_a_word(secret: str, before: str, after: str) -> None:
    assert secret not in Mask([secret])(f"{before}{secret}{after}").replace(HIDDEN, "\0")


@pytest.mark.parametrize("value", ["secret", "signing_secret_"[:7], "password"])
def test_no_setting_loses_its_name_to_a_value_that_is_like_it(value: str) -> None:
    told = "signing_secret and database_password are not set; app_password_env neither"
    assert Mask([value])(told) == told


@pytest.mark.parametrize(
    "secret", ['with "quotes" \\ inside', "ünï cödé", "a/b?c=d&e f", "two\nlines-of-a-secret-value\nthree"]
)
@pytest.mark.parametrize("write", [str, json.dumps, repr, quote, lambda text: json.dumps(text, ensure_ascii=False)])
def test_a_value_is_hidden_however_it_is_written(secret: str, write: object) -> None:
    assert callable(write)
    assert HIDDEN in Mask([secret])(f"begin {write(secret)} end")
    assert "lines-of-a-secret-value" not in Mask([secret])(f"begin {write(secret)} end")


def test_a_secret_inside_another_leaves_nothing_of_it() -> None:
    assert (
        Mask(["sesame-open-the-door", "sesame-open-the-door-wide"])("sesame-open-the-door-wide sesame-open-the-door")
        == f"{HIDDEN} {HIDDEN}"
    )


def test_what_is_too_short_to_be_one_is_left_alone() -> None:
    assert Mask(["", "on"])("the connection") == "the connection"


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, level, out = root.handlers[:], root.level, io.StringIO()
    logs.configure("info", "json", ["hunter2-hunter2"], stream=out)
    yield out
    logging.captureWarnings(False)
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


@pytest.mark.parametrize("secret", [*SHAPES, "hunter2-hunter2"], ids=lambda text: text[:12])
def test_no_line_of_the_log_has_one_not_even_in_a_traceback(log: io.StringIO, secret: str) -> None:
    try:
        raise ValueError(f"refused: {secret}")
    except ValueError:
        structlog.get_logger("test").exception("failed", said=f"with {secret}", held={"nested": [secret]})
    line = json.loads(log.getvalue())
    assert line["event"] == "failed"
    assert not any(piece in log.getvalue() for piece in (secret, json.dumps(secret)[1:-1], "MIIEpAIBAAKCAQEA"))


def test_a_traceback_that_ends_the_process_has_none(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    mask_tracebacks(Mask(["hunter2-hunter2"]))
    try:
        raise RuntimeError(f"hunter2-hunter2 and {SHAPES[0]}")
    except RuntimeError as error:
        sys.excepthook(type(error), error, error.__traceback__)
    told = capsys.readouterr().err
    assert told.endswith(f"RuntimeError: {HIDDEN} and {HIDDEN}\n")
    assert "hunter2" not in told  # nor in the line of the program that is shown


@pytest.mark.parametrize("beside", ["", "git:", "x", "xy"])
def test_a_value_in_hex_or_base64_is_hidden(beside: str) -> None:
    """As a server repeats what it was sent, such as a password in `Authorization: Basic`."""
    value = "a-key-of-ours-0123456789"
    mask = Mask([value])
    for coded in (base64.b64encode(f"{beside}{value}".encode()).decode(), f"{beside}{value}".encode().hex()):
        assert HIDDEN in mask(f"It answered 401: {coded}.")
        assert coded[-20:-4] not in mask(f'{{"error": "{coded}"}}')
