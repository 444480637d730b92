"""Under which variables the vendors of language models keep their keys. Pure: the environment is handed in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# Vendor (the part of a LiteLLM name before the slash) to the usual variables, the first being the one to tell people.
# Source: the provider pages of docs.litellm.ai, read 2026-08.
KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "mistral": ("MISTRAL_API_KEY",),
    "groq": ("GROQ_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "xai": ("XAI_API_KEY",),
    "cohere": ("COHERE_API_KEY",),
    "together_ai": ("TOGETHERAI_API_KEY", "TOGETHER_API_KEY"),
    "azure": ("AZURE_API_KEY",),
    "perplexity": ("PERPLEXITYAI_API_KEY", "PERPLEXITY_API_KEY"),
    "fireworks_ai": ("FIREWORKS_AI_API_KEY", "FIREWORKS_API_KEY"),
    "cerebras": ("CEREBRAS_API_KEY",),
    "huggingface": ("HF_TOKEN", "HUGGINGFACE_API_KEY"),
    "nvidia_nim": ("NVIDIA_NIM_API_KEY",),
}

ALL_KEYS: Final = tuple(dict.fromkeys(name for group in KEYS.values() for name in group))

# The model of `name = "auto"`: of the first of these vendors whose key is found.
AUTO: Final[Mapping[str, str]] = {
    "anthropic": "anthropic/claude-sonnet-4-5",
    "openai": "openai/gpt-4o",
    "gemini": "gemini/gemini-2.5-flash",
    "mistral": "mistral/mistral-large-latest",
    "deepseek": "deepseek/deepseek-chat",
    "groq": "groq/llama-3.3-70b-versatile",
    "xai": "xai/grok-4",
    "openrouter": "openrouter/openai/gpt-4o",
}

# LiteLLM lets these names go without their vendor.
BARE: Final[Mapping[str, str]] = {
    "gpt-": "openai",
    "chatgpt-": "openai",
    "o1": "openai",
    "o3": "openai",
    "o4": "openai",
    "claude-": "anthropic",
}


def vendor(model: str) -> str:
    """The vendor of a model; empty if the name does not tell."""
    before, slash, _ = model.partition("/")
    if slash:
        return before
    return next((owner for start, owner in BARE.items() if model.startswith(start)), "")


def names(model: str) -> tuple[str, ...]:
    """Variables that may hold the key of `model`, the usual one first; empty when the vendor is not known."""
    return KEYS.get(vendor(model), ())


def any_present(variables: Mapping[str, str]) -> str | None:
    """The name of a vendor's key that is set, if there is one."""
    return next((name for name in ALL_KEYS if variables.get(name)), None)
