"""An MCP server without the SDK, which can misbehave: `python mcp_raw.py MODE`, in whichever folder it is started.

Modes: `plain`; `silent` answers nothing; `chatty` prints what is no message and sends notifications without end; `endless`
sends a line that never ends; `many` has two thousand tools; `deaf` reads nothing once its tools are known; `stays` lives
on when its input is closed, and does not mind being told to go; `goes` lives on until it is told to; `refuses` ends at
once with a word; `pages` lists its tools on pages without end.

It reads its tools anew from `tools.json` in its folder, writes each call to `calls`, and its process id to `pid`. The tools
`answer` and `say_lines` answer with any result and send any lines first; what is answered to lines goes to `heard`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

NAMES = ["echo", "book", "hang", "die", "flood", "big", "change", "environment", "odd", "run"]
CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


def tool(name: str, description: str = "", **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    return {"name": name, "description": description or f"The tool {name}.", "inputSchema": schema, **more}


def main(mode: str) -> None:
    Path("pid.new").write_text(str(os.getpid()))
    Path("pid.new").replace("pid")  # whole at any time: tests read it while the program is started anew
    begin(mode)
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" not in message:
            with Path("heard").open("a") as heard:
                heard.write(line)
        if mode != "silent" and "id" in message and "method" in message:
            answer(message, mode)
    while mode in ("stays", "goes"):
        time.sleep(1)


def begin(mode: str) -> None:
    if mode == "refuses":
        sys.exit("no licence was found")
    if mode == "chatty":
        sys.stdout.write("Welcome to this server!\n")
    if mode == "stays":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if mode == "goes":
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(Path("farewell").write_text("told to go")))
    while mode == "endless":
        sys.stdout.write("x" * 65536)


def answer(message: dict[str, Any], mode: str) -> None:
    params = message.get("params", {})
    match message["method"]:
        case "initialize":
            info = {"name": "raw", "version": "1"}
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {"listChanged": True}}}
            reply(message, result | {"serverInfo": info})
        case "tools/list":
            more = {"nextCursor": str(time.time())} if mode == "pages" else {}
            reply(message, {"tools": tools(mode), **more})
            after_list(mode)
        case "tools/call":
            note(params["name"], params.get("arguments"))
            call(message, params["name"], params.get("arguments") or {})
        case _:
            send({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "Method not found"}})


def tools(mode: str) -> list[dict[str, Any]]:
    if mode == "many":
        return [tool(f"t{number}") for number in range(2000)]
    changed = Path("tools.json")
    if changed.exists():
        found: list[dict[str, Any]] = json.loads(changed.read_text())
        return found
    return [tool(name) for name in NAMES]


def after_list(mode: str) -> None:
    while mode == "chatty":
        send({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "hello"}})
    while mode == "deaf":
        time.sleep(1)


def call(message: dict[str, Any], name: str, arguments: dict[str, Any]) -> None:  # noqa: C901 - a tool a case
    match name:
        case "hang":
            return
        case "die":
            sys.stderr.write("out of luck\n")
            sys.stderr.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        case "flood":
            for number in range(int(arguments["text"])):
                send({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": number}})
            say(message, "flooded")
        case "big":
            say(message, "y" * int(arguments["text"]))
        case "change":
            Path("tools.json").write_text(arguments["text"])
            send(CHANGED)
            say(message, "changed")
        case "environment":
            say(message, json.dumps({"env": dict(os.environ), "cwd": str(Path.cwd()), "uid": os.getuid()}))
        case "run":
            ended = subprocess.run(arguments["text"], shell=True, capture_output=True, text=True, check=False)
            say(message, ended.stdout + ended.stderr)
        case "answer":
            reply(message, json.loads(arguments["text"]))
        case "say_lines":
            sys.stdout.write("".join(f"{line}\n" for line in json.loads(arguments["text"])))
            say(message, "said")
        case "odd":
            reply(message, {"content": "a text where a list belongs"})
        case _:
            say(message, arguments.get("text", ""))


def say(message: dict[str, Any], text: str) -> None:
    reply(message, {"content": [{"type": "text", "text": text}]})


def reply(message: dict[str, Any], result: dict[str, Any]) -> None:
    send({"jsonrpc": "2.0", "id": message["id"], "result": result})


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def note(name: str, arguments: object) -> None:
    with Path("calls").open("a") as calls:
        calls.write(json.dumps([name, arguments]) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
