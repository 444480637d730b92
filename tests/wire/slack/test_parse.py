"""What Slack sends, in our words."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.bot_user import BotUser
from adapters.slack.envelope import (
    Happening,
    Malformed,
    Sender,
    kind_of,
    room_of,
    said_at,
    sender_id,
    team_of,
)
from adapters.slack.interactions import form_wanted
from adapters.slack.parse import parse as parse_happening
from adapters.slack.text import names_me, readable
from runtime.contract import (
    Address,
    Addressing,
    Amended,
    ApprovalId,
    Choice,
    Clicked,
    Commanded,
    FileRef,
    Said,
    Signal,
    Stopped,
)

ME: Final = BotUser("T1", "U0BOT", "B0BOT", "signalbox")
ADA: Final = Sender("U1", "Ada")
NOW: Final = datetime(2026, 11, 22, 12, tzinfo=UTC)
TS: Final = "1700000100.000200"


def parse(body: dict[str, Any], me: BotUser, sender: Sender, at: datetime) -> Signal | None:
    return parse_happening(Happening(body, me, sender, at))


def event(**more: Any) -> dict[str, Any]:
    told = {"type": "message", "channel": "C1", "channel_type": "channel", "user": "U1", "text": "hi", "ts": TS, **more}
    return {"type": "event_callback", "team_id": "T1", "event_id": "Ev1", "event": told}


def parsed(**more: Any) -> Signal | None:
    return parse(event(**more), ME, ADA, NOW)


def heard(**more: Any) -> Signal:
    signal = parsed(**more)
    assert signal is not None
    return signal


# ---------------------------------------------------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("<@U0BOT> hi", "hi"),
        ("<@U0BOT|signalbox> hi", "hi"),
        ("<@U0BOT>: hi", "hi"),
        ("<@U0BOT> <@U0BOT> hi", "hi"),
        ("hi <@U0BOT>", "hi"),
        ("hi, <@U0BOT>", "hi"),
        ("@signalbox hi", "hi"),
        ("👋 @signalbox hi", "hi"),
        ("@Signalbox, hi", "hi"),
        ("ask <@U0BOT> about it", "ask @signalbox about it"),
        ("<@U2> and <@U3|bob>", "@U2 and @bob"),
        ("see <#C2|general> and <#C3>", "see #general and #C3"),
        ("<!here> <!channel> <!subteam^S1|@team> <!date^1^{date}|today>", "@here @channel @team today"),
        ("<https://example.org> and <https://example.org|here>", "https://example.org and [here](https://example.org)"),
        ("<mailto:ada@example.org|ada@example.org>", "mailto:ada@example.org"),
        ("1 &lt; 2 &amp;&amp; 3 &gt; 2", "1 < 2 && 3 > 2"),
        ("&amp;lt;", "&lt;"),
        ("привет <@U0BOT>", "привет"),
        ("a <b", "a <b"),
    ],
)
def test_words_are_read_as_people_see_them(text: str, read: str) -> None:
    assert readable(text, ME) == read


def test_only_a_mention_names_us() -> None:
    assert names_me("well, <@U0BOT>?", ME)
    assert names_me("@signalbox hi", ME)
    assert not names_me("mail me@signalbox.org", ME)
    assert not names_me("<@U0BOTTLE> hi", ME)
    assert not names_me("@signalboxes hi", ME)


# ------------------------------------------------------------------------------------------------------- messages


def test_help_names_commands_as_they_work_where_it_is_read() -> None:
    asked = heard(text="<@U0BOT>", type="app_mention")
    assert (asked.body, asked.command_mark) == (Commanded("help"), "/signalbox "), "it is shown in the channel"
    in_thread = heard(text="<@U0BOT>", type="app_mention", ts="1700000009.000001", thread_ts=TS)
    assert (in_thread.body, in_thread.command_mark) == (Commanded("help"), "!")
    assert in_thread.address.thread == TS


def test_a_message_in_a_channel_is_a_thread_of_its_own() -> None:
    signal = heard()
    assert signal == Signal(
        platform="slack:T1",
        dedupe_key="Ev1",
        actor=signal.actor,
        actor_name="Ada",
        address=Address("slack", "T1", "C1", TS),
        body=Said("hi"),
        received_at=NOW,
        natural_key=f"C1:{TS}",
        reach=Addressing.OVERHEARD,
        message_id=TS,
        joinable=True,
        private=3000,
        command_mark="/signalbox ",
    )
    assert signal.actor == "slack:T1/U1"


def test_a_mention_is_told_twice_and_has_one_natural_key() -> None:
    one, other = heard(text="<@U0BOT> hi"), heard(type="app_mention", text="<@U0BOT> hi")
    assert one.natural_key == other.natural_key == f"C1:{TS}"
    assert (one.reach, other.reach, one.body) == (Addressing.MENTION, Addressing.MENTION, Said("hi"))


def test_direct_messages_are_one_conversation_and_their_threads_others() -> None:
    assert heard(channel="D1", channel_type="im").address == Address("slack", "T1", "D1")
    threaded = heard(channel="D1", channel_type="im", thread_ts="1700000000.000100")
    assert (threaded.address.thread, threaded.reach, threaded.joinable) == (
        "1700000000.000100",
        Addressing.DIRECT,
        False,
    )


def test_a_reply_to_a_message_of_ours_needs_no_mention() -> None:
    reply = heard(thread_ts="1700000000.000100", parent_user_id="U0BOT")
    assert (reply.reach, reply.address.thread) == (Addressing.MENTION, "1700000000.000100")
    assert heard(thread_ts="1700000000.000100", parent_user_id="U2").reach is Addressing.OVERHEARD


def test_a_group_of_several_is_no_direct_message() -> None:
    assert heard(channel="G1", channel_type="mpim").reach is Addressing.OVERHEARD


@pytest.mark.parametrize(
    "told",
    [
        {"user": "U0BOT"},
        {"user": "U5", "bot_id": "B0BOT"},
        {"subtype": "channel_join"},
        {"subtype": "message_deleted"},
        {"subtype": "pinned_item"},
        {"type": "reaction_added"},
        {"text": "", "blocks": []},
    ],
)
def test_what_is_nobodys_words_is_no_signal(told: dict[str, Any]) -> None:
    assert parsed(**told) is None


def test_another_bot_is_known_as_one() -> None:
    assert heard(subtype="bot_message", bot_id="B9", user=None).by_bot
    assert not heard().by_bot


def test_commands_in_threads_are_text() -> None:
    in_thread = {"thread_ts": "1700000000.000100"}
    helped = heard(text="!help", **in_thread)
    assert (helped.body, helped.reach) == (Commanded("help"), Addressing.MENTION)
    assert heard(text="!model openai/gpt-5", **in_thread).body == Commanded("model", "openai/gpt-5")
    assert heard(text="!compact", **in_thread).body == Commanded("compact")
    assert heard(text="!mode read-only", **in_thread).body == Commanded("mode", "read-only")
    assert heard(text="!STOP", **in_thread).body == Stopped()
    assert heard(text="!important: read this", **in_thread).body == Said("!important: read this")
    assert heard(text="!helpful", **in_thread).body == Said("!helpful")
    assert heard(text="!help").reach is Addressing.OVERHEARD  # a channel has other bots too
    assert heard(text="<@U0BOT> !status").body == Commanded("status")


def test_a_mention_alone_asks_for_help() -> None:
    assert heard(text="<@U0BOT>").body == Commanded("help")


def test_files_are_named_by_their_ids_and_never_by_a_link() -> None:
    file = {"id": "F1", "name": "../../a b?.png", "size": 7, "mimetype": "image/png", "url_private": "https://x/secret"}
    signal = heard(subtype="file_share", files=[file], text="")
    assert signal.body == Said("", (FileRef("../../a b?.png", "inbox/F1/a b_.png", 7, "F1", "image/png"),))


def test_a_message_shared_along_is_quoted() -> None:
    shared = [{"is_share": True, "text": "one\ntwo"}, {"text": "a preview of a link"}]
    assert heard(text="look", attachments=shared).body == Said("look\n\n> one\n> two")


# ---------------------------------------------------------------------------------------------------------- edits


def changed(before: str, after: str, **more: Any) -> Signal | None:
    message = {"type": "message", "user": "U1", "text": after, "ts": TS, "edited": {"user": "U1", "ts": "2"}, **more}
    return parsed(subtype="message_changed", ts="1700000200.000100", message=message, previous_message={"text": before})


def test_an_edit_amends_the_message_it_is_of() -> None:
    signal = changed("helo", "hello &amp; bye")
    assert signal is not None
    assert (signal.body, signal.message_id, signal.address.thread) == (Amended("hello & bye"), TS, TS)
    assert signal.natural_key is None


def test_previews_of_links_and_our_own_edits_amend_nothing() -> None:
    assert changed("same", "same") is None
    assert changed("a", "b", edited=None) is None
    assert changed("a", "b", user="U0BOT", bot_id="B0BOT") is None


# ----------------------------------------------------------------------------------------- buttons, forms, commands


def click(value: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "block_actions",
        "team": {"id": "T1"},
        "user": {"id": "U1", "name": "ada"},
        "trigger_id": "1.2.3",
        "channel": {"id": "C1"},
        "message": {"ts": TS, "thread_ts": "1700000000.000100"},
        "actions": [{"action_id": "signalbox:approve:a", "value": value}],
        **more,
    }


def test_a_press_knows_the_thread_of_its_card() -> None:
    signal = parse(click("abc:deny"), ME, ADA, NOW)
    assert signal is not None
    assert signal.body == Clicked(ApprovalId("abc"), Choice.DENY)
    assert signal.address == Address("slack", "T1", "C1", "1700000000.000100")
    assert (signal.dedupe_key, signal.message_id) == ("1.2.3", "")


def test_a_forged_press_is_told_as_it_came() -> None:
    signal = parse(click("not:an:id:approve"), ME, ADA, NOW)
    assert signal is not None
    assert signal.body == Clicked(ApprovalId("not:an:id"), Choice.APPROVE)


def test_buttons_of_others_are_none_of_ours() -> None:
    assert parse(click("x:approve", actions=[{"action_id": "poll:1", "value": "x"}]), ME, ADA, NOW) is None


def test_the_button_for_a_reason_wants_a_form() -> None:
    assert form_wanted(click("abc:reason")) == ("abc", Choice.DENY)
    assert form_wanted(click("abc:deny")) is None


def test_a_button_of_a_choice_with_a_form_wants_it() -> None:
    assert form_wanted(click("abc:edit")) == ("abc", Choice.EDIT)


def test_a_form_that_comes_back_holds_what_was_typed_and_picked() -> None:
    element = {
        "type": "static_select",
        "selected_option": {"value": "here", "text": {"type": "plain_text", "text": "Here"}},
    }
    view = {
        "id": "V1",
        "callback_id": "signalbox:form",
        "private_metadata": '{"approval": "abc", "choice": "always", "room": "C1", "thread": ""}',
        "state": {"values": {"pattern": {"pattern": {"value": "git *"}}, "where": {"where": element}}},
    }
    body = {"type": "view_submission", "team": {"id": "T1"}, "user": {"id": "U1"}, "view": view, "trigger_id": "7.x"}
    signal = parse(body, ME, ADA, NOW)
    assert signal is not None
    assert signal.body == Clicked(ApprovalId("abc"), Choice.ALWAYS, "", {"pattern": "git *", "where": "here"})
    assert signal.dedupe_key == "vV1:7.x", "put right and sent again it is another one"


def test_a_form_that_an_older_version_opened_denies_with_its_reason() -> None:
    view = {
        "id": "V1",
        "callback_id": "signalbox:denial",
        "private_metadata": '{"approval": "abc", "room": "C1", "thread": "1700000000.000100"}',
        "state": {"values": {"reason": {"reason": {"value": "  too risky \n"}}}},
    }
    body = {"type": "view_submission", "team": {"id": "T1"}, "user": {"id": "U1"}, "view": view}
    signal = parse(body, ME, ADA, NOW)
    assert signal is not None
    assert signal.body == Clicked(ApprovalId("abc"), Choice.DENY, "too risky")
    assert signal.address == Address("slack", "T1", "C1", "1700000000.000100")
    assert signal.dedupe_key == "vV1"


@pytest.mark.parametrize(
    ("command", "text", "body"),
    [
        ("/signalbox", "", Commanded("help")),
        ("/signalbox", "status", Commanded("status")),
        ("/signalbox", "Model openai/gpt-5 ", Commanded("model", "openai/gpt-5")),
        ("/signalbox", "stop", Stopped()),
        ("/signalbox", "dance", Commanded("dance")),
        ("/stop", "", Stopped()),
        ("/usage", "all", Commanded("usage", "all")),
        ("/signalbox", "mode trusted until 18:00", Commanded("mode", "trusted until 18:00")),
        ("/away", "until Monday", Commanded("away", "until Monday")),
        ("/signalbox", "back", Commanded("back")),
        ("/signalbox", "context", Commanded("context")),
        ("/compact", "", Commanded("compact")),
    ],
)
def test_slash_commands(command: str, text: str, body: object) -> None:
    told = {"command": command, "text": text, "channel_id": "C1", "user_id": "U1", "team_id": "T1", "trigger_id": "9"}
    signal = parse(told, ME, ADA, NOW)
    assert signal is not None
    assert (signal.body, signal.address, signal.dedupe_key) == (body, Address("slack", "T1", "C1"), "9")
    assert signal.reach is Addressing.MENTION


# -------------------------------------------------------------------------------------------- workspaces, nonsense


def test_one_app_in_two_workspaces_hears_both() -> None:
    mine = {**event(), "authorizations": [{"team_id": "T1", "user_id": "U0BOT"}]}
    other = {**event(), "team_id": "T2", "authorizations": [{"team_id": "T2", "user_id": "U0OTHER"}]}
    connect = {**event(), "team_id": "T9", "authorizations": [{"team_id": "T1", "user_id": "U0BOT"}]}
    assert team_of(mine, ME) is ME
    assert team_of(connect, ME) is ME  # a channel shared with another company
    assert team_of(other, ME) == BotUser("T2", "U0OTHER", "", "signalbox")
    assert team_of(click("a:approve", team={"id": "T2"}), ME).team == "T2"
    assert team_of(click("a:approve", team=None), ME) is ME


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = ("user", "text", "ts", "channel", "subtype", "message", "files", "attachments", "thread_ts", "bot_id", "edited")


@given(
    st.dictionaries(st.sampled_from(KEYS), JSON),
    st.dictionaries(st.sampled_from(["user", "team", "view", "actions", "channel", "message", "container"]), JSON),
    st.sampled_from(["event_callback", "block_actions", "view_submission", "command"]),
)
def test_whatever_comes_is_a_signal_nothing_or_malformed(
    told: dict[str, Any], around: dict[str, Any], kind: str
) -> None:
    body = {**around, "type": kind, "event": {"type": "message", **told}, "event_id": "Ev1", "team_id": "T1"}
    if kind == "command":
        body["command"] = told.get("text")
    try:
        parse(body, team_of(body, ME), Sender(sender_id(body), "x"), NOW)
        form_wanted(body)
    except Malformed:
        pass
    assert isinstance(kind_of(body), str)
    assert isinstance(room_of(body), str)
    assert said_at(body) is None or isinstance(said_at(body), float)
