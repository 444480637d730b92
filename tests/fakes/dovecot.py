"""A real IMAP server: Debian's Dovecot, on loopback, as a user who owns nothing. Mail is put into its Maildirs."""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, Final

from tests.fakes.certificate import loopback_certificate
from tests.fakes.ports import free_port
from tests.fakes.postgres import NOBODY, WATCHDOG

PATHS: Final = os.pathsep.join((os.defpath, "/usr/sbin", "/usr/local/sbin"))
STARTS_WITHIN: Final = 20.0  # seconds
PASSWORD: Final = "correct horse"
SETTINGS: Final = """\
protocols = imap
base_dir = {home}/run
state_dir = {home}/state
log_path = {home}/log
default_internal_user = {user}
default_internal_group = {group}
default_login_user = {user}
mail_uid = {user}
mail_gid = {group}
first_valid_uid = 0
first_valid_gid = 0
listen = 127.0.0.1, 127.0.0.2
ssl = yes
ssl_cert = <{home}/both.pem
ssl_key = <{home}/both.pem
local 127.0.0.2 {{
  # A server that knows little.
  imap_capability = IMAP4rev1
}}
disable_plaintext_auth = no
auth_failure_delay = 0
mail_location = maildir:{home}/mail/%u
mail_fsync = never
service anvil {{
  chroot =
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
service stats {{
  chroot =
}}
service imap-login {{
  chroot =
  service_count = 0
  process_min_avail = 1
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = {tls_port}
  }}
}}
passdb {{
  driver = passwd-file
  args = scheme=plain username_format=%u {home}/users/%u
}}
userdb {{
  driver = static
  args = uid={user} gid={group} home={home}/mail/%u
}}
namespace inbox {{
  inbox = yes
  mailbox Sent {{
    special_use = \\Sent
    auto = create
  }}
}}
"""
NUMBERS: Final = count(1)


def program() -> str | None:
    """The Dovecot of this machine; None without one (tests/setup.sh dovecot installs it)."""
    return shutil.which("dovecot", path=PATHS)


class Dovecot:
    """One server for all tests of a process: each takes mailboxes of its own."""

    def __init__(self) -> None:
        self.port, self.tls_port = free_port(), free_port()
        self._home = Path(tempfile.mkdtemp(prefix="signalbox-dovecot-"))
        self._home.chmod(0o755)
        self._is_root = os.getuid() == 0
        for name in ("users", "mail"):
            (self._home / name).mkdir()
        self._start()

    def _start(self) -> None:
        found = program()
        assert found
        user, group = ("nobody", "nogroup") if self._is_root else (os.getlogin(), str(os.getgid()))
        loopback_certificate(self.certificate)
        settings = self._home / "dovecot.conf"
        settings.write_text(
            SETTINGS.format(home=self._home, user=user, group=group, port=self.port, tls_port=self.tls_port)
        )
        for path in (self._home, *self._home.iterdir()):
            self._give(path)
        ground: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if self._is_root else {}
        # The watchdog ends it with us, however we end.
        command = [
            "/bin/sh",
            "-c",
            WATCHDOG.replace("word=INT", "word=TERM"),
            "dovecot",
            found,
            "-F",
            "-c",
            str(settings),
        ]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, **ground)
        end = time.monotonic() + STARTS_WITHIN
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"Dovecot didn't start: {self.log()}")
            time.sleep(0.02)

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as asked:
                return asked.recv(5) == b"* OK "
        except OSError:
            return False

    @property
    def certificate(self) -> Path:
        """Key and certificate of it, in one file."""
        return self._home / "both.pem"

    def log(self) -> str:
        path = self._home / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()
        shutil.rmtree(self._home, ignore_errors=True)

    def mailbox(self, name: str) -> Maildir:
        """A new mailbox; `name` is what a person would call it."""
        user = f"{name}{next(NUMBERS)}@example.org"
        made = Maildir(self._home / "mail" / user, user, self._home / "users" / user, self._give)
        made.admit()
        return made

    def _give(self, path: Path) -> None:
        if self._is_root:
            os.chown(path, NOBODY, NOBODY)


class Maildir:
    """The folder of one mailbox, and the file that lets its user in."""

    def __init__(self, folder: Path, user: str, entry: Path, own: Callable[[Path], None]) -> None:
        self.folder, self.user = folder, user
        self._entry = entry
        self._own = own
        for name in ("", "cur", "new", "tmp"):
            (folder / name).mkdir()
            self._own(folder / name)

    def admit(self) -> None:
        """The password is right from now on."""
        self._entry.write_text(f"{self.user}:{{plain}}{PASSWORD}\n")
        self._own(self._entry)

    def refuse(self) -> None:
        """No password is right any more."""
        self._entry.write_text("nobody:{plain}-\n")  # the server keeps a file in mind that is gone
        self._own(self._entry)

    def deliver(self, raw: bytes) -> None:
        """Put a mail in, as a mail server does: whole, or not at all."""
        at = time.time()
        name = f"{int(at)}.M{int(at % 1 * 1_000_000):06}P{os.getpid()}Q{next(NUMBERS)}.here"
        path = self.folder / "tmp" / name
        path.write_bytes(raw)
        self._own(path)
        path.rename(self.folder / "new" / name)

    def forget(self) -> None:
        """The server knows nothing of this mailbox any more: no numbers, no flags."""
        for path in self.folder.glob("dovecot*"):
            path.unlink()
        for path in (self.folder / "cur").iterdir():
            path.rename(self.folder / "new" / path.name.partition(":2,")[0])

    def age(self, by: timedelta) -> None:
        """All mail in it came so much earlier."""
        for path in (self.folder / "new").iterdir():
            at = time.time() - by.total_seconds()
            os.utime(path, (at, at))

    def mails(self, *, sent: bool = False) -> list[tuple[str, bytes]]:
        """Flags (`S` for seen) and bytes of each mail."""
        folder, found = self.folder / ".Sent" if sent else self.folder, []
        for path in sorted([*(folder / "new").glob("*"), *(folder / "cur").glob("*")]):
            try:
                found.append((path.name.partition(":2,")[2], path.read_bytes()))
            except FileNotFoundError:  # it was given another flag, or moved, meanwhile
                return self.mails(sent=sent)
        return found

    def is_seen(self, message_id: str) -> bool:
        return any("S" in flags for flags, raw in self.mails() if message_id.encode() in raw)


@cache
def dovecot() -> Dovecot:
    """The server of this test process, which ends with it."""
    made = Dovecot()
    atexit.register(made.close)
    return made
