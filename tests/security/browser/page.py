"""A page that tries every way a browser has to reach an address, for an address of its own site and for a forbidden one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

WAYS: Final = (
    *("img", "script", "css", "import", "background", "font", "iframe", "object", "video", "audio", "svg", "input"),
    *("fetch", "xhr", "beacon", "events", "worker", "shared", "module", "dynamic"),
    *("prefetch", "preload", "icon", "manifest", "redirect", "temporary", "refresh", "frame-fetch", "form", "window"),
)
"""Names under which a way asks both sites. It also tries dns-prefetch, preconnect,
web sockets, service workers, WebRTC, WebTransport, pings, speculation rules, data:, blob: and file:, of which none answers."""
UNASKED: Final = frozenset(("prefetch", "icon", "manifest", "window", "shared", "events"))
"""Ways that Chromium without a window may leave out, or that a rule refuses; all others must have been tried."""
FILES: Final = '<iframe src="file:///etc/passwd"></iframe><iframe src="view-source:file:///etc/passwd"></iframe>'


def html(own: str, places: Sequence[str]) -> str:
    """`own` is what the addresses of the page's own site begin with; `places` are forbidden hosts with their ports."""
    lines = ["<!doctype html><title>Ways out</title><h1>Ways out</h1>", *_marks(own, 0)]
    for number, place in enumerate(places, 1):
        lines += [*_marks(f"http://{place}", number), *_also(f"http://{place}", place)]
    return "\n".join([*lines, FILES])


def _marks(at: str, number: int) -> list[str]:
    return [
        f'<img src="{at}/img"><script src="{at}/script"></script><link rel="stylesheet" href="{at}/css">',
        f'<style>@import url("{at}/import"); body {{ background: url("{at}/background") }}'
        f'@font-face {{ font-family: f; src: url("{at}/font") }} h1 {{ font-family: f }}</style>',
        f'<iframe src="{at}/iframe"></iframe><object data="{at}/object"></object><input type="image" src="{at}/input">',
        f'<video src="{at}/video" preload="auto"></video><audio src="{at}/audio" preload="auto"></audio>',
        f'<svg><image href="{at}/svg"/></svg><img src="/to?{at}/redirect"><img src="/to307?{at}/temporary">',
        f'<link rel="prefetch" href="{at}/prefetch"><link rel="preload" as="image" href="{at}/preload">',
        f'<link rel="icon" href="{at}/icon"><link rel="manifest" href="{at}/manifest">',
        f"""<iframe srcdoc="<meta http-equiv=refresh content='0;url={at}/refresh'>"></iframe>""",
        f"""<iframe srcdoc="<script>fetch('{at}/frame-fetch',{{mode:'no-cors'}})</script>"></iframe>""",
        f'<iframe name="t{number}"></iframe><form id="f{number}" target="t{number}" action="{at}/form"></form>',
        "<script>{",
        f"const at = '{at}', quiet = () => 0;",
        "fetch(at + '/fetch', {mode: 'no-cors'}).catch(quiet);",
        "const x = new XMLHttpRequest(); x.open('GET', at + '/xhr'); x.send();",
        "navigator.sendBeacon(at + '/beacon', 'x'); new EventSource(at + '/events');",
        "const code = `fetch('${at}/worker', {mode: 'no-cors'}).catch(() => 0)`;",
        "new Worker(URL.createObjectURL(new Blob([code])));",
        "const shared = `fetch('${at}/shared', {mode: 'no-cors'}).catch(() => 0)`;",
        "new SharedWorker(URL.createObjectURL(new Blob([shared])));",
        "const m = document.createElement('script'); m.type = 'module'; m.src = at + '/module'; document.head.append(m);",
        "import(at + '/dynamic').catch(quiet);",
        f"document.getElementById('f{number}').submit(); window.open(at + '/window');",
        "}</script>",
    ]


def _also(at: str, host: str) -> list[str]:
    return [
        f'<link rel="dns-prefetch" href="{at}"><link rel="preconnect" href="{at}"><a ping="{at}/ping" href="#">p</a>',
        f'<script type="speculationrules">{{"prefetch": [{{"source": "list", "urls": ["{at}/speculation"]}}]}}</script>',
        f"""<iframe src="data:text/html,<img src='{at}/data'>"></iframe>""",
        "<script>{",
        f"const away = '{host}';",
        "for (const scheme of ['ws', 'wss']) try { new WebSocket(`${scheme}://${away}/socket`) } catch (_) {}",
        f"const frame = document.createElement('iframe'); const inner = '<img src={at}/blob>';",
        "frame.src = URL.createObjectURL(new Blob([inner], {type: 'text/html'})); document.body.append(frame);",
        "navigator.serviceWorker?.register('/service.js').catch(() => 0);",
        "try { const p = new RTCPeerConnection({iceServers: [{urls: [`stun:${away}`, `turn:${away}?transport=tcp`],",
        "  username: 'u', credential: 'c'}]}); p.createDataChannel('d');",
        "  p.createOffer().then(offer => p.setLocalDescription(offer)) } catch (_) {}",
        "try { new WebTransport(`https://${away}/`).ready.catch(() => 0) } catch (_) {}",
        "}</script>",
    ]
