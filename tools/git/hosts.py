"""Servers of git that operators named, with the credential of each. A credential goes to its own server and nowhere else."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

from runtime.contract import Json
from runtime.egress import Egress, NoAnswer, Refused, Response
from runtime.errors import ToolFailed, ToolRetry
from runtime.text.outside import material
from tools.git.wire import NoGit, Offer, offer

FETCHING, PUSHING = "git-upload-pack", "git-receive-pack"
OFFER_MAX_BYTES: Final = 8 << 20
PACK_MAX_BYTES: Final = 64 << 20
OFFER_TIME: Final = timedelta(seconds=30)
PACK_TIME: Final = timedelta(seconds=120)
CLOSED: Final = (401, 403, 407)
USUAL_PORTS: Final = {"http": 80, "https": 443}
LOGIN: Final = (
    "{host} asks for a login{why}. An operator can set one: [[git]] with url and token_env, for a token that may "
    "{do} this repository."
)


@dataclass(frozen=True, slots=True)
class GitHost:
    """A server, or a part of one, and the token for it. `url` begins the addresses of its repositories."""

    url: str
    user: str = "git"
    token: str = field(default="", repr=False)

    def covers(self, address: str) -> bool:
        ours, theirs = urlsplit(self.url), urlsplit(address)
        path = ours.path.rstrip("/")
        return origin(self.url) == origin(address) and (theirs.path == path or theirs.path.startswith(f"{path}/"))

    @property
    def header(self) -> dict[str, str]:
        if not self.token:
            return {}
        words = base64.b64encode(f"{self.user}:{self.token}".encode()).decode()
        return {"Authorization": f"Basic {words}"}


def origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port."""
    parts = urlsplit(url)
    return parts.scheme, (parts.hostname or "").lower(), parts.port or USUAL_PORTS.get(parts.scheme, 0)


def host_in(url: Json) -> str:
    """Host of an address, for a card; empty for what is none."""
    try:
        return urlsplit(str(url)).hostname or ""
    except ValueError:
        return ""


def in_words(error: NoGit, host: str) -> str:
    """A fault as the model reads it: what the server said is its own words, whoever they are for."""
    return f"{error}.{quoted(error.said, host)}"


def quoted(said: str, host: str) -> str:
    """Words of a server behind ours, fenced; empty for none. In a failure nobody else fences them."""
    return f" It said:\n{material(said, host, markup=False)}" if said else ""


class GitWeb:
    """Exchanges with servers through the guarded client, for the tool of the name `tool`."""

    def __init__(self, egress: Egress, hosts: Sequence[GitHost]) -> None:
        self._egress = egress
        self._hosts = sorted(hosts, key=lambda host: len(host.url), reverse=True)  # the nearest one first

    def address(self, url: str) -> str:
        """The address of a repository without what follows it. Errors: ToolRetry for what no operator named."""
        clean = url.strip().rstrip("/")
        try:
            parts = urlsplit(clean)
            steps = parts.path.split("/")
            fits = (
                parts.scheme in USUAL_PORTS
                and bool(parts.hostname)
                and not {"..", "."} & set(steps)
                and "%" not in parts.path
            )
        except ValueError:
            fits = False
        if not fits or parts.username is not None or parts.query or parts.fragment:
            raise ToolRetry("Give the repository's https:// address, without a name or a password in it.")
        if not any(host.covers(clean) for host in self._hosts):
            named = ", ".join(host.url for host in self._hosts)
            raise ToolFailed(f"No operator opened {parts.hostname} for git. Open are: {named} ([[git]]).")
        return clean

    async def offered(self, address: str, service: str, tool: str) -> tuple[str, Offer]:
        """The address after redirects, and what its server offers. Errors: ToolFailed."""
        url = f"{address}/info/refs?service={service}"
        answer = await self._asked("GET", url, service, tool)
        at = answer.url.partition("/info/refs?")[0]
        if at != address and not any(host.covers(at) for host in self._hosts):
            raise ToolFailed(f"{host_in(address)} sends to {host_in(at)}, which no operator opened for git.")
        try:
            return at, offer(answer.body, service)
        except NoGit as error:
            raise ToolFailed(f"{host_in(at)} did not answer as a git server: {in_words(error, host_in(at))}") from error

    async def exchanged(self, address: str, service: str, tool: str, body: bytes) -> bytes:
        """Answer to one request of `service`. Errors: ToolFailed; NoAnswer, which says if it was sent."""
        answer = await self._asked("POST", f"{address}/{service}", service, tool, body)
        return answer.body

    async def _asked(self, method: str, url: str, service: str, tool: str, body: bytes | None = None) -> Response:
        host = next((one for one in self._hosts if one.covers(url)), None)
        headers = dict(host.header if host else {})
        if body is not None:
            headers |= {"Content-Type": f"application/x-{service}-request", "Accept": f"application/x-{service}-result"}
        most, time = (OFFER_MAX_BYTES, OFFER_TIME) if body is None else (PACK_MAX_BYTES, PACK_TIME)
        try:
            answer = await self._egress.request(
                method, url, tool=tool, headers=headers, body=body, most=most, timeout=time
            )
        except NoAnswer as error:
            if body is not None and service == PUSHING:
                raise  # whether it was carried out matters
            raise ToolFailed(str(error)) from error
        except Refused as error:
            raise ToolFailed(str(error)) from error
        _check(answer, host, service)
        return answer


def _check(answer: Response, host: GitHost | None, service: str) -> None:
    """Errors: ToolFailed for an answer that is none of git's."""
    name = host_in(answer.url)
    if answer.status in CLOSED:
        why = ", and refuses the token that is set" if host and host.token else ""
        raise ToolFailed(LOGIN.format(host=name, why=why, do="write to" if service == PUSHING else "read"))
    if answer.status == 404:
        raise ToolFailed(f"{name} has no such repository, or hides it from us.")
    if answer.status != 200:
        raise ToolFailed(f"{name} answered with status {answer.status}.")
    if answer.truncated:
        raise ToolFailed(f"{name} sent more than {PACK_MAX_BYTES >> 20} MiB; git_clone with depth = 1 takes less.")
