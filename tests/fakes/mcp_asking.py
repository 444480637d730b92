"""An MCP server without the SDK that asks in the middle of a call: `python mcp_asking.py REVISION`, `new` or `old`;
`tomorrow` and `stubborn` speak a revision that nobody knows yet, as either begins.

It writes each call, and each answer to a question, to `calls` in the folder where it is started. `book` asks for a name and
a number of seats, then says what it booked; `nag` asks without end; `page` sends a person to a page; `think` wants a model.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name"},
        "seats": {"type": "integer", "title": "Seats", "default": 2},
        "table": {"type": "string", "title": "Table", "enum": ["inside", "outside"]},
    },
    "required": ["name", "seats"],
}
ASKED = {"mode": "form", "message": "Who is coming?", "requestedSchema": FORM}
PAGE = {"mode": "url", "message": "Pay for it.", "url": "https://pay.example.org/t/1", "elicitationId": "e1"}
THOUGHT = {"messages": [{"role": "user", "content": {"type": "text", "text": "Hi"}}], "maxTokens": 9}
QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "book": ("elicitation/create", ASKED),
    "nag": ("elicitation/create", ASKED),
    "page": ("elicitation/create", PAGE),
    "think": ("sampling/createMessage", THOUGHT),
}
FRESH = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
STATE = "the server's own state"
Message = dict[str, Any]


def main(revision: str) -> None:
    asking: dict[str, Message] = {}
    for line in sys.stdin:
        message = json.loads(line)
        if "method" not in message and message.get("id") in asking:
            told(asking.pop(message["id"]), message.get("result") or {})
        elif "method" in message and "id" in message:
            answer(message, revision, asking)


def answer(message: Message, revision: str, asking: dict[str, Message]) -> None:
    params = message.get("params") or {}
    match message["method"]:
        case "server/discover" if revision == "new":
            reply(message, {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **FRESH})
        case "server/discover" if revision == "tomorrow":
            data = {"supported": ["2031-01-01"], "requested": "2026-07-28"}
            error = {"code": -32022, "message": "Unsupported protocol version", "data": data}
            send({"jsonrpc": "2.0", "id": message["id"], "error": error})
        case "initialize" if revision == "stubborn":
            info = {"name": "asking", "version": "1"}
            reply(message, {"protocolVersion": "2031-01-01", "capabilities": {}, "serverInfo": info})
        case "initialize" if revision == "old":
            info = {"name": "asking", "version": "1"}
            reply(message, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info})
        case "tools/list":
            tools = [{"name": name, "inputSchema": {"type": "object"}} for name in QUESTIONS]
            reply(message, {"tools": tools, **(FRESH if revision == "new" else {})})
        case "tools/call" if revision == "new":
            called(message, params)
        case "tools/call":
            note("call", params["name"])
            asking[f"q{message['id']}"] = message
            method, asked = QUESTIONS[params["name"]]
            send({"jsonrpc": "2.0", "id": f"q{message['id']}", "method": method, "params": asked})
        case _:
            send({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "Method not found"}})


def called(message: Message, params: Message) -> None:
    responses = params.get("inputResponses")
    note("call", params["name"])
    if responses and params["name"] != "nag":
        is_ours = params.get("requestState") == STATE
        told(message, responses["who"] if is_ours else {"action": "a state that is not ours"})
        return
    method, asked = QUESTIONS[params["name"]]
    asked = {name: value for name, value in asked.items() if name != "elicitationId"}
    requests = {"who": {"method": method, "params": asked}}
    reply(message, {"resultType": "input_required", "inputRequests": requests, "requestState": STATE})


def told(message: Message, result: Message) -> None:
    """End a call with what people answered."""
    note("answer", result)
    text = f"booked: {json.dumps(result.get('content'))}" if result.get("action") == "accept" else str(result)
    reply(message, {"content": [{"type": "text", "text": text}]})


def reply(message: Message, result: Message) -> None:
    send({"jsonrpc": "2.0", "id": message["id"], "result": result})


def send(message: Message) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def note(what: str, value: object) -> None:
    with Path("calls").open("a") as calls:
        calls.write(json.dumps([what, value]) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
