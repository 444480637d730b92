"""A mailbox on a real IMAP server, and what goes wrong there: cuts, silence, large mails, and others who read it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from runtime.contract import UNREAD, ApprovalId, Button, Choice, Commanded, Level, Said, SettleResult, Shown
from runtime.errors import Rejected, Retryable, Uncertain
from signalbox_email.checks import checked
from signalbox_email.settings import EmailSettings, Security, Server
from signalbox_email.trust import trusted
from tests.contract.adapters.rig import Event
from tests.contract.adapters.rigs.email import ADA, BOB, EmailRig, mailbox
from tests.contract.adapters.stage import Stage, stage_for, until
from tests.fakes.dovecot import dovecot
from tests.fakes.mail import AUTHSERV, under_tls

VOUCHED = f"Authentication-Results: {AUTHSERV}; dmarc=pass header.from=example.org\r\n"

pytestmark = pytest.mark.xdist_group("dovecot")


@asynccontextmanager
async def at_work(folder: Path) -> AsyncIterator[tuple[Stage, EmailRig]]:
    async with mailbox(folder) as rig:
        yield stage_for(rig, folder / "workspaces"), rig


def settings_of(rig: EmailRig, stage: Stage, **changes: object) -> EmailSettings:
    made = rig.adapter(stage.given, **changes)
    found = getattr(made, "_settings")  # noqa: B009 - the checks are given the same
    assert isinstance(found, EmailSettings)
    return found


# ------------------------------------------------------------------------------------------------------------ the way in


async def test_a_mail_that_is_too_large_is_told_and_not_fetched(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (stage, rig), stage.life(mail_most=20_000):
        rig.provider.imap.drip(400_000)
        rig.provider.write("x" * 3_000_000, sender=ADA, message_id="<large@example.org>")
        rig.provider.write("and I am small", sender=ADA, message_id="<small@example.org>")
        await stage.taken("and I am small")
        large, _ = stage.sink.taken
        assert isinstance(large.body, Commanded)
        assert large.body.name == UNREAD
        assert "3 MB" in large.body.argument
        assert large.message_id == "<large@example.org>"


async def test_a_connection_that_is_cut_in_the_middle_of_a_mail_loses_nothing(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (stage, rig), stage.life():
        for number in range(3):
            rig.provider.imap.once_asked(b"BODY.PEEK[])", rig.provider.drop)
            await rig.say(stage.place, f"line {number}")
            await stage.taken(f"line {number}")
        assert stage.sink.texts == ["line 0", "line 1", "line 2"]


async def test_what_somebody_else_has_read_is_taken_in_all_the_same(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (stage, rig):
        await rig.say(stage.place, "read by another")
        [path] = (rig.provider.box.folder / "new").iterdir()
        path.rename(rig.provider.box.folder / "cur" / f"{path.name}:2,S")
        async with stage.life():
            await stage.taken("read by another")


async def test_a_mailbox_that_is_made_anew_loses_and_repeats_nothing(tmp_path: Path) -> None:
    """Its UIDVALIDITY changes, and with it each number; the flags are gone too."""
    async with at_work(tmp_path) as (stage, rig):
        async with stage.life():
            await rig.say(stage.place, "before")
            await stage.taken("before")
            await until(lambda: rig.provider.box.is_seen("<mail-1@example.org>"), "flag")
        rig.provider.box.forget()
        rig.provider.write("no id", sender=ADA)
        async with stage.life():
            await rig.say(stage.place, "after")
            await stage.taken("no id", "after")
        assert stage.sink.texts == ["before", "no id", "after"]


async def test_old_mail_is_left_alone_when_it_begins(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (stage, rig):
        await rig.say(stage.place, "of last week")
        rig.provider.box.age(timedelta(days=7))
        async with stage.life():
            await rig.say(stage.place, "now")
            await stage.taken("now")
        async with stage.life():  # by now there is a last mail that the store knows, of days after the old one
            await rig.say(stage.place, "later")
            await stage.taken("later")
        assert stage.sink.texts == ["now", "later"]
        assert not rig.provider.box.is_seen("<mail-1@example.org>")


async def test_a_mail_that_nobody_can_read_keeps_no_other_from_coming(tmp_path: Path) -> None:
    deep = "".join(f'Content-Type: multipart/mixed; boundary="b{n}"\r\n\r\n--b{n}\r\n' for n in range(2_000))
    async with at_work(tmp_path) as (stage, rig), stage.life():
        rig.provider.box.deliver(f"{VOUCHED}From: {ADA}\r\nMessage-ID: <deep@example.org>\r\n{deep}x".encode())
        await rig.say(stage.place, "after it")
        await stage.taken("after it")
        assert stage.sink.texts == ["[This mail can't be read: its parts are nested too deep.]", "after it"]


async def test_forged_mail_is_left_behind_and_marked(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (stage, rig), stage.life():
        rig.provider.write("approve " + "x" * 22, sender=ADA, message_id="<forged@example.org>", vouched=False)
        await rig.say(stage.place, "real")
        await stage.taken("real")
        assert [signal.body for signal in stage.sink.calls] == [Said("real")]
        assert rig.provider.box.is_seen("<forged@example.org>")


async def test_a_decision_that_may_be_of_another_question_is_asked_for_anew(tmp_path: Path) -> None:
    """Its signature doesn't cover which mail it answers, so whoever has it could send it as the answer to any card."""
    async with at_work(tmp_path) as (stage, rig), stage.life() as adapter:
        button = Button(ApprovalId("0354ZtKrHPQyQx7PqdnDam"), Choice.APPROVE, "Approve")
        await stage.show(adapter, stage.part(adapter, "May I?", button))
        [card] = await stage.visible()
        headers = {"In-Reply-To": card.id}
        event = Event("<moved@example.org>")
        rig.provider.write("approve", sender=ADA, message_id=event, headers=headers, covered="from:to:date:subject")
        await until(lambda: rig.provider.box.is_seen(event), "flag")
        assert stage.sink.calls == []
        [told] = await rig.notices(event)
        assert "with its code" in told
        assert card.buttons[0].payload not in told, "who reads it must look at the card"


async def test_a_thread_is_kept_by_a_program_that_names_only_the_mail_it_answers(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (stage, rig):
        async with stage.life() as adapter:
            await rig.say(stage.place, "first")
            await stage.taken("first")
            [asked] = stage.sink.taken
            await stage.show(
                adapter, *stage.parts(adapter, stage.delivery("yes", address=asked.address, reply_to=asked.message_id))
            )
            [answer] = await stage.visible()
        async with stage.life():  # nothing of it is in mind any more
            rig.provider.write("second", sender=ADA, message_id="<2@example.org>", headers={"In-Reply-To": answer.id})
            await stage.taken("second")
            assert {signal.address for signal in stage.sink.taken} == {asked.address}


# ----------------------------------------------------------------------------------------------------------- the way out


async def test_an_answer_stands_in_its_thread_with_both_headers_and_the_subject(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (stage, rig):
        async with stage.life():
            rig.provider.write("Please.", sender=ADA, message_id="<1@example.org>", headers={"Subject": "Lämpchen"})
            await stage.taken("Lämpchen\n\nPlease.")
        [asked] = stage.sink.taken
        delivery = stage.delivery("**Done.**", address=asked.address, reply_to=asked.message_id)
        async with stage.life() as adapter:  # nothing of it is in mind any more
            await stage.show(adapter, *stage.parts(adapter, delivery))
        [sent] = rig.provider.sent
        assert (sent.mail["In-Reply-To"], sent.mail["References"]) == ("<1@example.org>", "<1@example.org>")
        assert sent.mail["Subject"] == "Re: Lämpchen"
        assert sent.mail["Auto-Submitted"] == "auto-replied"
        assert [part.get_content_type() for part in sent.mail.walk()][1:] == ["text/plain", "text/html"]
        assert "<strong>Done.</strong>" in sent.raw.decode()


async def test_our_copy_is_filed_with_the_sent_mail(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (stage, rig), stage.life() as adapter:
        receipt = await stage.show(adapter, stage.part(adapter))
        copies = rig.provider.box
        await until(lambda: any(receipt.message_id.encode() in raw for _, raw in copies.mails(sent=True)), "copy")
        await until(lambda: copies.mails() == [], "empty inbox")


async def test_a_server_that_takes_a_mail_and_never_answers_has_it_once(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (stage, rig), stage.life() as adapter:
        part = stage.part(adapter)
        attempt = stage.attempt(adapter, part)
        rig.provider.faults.append(("silent", 0.0))
        with pytest.raises(Uncertain):
            await adapter.show(part)
        assert isinstance(await stage.settle(adapter, part, attempt), Shown)
        assert len(rig.provider.sent) == 1


async def test_a_mail_that_may_still_be_on_its_way_is_not_told_to_be_absent(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (stage, _), stage.life(look_after=timedelta(seconds=60)) as adapter:
        part = stage.part(adapter)
        attempt = stage.attempt(adapter, part)
        with pytest.raises(Retryable) as told:
            await adapter.settle(part, attempt)
        assert told.value.retry_after
        stage.clock.ahead = timedelta(seconds=61)
        assert await adapter.settle(part, attempt) is SettleResult.ABSENT


@pytest.mark.parametrize(("fault", "error"), [("error", Retryable), ("refused", Rejected), ("closed", Rejected)])
async def test_a_mail_that_the_server_does_not_take_is_told_as_what_it_is(
    tmp_path: Path, fault: str, error: type[Exception]
) -> None:
    async with at_work(tmp_path) as (stage, rig), stage.life() as adapter:
        rig.provider.faults.append((fault, 0.0))
        with pytest.raises(error):
            await adapter.show(stage.part(adapter))
        assert rig.provider.sent == []


async def test_one_of_several_who_is_refused_does_not_keep_it_from_the_others(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (stage, rig), stage.life() as adapter:
        shared = rig.rooms().shared
        assert shared
        rig.provider.faults.append(("closed", 0.0))
        await stage.say(adapter, "hello", address=shared.address)
        [sent] = rig.provider.sent
        assert sent.to == (BOB, rig.provider.address)


# ---------------------------------------------------------------------------------------------------------- the servers


@pytest.fixture
def believed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The certificate of the servers is one of this machine's."""
    monkeypatch.setenv("SSL_CERT_FILE", str(dovecot().certificate))
    trusted.cache_clear()
    yield
    trusted.cache_clear()


@pytest.mark.parametrize("security", ["tls", "starttls"])
async def test_mail_goes_both_ways_under_tls(tmp_path: Path, believed: None, security: Security) -> None:
    async with at_work(tmp_path) as (stage, rig), under_tls(rig.provider, at_once=security == "tls") as port:
        imap = Server("127.0.0.1", dovecot().tls_port if security == "tls" else dovecot().port, security)
        async with stage.life(imap=imap, smtp=Server("127.0.0.1", port, security)) as adapter:
            await rig.say(stage.place, "hello")
            await stage.taken("hello")
            await stage.say(adapter, "hello yourself")
            assert [message.text for message in await stage.visible()] == ["hello yourself"]


@pytest.mark.parametrize("security", ["tls", "starttls"])
async def test_a_server_that_nobody_vouches_for_gets_no_password(tmp_path: Path, security: Security) -> None:
    async with at_work(tmp_path) as (stage, rig), under_tls(rig.provider, at_once=security == "tls") as port:
        imap = Server("127.0.0.1", dovecot().tls_port if security == "tls" else dovecot().port, security)
        found = await checked(settings_of(rig, stage, imap=imap, smtp=Server("127.0.0.1", port, security)))
        assert [one.id for one in found if one.level is Level.ERROR] == ["email.post.imap", "email.post.smtp"]
        assert all("certificate" in one.what.lower() for one in found if one.level is Level.ERROR)


async def test_a_server_that_knows_little_is_asked_again_and_again(tmp_path: Path) -> None:
    """No IDLE, no MOVE, no special folders."""
    async with at_work(tmp_path) as (stage, rig):
        imap = Server("127.0.0.2", dovecot().port, "none")
        async with stage.life(imap=imap, poll=timedelta(seconds=0.1)) as adapter:
            for number in range(3):
                await rig.say(stage.place, f"line {number}")
                await stage.taken(f"line {number}")
            receipt = await stage.show(adapter, stage.part(adapter))
            copies = rig.provider.box
            await until(lambda: any(receipt.message_id.encode() in raw for _, raw in copies.mails(sent=True)), "copy")
        assert stage.sink.texts == ["line 0", "line 1", "line 2"]


# ------------------------------------------------------------------------------------------------------------- doctor


async def test_doctor_tells_how_the_account_stands(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (stage, rig):
        await rig.say(stage.place, "hello")
        found = {one.id: one for one in await checked(settings_of(rig, stage))}
        assert {one.level for one in found.values()} == {Level.OK}
        assert {"email.post.imap", "email.post.smtp", "email.post.senders", "email.post.sent"} <= found.keys()
        wrong = {one.id: one for one in await checked(settings_of(rig, stage, inbox="Nowhere", authserv_id="mx.other"))}
        assert wrong["email.post.inbox"].level is Level.ERROR
        other = {one.id: one for one in await checked(settings_of(rig, stage, authserv_id="mx.other", strangers=True))}
        assert "mx.example.org" in other["email.post.senders"].what
        assert other["email.post.unverified"].level is Level.WARNING


async def test_doctor_tells_of_a_refused_password(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (stage, rig):
        found = {one.id: one for one in await checked(settings_of(rig, stage, password="wrong"))}
        assert {found[f"email.post.{step}"].level for step in ("signin", "smtp")} == {Level.ERROR}
        assert all(one.fix for one in found.values() if one.level is not Level.OK)
        assert "wrong" not in str(found)


async def test_a_server_that_says_what_is_no_imap_is_away(tmp_path: Path) -> None:
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request {999999999999}\r\n\r\n" * 10)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(speak, "127.0.0.1", 0)
    async with server, at_work(tmp_path) as (stage, rig):
        imap = settings_of(rig, stage).imap
        port = server.sockets[0].getsockname()[1]
        found = await checked(settings_of(rig, stage, imap=type(imap)("127.0.0.1", port, "none")))
        assert found[0].id == "email.post.imap"
        assert found[0].level is Level.ERROR
