"""A mail that was signed once, sent on with all else changed: what its signature doesn't cover is no word of its sender."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.contract import Clicked, Said
from signalbox_email.ids import message_id
from signalbox_email.incoming.intake import Dropped, Taken, taken_from
from signalbox_email.incoming.parse import mail_of
from tests.unit.email.test_intake import CARD, NOW, SETTINGS, US

CODE = "0354ZtKrHPQyQx7PqdnDam"
OTHER = message_id("d3.1", "0354ZtKrHPQyQx7PqdnDan", "example.org")
SIGNED = "mx.example.org; dmarc=pass header.from=example.com; dkim=pass header.d=example.com"
ALL = "from:to:cc:subject:date:message-id:in-reply-to:references"
FEW = "From : Date : Subject : Message-ID"
"""What a large provider signs: not whom the mail is for, nor what it answers."""


def signature(covered: str = ALL, domain: str = "example.com", more: str = "") -> str:
    return f"DKIM-Signature: v=1; a=rsa-sha256;{more} d={domain}; s=s;\r\n\th={covered};\r\n\tbh=YQ==; b=YQ==\r\n"


def sent_on(
    text: str, *signatures: str, before: str = "", after: str = "", results: str = SIGNED, **headers: str
) -> bytes:
    """A mail of Ada's as it comes in; `before` and `after` are lines that others put around its headers."""
    given = {
        "From": "Ada <ada@example.com>",
        "To": US,
        "Date": "Fri, 27 Nov 2026 09:00:00 +0000",
        "Message_ID": "<1@example.com>",
        "Subject": "",
    } | headers
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in given.items() if value)
    signed = "".join(signatures or [signature()])
    return f"{before}Authentication-Results: {results}\r\n{signed}{head}{after}\r\n{text}\r\n".encode()


def taken(content: bytes) -> Taken | Dropped:
    return taken_from(mail_of(content), SETTINGS, at=NOW, remote=str)


def body(content: bytes) -> Any:
    found = taken(content)
    assert isinstance(found, Taken), found
    return found.signal.body


def decides(content: bytes) -> str:
    """The question that it decides; nothing for a mail that only talks, or of which its sender is asked."""
    found = taken(content)
    is_click = isinstance(found, Taken) and isinstance(found.signal.body, Clicked) and not found.is_doubtful
    return found.signal.body.approval_id if is_click else ""  # type: ignore[union-attr]


# ---------------------------------------------------------------------------------------------- which question it is


def test_a_bare_answer_decides_where_the_signature_covers_what_it_answers() -> None:
    assert decides(sent_on("approve", In_Reply_To=CARD)) == CODE
    assert decides(sent_on("approve", signature("from:cc:date:references"), To="", Cc=US, References=CARD)) == CODE
    assert decides(sent_on("approve", signature("from:to:date:references"), In_Reply_To=OTHER, References=CARD)) == CODE


@pytest.mark.parametrize(
    "content",
    [
        sent_on("approve", signature(FEW), In_Reply_To=CARD),
        sent_on("approve", signature("from:date:message-id:in-reply-to"), In_Reply_To=CARD),  # for somebody else once
        sent_on("approve", signature(), signature(FEW), In_Reply_To=CARD),
        sent_on("approve", before=f"In-Reply-To: {CARD}\r\n", In_Reply_To=OTHER),
        sent_on("approve", before=f"To: {US}\r\n", To="eve@example.net", In_Reply_To=CARD),
        sent_on("approve", To="eve@example.net", In_Reply_To=CARD),
        sent_on("approve", signature(""), In_Reply_To=CARD, Date="", Message_ID=""),
        sent_on("approve", signature("from:to:in-reply-to", more=" l=9;"), In_Reply_To=CARD),
    ],
    ids=["in-reply-to", "to", "one of two", "one on top", "a recipient on top", "for another", "nothing", "a part"],
)
def test_a_bare_answer_that_may_be_of_another_question_decides_nothing(content: bytes) -> None:
    assert decides(content) == ""


def test_the_line_with_its_code_decides_whatever_headers_are_covered() -> None:
    assert decides(sent_on(f"approve {CODE}", signature(FEW), In_Reply_To=OTHER)) == CODE
    assert decides(sent_on(f"approve {CODE}", results="mx.example.org; dmarc=pass header.from=example.com")) == CODE
    assert decides(sent_on(f"approve {CODE}", To="bob@example.com")) == "", "it was meant for Bob"


def test_a_mail_without_a_signature_is_whole_since_a_server_of_the_domain_sent_it() -> None:
    results = "mx.example.org; dmarc=pass header.from=example.com; spf=pass smtp.mailfrom=example.com"
    assert decides(sent_on("approve", signature(FEW, "esp.example.net"), results=results, In_Reply_To=CARD)) == CODE


# ---------------------------------------------------------------------------------------------------- whose words


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (sent_on("hi", signature(more=" l=2;")), "l="),
        (sent_on("hi", signature("from:subject")), "again and again"),
        (sent_on("hi", signature(domain="example.net")), "isn't there any more"),
        # What one program takes for a header is a text for another.
        (sent_on("let me think", after="approve : yes\r\n", In_Reply_To=CARD), "headers"),
        (sent_on("let me think", after=f"X: a\r\rapprove {CODE}\r\n"), "headers"),
        (sent_on("let me think", after=f"X: a\rapprove {CODE}\r\n"), "headers"),
        (sent_on("let me think", after=f"approve {CODE}\r\n"), "headers"),
        (sent_on("hi", after="X: a\0\r\n"), "headers"),
        # Another boundary makes a mail of what somebody else had written, and Ada quoted.
        (sent_on(f"No!\r\n--b\r\n\r\napprove {CODE}\r\n--b--", Content_Type="multipart/mixed; boundary=b"), "parts"),
    ],
)
def test_a_mail_whose_text_may_be_anothers_is_dropped(content: bytes, reason: str) -> None:
    found = taken(content)
    assert isinstance(found, Dropped)
    assert reason in found.reason


def test_parts_of_honest_programs_are_read() -> None:
    kind = "multipart/alternative; boundary=b"
    parts = "--b\r\nContent-Type: text/plain\r\n\r\nhello\r\n--b--"
    assert body(sent_on(parts, Content_Type=kind)) == Said("hello")
    preamble = "This is a multi-part message in MIME format."
    assert body(sent_on(f"{preamble}\r\n{parts}", Content_Type=kind)) == Said("hello")
    other = sent_on(f"Words\r\n{parts}", signature(f"{ALL}:content-type"), Content_Type=kind)
    assert body(other) == Said("hello")


def test_a_subject_counts_where_it_is_covered() -> None:
    assert body(sent_on("Please.", Subject="Lamps")) == Said("Lamps\n\nPlease.")
    assert body(sent_on("Please.", signature("from:date"), Subject="Delete all")) == Said("Please.")
    assert body(sent_on("Please.", before="Subject: Delete all\r\n", Subject="Lamps")) == Said("Please.")


def test_a_mail_that_is_sent_again_is_the_same_mail_also_with_another_id() -> None:
    """Some providers don't sign the Message-ID, and no signature tells how many blanks there were."""
    key = [
        taken(one).signal.dedupe_key  # type: ignore[union-attr]
        for one in (
            sent_on("order ten more", signature("from:date")),
            sent_on("order  ten more\r\n\r\n", signature("from:date"), Message_ID="<2@example.com>"),
            sent_on("order  ten more", signature("from:date"), before="Message-ID: <3@example.com>\r\n"),
            sent_on("order ten more", signature("from:date"), Date="Fri, 27 Nov 2026 09:00:01 +0000"),
        )
    ]
    assert key[0] == key[1] == key[2] != key[3]
