"""Parts of LiteLLM that come late, and what is done to those that come.

Tried with one release. With another, or where anything fails, LiteLLM is loaded whole.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import sys
from collections.abc import Callable
from importlib import resources
from types import MappingProxyType, ModuleType
from typing import Any, Final

import structlog

from runtime.lean import without
from runtime.models.lean.late import Finder, a_body
from runtime.models.lean.prices import PriceFile, Prices

log = structlog.get_logger("models")

RELEASE: Final = "1.106.2"
"""The release of LiteLLM whose parts these are."""

PACKAGES: Final = ("litellm", "openai")

FEATURES: Final = (
    *("assistants", "batches", "images", "videos", "batch_completion", "rerank_api", "containers", "rag", "sandbox"),
    *("decisions", "systemone", "search", "fine_tuning", "files"),
)
"""What LiteLLM does beside chats. Their names are found in `litellm` by whoever asks for them."""

LATE: Final = (
    *("openai.types", "openai.resources", "openai.lib", "tiktoken"),
    *(f"litellm.{name}" for name in FEATURES),
    *("litellm.llms", "litellm.integrations", "litellm.proxy", "litellm.rust_bridge", "litellm.vector_stores"),
    *("litellm.router", "litellm.router_utils", "litellm.router_strategy", "litellm.budget_manager"),
    *("litellm.messages", "litellm.responses", "litellm.interactions", "litellm.skills", "litellm.evals"),
    *("litellm.ocr", "litellm.chat_completions", "litellm.embeddings", "litellm.tool_loop", "litellm.realtime_api"),
    *("litellm.vector_store_files", "litellm.anthropic_interface", "litellm.passthrough", "litellm.google_genai"),
    *("litellm.experimental_mcp_client", "litellm.compression", "litellm.harness"),
)
"""Packages and modules that are late, with all in them."""

AT_ONCE: Final = frozenset({"openai.types.responses.response_create_params"})
"""Not late: LiteLLM asks it whether it has a name, and a stand-in has all."""

HOLLOW: Final = frozenset(f"litellm.{name}.main" for name in FEATURES)


def is_late(name: str) -> bool:
    return name not in AT_ONCE and any(name == late or name.startswith(f"{late}.") for late in LATE)


def imported() -> ModuleType:
    """LiteLLM: lean where that can be, else whole."""
    if any(name in sys.modules for name in PACKAGES):
        return importlib.import_module("litellm")  # somebody else's decision, and too late for another
    release = importlib.metadata.version("litellm")
    if release != RELEASE:
        log.warning("LiteLLM is loaded whole", reason=f"parts are known of {RELEASE}, and this is {release}")
        return whole()
    try:
        return lean()
    except Exception as error:
        log.warning("LiteLLM is loaded whole", reason=f"{type(error).__name__}: {error}")
        for name in [name for name in sys.modules if name.partition(".")[0] in PACKAGES]:
            del sys.modules[name]
        return whole()


def whole() -> ModuleType:
    return importlib.import_module("litellm")


def lean() -> ModuleType:
    """Errors: whatever goes wrong in there, with LiteLLM half loaded."""
    finder = Finder(is_late, hollow=HOLLOW, adaptations=ADAPTATIONS)
    sys.meta_path.insert(0, finder)  # it stays: the parts that come later have late parts too
    try:
        with a_body(), without("httpx._main"):  # a command for terminals, with rich
            return importlib.import_module("litellm")
    except BaseException:
        sys.meta_path.remove(finder)
        raise


def features_when_asked(litellm: Any) -> None:
    """Names of the hollow modules are found in `litellm` as if they had been taken from there."""
    lookup: Callable[[str], Any] = litellm.__getattr__

    def found(name: str) -> Any:
        try:
            return lookup(name)
        except AttributeError:
            for module in map(importlib.import_module, sorted(HOLLOW)):
                if not name.startswith("_") and hasattr(module, name):
                    return getattr(module, name)
            raise

    litellm.__getattr__ = found


def prices_on_disk(module: Any) -> None:
    """The price list is not parsed as a whole."""
    path = resources.files("litellm").joinpath("model_prices_and_context_window_backup.json")
    with resources.as_file(path) as here:
        file = PriceFile(here)
    of = module.GetModelCostMap
    of.load_local_model_cost_map = staticmethod(lambda: Prices(file))
    reloaded = module.ModelCostMapReloaded(
        model_cost_map=Prices(file), revision=module.git_blob_id(of.read_local_model_cost_map_bytes())
    )
    of.load_local_model_cost_map_with_revision = staticmethod(lambda: reloaded)
    of._snapshot_loaded_catalog = classmethod(lambda cls, _: setattr(cls, "_loaded_catalog", Prices(file)))  # noqa: SLF001


def no_tokenizer(utils: Any) -> None:
    """The text of Anthropic's tokenizer, and what was parsed of it (20 MB), come from the file when they are asked for."""
    lookup: Callable[[str], Any] = utils.__getattr__

    def found(name: str) -> Any:
        if name == "claude_json_str":
            place = resources.files("litellm.litellm_core_utils.tokenizers").joinpath("anthropic_tokenizer.json")
            return place.read_text(encoding="utf-8")
        return lookup(name)

    del utils.json_data, utils.claude_json_str
    utils.__getattr__ = found


ADAPTATIONS: Final = MappingProxyType(
    {
        "litellm": features_when_asked,
        "litellm.litellm_core_utils.get_model_cost_map": prices_on_disk,
        "litellm.utils": no_tokenizer,
    }
)


def give_back() -> None:
    """Give the operating system what loading took and does not hold any more, where the C library can."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim:
        trim(0)
