"""What tools may reach, as the settings say it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.settings.settings import Settings, load
from bot.wiring.safety.egress import egress_of, rules_of
from runtime.egress import NoAnswer, Refused, Result, Rule
from runtime.errors import ConfigError
from tests.wire.egress.listener import SECONDS, get, listening


def read(folder: Path, text: str) -> Settings:
    file = folder / "signalbox.toml"
    file.write_text(text, encoding="utf-8")
    return load(file, environ={})


def test_without_a_word_nothing_is_opened(tmp_path: Path) -> None:
    settings = read(tmp_path, "")
    assert (settings.egress.allow, settings.egress.rules) == ((), ())
    assert rules_of(settings) == []


async def test_an_opening_and_a_rule_count(tmp_path: Path) -> None:
    async with listening() as inside:
        settings = read(tmp_path, f'[egress]\nallow = ["127.0.0.1:{inside.port}"]\n'
                        '[[egress.rules]]\npath = "/private/*"\nresult = "deny"\n')  # fmt: skip
        egress = egress_of(settings)
        assert (await get(egress, f"{inside.url}/public")).status == 200
        with pytest.raises(Refused, match="egress rule 1 denies"):
            await get(egress, f"{inside.url}/private/x")
        assert inside.connections == 1


async def test_without_an_opening_it_is_refused(tmp_path: Path) -> None:
    async with listening() as inside:
        text = f'[[egress.rules]]\nports = [{inside.port}]\nmethod = "*"\nresult = "allow"\n'
        with pytest.raises(Refused, match="is for this machine"):
            await egress_of(read(tmp_path, text)).request("POST", inside.url, tool="t", most=1, timeout=SECONDS)
        assert inside.connections == 0


def test_every_part_of_a_rule_is_handed_on(tmp_path: Path) -> None:
    text = """[[egress.rules]]
    tool = "webhook"
    host = "*.Bücher.example"
    path = "/in/*"
    method = "post"
    ports = [443, 8443]
    result = "allow"
    """
    assert rules_of(read(tmp_path, text)) == [
        Rule(Result.ALLOW, "webhook", "*.Bücher.example", "/in/*", "post", frozenset({443, 8443}))
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[egress]\nallow = ["10.1.2.3/16"]', 'egress.allow[1]: got text "10.1.2.3/16"'),
        ('[egress]\nallow = ["intranet"]', "expected an address, or a network"),
        ('[egress]\nallow = "10.0.0.0/8"', "egress.allow: got text"),
        ('[egress.rules]\nresult = "deny"', "write [[egress.rules]] with two brackets"),
        ('[[egress.rules]]\nhost = "x"', "egress.rules[1].result: is missing"),
        ('[[egress.rules]]\nresult = "ask"', 'egress.rules[1].result: got text "ask"'),
        ('[[egress.rules]]\nhost = "https://x.org"\nresult = "deny"', "without scheme, port and path"),
        ('[[egress.rules]]\nhost = "x.org:80"\nresult = "deny"', "without scheme, port and path"),
        ('[[egress.rules]]\nhost = "☃\u0301\u200b"\nresult = "deny"', "egress.rules[1].host"),
        ('[[egress.rules]]\npath = "in/*"\nresult = "deny"', 'paths begin with "/"'),
        (
            '[[egress.rules]]\nmethod = "FETCH"\nresult = "deny"',
            "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT or a glob",
        ),
        ('[[egress.rules]]\nports = [0]\nresult = "deny"', "expected at least 1"),
        ('[[egress.rules]]\nhots = "x"\nresult = "deny"', "did you mean egress.rules[1].host?"),
    ],
)
def test_a_fault_is_told_with_its_setting_and_what_it_should_be(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)
    assert told in str(caught.value)


async def test_one_way_out_serves_many_requests(tmp_path: Path) -> None:
    async with listening() as inside:
        egress = egress_of(read(tmp_path, f'[egress]\nallow = ["127.0.0.1:{inside.port}"]'))
        assert [(await get(egress, inside.url)).status for _ in range(3)] == [200, 200, 200]
    with pytest.raises(NoAnswer):
        await get(egress, inside.url)
