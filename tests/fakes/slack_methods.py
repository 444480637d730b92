"""The Web API of the fake Slack: one function a method, strict about what Slack is strict about."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tests.fakes.slack_board import Board, Message
from tests.fakes.slack_faults import Faults
from tests.fakes.slack_rules import MARKDOWN, Refused, check_home, check_message, check_thread, check_view
from tests.fakes.slack_teams import (
    APP_ID,
    BOT_ID,
    BOT_NAME,
    BOT_USER,
    HISTORY,
    SCOPES,
    Caller,
    kind_of,
    profile,
)

Args = Mapping[str, Any]
Answer = dict[str, Any]
Shown = Callable[[Message | None, Message], None]
"""Told of each message of ours: what it was before, and what it is."""


@dataclass(slots=True)
class Methods:
    """Methods an app may call. `on_shown` sends the app its own messages, as Slack does."""

    board: Board
    faults: Faults
    on_shown: Shown
    url: str = ""
    calls: list[tuple[str, Args]] = field(default_factory=list)
    views: list[Answer] = field(default_factory=list)
    homes: dict[str, Answer] = field(default_factory=dict)
    assistant: dict[str, Answer] = field(default_factory=dict)
    table: dict[str, Method] = field(default_factory=lambda: dict(METHODS))

    def call(self, method: str, args: Args, who: Caller) -> Answer:
        """The answer of a call that came through. Errors: Refused."""
        self.calls.append((method, args))
        found = self.table.get(method)
        if found is None:
            raise Refused("unknown_method")
        self._scope(*found.scopes(args))
        return {"ok": True, **found.run(self, args, who)}

    def _scope(self, *needed: str) -> None:
        for scope in needed:
            if scope in self.faults.without:
                provided = ",".join(sorted(set(SCOPES) - self.faults.without))
                raise Refused("missing_scope", needed=scope, provided=provided)

    # ---------------------------------------------------------------------------------------------- who we are

    def auth_test(self, args: Args, who: Caller) -> Answer:
        bot = {"url": "https://example.slack.com/", "team": "Example", "user": BOT_NAME, "team_id": who.team}
        return bot | {"user_id": BOT_USER, "bot_id": BOT_ID, "app_id": APP_ID, "is_enterprise_install": False}

    def connections_open(self, args: Args, who: Caller) -> Answer:
        return {"url": f"{self.url.replace('http', 'ws', 1)}/socket?team={who.team}&ticket={self.board.next_id('')}"}

    # ------------------------------------------------------------------------------------------------ messages

    def post(self, args: Args, who: Caller) -> Answer:
        kind_of(_need(args, "channel"))
        self.faults.check_room(args["channel"], posts=True)
        self.faults.check_kinds(args.get("blocks") or ())
        check_message(args)
        self._thread_exists(args)
        message = self._show(args, who)
        return {"channel": message.channel, "ts": message.ts, "message": self._told(message)}

    def _show(self, args: Args, who: Caller, **more: Any) -> Message:
        message = self.board.show(
            args["channel"],
            BOT_USER,
            team=who.team,
            bot_id=BOT_ID,
            text=args.get("text") or args.get("markdown_text") or "",
            thread_ts=args.get("thread_ts") or "",
            blocks=tuple(args.get("blocks") or ()),
            metadata=args.get("metadata"),
            username=self._username(args),
            seen_after=self.board.clock() + self.faults.lag if self.faults.lag else 0.0,
            **more,
        )
        self.on_shown(None, message)
        return message

    def _username(self, args: Args) -> str:
        """An author of the app's own choice. Without the scope Slack leaves it out and says nothing, unless it refuses.

        Seen: github.com/papercups-io/papercups/pull/522, github.com/linyows/dewy/pull/362, read 2026-11.
        """
        name = str(args.get("username") or "")
        if name and self.faults.refuses_names:
            self._scope("chat:write.customize")
        return "" if "chat:write.customize" in self.faults.without else name

    def _thread_exists(self, args: Args) -> None:
        """A thread hangs on a message that is none of a thread's replies."""
        check_thread(args)
        if thread := args.get("thread_ts"):
            root = self.board.root(args["channel"], thread)
            if root is None or (root.thread_ts and root.thread_ts != root.ts):
                raise Refused("thread_not_found")

    def update(self, args: Args, who: Caller) -> Answer:
        message = self._ours(args)
        if message.streaming:
            raise Refused("streaming_state_conflict")
        self.faults.check_kinds(args.get("blocks") or ())
        check_message(args)
        changes = {"text": args.get("text") or "", "blocks": tuple(args.get("blocks") or ()), "edited": True}
        if "metadata" in args:  # without it a message keeps its own
            changes["metadata"] = args["metadata"]
        after = self.board.edit(message, **changes)
        self.on_shown(message, after)
        return {"channel": after.channel, "ts": after.ts, "text": after.text}

    def react(self, args: Args, who: Caller) -> Answer:
        kind_of(_need(args, "channel"))
        message = self.board.root(args["channel"], _need(args, "timestamp"))
        if message is None:
            raise Refused("message_not_found")
        if not re.fullmatch(r"[a-z0-9_+-]+", name := str(_need(args, "name"))):
            raise Refused("invalid_name")
        if name in message.reactions:
            raise Refused("already_reacted")
        self.board.edit(message, reactions=(*message.reactions, name))
        return {}

    def ephemeral(self, args: Args, who: Caller) -> Answer:
        kind_of(_need(args, "channel"))
        check_message(args)
        ts, text, thread = self.board.next_ts(), args.get("text", ""), args.get("thread_ts", "")
        card = {"ts": ts, "blocks": list(args["blocks"])} if args.get("blocks") else {}
        self.board.notice(args["channel"], _need(args, "user"), text, thread, **card)
        return {"message_ts": ts}

    def _ours(self, args: Args) -> Message:
        kind_of(_need(args, "channel"))
        message = self.board.messages.get((args["channel"], _need(args, "ts")))
        if message is None:
            raise Refused("message_not_found")
        if message.bot_id != BOT_ID:
            raise Refused("cant_update_message")
        return message

    def _told(self, message: Message) -> Answer:
        """A message as the history has it."""
        told: Answer = {"type": "message", "user": message.user, "ts": message.ts, "text": message.text}
        if message.username:
            told = {**told, "subtype": "bot_message", "username": message.username}
            del told["user"]
        if message.thread_ts:
            told["thread_ts"] = message.thread_ts
        if message.bot_id:
            told |= {"bot_id": message.bot_id, "app_id": APP_ID if message.bot_id == BOT_ID else "A9"}
        if message.blocks:
            told["blocks"] = list(message.blocks)
        if message.metadata is not None:
            told["metadata"] = message.metadata
        if message.files:
            told["files"] = [
                {"id": f, "name": self.board.files[f].name, "size": self.board.files[f].size} for f in message.files
            ]
        return told

    # ----------------------------------------------------------------------------------------------- streaming

    def start_stream(self, args: Args, who: Caller) -> Answer:
        kind = kind_of(_need(args, "channel"))
        _need(args, "thread_ts")
        if kind != "im":
            for name in ("recipient_user_id", "recipient_team_id"):
                if not args.get(name):
                    raise Refused(f"missing_{name}")
        self._stream_text(args)
        self._thread_exists(args)
        message = self._show(args, who, streaming=True)
        return {"channel": message.channel, "ts": message.ts}

    def append_stream(self, args: Args, who: Caller) -> Answer:
        message = self._streaming(args)
        after = self.board.edit(message, text=message.text + self._stream_text(args))
        return {"channel": after.channel, "ts": after.ts}

    def stop_stream(self, args: Args, who: Caller) -> Answer:
        message = self._streaming(args)
        changes: Answer = {"text": message.text + self._stream_text(args), "streaming": False}
        changes |= {name: args[name] for name in ("blocks", "metadata") if name in args}
        after = self.board.edit(message, **changes)
        self.on_shown(message, after)
        return {"channel": after.channel, "ts": after.ts, "message": self._told(after)}

    def _streaming(self, args: Args) -> Message:
        message = self._ours(args)
        if not message.streaming:
            raise Refused("message_not_in_streaming_state")
        return message

    def _stream_text(self, args: Args) -> str:
        text = args.get("markdown_text") or ""
        if len(text) > MARKDOWN:
            raise Refused("msg_too_long")
        return str(text)

    def expire_streams(self) -> None:
        """Slack ends every stream that is open."""
        for message in [m for m in self.board.messages.values() if m.streaming]:
            self.board.edit(message, streaming=False)

    # ------------------------------------------------------------------------------------------------- look-up

    def history(self, args: Args, who: Caller) -> Answer:
        self.faults.check_room(_need(args, "channel"), posts=False)
        return self._page(args, [*self.board.history(args["channel"])], newest_first=True)

    def replies(self, args: Args, who: Caller) -> Answer:
        thread = _need(args, "ts")
        check_thread({"thread_ts": thread})
        self.board.root(args.get("channel", ""), thread)
        found = [*self.board.history(_need(args, "channel"), thread_ts=thread)]
        if not found:
            raise Refused("thread_not_found")
        return self._page(args, found, newest_first=False)

    def _page(self, args: Args, messages: list[Message], *, newest_first: bool) -> Answer:
        oldest, latest = str(args.get("oldest") or "0"), str(args.get("latest") or "9999999999.999999")
        inclusive = str(args.get("inclusive", "0")).lower() in ("1", "true")
        root = None if newest_first else messages[0].root
        found = [
            m for m in messages if oldest < m.ts < latest or (inclusive and m.ts in (oldest, latest)) or m.ts == root
        ]
        found.sort(key=lambda message: message.ts, reverse=newest_first)
        limit, start = int(args.get("limit") or 100), int(args.get("cursor") or 0)
        more = start + limit < len(found)
        told = [self._with_thread(self._told(m)) for m in found[start : start + limit]]
        if str(args.get("include_all_metadata", "0")).lower() not in ("1", "true"):
            told = [{name: value for name, value in one.items() if name != "metadata"} for one in told]
        cursor = {"response_metadata": {"next_cursor": str(start + limit)}} if more else {}
        return {"messages": told, "has_more": more, **cursor}

    def _with_thread(self, told: Answer) -> Answer:
        """The root of a thread says when the last reply was."""
        replies = [m.ts for m in self.board.messages.values() if m.thread_ts == told["ts"] and m.ts != told["ts"]]
        if not replies:
            return told
        return told | {"thread_ts": told["ts"], "reply_count": len(replies), "latest_reply": max(replies)}

    def conversation(self, args: Args, who: Caller) -> Answer:
        channel = _need(args, "channel")
        kind = kind_of(channel)
        flags = {"is_channel": kind == "channel", "is_im": kind == "im", "is_mpim": kind == "mpim"}
        known = {"id": channel, "name": channel.lower(), "is_member": True, "is_archived": False}
        return {"channel": {**known, **flags, **self.faults.rooms.get(channel, {})}}

    def user(self, args: Args, who: Caller) -> Answer:
        user = _need(args, "user")
        if not user.startswith(("U", "W")):
            raise Refused("user_not_found")
        return {"user": profile(user)}

    # -------------------------------------------------------------------------------------- forms and assistant

    def open_view(self, args: Args, who: Caller) -> Answer:
        if not str(_need(args, "trigger_id")).endswith(".trigger"):
            raise Refused("invalid_trigger_id")
        check_view(args["view"])
        view = dict(args["view"]) | {"id": self.board.next_id("V"), "hash": "1", "team_id": who.team}
        self.views.append(view)
        return {"view": view}

    def publish_home(self, args: Args, who: Caller) -> Answer:
        """A person's home shows this from now on."""
        check_home(args["view"])
        view = dict(args["view"]) | {"id": f"VH{_need(args, 'user_id')}", "hash": "1", "team_id": who.team}
        self.homes[args["user_id"]] = view
        return {"view": view}

    def set_status(self, args: Args, who: Caller) -> Answer:
        return self._assist(args, {"status": args.get("status", "")})

    def set_title(self, args: Args, who: Caller) -> Answer:
        return self._assist(args, {"title": _need(args, "title")})

    def set_prompts(self, args: Args, who: Caller) -> Answer:
        prompts = args.get("prompts") or []
        if not 1 <= len(prompts) <= 4 or not all(prompt.get("title") and prompt.get("message") for prompt in prompts):
            raise Refused("invalid_arguments")
        return self._assist(args, {"prompts": prompts})

    def _assist(self, args: Args, said: Answer) -> Answer:
        key = f"{_need(args, 'channel_id')}/{_need(args, 'thread_ts')}"
        self.assistant.setdefault(key, {}).update(said)
        return {}


@dataclass(frozen=True, slots=True)
class Method:
    """`run` does it. `scope` is what it needs; with `history` that depends on the kind of the channel."""

    run: Callable[[Any, Args, Caller], Answer]
    scope: str = ""
    history: bool = False

    def scopes(self, args: Args) -> tuple[str, ...]:
        if self.history:
            marker = ("metadata.message:read",) if args.get("include_all_metadata") else ()
            return (f"{HISTORY[kind_of(_need(args, 'channel'))]}:history", *marker)
        return (self.scope,) if self.scope else ()


def _need(args: Args, name: str) -> Any:
    """An argument without which the method does not work."""
    if not args.get(name):
        raise Refused("channel_not_found" if name == "channel" else "invalid_arguments", needed_argument=name)
    return args[name]


METHODS: Final[dict[str, Method]] = {
    "auth.test": Method(Methods.auth_test),
    "apps.connections.open": Method(Methods.connections_open),
    "chat.postMessage": Method(Methods.post, "chat:write"),
    "chat.update": Method(Methods.update, "chat:write"),
    "chat.postEphemeral": Method(Methods.ephemeral, "chat:write"),
    "chat.startStream": Method(Methods.start_stream, "chat:write"),
    "chat.appendStream": Method(Methods.append_stream, "chat:write"),
    "chat.stopStream": Method(Methods.stop_stream, "chat:write"),
    "reactions.add": Method(Methods.react, "reactions:write"),
    "conversations.history": Method(Methods.history, history=True),
    "conversations.replies": Method(Methods.replies, history=True),
    "conversations.info": Method(Methods.conversation, "channels:read"),
    "users.info": Method(Methods.user, "users:read"),
    "views.open": Method(Methods.open_view),
    "views.publish": Method(Methods.publish_home),
    "assistant.threads.setStatus": Method(Methods.set_status, "assistant:write"),
    "assistant.threads.setTitle": Method(Methods.set_title, "assistant:write"),
    "assistant.threads.setSuggestedPrompts": Method(Methods.set_prompts, "assistant:write"),
}
