"""May this tool send this request to this place? Rules in order, then the defaults. No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Final

from runtime.egress.errors import Refused, Why

USUAL_PORTS: Final = frozenset({80, 443})
METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Result(StrEnum):
    ALLOW = "allow"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. Texts are globs; what is left out matches anything. `host` is compared in ASCII and small letters, `path`
    decoded and without the query. An allowing rule opens its `ports`, or without any the usual ones; one that is `public`
    leaves out the networks that are opened for others."""

    result: Result
    tool: str = "*"
    host: str = "*"
    path: str = "*"
    method: str = "*"
    ports: frozenset[int] = frozenset()
    public: bool = False

    @property
    def opened(self) -> frozenset[int]:
        return self.ports or USUAL_PORTS

    @property
    def names_its_host(self) -> bool:
        return self.host.strip("*?.") != ""


# Fetching a public page changes nothing there. Whatever else is sent needs somebody's word.
DEFAULTS: Final = (Rule(Result.ALLOW, method="GET"), Rule(Result.ALLOW, method="HEAD"))


@dataclass(frozen=True, slots=True)
class Call:
    """Request that a rule is asked about. `host` and `path` are those of a Place."""

    tool: str
    method: str
    host: str
    port: int
    path: str


def decide(rules: Sequence[Rule], call: Call) -> Rule:
    """The rule that allows `call`: the first that matches. Errors: Refused, naming the rule that did not allow it."""
    for number, rule in enumerate((*rules, *DEFAULTS), start=1):
        if not any(_missed(rule, call)):
            if rule.result is Result.ALLOW:
                return rule
            raise Refused(Why.RULE, f"egress rule {number} denies {_told(call)}.")
    raise Refused(Why.RULE, f"no egress rule allows {_told(call)}{_nearest(rules, call)}.")


def _missed(rule: Rule, call: Call) -> Iterator[str]:
    """Parts of `rule` that do not fit `call`, in words."""
    if not fnmatchcase(call.tool, rule.tool):
        yield f"its tool is {rule.tool!r}"
    if not fnmatchcase(call.host, in_ascii(rule.host)):
        yield f"its host is {rule.host!r}"
    if not fnmatchcase(call.path, rule.path):
        yield f"its path is {rule.path!r}"
    if not fnmatchcase(call.method, rule.method.upper()):
        yield f"its method is {rule.method!r}"
    if rule.ports and call.port not in rule.ports:
        yield f"its ports are {', '.join(map(str, sorted(rule.ports)))}"


def _nearest(rules: Sequence[Rule], call: Call) -> str:
    """The allowing rule that only one thing keeps from matching."""
    for number, rule in enumerate(rules, start=1):
        missed = list(_missed(rule, call))
        if rule.result is Result.ALLOW and len(missed) == 1:
            return f"; rule {number} would, but {missed[0]}"
    return ""


def _told(call: Call) -> str:
    return f"{call.method} to {call.host} on port {call.port} by {call.tool}"


def in_ascii(glob: str) -> str:
    """A glob for hosts as hosts are compared: small letters, no dot at the end, each part that is not ASCII in Punycode.

    Errors: ValueError for a part that can be in no name.
    """
    small = glob.lower().rstrip(".")
    if small.isascii():
        return small
    import idna  # rarely needed, and its tables take a while to load

    return ".".join(part if part.isascii() else idna.encode(part, uts46=True).decode() for part in small.split("."))
