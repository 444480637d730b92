"""LiteLLM without the parts that our calls do not use: `tests.fakes.lean_process`, one process for each form of it."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from runtime.models.lean.prices import PriceFile, Prices
from runtime.models.litellm_loading import WAY_OUT
from tests.fakes.vendor_calls import CASES, MODELS, SAMPLE

pytestmark = [pytest.mark.timeout(300), pytest.mark.xdist_group("lean")]


@cache
def seen(what: str) -> Any:
    """What one such process saw; those who ask for the same share it."""
    return seen_now(what)


def seen_now(what: str) -> Any:
    command = [sys.executable, "-W", "ignore", "-m", "tests.fakes.lean_process", what]
    told = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    return json.loads(told.splitlines()[-1])


def test_a_first_call_loads_what_it_needs_and_holds_nobody() -> None:
    require_little(seen("lean")["first"], "openai")


@pytest.mark.soak
@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
def test_a_first_call_of_each_wire_loads_what_it_needs(vendor: str) -> None:
    require_little(seen(vendor), vendor)


def require_little(it: dict[str, Any], vendor: str) -> None:
    """A hold is bounded in processor time; where others want the processors too, there is more than one try."""
    for _ in range(2):
        if it["gap"] <= 0.1:
            break
        it = seen_now(vendor)
    assert it["gap"] <= 0.1  # a full collection takes more
    assert it["used"] <= 4  # of a machine on which others work; 1.6 s alone
    assert (it["logs"], it["heavy"], it["unused"], it["again"]) == ([], [], [], True)
    assert it["types"] < 60  # of 800
    assert it["rows"] < 5  # of 4,000


def test_no_full_collection_holds_the_others_while_it_loads() -> None:
    """Each takes a hundred milliseconds and more, in which nobody is told anything."""
    assert seen("lean")["first"]["collections"] == [0, True, True]


def test_vendors_are_asked_and_fail_as_with_the_whole() -> None:
    require_the_same(seen("lean"), seen("whole"), len(SAMPLE))


@pytest.mark.soak
def test_every_vendor_is_asked_and_fails_as_with_the_whole() -> None:
    require_the_same(seen("lean-matrix"), seen("whole-matrix"), len(MODELS))


def require_the_same(lean: dict[str, Any], whole: dict[str, Any], vendors: int) -> None:
    """Requests with their headers and bodies, answers, streams, and errors with their classes and words."""
    assert (lean["prices"], whole["prices"]) == ("Prices", "dict")
    assert lean["calls"] == whole["calls"]
    assert len(whole["calls"]) == vendors * len(CASES)
    assert [name for name, (asked, _) in whole["calls"].items() if len(asked) != 1] == []
    answered = {name.split()[0] for name, (_, said) in whole["calls"].items() if said == ["hello", "stop", 5]}
    assert set(MODELS) - answered <= {"groq/llama-3.3-70b-versatile"} or len(answered) == len(SAMPLE) == vendors


def test_other_importers_are_given_the_real_things() -> None:
    it = seen("lean")["others"]
    assert it["stand-ins"] == []
    assert it["kinds"] == [True] * 5
    assert it["same"]
    assert it["known"] == []
    assert (it["image"], it["unknown"]) == ("aimage_generation", False)
    assert it["tokenizer"] > 1_000_000


def test_whatever_a_stand_in_stands_for_is_there() -> None:
    """Else LiteLLM asked whether there is such a name, and was told a lie: its module belongs to `AT_ONCE`."""
    assert seen("lean")["missing"] == []


def test_first_uses_in_sixteen_threads_at_once_all_succeed() -> None:
    assert seen("threads") == {"count": 16, "wrong": [], "alive": 0, "deferred": False}


@pytest.mark.parametrize(
    ("way", "reason"),
    [
        ("another", "and this is"),
        ("failing", "AttributeError: json_data"),
        ("unusable", "a first call said 'yes'"),
    ],
)
def test_another_litellm_is_loaded_whole_and_says_so(way: str, reason: str) -> None:
    it = seen("whole")["ways"][way]
    (line,) = it["logs"]
    assert line["event"] == "LiteLLM is loaded whole"
    assert reason in line["reason"]
    assert (it["given"], it["left"], it["is_lean"]) == ("the whole", [], False)


def test_the_setting_loads_it_whole_also_after_all_of_that() -> None:
    it = seen("whole")
    assert it["answer"]
    assert (it["logs"], it["is_lean"], it["again"], it["prices"]) == ([], False, True, "dict")
    assert it["types"] > 500


def test_a_late_part_that_fails_is_told_once_with_the_way_out() -> None:
    """Without a key that stands in the error's words."""
    it = seen("lean")["faults"]
    assert it["said"] == ["a failure", "a failure"]
    (line,) = [line for line in it["lean"] if "fix" in line]
    assert (line["log_level"], line["fix"]) == ("error", WAY_OUT)
    assert line["reason"].startswith("FileNotFoundError: ")
    assert "sk-hidden-key" not in line["reason"]


def test_a_vendors_error_is_not_taken_for_one_of_the_lean_form() -> None:
    assert seen("lean")["faults"]["vendor"] == []
    taken = {name: said[-1] for name, (_, said) in seen("lean")["calls"].items() if isinstance(said[0], list)}
    assert taken
    assert {name: fault for name, fault in taken.items() if fault} == {}


def test_the_release_is_the_one_that_is_pinned() -> None:
    """Whoever moves the pin runs this folder, and then names the new release."""
    from importlib.metadata import version

    from runtime.models.lean.parts import RELEASE

    assert version("litellm") == RELEASE


PLAIN: Final = '{\n  "a": {"x": 1},\n\t"b\\u00fc" : {"\u00fc": "{\\"no\\": 1}"} ,"c":{}\n}\n'


def test_rows_are_read_from_their_places(tmp_path: Path) -> None:
    (file := tmp_path / "prices.json").write_text(PLAIN, encoding="utf-8")
    prices = Prices(PriceFile(file))
    assert dict(prices.items()) == json.loads(PLAIN)
    assert dict(prices) == json.loads(PLAIN)
    assert ("a" in prices, "z" in prices, prices.get("z"), len(prices)) == (True, False, None, 3)


def test_what_is_changed_stays_changed(tmp_path: Path) -> None:
    (file := tmp_path / "prices.json").write_text(PLAIN, encoding="utf-8")
    prices = Prices(PriceFile(file))
    prices["a"]["x"] = 2
    prices["new"] = {"y": 3}
    prices["c"] = {"z": 4}
    del prices["bü"]
    file.unlink()  # an upgrade under way
    assert dict(prices.items()) == {"a": {"x": 2}, "c": {"z": 4}, "new": {"y": 3}}
    assert dict(Prices(prices._file)) == json.loads(PLAIN)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a" 1}', '{"a": 1}', '{"a": {}', '{"a": {} "b": {}}', "{a: {}}"])
def test_another_format_is_an_error(text: str, tmp_path: Path) -> None:
    (file := tmp_path / "prices.json").write_text(text)
    with pytest.raises(ValueError, match=r"."):
        PriceFile(file)


def test_all_rows_are_those_of_litellms_list() -> None:
    import importlib.util

    spec = importlib.util.find_spec("litellm")
    assert spec is not None
    assert spec.origin is not None
    file = Path(spec.origin).with_name("model_prices_and_context_window_backup.json")
    rows = json.loads(file.read_text(encoding="utf-8"))
    assert dict(Prices(PriceFile(file)).items()) == rows
    assert len(rows) > 1_000
