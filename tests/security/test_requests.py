"""Requests that another site made, or under a name that is not ours; links that exchange who is signed in; cookies."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Final

from runtime.store.people.store import BROWSER_PREFIX
from tests.security.running import Answer, Running, raw, running
from tests.security.tally import Tallied, Tally

BROWSER: Final = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
SITES: Final = ("cross-site", "same-site", "none")
HOSTS: Final = (
    "evil.example",
    "bot.example.org.evil.example",
    "127.0.0.1:1",
    "localhost",
    "[::1]:1",
    "127.0.0.1.evil.example",
    "",
)
PLACES: Final = ("/", "/api/me", "/api/v1/rooms", "/console", "/console/api/overview")


def foreign(host: str) -> list[str]:
    return [
        "https://evil.example",
        "null",
        f"ftp://{host}",
        f"ws://{host}",
        f"file://{host}",
        f"javascript://{host}",
        host,
        f"//{host}",
        f"http://{host}.evil.example",
        f"http://evil.example#{host}",
        f"http://{host}@evil.example",
        f"http://{host}/",
        "http://127.0.0.1:1",
    ]


async def test_another_site_does_nothing_in_a_persons_name(tmp_path: Path, tallied: Tallied) -> None:
    async with running(tmp_path) as house:
        count = tallied("CSRF, Host, Origin, rebinding, link swap, cookies", 140)
        assert (await house.say("users001", "user")).status == 202
        for path in ("/api/rooms/users001/messages", "/api/rooms/users001/stop", "/api/v1/rooms/users001/stop"):
            await forged(house, count, path)
        await forged(house, count, f"/link/{house.tokens['viewer']}")
        await named(house, count)
        await swapped(house, count)
        await once(house, count)
        await cookies(house, count)
        await bytes_of_any_kind(house, count)
        count.close()


async def forged(house: Running, count: Tally, path: str) -> None:
    body = {"id": "event-0001", "text": "hi"}
    for origin in foreign(house.host):
        answer = await house.ask("POST", path, "user", body, Origin=origin)
        count.case(answer.status == 403, f"POST {path} from {origin}")
    for site in SITES:
        answer = await house.ask("POST", path, "user", body, Sec_Fetch_Site=site)
        count.case(answer.status == 403, f"POST {path}, {site}")
    plain = await house.ask("POST", path, "user", None, X_Signalbox="-")
    count.case(plain.status == 403, f"a plain form to {path}")
    unsaid = await house.ask("POST", path, "user", body, Origin="-")
    count.case(unsaid.status == 403, f"{path} without an origin")
    if not path.startswith("/link/"):
        for origin in (house.url, house.url.replace("http:", "https:")):
            answer = await house.ask("POST", path, "user", body, Origin=origin)
            count.case(answer.status in (200, 202), f"our own page at {origin}")


async def named(house: Running, count: Tally) -> None:
    for host in HOSTS:
        for path in PLACES:
            answer = await house.ask("GET", path, "owner", Host=host)
            count.case(answer.status == 421, f"GET {path} as {host}")
        bound = await house.ask("POST", "/api/rooms/users001/messages", "user", {}, Host=host, Origin=f"http://{host}")
        count.case(bound.status == 421, f"rebinding to {host}")
    for host in (house.host, "bot.example.org", "BOT.example.org:8443"):
        count.case((await house.ask("GET", "/api/me", "owner", Host=host)).status == 200, f"as {host}")
    await unready(house, count)


async def unready(house: Running, count: Tally) -> None:
    """`/readyz` under any name; reasons only under ours."""
    house.app.at.accounts[0]._adapter._sink = None  # type: ignore[attr-defined]  # as while it starts
    for host, told in ((house.host, True), ("10.0.0.7:8080", False), ("evil.example", False)):
        answer = await house.ask("GET", "/readyz", Host=host)
        count.case(answer.status == 503 and ("reasons" in answer.text) is told, f"/readyz as {host}: {answer.text}")
    house.app.at.accounts[0]._adapter._sink = house.app.sink  # type: ignore[attr-defined]


async def swapped(house: Running, count: Tally) -> None:
    """A link is followed at once only where no other site can have made the browser do it, and nobody is signed in."""
    link = f"/link/{house.tokens['viewer']}"
    for who, headers, follows in (
        ("nobody", {"Sec_Fetch_Site": "none"}, True),
        ("nobody", {"Sec_Fetch_Site": "same-origin"}, True),
        ("nobody", {}, True),  # no browser
        ("nobody", {"Sec_Fetch_Site": "cross-site"}, False),
        ("nobody", {"Sec_Fetch_Site": "same-site"}, False),
        ("nobody", {"User_Agent": BROWSER}, False),
        ("nobody", {"User_Agent": BROWSER, "Sec_Fetch_Site": "none"}, True),
        ("nobody", {"User_Agent": BROWSER, "Sec_Fetch_Site": "none", "Sec_Purpose": "prefetch"}, False),
        ("nobody", {"User_Agent": BROWSER, "Sec_Fetch_Site": "none", "purpose": "prefetch"}, False),
        ("stranger", {"Sec_Fetch_Site": "none"}, True),
        ("user", {"Sec_Fetch_Site": "none"}, False),
        ("user", {"Sec_Fetch_Site": "cross-site"}, False),
        ("user", {}, False),
        ("owner", {"Sec_Fetch_Site": "same-origin"}, False),
    ):
        answer = await house.ask("GET", link, who, **headers)
        signed_in = answer.status == 303 and await named_by(house, answer) == "viewer"
        asked = answer.status == 200 and not answer.cookies and "Become viewer?" in answer.text
        count.case(signed_in if follows else asked, f"{who} opens viewer's link, {headers}")
    again = await house.ask("GET", link, "viewer", Sec_Fetch_Site="none")
    count.case(again.status == 303, "a link of one's own")
    agreed = await house.ask("POST", link, "user", Sec_Fetch_Site="same-origin")
    count.case(agreed.status == 204 and await named_by(house, agreed) == "viewer", "a yes on our page")


async def named_by(house: Running, answer: Answer) -> str | None:
    """The person of the session that a browser got: a token of its own, and not the link's."""
    token = answer.cookies.get(house.cookie, "")
    known = await house.app.store.people.person_of(token) if token.startswith(BROWSER_PREFIX) else None
    return known[0].name if known else None


async def once(house: Running, count: Tally) -> None:
    store = house.app.store
    token = await store.people.invite("viewer", timedelta(minutes=15), actor="a test")
    link = f"/link/{token}"
    looked = await house.ask("GET", link)
    count.case(looked.status == 200 and not looked.cookies, "a program that shows a preview")
    count.case((await house.ask("GET", "/", Cookie=f"{house.cookie}={token}")).status == 401, "as a cookie")
    opened = await house.ask("GET", link, Sec_Fetch_Site="none")
    fresh = opened.cookies.get(house.cookie, "")
    count.case(opened.status == 303 and fresh not in ("", token), "it opens")
    count.case((await house.ask("GET", "/", Cookie=f"{house.cookie}={fresh}")).status == 200, "what it gave works")
    for method in ("GET", "POST"):
        count.case(
            (await house.ask(method, link, Sec_Fetch_Site="none" if method == "GET" else "-")).status == 401,
            f"{method} a second time",
        )
    late = await store.people.invite("viewer", -timedelta(seconds=2), actor="a test")
    count.case((await house.ask("GET", f"/link/{late}", Sec_Fetch_Site="none")).status == 401, "too late")
    stretched = f"{str(late).rpartition('.')[0]}.99999999999"
    count.case((await house.ask("GET", f"/link/{stretched}", Sec_Fetch_Site="none")).status == 401, "with another end")
    await store.people.set_link("viewer", house.tokens["viewer"], actor="a test")


async def cookies(house: Running, count: Tally) -> None:
    link = f"/link/{house.tokens['viewer']}"
    for headers, secure in (
        ({}, False),
        ({"X_Forwarded_Proto": "http"}, False),
        ({"X_Forwarded_Proto": "https"}, True),
        ({"X_Forwarded_Proto": "https, http"}, True),
        ({"Forwarded": "for=10.0.0.7;proto=https"}, True),
        ({"Forwarded": 'for=10.0.0.7;proto="https"'}, True),
        ({"Forwarded": "for=10.0.0.7;proto=http"}, False),
    ):
        answer = await house.ask("GET", link, Sec_Fetch_Site="none", **headers)
        made = answer.headers.get("Set-Cookie", "")
        kept = "HttpOnly" in made and "SameSite=Strict" in made
        count.case(kept and ("Secure" in made) is secure, f"cookie behind {headers}")
    https = house.url.replace("http:", "https:")
    answer = await house.ask("POST", link, Origin=https)
    count.case("Secure" in answer.headers.get("Set-Cookie", ""), "cookie for a page by https")


async def bytes_of_any_kind(house: Running, count: Tally) -> None:
    """What no browser sends is refused, and is no fault of ours."""
    host = f"Host: {house.host}\r\n".encode()
    own = f"Cookie: {house.cookie}={house.tokens['owner']}\r\n".encode()
    post = host + own + f"Origin: {house.url}\r\nX-Signalbox: 1\r\n".encode()
    for what, statuses, request in (
        (
            "bearer",
            (401,),
            b"GET /console/api/overview HTTP/1.1\r\n" + host + b"Authorization: Bearer \xff\xe9\r\n\r\n",
        ),
        ("cookie", (401,), b"GET / HTTP/1.1\r\n" + host + f"Cookie: {house.cookie}=".encode() + b"\xff\xfe\r\n\r\n"),
        ("link", (400, 401), b"GET /link/\xff\xfe HTTP/1.1\r\n" + host + b"\r\n"),
        ("escaped link", (401,), b"GET /link/%FF%FE HTTP/1.1\r\n" + host + b"\r\n"),
        ("NUL in a path", (404,), b"GET /console/api/runs/%00 HTTP/1.1\r\n" + host + own + b"\r\n"),
        ("NUL in a query", (404,), b"GET /console/api/trace?room=%00 HTTP/1.1\r\n" + host + own + b"\r\n"),
        ("NUL in a file", (404,), b"GET /api/rooms/users001/files/a%00b HTTP/1.1\r\n" + host + own + b"\r\n"),
        (
            "hook",
            (401,),
            b"POST /hooks/deploys HTTP/1.1\r\n" + host + b"X-Signalbox-Token: \xff\r\nContent-Length: 0\r\n\r\n",
        ),
        ("deflate", (400,), _packed("/api/rooms/users001/messages", post, b"deflate", b"rubbish!")),
        ("gzip", (400,), _packed("/api/rooms/users001/messages", post, b"gzip", b"rubbish!")),
        ("packed click", (400,), _packed("/api/approvals/aaaaaaaa", post, b"deflate", b"rubbish!")),
        ("packed command", (400,), _packed("/console/api/people", post, b"deflate", b"rubbish!")),
        ("packed hook", (400, 401), _packed("/hooks/deploys", post, b"deflate", b"rubbish!")),
        ("file name", (201, 400), _upload(post, b'filename="a\x00b.txt"')),
        ("escaped file name", (201, 400), _upload(post, b"filename*=UTF-8''a%00b.txt")),
        ("half a file name", (201, 400), _upload(post, b'filename="\xff\xfe.txt"')),
    ):
        status = await raw(house.url, request)
        count.case(status in statuses, f"{what}: {status}")


def _packed(path: str, head: bytes, how: bytes, body: bytes) -> bytes:
    kind = b"Content-Type: application/json\r\nContent-Encoding: " + how
    return b"POST %s HTTP/1.1\r\n%s%s\r\nContent-Length: %d\r\n\r\n%s" % (path.encode(), head, kind, len(body), body)


def _upload(head: bytes, name: bytes) -> bytes:
    body = b'--x\r\nContent-Disposition: form-data; name="file"; ' + name + b"\r\n\r\nwords\r\n--x--\r\n"
    kind = b"Content-Type: multipart/form-data; boundary=x"
    line = b"POST /api/rooms/users001/files HTTP/1.1\r\n"
    return line + b"%s%s\r\nContent-Length: %d\r\n\r\n%s" % (head, kind, len(body), body)
