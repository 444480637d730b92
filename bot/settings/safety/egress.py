"""The settings of what tools may reach on the web."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from runtime.egress.addresses import Opening
from runtime.egress.rules import METHODS, in_ascii
from runtime.settings.types import Section, Text, Whole


def _opening(text: str) -> str:
    Opening.parse(text)
    return text


def _host_glob(text: str) -> str:
    try:
        in_ascii(text)
        fits = not set(text) & set("/@ ") and text.count(":") != 1  # more of them are an IPv6 address
    except ValueError:
        fits = False
    if not fits:
        raise ValueError('the name of a host or a glob such as "*.example.org", without scheme, port and path')
    return text


def _path_glob(text: str) -> str:
    if text[0] not in "/*?[":
        raise ValueError('a path or a glob such as "/public/*": paths begin with "/"')
    return text


def _method_glob(text: str) -> str:
    if not any(fnmatchcase(method, text.upper()) for method in METHODS):
        raise ValueError(f"{', '.join(sorted(METHODS))} or a glob")
    return text


class EgressRule(Section):
    """One rule about web requests; the first that matches wins. Strings are globs; a setting left out matches anything."""

    tool: Text = Field(default="*", description='Name of the tool that asks, such as "http_get".')
    host: Annotated[Text, AfterValidator(_host_glob)] = Field(
        default="*", description='Name of the host, such as "api.example.org" or "*.example.org".'
    )
    path: Annotated[Text, AfterValidator(_path_glob)] = Field(
        default="*", description='Path, decoded and without the query, such as "/public/*".'
    )
    method: Annotated[Text, AfterValidator(_method_glob)] = Field(default="*", description='"GET", "POST" and so on.')
    ports: tuple[Annotated[Whole, Field(ge=1, le=65535)], ...] = Field(
        default=(),
        description="Ports the rule is about; an allowing rule opens them. Empty: any port, and an allowing rule opens 80 and 443.",
    )
    result: Literal["allow", "deny"] = Field(description="What happens to the request.")


class Egress(Section):
    """Access of tools to the web: [egress.md](egress.md)."""

    allow: tuple[Annotated[Text, AfterValidator(_opening)], ...] = Field(
        default=(),
        description="Addresses and networks that tools may reach although they aren't public, with or without a port: "
        '"10.1.0.0/16", "127.0.0.1:8000".',
    )
    rules: tuple[EgressRule, ...] = Field(
        default=(),
        description="Rules about requests. If none matches, GET and HEAD are allowed and everything else is refused.",
    )
