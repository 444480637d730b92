"""Names of models by which LiteLLM finds a vendor, told without importing it: that takes seconds."""

from __future__ import annotations

import difflib
import json
import re
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

VENDORS: Final = frozenset(
    [
        "a2a",
        "a2a_agent",
        "abliteration",
        "ai21",
        "ai21_chat",
        "aihubmix",
        "aiml",
        "aiohttp_openai",
        "amazon_nova",
        "anthropic",
        "anthropic_text",
        "apertis",
        "assemblyai",
        "auto_router",
        "aws_polly",
        "aws_textract",
        "azure",
        "azure_ai",
        "azure_speech",
        "azure_text",
        "baseten",
        "bedrock",
        "bedrock_mantle",
        "black_forest_labs",
        "bytez",
        "cerebras",
        "charity_engine",
        "chatgpt",
        "chutes",
        "clarifai",
        "cloudflare",
        "codestral",
        "cognition",
        "cohere",
        "cohere_chat",
        "cometapi",
        "compactifai",
        "cortecs",
        "crusoe",
        "cursor",
        "custom",
        "custom_openai",
        "darkbloom",
        "dashscope",
        "databricks",
        "datarobot",
        "deepgram",
        "deepinfra",
        "deepseek",
        "docker_model_runner",
        "dotprompt",
        "edenai",
        "elevenlabs",
        "empiriolabs",
        "empower",
        "fal_ai",
        "featherless_ai",
        "fireworks_ai",
        "friendliai",
        "galadriel",
        "gdc",
        "gemini",
        "gigachat",
        "github",
        "github_copilot",
        "gmi",
        "gradient_ai",
        "groq",
        "helicone",
        "heroku",
        "hosted_vllm",
        "huggingface",
        "humanloop",
        "hyperbolic",
        "inception",
        "infinity",
        "jina_ai",
        "lambda_ai",
        "langflow",
        "langfuse",
        "langgraph",
        "lemonade",
        "libertai",
        "litellm_agent",
        "litellm_proxy",
        "llamafile",
        "llamagate",
        "lm_studio",
        "manus",
        "maritalk",
        "meta",
        "meta_llama",
        "milvus",
        "minimax",
        "mistral",
        "modelscope",
        "mongodb",
        "moonshot",
        "morph",
        "nadir",
        "nano-gpt",
        "nebius",
        "neosantara",
        "nlp_cloud",
        "novita",
        "nscale",
        "nvidia_nim",
        "nvidia_riva",
        "oci",
        "ollama",
        "ollama_chat",
        "oobabooga",
        "openai",
        "openai_like",
        "openrouter",
        "ovhcloud",
        "parasail",
        "perplexity",
        "petals",
        "pg_vector",
        "pinstripes",
        "poe",
        "predibase",
        "prism",
        "publicai",
        "qwen_ai_platform",
        "qwencloud",
        "ragflow",
        "recraft",
        "reducto",
        "reka",
        "replicate",
        "runwayml",
        "s3_vectors",
        "sagemaker",
        "sagemaker_chat",
        "sagemaker_nova",
        "sail",
        "sambanova",
        "sap",
        "sarvam",
        "scaleway",
        "scx-ai",
        "snowflake",
        "soniox",
        "stability",
        "strands_decider",
        "synthetic",
        "tencent",
        "tensormesh",
        "text-completion-codestral",
        "text-completion-inception",
        "text-completion-openai",
        "together_ai",
        "topaz",
        "transcribe",
        "triton",
        "typesafe",
        "v0",
        "valkey",
        "veniceai",
        "vercel_ai_gateway",
        "vertex_ai",
        "vertex_ai_beta",
        "vllm",
        "volcengine",
        "voyage",
        "wandb",
        "watsonx",
        "watsonx_text",
        "xai",
        "xiaomi_mimo",
        "xinference",
        "zai",
    ]
)
"""What may stand before the slash. Source: LiteLLM's provider_list and its OpenAI-like providers; a test compares them."""

BY_FORM: Final = re.compile(r"claude-|gpt-image|amazon_nova|.*ft:gpt-(?:3\.5-turbo|4)|[^:]*:[0-9a-f]{64}$")
"""Names that need no vendor and are in no list. Source: get_llm_provider_logic.py of LiteLLM, read 2026-11."""

MODELS: Final = "model_prices_and_context_window_backup.json"
"""LiteLLM's own list of models. Some of them may go without their vendor."""

MODEL_EXAMPLE: Final = "openai/gpt-4o-mini"


SERVERS: Final = ("constants.py", "llms/openai_like/providers.json")
"""Where LiteLLM lists the servers that it knows by their address."""

PUBLIC: Final = re.compile(r"\.[a-z]{2,}$")
"""A host by its name, and none of one's own machine or network."""


@lru_cache(16)
def fault_of(name: str, api_base: str = "") -> str | None:
    """The reason no vendor can be asked for the model `name`; None if LiteLLM may know its vendor."""
    vendor, slash, model = name.partition("/")
    if (slash and model and vendor in VENDORS) or BY_FORM.match(name) or _is_known(name, api_base):
        return None
    if not slash:
        return f"{name} names no provider; write provider/model, such as {MODEL_EXAMPLE}"
    if not model:
        return f"{name} names no model; write provider/model, such as {MODEL_EXAMPLE}"
    near = difflib.get_close_matches(vendor.lower(), VENDORS, n=1, cutoff=0.6)
    fix = f"did you mean {near[0]}/{model}?" if near else f"write provider/model, such as {MODEL_EXAMPLE}"
    return f'there is no provider "{vendor}"; {fix}'


@lru_cache(16)
def context_tokens_of(name: str) -> int | None:
    """Window of the model `name` in tokens, by LiteLLM's own list; None where it is not in there.

    The list is read as text and one entry of it parsed: to load LiteLLM takes a hundred times as long.
    """
    entry = _entry(name)
    tokens = entry.get("max_input_tokens") or entry.get("max_tokens")
    return tokens if isinstance(tokens, int) and tokens > 0 else None


def prices_of(name: str) -> tuple[float, float] | None:
    """US dollars for a million tokens read, and written, by the same list."""
    entry = _entry(name)
    read, written = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    if not isinstance(read, int | float) or not isinstance(written, int | float):
        return None
    return read * 1_000_000, written * 1_000_000


def character_price_of(name: str) -> float | None:
    """US dollars for a million characters that are spoken, by the same list."""
    spoken = _entry(name).get("input_cost_per_character")
    return spoken * 1_000_000 if isinstance(spoken, int | float) else None


def _entry(name: str) -> dict[str, Any]:
    package = find_spec("litellm")
    place = Path(next(iter(package.submodule_search_locations or ()), "")) if package else Path()
    try:
        listed = _text(place / MODELS)
    except OSError:
        return {}
    for one in (name, name.partition("/")[2]):
        if one and (at := listed.find(f'"{one}": {{')) >= 0:
            entry: dict[str, Any]
            entry, _ = json.JSONDecoder().raw_decode(listed, listed.index("{", at))
            return entry
    return {}


def _is_known(name: str, api_base: str) -> bool:
    """True if LiteLLM's lists have the model or its server, or there are none to look into."""
    package = find_spec("litellm")
    place = Path(next(iter(package.submodule_search_locations or ()), "")) if package else Path()
    host = urlsplit(api_base).hostname or ""
    public = host if PUBLIC.search(host) else ""
    try:
        return f'"{name}": {{' in _text(place / MODELS) or any(public and public in _text(place / f) for f in SERVERS)
    except OSError:
        return True


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")
