"""What Signalbox is made of: each pin of each lock file, its licence, known bad releases, and the places of LiteLLM that are patched."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Final

import pytest

from runtime.models.lean.parts import ADAPTATIONS, LATE_PARTS, NEEDED_AT_ONCE, RELEASE, is_late
from tests import sbom
from tests.security.supply.advisories import Advisory, advisories, against
from tests.security.supply.licences import (
    ALLOWED,
    CLASSIFIER,
    EXCEPTIONS,
    is_allowed,
    licence_of,
    read,
    rows,
    spdx,
    told_by_metadata,
)
from tests.security.supply.patched import FILES, FORMS, SITE, forms, is_there, settings
from tests.security.supply.pins import DEVELOPMENT, HOST, LOCKS, ROOT, RUN, Pin, pins, versions
from tests.security.supply.pins import read as read_lock
from tests.security.tally import Tallied

PINS: Final = 404
UNKNOWN: Final = "unknown: read it and add it to tests/security/supply/licences.toml"
SHA256: Final = re.compile(r"sha256:[0-9a-f]{64}")


def faults(pin: Pin, known: Sequence[Advisory]) -> list[str]:
    """Everything that speaks against a pin."""
    licence = licence_of(pin.name)
    found = list(against(pin, known))
    if not pin.hashes or not all(SHA256.fullmatch(one) for one in pin.hashes):
        found.append(f"{pin.words}: without a hash, or with one that is no SHA-256")
    if HOST.search(pin.text):
        found.append(f"{pin.words}: names a place that it comes from")
    if not is_allowed(pin.name, licence):
        found.append(f"{pin.words}: its licence is {licence or UNKNOWN}; licences.py beside it says which are allowed")
    return found


# ------------------------------------------------------------------------------------------------------------ the locks


def test_each_pin_is_whole_allowed_and_not_known_as_bad(tallied: Tallied) -> None:
    known = advisories()
    count = tallied("supply, pins", PINS)
    for lock in LOCKS:
        for pin in pins(lock):
            found = faults(pin, known)
            count.case(not found, "; ".join(found))
    count.close()


def test_each_lock_file_is_looked_at_as_a_whole() -> None:
    """Also what stands before the first pin, and lock files that somebody adds."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.lock"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout.split()
    assert sorted(listed) == sorted(LOCKS)
    assert [lock for lock in LOCKS if HOST.search((ROOT / lock).read_text(encoding="utf-8"))] == []


GOOD: Final = f"six==1.17.0 \\\n    --hash=sha256:{'a' * 64}\n    # via discord-py\n"


@pytest.mark.parametrize(
    ("spoilt", "told"),
    [
        (GOOD, []),
        (GOOD.replace(f"    --hash=sha256:{'a' * 64}\n", ""), ["without a hash"]),
        (GOOD.replace("sha256", "md5"), ["no SHA-256"]),
        (f"--index-url https://example.org/simple\n{GOOD}", ["no pin"]),
        (f"six @ https://example.org/six.whl \\\n    --hash=sha256:{'a' * 64}\n", ["no pin"]),
        (f"six>=1.17.0 \\\n    --hash=sha256:{'a' * 64}\n", ["no pin"]),
        (GOOD.replace("# via", "--find-links /tmp/six  # via"), ["names a place"]),
        (GOOD.replace("six", "seven"), ["its licence is unknown"]),
        (GOOD.replace("six==1.17.0", "litellm==1.82.8"), ["PYSEC-2026-2", "CVE-2026-42208"]),
        (GOOD.replace("six==1.17.0", "Mistral_AI==2.4.6"), ["its licence is unknown"]),
        (GOOD.replace("six==1.17.0", "num2words==0.5.16"), ["#959", "its licence is unknown"]),
        (GOOD.replace("six==1.17.0", "aiohttp==3.14.0 ; sys_platform == 'win32'"), ["CVE-2026-54273"]),
    ],
)
def test_a_bad_pin_is_told(spoilt: str, told: list[str]) -> None:
    try:
        found = [one for pin in read_lock(spoilt, "a.lock") for one in faults(pin, advisories())]
    except ValueError as error:
        found = [str(error)]
    assert len(found) == len(told)
    assert all(words in line for words, line in zip(told, found, strict=True))


def test_development_adds_to_the_runtime_lock() -> None:
    run, development = versions(RUN), versions(DEVELOPMENT)
    assert {name: found for name, found in run.items() if development.get(name) != found} == {}


def test_the_build_backend_is_locked() -> None:
    for requirement in _project_file()["build-system"]["requires"]:
        name, wanted = requirement.split("==")
        assert versions(RUN)[name] == {wanted}


def test_litellm_moves_by_hand_and_never_by_a_range() -> None:
    assert f"litellm[mcp]=={RELEASE}" in _project_file()["project"]["dependencies"]
    assert [versions(lock)["litellm"] for lock in (RUN, DEVELOPMENT)] == [{RELEASE}, {RELEASE}]
    assert version("litellm") == RELEASE


def test_advisories_can_be_read_and_looked_up() -> None:
    known = advisories()
    assert len({(one.package, one.id) for one in known}) == len(known)
    assert all(one.versions or one.fixed_in for one in known)
    assert all(one.source.startswith("https://") or one.id.startswith("SIGNALBOX-") for one in known)


# ------------------------------------------------------------------------------------------------------------ licences


def test_rows_about_licences_are_needed_and_true() -> None:
    pinned = {pin.name for lock in LOCKS for pin in pins(lock)}
    own, elsewhere = rows("own_words"), rows("elsewhere")
    assert set(own) | set(elsewhere) | set(EXCEPTIONS) <= pinned, "a row of a package that is no longer there"
    assert {name: told_by_metadata(name) for name in own if told_by_metadata(name)} == {}
    assert {name for name, (licence, _) in elsewhere.items() if told_by_metadata(name) not in ("", licence)} == set()
    assert [name for name, (licence, where) in {**own, **elsewhere}.items() if not spdx(licence) or not where] == []
    assert not {name for name, (licence, why) in EXCEPTIONS.items() if licence in ALLOWED or not why}


@pytest.mark.parametrize(
    ("fields", "licence"),
    [
        ({"license_expression": "mit or apache-2.0"}, "MIT OR Apache-2.0"),
        ({"license_expression": "MIT", "license": "GPL"}, "MIT"),
        ({"license": "The MIT License (MIT)\n\nCopyright"}, "MIT"),
        ({"license": "UNKNOWN", "classifier": [f"{CLASSIFIER}Apache Software License"]}, "Apache-2.0"),
        ({"license": "BSD", "classifier": [f"{CLASSIFIER}BSD License"]}, ""),
        ({"license": "Copyright (c) somebody"}, ""),
        ({}, ""),
    ],
)
def test_a_licence_is_read_from_metadata(fields: dict[str, str | list[str]], licence: str) -> None:
    assert read(fields) == licence


@pytest.mark.parametrize(
    ("name", "licence", "is_fine"),
    [
        ("six", "MIT", True),
        ("six", "MIT AND Apache-2.0", True),
        ("six", "GPL-3.0-only OR MIT", True),
        ("six", "GPL-3.0-only AND MIT", False),
        ("six", "MPL-2.0", False),
        ("six", "", False),
        ("certifi", "MPL-2.0", True),
        ("certifi", "GPL-3.0-only", False),
    ],
)
def test_an_exception_holds_for_one_package_and_one_licence(name: str, licence: str, is_fine: bool) -> None:
    assert is_allowed(name, licence) == is_fine


# ------------------------------------------------------------------------------------------------------------ the bill


def test_the_bill_has_each_pin_with_its_hashes_and_its_licence() -> None:
    told = json.loads(sbom.text())
    listed = {(one["name"], one["version"]): one for one in told["components"]}
    assert (told["bomFormat"], told["specVersion"], len(listed)) == ("CycloneDX", "1.6", len(told["components"]))
    assert set(listed) == {(pin.name, pin.version) for pin in pins(RUN)}
    for pin in pins(RUN):
        one = listed[pin.name, pin.version]
        assert one["purl"] == f"pkg:pypi/{pin.name}@{pin.version}"
        assert [f"sha256:{held['content']}" for held in one["hashes"] if held["alg"] == "SHA-256"] == list(pin.hashes)
        assert one["licenses"] == [{"expression": licence_of(pin.name)}]


def test_the_bill_says_who_needs_what() -> None:
    told = json.loads(sbom.text())
    needs = {one["ref"]: one["dependsOn"] for one in told["dependencies"]}
    root = told["metadata"]["component"]["bom-ref"]
    assert set(needs) == {root, *(one["bom-ref"] for one in told["components"])}
    reached, open_ = set[str](), {root}
    while open_:
        reached |= open_
        open_ = {one for ref in open_ for one in needs[ref]} - reached
    assert reached == set(needs)
    assert f"pkg:pypi/litellm@{RELEASE}" in needs[root]


def test_two_bills_of_one_lock_are_equal_and_another_lock_has_another() -> None:
    project = _project_file()["project"]
    lock = (ROOT / RUN).read_text(encoding="utf-8")
    assert sbom.text() == json.dumps(sbom.bill(lock, project), indent=2) + "\n"
    assert (
        sbom.bill(GOOD, {**project, "name": "discord-py"})["serialNumber"] != sbom.bill(lock, project)["serialNumber"]
    )


def test_a_bill_with_an_unknown_licence_is_refused() -> None:
    with pytest.raises(ValueError, match="the licence of seven is unknown"):
        sbom.component(read_lock(GOOD.replace("six", "seven"), RUN)[0])


# ------------------------------------------------------------------------------------------------------------ LiteLLM


def test_each_place_of_litellm_that_is_patched_is_there_as_it_was(tallied: Tallied) -> None:
    count = tallied("supply, patched places of LiteLLM", 60)
    for name in (*LATE_PARTS, *NEEDED_AT_ONCE, *ADAPTATIONS):
        count.case(is_there(name), f"{name} is no module of LiteLLM {RELEASE}")
    for name in NEEDED_AT_ONCE:
        count.case(any(name.startswith(f"{late}.") for late in LATE_PARTS), f"{name} would not be late anyway")
    for name in ADAPTATIONS:
        count.case(
            name in FORMS and not is_late(name), f"{name} is adapted, so FORMS must have it and it must come early"
        )
    for module, wanted in FORMS.items():
        for name, form in wanted.items():
            found = forms(module).get(name, "not there")
            count.case(found == form, f"{module}.{name} is {found}, and was {form}")
    for module, name in settings():
        count.case(name in forms(module), f"{module}.{name} is set, and nobody in LiteLLM has it")
    for file in FILES:
        count.case((SITE / file).is_file(), f"{file} is not there")
    count.close()


def test_loading_litellm_reaches_nobody() -> None:
    command = [sys.executable, "-W", "ignore", "-m", "tests.security.supply.offline"]
    ended = subprocess.run(command, capture_output=True, check=True, text=True)
    told = json.loads(ended.stdout.splitlines()[-1])
    assert (told["loaded"], told["asked"], told["alive"]) == (True, [], [])
    assert told["seen"], "whoever asks for a name is seen"


def _project_file() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
