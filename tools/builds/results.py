"""Results of tests, read from a JUnit file or from what a program printed. Pure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import Final
from xml.etree import ElementTree

FAILED_SHOWN: Final = 20
MESSAGE_SHOWN_CHARS: Final = 300
DOCTYPE: Final = b"<!DOCTYPE"
PYTEST_PLACE: Final = re.compile(r"^(?P<file>[^\s:]+\.\w+):(?P<line>\d+): ", re.MULTILINE)
UNITTEST_RAN: Final = re.compile(r"^Ran (?P<ran>\d+) tests? in (?P<seconds>[\d.]+)s$", re.MULTILINE)
UNITTEST_COUNT: Final = re.compile(r"(failures|errors|skipped|expected failures|unexpected successes)=(\d+)")
UNITTEST_FAILED: Final = re.compile(
    r"^(?:FAIL|ERROR): (?P<name>.+)\n(?:.+\n)?-{60,}\n(?P<trace>(?:(?!={60,}|-{60,}).*\n)*)", re.MULTILINE
)
TRACE_PLACE: Final = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)')
CARGO_RESULT: Final = re.compile(
    r"^test result: \w+\. (?P<passed>\d+) passed; (?P<failed>\d+) failed; (?P<ignored>\d+) ignored;.*?(?:in (?P<seconds>[\d.]+)s)?$",
    re.MULTILINE,
)
CARGO_FAILED: Final = re.compile(
    r"^---- (?P<name>\S+) stdout ----\n+(?:thread .*? panicked at (?P<file>[^\s:]+):(?P<line>\d+).*\n)?(?P<words>.*)",
    re.MULTILINE,
)
JEST_RESULT: Final = re.compile(r"^Tests:\s+(?P<counts>.+?)\s*,?\s*\d+ total", re.MULTILINE)
TAP_COUNT: Final = re.compile(r"^(?:#|\u2139) (?P<word>pass|fail|skipped) (?P<count>\d+)$", re.MULTILINE)
NODE_FAILED: Final = re.compile(r"^\s*not ok \d+ - (?P<name>.+?)(?: # .*)?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Failure:
    """A test that failed, and where; `place` may be empty."""

    name: str
    place: str
    message: str


@dataclass(frozen=True, slots=True)
class Results:
    """Counts of tests, and the first that failed."""

    passed: int
    failed: int
    skipped: int
    seconds: float = 0.0
    failures: tuple[Failure, ...] = field(default=())

    def told(self) -> str:
        head = f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"
        time = f" in {self.seconds:.1f} s" if self.seconds else ""
        shown = [_line(number, one) for number, one in enumerate(self.failures[:FAILED_SHOWN], 1)]
        more = [f"… and {self.failed - len(shown)} more"] if self.failed > len(shown) > 0 else []
        return "\n".join([f"{head}{time}.", *shown, *more])


def _line(number: int, one: Failure) -> str:
    place = f" ({one.place})" if one.place else ""
    return f"{number}. {one.name}{place}: {one.message}" if one.message else f"{number}. {one.name}{place}"


def short(text: str) -> str:
    """Words on one line, not endless."""
    words = " ".join(text.split())
    return words if len(words) <= MESSAGE_SHOWN_CHARS else f"{words[:MESSAGE_SHOWN_CHARS]}…"


# ----------------------------------------------------------------------------------------------------------------- JUnit


def of_junit(data: bytes) -> Results | None:
    """Results in a JUnit file; None for a file that is none."""
    if DOCTYPE in data[:4_096] or b"<!ENTITY" in data:  # no test program writes those
        return None
    try:
        root = ElementTree.fromstring(data)  # noqa: S314 - without entities, and bounded by whoever read it
    except (ElementTree.ParseError, ValueError):
        return None
    suites = [root] if root.tag == "testsuite" else list(root.iter("testsuite"))
    cases = list(root.iter("testcase"))
    failed = [(case, wrong) for case in cases if (wrong := _wrong(case)) is not None]
    skipped = sum(case.find("skipped") is not None for case in cases)
    seconds = sum(_number(suite.get("time")) for suite in suites)
    failures = tuple(_of_case(case, wrong) for case, wrong in failed[:FAILED_SHOWN])
    return Results(len(cases) - len(failed) - skipped, len(failed), skipped, seconds, failures)


def _wrong(case: ElementTree.Element) -> ElementTree.Element | None:
    failure = case.find("failure")
    return failure if failure is not None else case.find("error")


def _of_case(case: ElementTree.Element, wrong: ElementTree.Element) -> Failure:
    name = "::".join(filter(None, [case.get("classname"), case.get("name")]))
    trace = wrong.text or ""
    lines = [f"{found['file']}:{found['line']}" for found in PYTEST_PLACE.finditer(trace)]
    file, line = case.get("file"), case.get("line")
    own = f"{file}:{int(_number(line)) + 1}" if file and line else file or ""
    return Failure(short(name), lines[-1] if lines else own, short(wrong.get("message") or trace))


def _number(text: str | None) -> float:
    try:
        return float(text or 0)
    except ValueError:
        return 0.0


# --------------------------------------------------------------------------------------------------------------- output


def of_output(text: str) -> Results | None:
    """Results in what a program printed; None where it says nothing of tests."""
    return next(filter(None, (read(text) for read in (_of_unittest, _of_cargo, _of_go, _of_jest, _of_node))), None)


def _of_unittest(text: str) -> Results | None:
    ran = UNITTEST_RAN.search(text)
    if ran is None:
        return None
    counts = {word: int(count) for word, count in UNITTEST_COUNT.findall(text[ran.end() :])}
    failed = counts.get("failures", 0) + counts.get("errors", 0) + counts.get("unexpected successes", 0)
    skipped = counts.get("skipped", 0)
    failures = tuple(_of_trace(found["name"], found["trace"]) for found in UNITTEST_FAILED.finditer(text))
    passed = int(ran["ran"]) - failed - skipped
    return Results(passed, failed, skipped, float(ran["seconds"]), failures[:FAILED_SHOWN])


def _of_trace(name: str, trace: str) -> Failure:
    places = [f"{found['file'].removeprefix('/workspace/')}:{found['line']}" for found in TRACE_PLACE.finditer(trace)]
    _, place, below = trace.rpartition("\n  File ")
    lines = below.splitlines()[bool(place) :]
    error = next((line for line in lines if line[:1].strip()), "")  # lines below it compare two values
    return Failure(short(name), places[-1] if places else "", short(error))


def _of_cargo(text: str) -> Results | None:
    found = list(CARGO_RESULT.finditer(text))
    if not found:
        return None
    passed, failed, skipped = (sum(int(one[word]) for one in found) for word in ("passed", "failed", "ignored"))
    failures = tuple(
        Failure(one["name"], f"{one['file']}:{one['line']}" if one["file"] else "", short(one["words"]))
        for one in CARGO_FAILED.finditer(text)
    )
    return Results(passed, failed, skipped, sum(_number(one["seconds"]) for one in found), failures[:FAILED_SHOWN])


def _of_go(text: str) -> Results | None:
    events = [event for event in map(_event, text.splitlines()) if event and event.get("Test")]
    ended = [event for event in events if event.get("Action") in ("pass", "fail", "skip")]
    if not ended:
        return None
    count = {word: sum(event["Action"] == word for event in ended) for word in ("pass", "fail", "skip")}
    said: dict[str, list[str]] = {}
    for event in events:
        if event.get("Action") == "output" and re.match(r"\s+\S+\.go:\d+: ", str(event.get("Output"))):
            said.setdefault(str(event["Test"]), []).append(str(event["Output"]).strip())
    failures = tuple(_of_go_test(str(event["Test"]), said) for event in ended if event["Action"] == "fail")
    seconds = sum(_number(str(event.get("Elapsed", 0))) for event in ended)
    return Results(count["pass"], count["fail"], count["skip"], seconds, failures[:FAILED_SHOWN])


def _of_go_test(name: str, said: dict[str, list[str]]) -> Failure:
    first = next(iter(said.get(name, [])), "")
    place, _, words = first.partition(": ")
    return Failure(name, place, short(words))


def _event(line: str) -> dict[str, object] | None:
    if not line.startswith("{"):
        return None
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _of_jest(text: str) -> Results | None:
    found = JEST_RESULT.search(text)
    if found is None:
        return None
    counts = {word: int(count) for count, word in re.findall(r"(\d+) (passed|failed|skipped|todo)", found["counts"])}
    failures = tuple(Failure(short(name), "", "") for name in re.findall(r"^\s*● (.+)$", text, re.MULTILINE))
    skipped = counts.get("skipped", 0) + counts.get("todo", 0)
    return Results(counts.get("passed", 0), counts.get("failed", 0), skipped, 0.0, failures[:FAILED_SHOWN])


def _of_node(text: str) -> Results | None:
    counts = {found["word"]: int(found["count"]) for found in TAP_COUNT.finditer(text)}
    if "pass" not in counts:
        return None
    failures = tuple(Failure(short(found["name"]), "", "") for found in NODE_FAILED.finditer(text))
    made = Results(counts["pass"], counts.get("fail", 0), counts.get("skipped", 0))
    return replace(made, failures=failures[:FAILED_SHOWN])
