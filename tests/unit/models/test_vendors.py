"""Names of models that lead nowhere are told without LiteLLM, and none that it knows is."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest

from runtime.models.litellm_loading import LIBRARY
from runtime.models.vendors import VENDORS, fault_of


@pytest.fixture(scope="module")
def litellm() -> Any:
    return asyncio.run(LIBRARY.get())


def test_all_vendors_are_those_of_the_library(litellm: Any) -> None:
    from litellm.llms.openai_like.json_loader import JSONProviderRegistry

    listed = {str(getattr(one, "value", one)) for one in litellm.provider_list}
    assert listed | set(JSONProviderRegistry.list_providers()) == VENDORS


def test_no_name_that_the_library_knows_is_refused(litellm: Any) -> None:
    for name in sorted(litellm.model_list_set)[::25]:
        try:
            litellm.get_llm_provider(name)
        except litellm.BadRequestError:
            continue
        assert fault_of(name) is None, name


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nonsense", "nonsense names no provider; write provider/model, such as openai/gpt-4o-mini"),
        ("gpt-99", "gpt-99 names no provider"),
        ("openai/", "openai/ names no model"),
        ("opnai/gpt-4o", 'there is no provider "opnai"; did you mean openai/gpt-4o?'),
        ("Anthropic/claude", "did you mean anthropic/claude?"),
        ("unheard-of-by-all/x", "write provider/model"),
    ],
)
def test_a_name_that_leads_nowhere_is_told(name: str, told: str) -> None:
    assert told in (fault_of(name) or "")
    assert told in (fault_of(name, "http://localhost:1234/v1") or "")


@pytest.mark.parametrize("name", ["gpt-4o", "openai/whatever", "claude-of-next-year", "ft:gpt-4o:us::1", "ollama/x/y"])
def test_a_name_that_may_be_known_is_taken(name: str) -> None:
    assert fault_of(name) is None


def test_a_server_that_the_library_knows_needs_no_vendor() -> None:
    assert fault_of("whatever", "https://api.groq.com/openai/v1") is None


def test_looking_does_not_load_the_library() -> None:
    look = (
        "import sys; from runtime.models.vendors import fault_of; assert fault_of('x'); print('litellm' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert ended.stdout == "False\n"
