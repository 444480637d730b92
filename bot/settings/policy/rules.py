"""A rule about tool calls, and its conditions on arguments."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from bot.settings.approvals import AskedAt, Hours
from runtime.contract import Effect
from runtime.policy.limits import Limit
from runtime.policy.matchers import Commands, Matcher, words_of
from runtime.policy.matching.hosts import Host, host_of
from runtime.policy.matching.paths import Inside, folder_of
from runtime.policy.matching.regex_programs import program_of
from runtime.policy.matching.regexes import Regex
from runtime.policy.matching.words import All, Glob, OneOf, Prefix, Range
from runtime.policy.terms import Changes
from runtime.settings.types import Number, Section, Switch, Text, Whole

T = TypeVar("T")
SCALARS: Final = 'words, numbers or switches, such as ["eu", "us"]'


def _checked(read: Callable[[str], object]) -> AfterValidator:
    """The text as it is, once it can be read. Errors: ValueError says what is expected."""

    def check(text: str) -> str:
        read(text)
        return text

    return AfterValidator(check)


def _listed(value: object) -> object:
    """One text stands for a list of one."""
    return (value,) if isinstance(value, str) else value


def _scalars(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if not all(isinstance(one, str | int | float) for one in values):
        raise ValueError(SCALARS)
    return values


def _limit(text: str) -> str:
    if text:
        Limit.parse(text)
    return text


ListOf = Annotated[tuple[T, ...], BeforeValidator(_listed), Field(min_length=1)]


class Where(Section):
    """Conditions on one argument of a call: all must hold, and of a list any one. One value needs no list."""

    model_config = ConfigDict(serialize_by_alias=True)

    commands: ListOf[Annotated[str, _checked(words_of)]] | None = Field(
        default=None,
        description='Commands of a shell line, by their first words, such as `["git status", "ls"]`. Each command of an allowed line '
        "begins with one of these.",
    )
    prefix: ListOf[Text] | None = Field(default=None, description="Texts that it begins with.")
    glob: ListOf[Text] | None = Field(default=None, description="Globs (`*`, `?`, `[abc]`) that fit all of it.")
    regex: ListOf[Annotated[str, _checked(program_of)]] | None = Field(
        default=None,
        description="Regular expressions found in it, without lookaround and references, so that none can take forever.",
    )
    min: Number | None = Field(default=None, description="Least number that fits.")
    max: Number | None = Field(default=None, description="Greatest number that fits.")
    among: Annotated[tuple[Any, ...], AfterValidator(_scalars), Field(min_length=1)] | None = Field(
        default=None, alias="in", description=f"What it is one of: {SCALARS}."
    )
    host: ListOf[Annotated[str, _checked(host_of)]] | None = Field(
        default=None,
        description='Hosts of a URL: "example.org", or "*.example.org" for those below it. For an allow rule the URL must be plain.',
    )
    inside: ListOf[Annotated[str, _checked(folder_of)]] | None = Field(
        default=None,
        description='Folders that a path lies in: "notes" in the workspace, or "/srv/data". Links are not looked at.',
    )

    @property
    def matcher(self) -> Matcher:
        """The condition as rules ask it."""
        made: list[Matcher] = []
        if self.commands:
            made.append(Commands(tuple(map(words_of, self.commands))))
        if self.prefix:
            made.append(Prefix(self.prefix))
        if self.glob:
            made.append(Glob(self.glob))
        if self.regex:
            made.append(Regex(self.regex))
        if self.min is not None or self.max is not None:
            made.append(Range(self.min, self.max))
        if self.among:
            made.append(OneOf(self.among))
        if self.host:
            made.append(Host(tuple(map(host_of, self.host))))
        if self.inside:
            made.append(Inside(tuple(map(folder_of, self.inside))))
        return made[0] if len(made) == 1 else All(tuple(made))


class PolicyRule(Section):
    """One rule about tool calls; the first that matches wins. Strings are globs; a setting left out matches anything."""

    tool: Text = Field(default="*", description="Name of the tool.")
    effect: Effect | None = Field(default=None, description='What the tool may do: "read", "write" or "danger".')
    agent: Text = Field(default="*", description="Name of the agent.")
    room: Text = Field(default="*", description="Address of the room.")
    person: Text = Field(
        default="*",
        description="Identity or name of the person who asked. In an allow rule, a glob only matches identities.",
    )
    arguments: dict[str, str] = Field(default={}, description="A glob for each argument that matters, by name.")
    where: dict[str, Where] = Field(
        default={},
        description="Conditions on what an argument means, by its name, such as "
        '`{url = {host = ["*.example.org"]}}`. An allow rule matches if they surely hold, any other rule if they may.',
    )
    result: Literal["allow", "ask", "deny", "veto"] = Field(
        description='What happens to the call. "veto" denies it wherever the rule stands: no rule before it, grant or mode lifts that.'
    )
    tainted: Switch = Field(
        default=False,
        description="An allow rule: calls run even after outside text was read, such as a web page. Otherwise those that reach "
        "out of the conversation ask then.",
    )
    limit: Annotated[str, AfterValidator(_limit)] = Field(
        default="",
        description='Calls that it lets through at most, such as "60/minute" (or second, hour, day); counted for each tool, '
        "person and agent, failed ones too. Empty: any number.",
    )
    reason: str = Field(
        default="",
        max_length=200,
        description="Why, for people and the model: told where it denies, and on the card where it asks.",
    )
    name: str = Field(default="", max_length=60, description="Name of the rule, which cards and denials quote.")
    to: tuple[AskedAt, ...] | None = Field(
        default=None, min_length=1, description='Instead of `approvals.to`; `["room"]` keeps the call in its room.'
    )
    approvers: tuple[Text, ...] = Field(
        default=(),
        description='Only these of the people who may decide: identities, names of people, or roles such as "owner".',
    )
    quorum: Whole = Field(
        default=1, ge=1, le=20, description="How many people must approve; one denial is enough to deny."
    )
    four_eyes: Switch = Field(default=False, description="Never count the person who asked.")
    expires_hours: Hours | None = Field(default=None, description="Instead of `approvals.expires_hours`.")
    remind_hours: tuple[Hours, ...] | None = Field(default=None, description="Instead of `approvals.remind_hours`.")
    reason_required: Switch = Field(default=False, description="A denial needs a reason.")
    edit: Switch = Field(default=True, description="Approvers may change the call before it runs.")
    grants: Switch = Field(default=True, description="Approvers may extend their yes to later calls.")

    @property
    def asking(self) -> Changes:
        """Terms of its questions that differ from the general ones."""
        remind, expires = self.remind_hours, self.expires_hours
        return Changes(
            to=self.to,
            approvers=self.approvers or None,
            quorum=self.quorum,
            four_eyes=self.four_eyes,
            reason_required=self.reason_required,
            editable=self.edit,
            expires=None if expires is None else timedelta(hours=expires),
            remind=None if remind is None else tuple(timedelta(hours=hours) for hours in remind),
            grants=None if self.grants else False,
        )

    @property
    def most(self) -> Limit | None:
        return Limit.parse(self.limit) if self.limit else None
