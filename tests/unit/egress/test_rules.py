"""Rules by tool, host, path, method and port: the first that matches, and the refusal says which did not."""

from __future__ import annotations

import pytest

from runtime.egress import Refused, Result, Rule
from runtime.egress.rules import Call, decide, in_ascii

ALLOW, DENY = Result.ALLOW, Result.DENY


def call(
    method: str = "GET", host: str = "example.org", path: str = "/", *, tool: str = "http_get", port: int = 443
) -> Call:
    return Call(tool, method, host, port, path)


def refusal(rules: list[Rule], asked: Call) -> str:
    with pytest.raises(Refused) as caught:
        decide(rules, asked)
    assert caught.value.why == "rule"
    return str(caught.value)


def test_without_rules_reading_is_allowed_and_nothing_else() -> None:
    assert decide([], call("GET")).result is ALLOW
    assert decide([], call("HEAD")).result is ALLOW
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        assert refusal([], call(method)) == (
            f"Not sent: no egress rule allows {method} to example.org on port 443 by http_get."
        )


def test_the_first_rule_that_matches_decides() -> None:
    rules = [Rule(ALLOW, host="a.example.org"), Rule(DENY, host="*.example.org")]
    assert decide(rules, call(host="a.example.org")) is rules[0]
    assert refusal(rules, call(host="b.example.org")) == (
        "Not sent: egress rule 2 denies GET to b.example.org on port 443 by http_get."
    )
    assert decide(rules, call(host="example.org")).result is ALLOW


def test_a_last_rule_may_close_everything_else() -> None:
    rules = [Rule(ALLOW, host="example.org", method="GET"), Rule(DENY)]
    assert decide(rules, call()) is rules[0]
    assert "egress rule 2 denies" in refusal(rules, call(host="other.org"))


@pytest.mark.parametrize(
    ("asked", "missed"),
    [
        (call("POST", "hooks.example", "/in/1", tool="other"), "its tool is 'webhook'"),
        (call("POST", "other.example", "/in/1", tool="webhook"), "its host is 'hooks.example'"),
        (call("POST", "hooks.example", "/out", tool="webhook"), "its path is '/in/*'"),
        (call("PUT", "hooks.example", "/in/1", tool="webhook"), "its method is 'POST'"),
        (call("POST", "hooks.example", "/in/1", tool="webhook", port=80), "its ports are 443, 8443"),
    ],
)
def test_a_refusal_names_what_of_the_nearest_rule_did_not_fit(asked: Call, missed: str) -> None:
    rule = Rule(ALLOW, "webhook", "hooks.example", "/in/*", "POST", frozenset({443, 8443}))
    assert decide([rule], call("POST", "hooks.example", "/in/1", tool="webhook")) is rule
    assert refusal([Rule(DENY, tool="nobody"), rule], asked).endswith(f"; rule 2 would, but {missed}.")


def test_a_refusal_shows_no_path_of_the_request() -> None:
    assert "secret" not in refusal([Rule(DENY, path="/s*")], call(path="/secret"))


def test_hosts_are_compared_in_one_spelling() -> None:
    assert in_ascii("*.BÜCHER.Example.") == "*.xn--bcher-kva.example"
    assert decide([Rule(ALLOW, host="BÜCHER.example", method="POST")], call("POST", "xn--bcher-kva.example"))
    assert decide([Rule(ALLOW, host="Example.org.", method="post")], call("POST"))


def test_an_allowing_rule_opens_its_ports_or_the_usual_ones() -> None:
    assert Rule(ALLOW).opened == {80, 443}
    assert Rule(ALLOW, ports=frozenset({8443})).opened == {8443}
