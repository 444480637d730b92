"""`[model]` and `[[models]]`: each model with its vendor, key, price and the controls of what it writes."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, ConfigDict, Field, SecretStr

from runtime.contract import Work
from runtime.settings.types import Number, Secret, Section, Switch, Text, Whole

DEMO: Final = "demo"
AUTO: Final = "auto"
NOT_ALIASES: Final = (DEMO, AUTO, "default")
STOPS_MOST: Final = 4
"""Texts at which a vendor ends its answer. Source: OpenAI's API reference, "stop", read 2026-11."""


def _alias(name: str) -> str:
    if name in NOT_ALIASES or "/" in name or any(mark.isspace() for mark in name):
        raise ValueError('a name without blanks and slashes that people can say, such as "sonnet"')
    return name


def _stops(texts: tuple[str, ...]) -> tuple[str, ...]:
    if len(texts) > STOPS_MOST:
        raise ValueError(f"at most {STOPS_MOST} texts")
    return texts


class AnyModel(Section):
    """Way to ask a vendor for a model."""

    name: Text
    api_base: str = Field(
        default="", description="Address of an OpenAI-compatible or local server; empty: the vendor's own."
    )
    api_key: Secret = Field(
        default=None,
        description="The vendor's key. Default: the vendor's usual variable (OPENAI_API_KEY, …).",
    )
    api_key_env: str = Field(default="", description="Name of the variable that holds `api_key`.")
    api_keys: tuple[SecretStr, ...] = Field(
        default=(), description="Several keys in place of `api_key`; better name them in `api_key_envs`."
    )
    api_key_envs: tuple[Text, ...] = Field(
        default=(),
        description="Names of variables or sealed secrets with several keys. The next one is used when a key is refused "
        "(401) or has had too many requests (429).",
    )
    login: str = Field(
        default="",
        description="Name of a sign-in whose token is its key, in place of `api_key`: [sign-ins.md](sign-ins.md).",
    )
    organization: str = Field(
        default="", description="Organization to name to the vendor, if the key belongs to several."
    )
    context_tokens: Whole | None = Field(
        default=None,
        ge=1000,
        le=100_000_000,
        description="How much the model can read at once, in tokens. Default: the value in LiteLLM's list, else 128,000. "
        "Longer conversations are condensed.",
    )
    input_price: Number | None = Field(
        default=None, ge=0, description="US dollars per million input tokens. Default: the price in LiteLLM's list."
    )
    output_price: Number | None = Field(
        default=None, ge=0, description="US dollars per million output tokens. Default: the price in LiteLLM's list."
    )
    temperature: Number | None = Field(
        default=None, ge=0, le=2, description="How freely it chooses words. Default: the vendor's."
    )
    top_p: Number | None = Field(
        default=None, gt=0, le=1, description="Share of the likeliest words that it chooses from."
    )
    max_tokens: Whole | None = Field(default=None, ge=1, le=10_000_000, description="Longest answer, in tokens.")
    reasoning: Literal["", "none", "minimal", "low", "medium", "high"] = Field(
        default="", description="How long it thinks before it answers, if it can. Empty: the vendor's default."
    )
    seed: Whole | None = Field(default=None, description="Makes answers repeatable, if the vendor supports that.")
    stop: Annotated[tuple[Text, ...], AfterValidator(_stops)] = Field(
        default=(), description=f"Up to {STOPS_MOST} texts at which the answer ends."
    )


class Model(AnyModel):
    """The language model."""

    name: Text = Field(
        default=DEMO,
        description='"demo" (built in, no key needed), any LiteLLM name ("openai/…", "anthropic/…", "ollama/…"), a name of '
        '`[[models]]`, or "auto": the first vendor whose key is found, see [models.md](models.md).',
    )
    stream: Switch = Field(default=True, description="Show the reply as the model writes it.")
    images: Literal["auto", "on", "off"] = Field(
        default="auto",
        description='Whether the model sees images that people send: "auto" if it is known to read them, "on" for a model '
        "that can but is in no list.",
    )
    timeout_seconds: Number = Field(
        default=120,
        gt=0,
        le=3600,
        description="Longest wait for one reply from the model; in a stream for its next piece, and ten times that in all.",
    )
    preload: Switch = Field(
        default=True,
        description="Load the model's client at the start, not at the first message: some 65 MB, and a fast first reply.",
    )
    lean: Switch = Field(
        default=True,
        description="Load only the parts of LiteLLM that calls need, which takes 75 MB less. Switch it off if the log names it "
        "as a possible reason for failed calls.",
    )
    fallbacks: tuple[Text, ...] = Field(
        default=(), description="Names of `[[models]]` that answer, in this order, while the model can't."
    )

    @property
    def timeout(self) -> timedelta:
        return timedelta(seconds=self.timeout_seconds)

    @property
    def is_demo(self) -> bool:
        return self.name == DEMO


class ModelTable(AnyModel):
    """One more model, by a name that people and other settings say: [models.md](models.md)."""

    model_config = ConfigDict(serialize_by_alias=True)

    name: Annotated[Text, AfterValidator(_alias)] = Field(
        description='What it is called here, such as "sonnet". Each model has its own name.'
    )
    model: Text = Field(
        description="Its LiteLLM name, or another name of `[[models]]`: what isn't set here is then taken from there."
    )
    works: tuple[Work, ...] = Field(
        default=(),
        alias="for",
        description=f"Kinds of work it is chosen for first: {', '.join(work.value for work in Work)}.",
    )
    least_complexity: Whole | None = Field(
        default=None,
        ge=0,
        description="Used for requests that are at least this complex: [models.md](models.md) says how that is counted.",
    )
