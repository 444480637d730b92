"""Parts of LiteLLM that come late, and what is done to those that come.

Tried with one release. With another, or where anything fails, LiteLLM is loaded whole.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import sys
from collections.abc import Callable
from importlib import resources
from types import MappingProxyType
from typing import Any, Final

import structlog

from runtime.lean import without
from runtime.models.lean.bodies import a_body
from runtime.models.lean.late import Finder
from runtime.models.lean.prices import PriceFile, Prices
from runtime.models.lean.rehearsal import WORDS, rehearsed

log = structlog.get_logger("models")

RELEASE: Final = "1.106.2"
"""The release of LiteLLM whose parts these are."""

TRIED_WITH: Final = "openai/rehearsal"

PACKAGES: Final = ("litellm", "openai")

LATE_PARTS: Final = (
    *("openai.types", "openai.resources", "openai.lib", "tiktoken"),
    *("litellm.integrations", "litellm.proxy", "litellm.rust_bridge", "litellm.vector_stores"),
    *("litellm.router", "litellm.router_utils", "litellm.router_strategy", "litellm.budget_manager"),
    *("litellm.messages", "litellm.responses", "litellm.interactions", "litellm.skills", "litellm.evals"),
    *("litellm.ocr", "litellm.chat_completions", "litellm.embeddings", "litellm.tool_loop", "litellm.realtime_api"),
    *("litellm.vector_store_files", "litellm.anthropic_interface", "litellm.passthrough", "litellm.google_genai"),
    *("litellm.experimental_mcp_client", "litellm.compression", "litellm.harness"),
    "litellm.llms.oci",  # Oracle's, with the library of cryptography, 8 MB
)
"""Packages and modules that are late, with all in them: types and services beside chats. Vendors are not late, but one."""

NEEDED_AT_ONCE: Final = frozenset(
    {
        "openai.types.responses.response_create_params",
        "openai.types.create_embedding_response",
        "openai.types.embedding",
        "openai.types.audio.transcription",
        "openai.types.audio.transcription_verbose",
        "openai.types.audio.transcription_diarized",
        "openai.types.images_response",
    }
)
"""Not late: LiteLLM asks the first one whether it has a name, and a stand-in has all; OpenAI's client hands the others on as
the form of an answer, which nobody looks into before it is filled."""


def is_late(name: str) -> bool:
    return name not in NEEDED_AT_ONCE and any(name == late or name.startswith(f"{late}.") for late in LATE_PARTS)


def imported(prepare: Callable[[Any], None]) -> Any:
    """LiteLLM, prepared: lean where that can be and a first call succeeds with it, else whole."""
    if any(name in sys.modules for name in PACKAGES):
        return whole(prepare)  # somebody else's decision, and too late for another
    release = importlib.metadata.version("litellm")
    if release != RELEASE:
        log.warning("LiteLLM is loaded whole", reason=f"parts are known of {RELEASE}, and this is {release}")
        return whole(prepare)
    try:
        return tried(prepare)
    except Exception as error:  # noqa: BLE001 - whatever another's code raises; the whole of it has no such fault
        log.warning("LiteLLM is loaded whole", reason=f"{type(error).__name__}: {error}")
        forget()
        return whole(prepare)


def whole(prepare: Callable[[Any], None]) -> Any:
    litellm = importlib.import_module("litellm")
    prepare(litellm)
    return litellm


def tried(prepare: Callable[[Any], None]) -> Any:
    """LiteLLM lean, with which a call was made that reached nobody. Errors: whatever goes wrong in there."""
    litellm = lean()
    prepare(litellm)
    said = rehearsed(litellm, TRIED_WITH)
    if said != WORDS:
        raise ValueError(f"a first call said {said!r}")
    return litellm


def lean() -> Any:
    """Errors: whatever goes wrong in there, with LiteLLM half loaded: `forget` it then."""
    sys.meta_path.insert(0, FINDER)  # it stays: the parts that come later have late parts too
    with a_body(), without("httpx._main"):  # a command for terminals, with rich
        return importlib.import_module("litellm")


def is_lean() -> bool:
    return FINDER in sys.meta_path


def forget() -> None:
    """Make the next import find LiteLLM whole."""
    if FINDER in sys.meta_path:
        sys.meta_path.remove(FINDER)
    late = {name.partition(".")[0] for name in LATE_PARTS}
    for name in [name for name in sys.modules if name.partition(".")[0] in late]:
        del sys.modules[name]


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
    of._snapshot_loaded_catalog = classmethod(lambda cls, _: setattr(cls, "_loaded_catalog", Prices(file)))


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
        "litellm.litellm_core_utils.get_model_cost_map": prices_on_disk,
        "litellm.utils": no_tokenizer,
    }
)

FINDER: Final = Finder(is_late, owners=frozenset(PACKAGES), adaptations=ADAPTATIONS)


def give_back() -> None:
    """Give the operating system what loading took and does not hold any more, where the C library can."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim:
        trim(0)
