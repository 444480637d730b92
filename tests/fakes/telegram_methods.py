"""The Bot API's methods on the fake Telegram, strict about what they are given."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.fakes.telegram_people import user
from tests.fakes.telegram_rules import (
    Limits,
    Refusal,
    bad,
    check_caption,
    check_entities,
    check_markup,
    check_text,
)
from tests.fakes.telegram_words import marks
from tests.fakes.telegram_world import Chat, Raw, World

DOWNLOAD: Final = 20 * 1024 * 1024  # bytes that a bot may download
UPLOAD: Final = 50 * 1024 * 1024
PHOTO: Final = 10 * 1024 * 1024
METHODS: Final = frozenset(
    [
        "getMe",
        "sendMessage",
        "sendPhoto",
        "sendDocument",
        "sendVoice",
        "sendAudio",
        "sendMediaGroup",
        "editMessageText",
        "editMessageCaption",
        "editMessageReplyMarkup",
        "setMessageReaction",
        "answerCallbackQuery",
        "sendChatAction",
        "sendMessageDraft",
        "getFile",
        "setMyCommands",
        "getMyCommands",
        "getChat",
        "getChatMember",
        "setWebhook",
        "deleteWebhook",
        "getWebhookInfo",
        "logOut",
        "close",
    ]
)
REACTIONS: Final = frozenset(["👍", "👎", "❤", "🔥", "🎉", "👏", "😁", "🤔", "👀", "🙏", "👌", "💯", "🤝", "🤷"])
"""Some emoji that Telegram takes, as it writes them: without the selector of their form."""
PACED: Final = frozenset(
    [
        "sendMessage",
        "sendPhoto",
        "sendDocument",
        "sendVoice",
        "sendAudio",
        "sendMediaGroup",
        "editMessageText",
        "editMessageCaption",
        "editMessageReplyMarkup",
        "sendChatAction",
        "sendMessageDraft",
    ]
)
"""What counts towards the limits of a chat."""


class Methods:
    """Answers calls. `pending` counts updates that wait, `hook_error` is the last failure of the webhook."""

    def __init__(self, world: World, limits: Limits) -> None:
        self._world = world
        self._limits = limits
        self.typing: list[Raw] = []
        self.drafts: list[Raw] = []
        self.hook_error: Callable[[], tuple[int, str] | None] = lambda: None
        self.hook_changed: Callable[[], None] = lambda: None

    def call(self, method: str, asked: Mapping[str, Any]) -> Any:
        """The result. Errors: Refusal."""
        if method not in METHODS:
            raise Refusal(404, "Not Found: method not found")
        if method in PACED:
            self._limits.take(int(asked.get("chat_id") or 0))
        answer: Callable[[Mapping[str, Any]], Any] = getattr(self, f"_{method}")
        return answer(asked)

    def _getMe(self, asked: Mapping[str, Any]) -> Raw:  # noqa: N802 - as the platform names it
        return self._world.me()

    # ---------------------------------------------------------------------------------------------------- sending

    def _sendMessage(self, asked: Mapping[str, Any]) -> Raw:  # noqa: N802
        text = check_text(required(asked, "text"))
        spans = check_entities(text, asked.get("entities") or [])
        return self._post(asked, text=text, entities=spans or marks(text), sent_entities=bool(spans))

    def _sendDocument(self, asked: Mapping[str, Any]) -> Raw:  # noqa: N802
        return self._file(asked, "document", UPLOAD)

    def _sendPhoto(self, asked: Mapping[str, Any]) -> Raw:  # noqa: N802
        return self._file(asked, "photo", PHOTO)

    def _sendVoice(self, asked: Mapping[str, Any]) -> Raw:  # noqa: N802
        upload = asked.get("voice")
        if isinstance(upload, Upload) and not upload.content.startswith(b"OggS"):
            raise bad("VOICE_MESSAGES_FORBIDDEN")
        return self._file(asked, "voice", UPLOAD)

    def _sendAudio(self, asked: Mapping[str, Any]) -> Raw:  # noqa: N802
        return self._file(asked, "audio", UPLOAD)

    def _sendMediaGroup(self, asked: Mapping[str, Any]) -> list[Raw]:  # noqa: N802
        media = asked.get("media") or []
        if not 2 <= len(media) <= 10:
            raise bad("there must be from 2 to 10 items in the album")
        group = f"g{len(self._world.messages)}"
        return [
            self._file({**asked, **item, item["type"]: self._attached(asked, item)}, item["type"], UPLOAD, group)
            for item in media
        ]

    def _attached(self, asked: Mapping[str, Any], item: Mapping[str, Any]) -> Any:
        name = str(item["media"]).removeprefix("attach://")
        if name not in asked:
            raise bad("wrong file identifier/HTTP URL specified")
        return asked[name]

    def _file(self, asked: Mapping[str, Any], kind: str, most: int, group: str = "") -> Raw:
        caption = check_caption(str(asked.get("caption") or ""))
        spans = check_entities(caption, asked.get("caption_entities") or [])
        upload = asked.get(kind)
        if not isinstance(upload, Upload):
            raise bad(f"there is no {kind} in the request")
        if not upload.content:
            raise bad("file must be non-empty")
        if len(upload.content) > most:
            raise Refusal(413, "Request Entity Too Large")
        stored = self._stored(upload)
        size = {"width": 90, "height": 90} if kind == "photo" else {"file_name": upload.name, "mime_type": upload.mime}
        told = {**stored, **size, **({"duration": 1} if kind in ("voice", "audio") else {})}
        return self._post(
            asked, caption=caption, caption_entities=spans, sent_entities=bool(spans), uploaded=upload.name, media_group_id=group,
            **{kind: [told] if kind == "photo" else told},
        )  # fmt: skip

    def _stored(self, upload: Upload) -> Raw:
        number = len(self._world.files) + 1
        file = {"file_id": f"file-{number}", "file_unique_id": f"u{number}", "file_size": len(upload.content)}
        content = base64.b64encode(upload.content).decode()
        self._world.write(
            {"op": "file", "file": {**file, "path": f"documents/{number}", "content": content, "name": upload.name}}
        )
        return file

    def _post(self, asked: Mapping[str, Any], **content: Any) -> Raw:
        chat = self._world.open_chat(chat_id(asked))
        thread = self._world.topic(chat, int(asked["message_thread_id"]) if asked.get("message_thread_id") else None)
        rows = check_markup(asked.get("reply_markup"))
        markup = {"inline_keyboard": rows} if rows else None
        answered = self._answered(chat, asked.get("reply_parameters"))
        message = self._world.message(
            chat, self._world.bot, thread, reply_markup=markup, reply_to_message=answered, **content
        )
        return self._world.post(message)

    def _answered(self, chat: Chat, reply: Mapping[str, Any] | None) -> Raw | None:
        if not reply:
            return None
        found = self._world.messages.get((chat.id, int(reply["message_id"])))
        if found is None and not reply.get("allow_sending_without_reply"):
            raise bad("message to be replied not found")
        return {k: v for k, v in found.items() if k != "reply_to_message"} if found else None

    # ---------------------------------------------------------------------------------------------------- editing

    def _editMessageText(self, asked: Mapping[str, Any]) -> Raw:  # noqa: N802
        message = self._editable(asked)
        text = check_text(required(asked, "text"))
        spans = check_entities(text, asked.get("entities") or [])
        if "text" not in message:
            raise bad("there is no text in the message to edit")
        return self._edit(message, asked, text=text, entities=spans or marks(text), sent_entities=bool(spans))

    def _editMessageCaption(self, asked: Mapping[str, Any]) -> Raw:  # noqa: N802
        message = self._editable(asked)
        caption = check_caption(str(asked.get("caption") or ""))
        spans = check_entities(caption, asked.get("caption_entities") or [])
        if "text" in message:
            raise bad("there is no caption in the message to edit")
        return self._edit(message, asked, caption=caption, caption_entities=spans, sent_entities=bool(spans))

    def _editMessageReplyMarkup(self, asked: Mapping[str, Any]) -> Raw:  # noqa: N802
        return self._edit(self._editable(asked), asked)

    def _setMessageReaction(self, asked: Mapping[str, Any]) -> bool:  # noqa: N802
        chat, number = self._world.open_chat(chat_id(asked)), int(asked.get("message_id") or 0)
        given = asked.get("reaction") or []
        if (chat.id, number) not in self._world.messages:
            raise bad("message to react not found")
        if len(given) > 1 or any(one["type"] != "emoji" or one["emoji"] not in REACTIONS for one in given):
            raise bad("REACTION_INVALID")
        self._world.change(chat.id, number, reactions=[one["emoji"] for one in given])
        return True

    def _editable(self, asked: Mapping[str, Any]) -> Raw:
        chat = self._world.chat(chat_id(asked))
        if chat.closed:
            raise Refusal(403, f"Forbidden: {chat.closed}")
        return self._world.ours(chat.id, int(asked.get("message_id") or 0))

    def _edit(self, message: Raw, asked: Mapping[str, Any], **content: Any) -> Raw:
        """Without `reply_markup` a message loses its buttons, and one without any is not modified."""
        rows = check_markup(asked.get("reply_markup"))
        new = {**content, "reply_markup": {"inline_keyboard": rows} if rows else None}
        if all((message.get(name) or None) == (value or None) for name, value in new.items()):
            raise bad(
                "message is not modified: specified new message content and reply markup are exactly the same as a "
                "current content and reply markup of the message"
            )
        return self._world.change(message["chat"]["id"], message["message_id"], **new)

    # -------------------------------------------------------------------------------------------------- at the side

    def _answerCallbackQuery(self, asked: Mapping[str, Any]) -> bool:  # noqa: N802
        query, text = str(asked.get("callback_query_id")), str(asked.get("text") or "")
        if len(text) > 200:
            raise bad("MESSAGE_TOO_LONG")
        known = self._world.queries.get(query)
        if known is None or known["old"]:
            raise bad("query is too old and response timeout expired or query ID is invalid")
        self._world.write({"op": "answered", "query": query, "text": text, "alert": bool(asked.get("show_alert"))})
        return True

    def _sendChatAction(self, asked: Mapping[str, Any]) -> bool:  # noqa: N802
        chat = self._world.open_chat(chat_id(asked))
        if asked.get("action") not in ("typing", "upload_document", "upload_photo"):
            raise bad("wrong parameter action in request")
        self.typing.append({"chat": chat.id, "thread": asked.get("message_thread_id")})
        return True

    def _sendMessageDraft(self, asked: Mapping[str, Any]) -> bool:  # noqa: N802
        chat = self._world.open_chat(chat_id(asked))
        if chat.type != "private":
            raise bad("TEXTDRAFT_PEER_INVALID")
        if not int(asked.get("draft_id") or 0):
            raise bad("draft_id must be non-zero")
        text = str(asked.get("text") or "")
        if text:
            check_text(text)
        check_entities(text, asked.get("entities") or [])
        self.drafts.append({"chat": chat.id, "draft": int(asked["draft_id"]), "text": text})
        return True

    def _getFile(self, asked: Mapping[str, Any]) -> Raw:  # noqa: N802
        file = self._world.files.get(str(asked.get("file_id")))
        if file is None:
            raise bad("wrong file_id or the file is temporarily unavailable")
        if file["file_size"] > DOWNLOAD:
            raise bad("file is too big")
        told = {name: file[name] for name in ("file_id", "file_unique_id", "file_size")}
        return told | {"file_path": file["path"]}

    def _setMyCommands(self, asked: Mapping[str, Any]) -> bool:  # noqa: N802
        for command in asked.get("commands") or []:
            if not command["command"].replace("_", "").isalnum() or not 1 <= len(command["description"]) <= 256:
                raise bad("BOT_COMMAND_INVALID")
        self._world.write({"op": "commands", "commands": asked.get("commands") or []})
        return True

    def _getMyCommands(self, asked: Mapping[str, Any]) -> list[Raw]:  # noqa: N802
        return self._world.commands

    def _getChat(self, asked: Mapping[str, Any]) -> Raw:  # noqa: N802
        told = self._world.chat(chat_id(asked)).told()
        return told | {"accent_color_id": 0, "max_reaction_count": 11, "accepted_gift_types": NO_GIFTS}

    def _getChatMember(self, asked: Mapping[str, Any]) -> Raw:  # noqa: N802
        chat = self._world.chat(chat_id(asked))
        number = int(asked["user_id"])
        if chat.closed and chat.id < 0:
            raise Refusal(403, f"Forbidden: {chat.closed}")
        if number == self._world.bot["id"]:
            return {"user": self._world.bot, **(MUTED if chat.muted else {"status": "member"})}
        return {"user": user(number), "status": "member"}

    # ----------------------------------------------------------------------------------------------------- webhook

    def _setWebhook(self, asked: Mapping[str, Any]) -> bool:  # noqa: N802
        url = str(asked.get("url") or "")
        if url and not url.startswith(("https://", "http://127.0.0.1")):
            raise bad("bad webhook: An HTTPS URL must be provided for webhook")
        hook = {"url": url, "secret_token": asked.get("secret_token", ""), "set_at": int(time.time())} if url else {}
        self._world.write({"op": "webhook", "webhook": hook})
        self.hook_changed()
        return True

    def _deleteWebhook(self, asked: Mapping[str, Any]) -> bool:  # noqa: N802
        return self._setWebhook({})

    def _getWebhookInfo(self, asked: Mapping[str, Any]) -> Raw:  # noqa: N802
        waiting = len(list(self._world.pending()))
        told = {
            "url": self._world.webhook.get("url", ""),
            "has_custom_certificate": False,
            "pending_update_count": waiting,
        }
        error = self.hook_error()
        return told | ({"last_error_date": int(time.time()), "last_error_message": error[1]} if error else {})

    def _logOut(self, asked: Mapping[str, Any]) -> bool:  # noqa: N802
        return True

    _close = _logOut


NO_GIFTS: Final = {
    "unlimited_gifts": False,
    "limited_gifts": False,
    "unique_gifts": False,
    "premium_subscription": False,
    "gifts_from_channels": False,
}


MAY_NOT: Final = (
    *("change_info", "invite_users", "pin_messages", "send_messages", "send_polls", "send_other_messages"),
    *("add_web_page_previews", "manage_topics", "send_audios", "send_documents", "send_photos", "send_videos"),
    *("send_video_notes", "send_voice_notes", "edit_tag", "react_to_messages"),
)
MUTED: Final = {"status": "restricted", "is_member": True, "until_date": 0} | {f"can_{n}": False for n in MAY_NOT}


class Upload:
    """A file in a request."""

    def __init__(self, name: str, mime: str, content: bytes) -> None:
        self.name = name
        self.mime = mime
        self.content = content


def required(asked: Mapping[str, Any], name: str) -> str:
    value = asked.get(name)
    if value is None:
        raise bad(f"{name} is empty" if name != "text" else "message text is empty")
    return str(value)


def chat_id(asked: Mapping[str, Any]) -> int:
    value = asked.get("chat_id")
    if value in (None, ""):
        raise bad("chat_id is empty")
    try:
        return int(str(value))
    except ValueError:
        raise bad("chat not found") from None
