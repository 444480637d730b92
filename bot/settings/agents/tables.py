"""`[[agents]]` and `agents/*.toml`: more agents, each with its own prompt, tools and rooms."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from bot.settings.agents.executors import AnswersFile, ProgramTable
from bot.settings.sections.prompts import PromptFile, PromptText
from runtime.contract import Effect
from runtime.contract.memory.facts import EVERY_SCOPE, ScopeKind
from runtime.domain.agents.executors import Executor, ExecutorKind
from runtime.domain.agents.manifest import MOST_CHILDREN, MOST_DEPTH, Manifest
from runtime.settings.types import Number, Section, Text, Whole

AGENT_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,39}")
RoleWord = Literal["viewer", "user", "operator", "owner"]


def _name(name: str) -> str:
    if not AGENT_NAME.fullmatch(name):
        raise ValueError('a name of up to 40 small letters, digits, "-" and "_", such as "ops"')
    return name


def _mention(word: str) -> str:
    if word.startswith("@") or any(mark.isspace() for mark in word):
        raise ValueError('one word without "@", such as "ops"')
    return word


class AgentTable(Section):
    """One more agent: [agents.md](agents.md). What is left out is as with `main`, the agent that the other settings describe."""

    name: Annotated[Text, AfterValidator(_name)] = Field(
        description='What it is called, such as "ops"; in `agents/` the name of the file, unless it is given. "main" sets bounds of the main agent.'
    )
    prompt: PromptText = Field(
        default="",
        description="System prompt. It may name values: [prompts](conversations.md#what-the-agent-is-told).",
    )
    prompt_file: PromptFile | None = Field(default=None, description="The same as a text file, in place of `prompt`.")
    model: str = Field(default="", description="Name of `[[models]]` that it uses first.")
    tools: tuple[Text, ...] = Field(
        default=("*",), description='Tools it may use, by name or glob, such as `["read_file", "github_*"]`.'
    )
    effects: Effect = Field(
        default=Effect.DANGER, description='The most that its tools may do: "read", "write" or "danger".'
    )
    memory: tuple[ScopeKind, ...] = Field(
        default=EVERY_SCOPE,
        description='Memories that it may read and keep: "person", "room", "agent", "all". An empty list: it has none.',
    )
    skills: tuple[Text, ...] | None = Field(
        default=None,
        description="[Skills](skills.md) it has, by name or glob. Default: of `main` all that were added here, of others none.",
    )
    rooms: tuple[Text, ...] = Field(
        default=(), description='Rooms where it answers, as addresses or globs such as "slack:work/C-OPS*".'
    )
    people: tuple[Text, ...] = Field(
        default=(), description="Names or identities of the only people it answers there. Globs fit identities alone."
    )
    roles: tuple[RoleWord, ...] = Field(default=(), description="Roles of the people it answers.")
    accounts: tuple[Text, ...] = Field(
        default=(), description='Accounts where it answers, such as "slack:work" or "telegram:*".'
    )
    channels: tuple[Text, ...] = Field(default=(), description='Channels where it answers, such as "slack".')
    mentions: tuple[Annotated[Text, AfterValidator(_mention)], ...] = Field(
        default=(), description='Words that address it, as in "@bot ops: …". Default: its name.'
    )
    delegates_to: tuple[Text, ...] = Field(
        default=(), description="Agents to which it may hand work. It may name itself."
    )
    budget_day: Number | None = Field(
        default=None, ge=0.0001, le=1e9, description="USD that it may spend in a day, in place of `budgets.agent_day`."
    )
    tokens_per_hour: Whole | None = Field(
        default=None,
        ge=1,
        le=10**15,
        description="Tokens that it may read and write in an hour, in place of `budgets.agent_tokens_hour`.",
    )
    tool_calls_per_minute: Whole | None = Field(
        default=None, ge=1, le=100_000, description="Tool calls that it may make in a minute, in all rooms together."
    )
    children: Whole = Field(
        default=MOST_CHILDREN,
        ge=0,
        le=MOST_CHILDREN,
        description="Children that one run of it may have at work at once.",
    )
    depth: Whole = Field(
        default=MOST_DEPTH,
        ge=0,
        le=MOST_DEPTH,
        description="Levels of children below a run of it; 0: it hands no work on.",
    )
    harness: Literal["single", "generator_evaluator"] = Field(
        default="single",
        description='How it works on tasks: "single", one loop of model and tools, or "generator_evaluator", in [sprints](goals.md#sprints) that another model judges.',
    )
    executor: Literal["model", "subprocess", "stub"] = Field(
        default="model",
        description='What works in it: "model", the language model; "subprocess", a program of yours; "stub", a file of answers. '
        "See [executors.md](executors.md).",
    )
    program: ProgramTable = Field(default_factory=ProgramTable, description="Program of the executor.")
    answers: AnswersFile | None = Field(default=None, description='The file of answers that `executor = "stub"` gives.')

    @model_validator(mode="after")
    def _one_prompt(self) -> Self:
        if self.prompt and self.prompt_file:
            raise ValueError("one of prompt and prompt_file")
        return self

    @property
    def words(self) -> str:
        """The prompt. Errors: OSError when its file cannot be read any more."""
        return self.prompt_file.read_text(encoding="utf-8").strip() if self.prompt_file else self.prompt

    @property
    def manifest(self) -> Manifest:
        """Errors: OSError as `words`."""
        return Manifest(
            name=self.name,
            prompt=self.words,
            model=self.model,
            tools=self.tools,
            effects=self.effects,
            memory=EVERY_SCOPE if {*self.memory} == {*EVERY_SCOPE} else self.memory,
            skills=self.skills,
            rooms=self.rooms,
            people=self.people,
            roles=self.roles,
            accounts=self.accounts,
            channels=self.channels,
            mentions=self.mentions or (self.name,),
            delegates_to=self.delegates_to,
            budget_day=self.budget_day or 0.0,
            tokens_per_hour=self.tokens_per_hour or 0,
            tool_calls_per_minute=self.tool_calls_per_minute or 0,
            children=self.children,
            depth=self.depth,
            harness=self.harness,
            executor=self._executor,
        )

    @property
    def _executor(self) -> Executor:
        program = self.program
        return Executor(
            kind=ExecutorKind(self.executor),
            command=program.command,
            answers=self.answers,
            processes=program.processes,
            timeout=program.timeout,
            network=program.network,
            sandboxed=program.sandbox != "external",
            env=program.env,
        )
