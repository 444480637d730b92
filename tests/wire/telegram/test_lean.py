"""What importing the channel brings in: each in a process of its own."""

from __future__ import annotations

import subprocess
import sys

from tests.fakes.serve import ROOT


def told(program: str) -> str:
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_settings_load_no_library() -> None:
    assert told("import sys, adapters.telegram.settings; print('telegram' in sys.modules)") == "False"


def test_the_adapter_loads_neither_passports_nor_httpx_command_line_nor_the_framework() -> None:
    heavy = ["cryptography.hazmat.backends", "httpx._main", "telegram.ext"]
    assert told(f"import sys, adapters.telegram.adapter; print([m for m in {heavy} if m in sys.modules])") == "[]"


def test_others_have_what_it_left_out() -> None:
    program = "import adapters.telegram.adapter, cryptography.hazmat.backends, httpx._main; print('there')"
    assert told(program) == "there"


def test_meanwhile_other_threads_have_it() -> None:
    program = """
import threading
from adapters.telegram.lean import without
with without("cryptography.hazmat.backends"):
    found = []
    def load():
        import cryptography.hazmat.backends
        found.append("there")
    thread = threading.Thread(target=load)
    thread.start()
    thread.join()
print(found)
"""
    assert told(program) == "['there']"
