"""A tab that is watched for whatever a text made it do: run, ask another host, open a dialog, or hold an element of its own."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from playwright.async_api import Browser, Dialog, Page, Route

RECORDER: Final = """() => {
  window.__told = [];
  window.__xss = (number) => window.__told.push(`ran ${number}`);
  for (const name of ["alert", "prompt", "confirm"]) window[name] = (words) => window.__told.push(`${name} ${words}`);
  addEventListener("securitypolicyviolation", (event) =>
    window.__told.push(`policy ${event.violatedDirective} ${event.blockedURI} ${event.sample} ${event.target?.outerHTML ?? ""}`));
  const ours = (element) => Element.prototype.matches.call(element, "body > dialog.palette") && element === Document.prototype.getElementById.call(document, "palette");
  const bad = (element) => {
    const name = element.localName, own = (address) => URL.canParse(address) && new URL(address).origin === location.origin;
    if (/^(iframe|frame|object|embed|base|style|math|marquee|video|audio|template|dialog|input-x|animate|image)$/.test(name) && !ours(element)) return name;
    if (name === "script" && !(element.src && own(element.src) && /^\\/(console\\/)?static\\//.test(new URL(element.src).pathname))) return name;
    if (name === "link" && !own(element.href)) return name;
    if (name === "meta" && element.httpEquiv) return name;
    if (name === "img" && (!own(element.src) || !/^\\/(static|api)\\//.test(new URL(element.src).pathname))) return name;
    for (const key of Element.prototype.getAttributeNames.call(element)) {  // a form's own may be another element
      const value = Element.prototype.getAttribute.call(element, key);
      if (key.startsWith("on") || key === "srcdoc" || (key === "style" && element.id !== "composer-text")) return `${name} ${key}`;
      if (!/^(href|src|action|formaction|data|xlink:href|poster|cite|background)$/.test(key) || value.startsWith("#")) continue;
      const url = URL.canParse(value, location.href) ? new URL(value, location.href) : null;
      if (!url || !/^(https?|mailto):$/.test(url.protocol)) return `${name} ${key}`;
      if (key !== "href" && url.origin !== location.origin) return `${name} ${key}`;
    }
    return Element.prototype.matches.call(element, "[id=words], [name=attributes], [id=composer]:not(.composer)") && name;
  };
  window.__look = (root) => {
    for (const element of [root, ...root.querySelectorAll("*")]) {
      const found = bad(element);
      if (found) window.__told.push(`element ${found}: ${element.outerHTML.slice(0, 300)} in ${element.parentElement?.outerHTML.slice(0, 300)}`);
    }
  };
  window.__seen = new Set();
  const read = (root) => {
    const texts = [root.textContent ?? "", ...[...(root.querySelectorAll?.("*") ?? [])].flatMap((one) => Element.prototype.getAttributeNames.call(one).map((key) => Element.prototype.getAttribute.call(one, key)))];
    for (const text of texts) for (const [, number] of text.matchAll(/n(\\d{5})n/g)) window.__seen.add(Number(number));
  };
  window.__read = () => { read(document.documentElement); return [...window.__seen]; };
  const start = () => new MutationObserver((changes) => {
    for (const { addedNodes } of changes) for (const node of addedNodes) {
      if (node.nodeType === Node.ELEMENT_NODE) window.__look(node);
      if (node.parentElement?.closest("#live")) read(node);
    }
  }).observe(document, { childList: true, subtree: true });
  start();
}"""
TAKE: Final = """() => {
  window.__look(document.documentElement);
  for (const link of document.querySelectorAll(".prose a[href]")) {
    link.addEventListener("click", (event) => /^(https?|mailto):$/.test(link.protocol) && event.preventDefault(), { once: true });
    link.click();
  }
  for (const one of document.querySelectorAll(".prose *, main td *, main pre, main summary")) {
    for (const kind of ["mouseover", "focus"]) one.dispatchEvent(new Event(kind, { bubbles: true }));
  }
  const told = window.__told.splice(0), seen = window.__read();
  return { told, seen };
}"""
NUMBER: Final = re.compile(r"(?<!\d)\d{5}(?!\d)")


@dataclass
class Watched:
    """One page under watch. `told` are things that must not be; `seen` are numbers of cases whose text was shown."""

    page: Page
    host: str
    told: list[str] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)

    async def open(self, path: str, press: str = "") -> None:
        await self.page.goto("about:blank")  # another place of the same page would not be loaded
        await self.page.goto(f"http://{self.host}{path}")
        if press:
            await self.page.get_by_test_id(press).click()

    async def take(self) -> None:
        """Look at everything that is there, click each link, and move over everything."""
        found: dict[str, Any] = await self.page.evaluate(TAKE)
        self.told += found["told"]
        self.seen |= set(found["seen"])

    @property
    def named(self) -> set[int]:
        """Numbers of cases that something was told about."""
        return {int(number) for words in self.told for number in NUMBER.findall(words)}

    async def route(self, route: Route) -> None:
        url = route.request.url
        if urlsplit(url).netloc == self.host:
            await route.continue_()
            return
        self.told.append(f"request {url}")
        await route.abort()

    async def dialog(self, dialog: Dialog) -> None:
        self.told.append(f"dialog {dialog.message}")
        await dialog.dismiss()


@asynccontextmanager
async def watched(browser: Browser, url: str, cookie: str) -> AsyncIterator[Watched]:
    """A window of a person with this cookie."""
    name, _, value = cookie.partition("=")
    window = await browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    try:
        await window.add_cookies([{"name": name, "value": value, "url": url}])
        await window.add_init_script(f"({RECORDER})()")
        one = Watched(await window.new_page(), urlsplit(url).netloc)
        await window.route("**/*", one.route)
        one.page.on("dialog", one.dialog)
        yield one
    finally:
        await window.close()
