"""Results of tests and complaints of compilers, read from what programs say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools.builds.compilers import complaints, told_complaints
from tools.builds.presets import JUNIT, preset_of_compiler, preset_of_tests
from tools.builds.results import Failure, Results, of_junit, of_output

PYTEST = """\
import pytest

def test_fine(): pass

def test_wrong():
    assert [1, 2] == [1, 3], "not the same"

@pytest.mark.skip
def test_later(): pass

@pytest.fixture
def broken(): raise RuntimeError("no server")

def test_error(broken): pass
"""
UNITTEST = """\
F
======================================================================
FAIL: test_cold (test_tea.Teas.test_cold)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/workspace/tea/test_tea.py", line 7, in test_cold
    self.assertEqual(brew('mint'), 'cold mint')
    ~~~~~~~~~~~~~~~~^^^^^^^^^^^^^^^^^^^^^^^^^^^
AssertionError: 'hot mint' != 'cold mint'
- hot mint
? ^^
+ cold mint
? ^^^


----------------------------------------------------------------------
Ran 1 test in 0.001s

FAILED (failures=1)
"""
GO = """\
{"Action":"run","Package":"a","Test":"TestSum"}
{"Action":"output","Package":"a","Test":"TestSum","Output":"    sum_test.go:7: got 3, want 4\\n"}
{"Action":"fail","Package":"a","Test":"TestSum","Elapsed":0.5}
{"Action":"pass","Package":"a","Test":"TestAdd","Elapsed":0.1}
{"Action":"skip","Package":"a","Test":"TestSkip","Elapsed":0}
{"Action":"fail","Package":"a","Elapsed":0.6}
"""
CARGO = """\
running 2 tests
test tests::adds ... ok
test tests::sums ... FAILED

failures:

---- tests::sums stdout ----
thread 'tests::sums' panicked at src/lib.rs:12:9:
assertion `left == right` failed

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s

test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.02s
"""
JEST = """\
  ● sums adds up

Tests:       1 failed, 1 skipped, 4 passed, 6 total
"""
NODE = """\
not ok 1 - adds up
ok 2 - sums
# tests 3
# pass 1
# fail 1
# skipped 1
"""


def test_a_failure_is_told_by_its_error_and_not_by_the_values_below_it() -> None:
    found = of_output(UNITTEST)
    assert found is not None
    [failure] = found.failures
    assert (failure.place, failure.message) == ("tea/test_tea.py:7", "AssertionError: 'hot mint' != 'cold mint'")


def test_a_file_of_pytest_is_read(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(PYTEST)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "junit_family=xunit1"]
    subprocess.run([*command, f"--junitxml={JUNIT}", "-c", "/dev/null", "--rootdir", "."], cwd=tmp_path, check=False)
    found = of_junit((tmp_path / JUNIT).read_bytes())
    assert found is not None
    assert (found.passed, found.failed, found.skipped) == (1, 2, 1)
    wrong, error = found.failures
    assert (wrong.name, wrong.place) == ("test_a::test_wrong", "test_a.py:6")
    assert wrong.message.startswith("AssertionError: not the same")
    assert (error.place, "no server" in error.message) == ("test_a.py:12", True)


@pytest.mark.parametrize(
    "data",
    [b"", b"<html>", b"x" * 100, b'<!DOCTYPE a [<!ENTITY b "c">]><testsuite/>', b"<testsuite>" * 1_000],
)
def test_what_is_no_file_of_results_is_none(data: bytes) -> None:
    assert of_junit(data) is None


@pytest.mark.parametrize(
    ("text", "results"),
    [
        (GO, Results(1, 1, 1, 0.6, (Failure("TestSum", "sum_test.go:7", "got 3, want 4"),))),
        (
            CARGO,
            Results(4, 1, 1, 0.03, (Failure("tests::sums", "src/lib.rs:12", "assertion `left == right` failed"),)),
        ),
        (JEST, Results(4, 1, 1, 0.0, (Failure("sums adds up", "", ""),))),
        (NODE, Results(1, 1, 1, 0.0, (Failure("adds up", "", ""),))),
    ],
)
def test_output_is_read(text: str, results: Results) -> None:
    assert of_output(text) == results


def test_only_the_first_failures_are_listed() -> None:
    found = Results(0, 30, 0, 0.0, tuple(Failure(f"t{n}", f"a.py:{n}", "no") for n in range(20)))
    assert found.told().splitlines()[-1] == "… and 10 more"
    assert len(found.told().splitlines()) == 22


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("src/a.c:3:5: error: expected ';' before '}' token", "src/a.c:3: expected ';' before '}' token"),
        ("./a.cpp:3:5: warning: unused variable 'x' [-Wunused]", "a.cpp:3: warning: unused variable 'x' [-Wunused]"),
        ("a.c:1:10: fatal error: no.h: No such file", "a.c:1: no.h: No such file"),
        ("src/main.rs:2:5: error[E0425]: cannot find value `x`", "src/main.rs:2: cannot find value `x`"),
        ("./main.go:7:2: undefined: x", "main.go:7: undefined: x"),
        ("src/a.ts(3,5): error TS2322: Type mismatch.", "src/a.ts:3: TS2322: Type mismatch."),
        (
            '  File "./a.py", line 3\n    def\n       ^\nSyntaxError: invalid syntax',
            "a.py:3: SyntaxError: invalid syntax",
        ),
    ],
)
def test_a_complaint_names_its_line(line: str, told: str) -> None:
    assert told_complaints(complaints(f"In a file:\n{line}\n1 error generated.\n")) == told


def test_a_line_without_end_takes_no_time() -> None:
    assert complaints("a" * 2_000_000 + "\n" + ":" * 500_000) == []
    assert of_output("=" * 200_000 + "\n" + "FAIL: x\n" * 10_000) is None


@pytest.mark.parametrize(
    ("files", "tests", "compiler"),
    [
        ({"Cargo.toml": "", "Makefile": "test:"}, "cargo", "cargo"),
        ({"go.mod": ""}, "go", "go"),
        ({"package.json": '{"scripts": {"test": "jest"}}', "tsconfig.json": ""}, "npm", "tsc"),
        ({"package.json": "not JSON", "a.c": ""}, None, "gcc"),
        ({"pyproject.toml": "[tool.pytest.ini_options]", "a.py": ""}, "pytest", "python"),
        ({"test_a.py": ""}, "unittest", "python"),
        ({"Makefile": "all:\ncheck: all\n"}, "make", "make"),
        ({"Makefile": "test := 1\n"}, None, "make"),
        ({"notes.txt": ""}, None, None),
    ],
)
def test_a_project_is_known_by_its_files(files: dict[str, str], tests: str | None, compiler: str | None) -> None:
    found = preset_of_tests(files), preset_of_compiler(files)
    assert tuple(one.name if one else None for one in found) == (tests, compiler)


def test_a_pattern_is_quoted_and_an_own_command_goes_before() -> None:
    found = preset_of_tests({"go.mod": ""}, pattern="a; rm -rf /")
    assert found is not None
    assert "-run 'a; rm -rf /' ./..." in found.line("a; rm -rf /")
    own = preset_of_tests({"go.mod": ""}, "tox -- {pattern}", "a b")
    assert own is not None
    assert own.line("a b") == "tox -- 'a b'"
