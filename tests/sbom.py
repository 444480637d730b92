"""The bill of materials of Signalbox: all that the run lock installs, as CycloneDX 1.6. `make sbom` writes it.

It is made from the lock alone, so two of one lock are equal, and needs no network. It names no time and no machine.
"""

from __future__ import annotations

import json
import sys
import tomllib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.security.supply.licences import licence_of
from tests.security.supply.pins import ROOT, RUN, Pin, read

SPACE: Final = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")
"""RFC 4122's name space of URLs."""

ALGORITHMS: Final[Mapping[str, str]] = {"sha256": "SHA-256"}
MARKER: Final = "signalbox:marker"

Json = dict[str, Any]


def bill(lock: str, project: Mapping[str, Any]) -> Json:
    """Errors: ValueError for a pin without a known licence."""
    pinned = read(lock, RUN)
    root = _purl(str(project["name"]), str(project["version"]))
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": uuid.uuid5(SPACE, f"{root}\n{lock}").urn,
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": root,
                "name": project["name"],
                "version": project["version"],
                "description": project["description"],
                "purl": root,
            }
        },
        "components": [component(pin) for pin in pinned],
        "dependencies": dependencies(root, str(project["name"]), pinned),
    }


def component(pin: Pin) -> Json:
    """One package. Its hashes are those of each file that may be installed for it."""
    licence = licence_of(pin.name)
    if not licence:
        raise ValueError(f"the licence of {pin.name} is unknown: add it to tests/security/supply/licences.toml")
    purl = _purl(pin.name, pin.version)
    hashes = [one.split(":") for one in pin.hashes]
    return {
        "type": "library",
        "bom-ref": purl,
        "name": pin.name,
        "version": pin.version,
        "hashes": [{"alg": ALGORITHMS[name], "content": digest} for name, digest in hashes],
        "licenses": [{"expression": licence}],
        "purl": purl,
        **({"properties": [{"name": MARKER, "value": pin.marker}]} if pin.marker else {}),
    }


def dependencies(root: str, own_name: str, pinned: Sequence[Pin]) -> list[Json]:
    """Needs of each, as the lock tells them from the other end."""
    names = {pin.name for pin in pinned}
    needs: dict[str, set[str]] = {name: set() for name in (own_name, *names)}
    for pin in pinned:
        for one in pin.needed_by or (own_name,):  # the build's backend is ours too
            needs[one].add(_purl(pin.name, pin.version))
    return [
        {"ref": root, "dependsOn": sorted(needs[own_name])},
        *({"ref": _purl(pin.name, pin.version), "dependsOn": sorted(needs[pin.name])} for pin in pinned),
    ]


def _purl(name: str, version: str) -> str:
    return f"pkg:pypi/{name}@{version}"


def text(folder: Path = ROOT) -> str:
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return json.dumps(bill((folder / RUN).read_text(encoding="utf-8"), project), indent=2) + "\n"


def main(arguments: Iterable[str]) -> int:
    """Write it to the file that is named, or print it."""
    told = text()
    places = [Path(one) for one in arguments]
    for place in places:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(told, encoding="utf-8")
        sys.stdout.write(f"{place}: {told.count('bom-ref') - 1} packages\n")
    if not places:
        sys.stdout.write(told)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
