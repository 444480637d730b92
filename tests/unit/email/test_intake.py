"""A mail becomes a signal for a room and a thread, or nothing, with its reason."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.contract import UNREAD, Addressing, Clicked, Commanded, Said
from signalbox_email.ids import message_id, thread_of
from signalbox_email.incoming.intake import Dropped, Taken, taken_from, too_large
from signalbox_email.incoming.loops import Pace, bounce_of
from signalbox_email.incoming.parse import mail_of
from signalbox_email.outgoing.letters import Letter, Parent, mail_bytes
from signalbox_email.outgoing.render import Body
from signalbox_email.settings import EmailSettings, Server

NOW = datetime(2026, 11, 27, 10, tzinfo=UTC)
US = "agent@example.org"
OURS = message_id("d1.1", "", "example.org")
CARD = message_id("d2.1", "0354ZtKrHPQyQx7PqdnDam", "example.org")
SERVER = Server("mx.example.org", 1)
SETTINGS = EmailSettings(
    "post", US, SERVER, SERVER, US, "secret", aliases=("help@example.org",), authserv_id="mx.example.org"
)
VOUCHED = "mx.example.org; dmarc=pass header.from=example.com"


def raw(text: str = "hello", **headers: str) -> bytes:
    """A mail from Ada to the agent; names of headers have `_` for a dash."""
    given = {
        "From": "Ada <ada@example.com>",
        "To": US,
        "Message_ID": "<1@example.com>",
        "Authentication_Results": VOUCHED,
    }
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in (given | headers).items() if value)
    return f"{head}\r\n{text}\r\n".encode()


def taken(content: bytes, settings: EmailSettings = SETTINGS) -> Taken | Dropped:
    return taken_from(mail_of(content), settings, at=NOW, remote=str)


def signal(content: bytes, settings: EmailSettings = SETTINGS) -> Any:
    found = taken(content, settings)
    assert isinstance(found, Taken), found
    return found.signal


# ------------------------------------------------------------------------------------------------- rooms and threads


@pytest.mark.parametrize(
    ("headers", "room", "reach"),
    [
        ({}, "ada@example.com", Addressing.DIRECT),
        ({"From": "ADA@Example.com"}, "ada@example.com", Addressing.DIRECT),
        ({"To": "help@example.org"}, "ada@example.com", Addressing.DIRECT),
        ({"Cc": "Bob <bob@example.com>"}, "ada@example.com,bob@example.com", Addressing.MENTION),
        ({"To": "bob@example.com", "Cc": US}, "ada@example.com,bob@example.com", Addressing.OVERHEARD),
        ({"To": "bob@example.com"}, "ada@example.com", Addressing.DIRECT),  # we got it blind
        ({"To": "undisclosed-recipients:;"}, "ada@example.com", Addressing.DIRECT),
        ({"Cc": ", ".join(f"p{n}@example.com" for n in range(40))}, "ada@example.com", Addressing.DIRECT),
        ({"From": "a/b,c@example.com"}, None, None),
        ({"From": "a/b@example.com"}, "a%2Fb@example.com", Addressing.DIRECT),
        ({"Reply_To": "evil@example.net"}, "ada@example.com", Addressing.DIRECT),
    ],
)
def test_a_room_is_the_people_of_a_mail(headers: Mapping[str, str], room: str | None, reach: Addressing | None) -> None:
    found = taken(raw(**headers))
    if room is None:
        assert isinstance(found, Dropped)
        return
    assert isinstance(found, Taken)
    assert (found.signal.address.room, found.signal.reach) == (room, reach)


def test_a_thread_is_named_by_the_mail_with_which_it_began() -> None:
    first = signal(raw())
    answer = signal(raw(Message_ID="<2@example.com>", References=f"<1@example.com> {OURS}", In_Reply_To=OURS))
    other = signal(raw(Message_ID="<3@example.com>"))
    assert first.address == answer.address == first.address
    assert first.address.thread == thread_of("<1@example.com>")
    assert other.address != first.address
    assert other.address.whole_room == first.address.whole_room


def test_a_subject_that_begins_a_thread_is_said_and_a_later_one_is_not() -> None:
    assert signal(raw("Please.", Subject="Lamps")).body == Said("Lamps\n\nPlease.")
    assert signal(raw("", Subject="=?utf-8?q?L=C3=A4mpchen?=")).body == Said("Lämpchen")
    assert signal(raw("Please.", Subject="Re: Lamps", References="<0@example.com>")).body == Said("Please.")
    assert signal(raw("/status", Subject="Lamps")).body == Said("/status")
    assert signal(raw("")).body == Commanded(UNREAD, "an empty mail")


def test_a_quote_that_we_know_is_left_out_and_another_is_kept() -> None:
    quoted = "Yes.\n\n> Shall I?"
    known = raw(quoted, References=f"<1@example.com> {OURS}", In_Reply_To=OURS)
    assert signal(known).body == Said("Yes.")
    assert signal(raw(quoted)).body == Said("Yes.\n\n> Shall I?")
    assert signal(raw(quoted, References=OURS, In_Reply_To=OURS)).body == Said("Yes.\n\n> Shall I?")  # of a report


# ------------------------------------------------------------------------------------------------------------- senders


def test_a_mail_that_nobody_vouches_for_is_dropped_or_a_strangers() -> None:
    forged = raw(f"approve {'x' * 22}", Authentication_Results="mx.evil.example; dmarc=pass header.from=example.com")
    found = taken(forged)
    assert isinstance(found, Dropped)
    assert "may be forged" in found.reason
    lenient = EmailSettings("post", US, SERVER, SERVER, US, "secret", strangers=True)
    for content in (forged, raw(f"approve {'x' * 22}")):
        made = signal(content, lenient)
        assert made.actor == "email:?ada@example.com"
        assert isinstance(made.body, Said), "whoever may be anybody decides nothing"


def test_a_choice_counts_by_its_code_or_by_the_card_that_it_answers() -> None:
    code = "0354ZtKrHPQyQx7PqdnDam"
    assert isinstance(signal(raw(f"approve {code}")).body, Clicked)
    assert signal(raw("approve\n\n> May I?", In_Reply_To=CARD)).body.approval_id == code
    assert signal(raw("approve", In_Reply_To=OURS)).body == Said("approve")
    elsewhere = CARD.replace("@example.org", "@evil.example")
    assert signal(raw("approve", In_Reply_To=elsewhere)).body == Said("approve")


# -------------------------------------------------------------------------------------------------------------- loops


@pytest.mark.parametrize(
    "headers",
    [
        {"Auto_Submitted": "auto-replied"},
        {"Auto_Submitted": "Auto-Generated; owner-email=x@y"},
        {"Precedence": "bulk"},
        {"List_Id": "<lamps.example.com>"},
        {"List_Unsubscribe": "<mailto:x@y>"},
        {"X_Autoreply": "yes"},
        {"Return_Path": "<>"},
        {"From": "MAILER-DAEMON@example.com"},
        {"From": "no-reply@example.com"},
        {"From": US},
        {"From": "help@example.org"},
        {"From": "ada@example.com, bob@example.com"},
        {"From": ""},
    ],
    ids=str,
)
def test_what_a_program_sends_is_never_answered(headers: Mapping[str, str]) -> None:
    assert isinstance(taken(raw(**headers)), Dropped)


def test_a_persons_mail_is_not_taken_for_a_programs() -> None:
    assert isinstance(taken(raw(Auto_Submitted="no", Precedence="normal", Return_Path="<ada@example.com>")), Taken)


def test_only_our_own_mail_is_filed_as_ours() -> None:
    own, forged = taken(raw(From=US, Message_ID=OURS)), taken(raw(Message_ID=OURS))
    assert isinstance(own, Dropped)
    assert own.own
    assert isinstance(forged, Taken), "somebody who names an id of ours has not sent what we did"


def test_a_thread_has_a_bound_for_each_hour() -> None:
    pace = Pace(3)
    for minute in range(3):
        assert pace.allows(("r", "t"), NOW + timedelta(minutes=minute))
        pace.note(("r", "t"), NOW + timedelta(minutes=minute))
    assert not pace.allows(("r", "t"), NOW + timedelta(minutes=59))
    assert pace.allows(("r", "other"), NOW)
    assert pace.allows(("r", "t"), NOW + timedelta(minutes=61))


def test_a_mail_that_came_back_is_known_by_its_part() -> None:
    report = f"""Content-Type: multipart/report; report-type=delivery-status; boundary=b
From: MAILER-DAEMON@example.org
To: {US}

--b

Sorry.
--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example.org

Final-Recipient: rfc822; ada@example.com
Action: failed
Status: 5.1.1
Diagnostic-Code: smtp; 550 no such user

--b
Content-Type: text/rfc822-headers

From: {US}
Message-ID: {OURS}
--b--
"""
    found = bounce_of(mail_of(report.encode()), "example.org")
    assert found
    assert (found.part, found.recipient, found.is_final, found.reason) == (
        "d1.1",
        "ada@example.com",
        True,
        "550 no such user",
    )
    assert bounce_of(mail_of(report.replace("@example.org>", "@evil.example>").encode()), "example.org") is None
    assert bounce_of(mail_of(raw()), "example.org") is None


# ----------------------------------------------------------------------------------------------------------- bad input


def test_a_mail_without_an_id_is_the_same_mail_each_time() -> None:
    content = raw(Message_ID="")
    first, again, other = (signal(one) for one in (content, content, raw("other", Message_ID="")))
    assert first.dedupe_key == again.dedupe_key != other.dedupe_key
    assert first.address == again.address
    assert first.message_id == ""


def test_equal_ids_of_two_senders_are_two_mails() -> None:
    other = raw(From="eve@example.com")
    assert signal(raw()).dedupe_key != signal(other).dedupe_key


def test_a_mail_that_is_too_large_says_so() -> None:
    made = too_large(mail_of(raw(), key="k"), SETTINGS, 50 * 1024 * 1024, at=NOW)
    assert isinstance(made, Taken)
    assert made.signal.body == Commanded(UNREAD, "a mail of 50 MB (I read mails of at most 25 MB)")


@given(st.binary(max_size=400))
def test_no_bytes_are_too_strange(noise: bytes) -> None:
    for content in (noise, raw("x") + noise, raw(Content_Type="multipart/mixed; boundary=b") + noise):
        mail = mail_of(content)
        taken_from(mail, SETTINGS, at=NOW, remote=str)
        bounce_of(mail, "example.org")


@pytest.mark.parametrize(
    "name", ["From", "To", "Subject", "Message_ID", "References", "Content_Type", "Authentication_Results"]
)
@pytest.mark.parametrize(
    "value", ["", "=?utf-8?b?////?=", "=?x?q?=FF?=", "<>", "a@" * 5000, '"' * 100, "\xff", "; ; ;"]
)
def test_no_header_is_too_strange(name: str, value: str) -> None:
    taken(raw(**{name: value}))


@pytest.mark.parametrize(
    "content",
    [
        raw("", References=" " * 100_000, Subject=" " * 100_000),
        raw("", Authentication_Results="x" * 100_000) + b"Authentication-Results: " + b"(" * 100_000,
        raw("approve" + " " * 150_000 + "x"),
        raw("x" * 5_000, Content_Type="text/plain; charset=punycode"),
        raw("x", To=", ".join("a@example.com" for _ in range(20_000))),
        raw("--b\r\n\r\nx\r\n" * 20_000, Content_Type="multipart/mixed; boundary=b"),
    ],
    ids=["blanks", "results", "a choice", "a charset", "recipients", "parts"],
)
def test_no_mail_takes_long(content: bytes) -> None:
    begun = time.process_time()
    taken(content)
    assert time.process_time() - begun < 2


# ------------------------------------------------------------------------------------------------------------- the way out


def test_an_answer_names_its_thread_whatever_its_ids_are() -> None:
    long = f"<{'x' * 400}@example.com>"
    parent = Parent("<2@example.com>", tuple(f"<{n}{long[2:]}" for n in range(40)), "Lamps\r\nBcc: eve@example.com")
    letter = Letter(OURS, ("ada@example.com",), NOW, parent)
    content = mail_bytes(Body("Hi", "<p>Hi</p>"), letter, SETTINGS, lambda path: b"")
    mail = message_from_bytes(content, policy=policy.default)
    assert mail["In-Reply-To"] == "<2@example.com>"
    named = mail["References"].split()
    assert (named[0], named[-1], len(named)) == (parent.references[0], "<2@example.com>", 20)
    assert mail["Subject"] == "Re: Lamps Bcc: eve@example.com"
    assert mail["Bcc"] is None
    assert mail["Message-ID"] == OURS
    assert max(map(len, content.split(b"\r\n"))) < 1000
