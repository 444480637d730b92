// The page's own files, kept for when Signalbox can't be reached; and what is pushed to this browser.
//
// Nothing that a person said or may see is kept here: of all answers only files that are the same for everybody, under the
// name of their version. Pages are asked for first and kept as a way out, so that no browser stays with an older one than
// the program has.

importScripts("/static/shell.js");

const { program, version, languages, pages, files } = self.SHELL;
const PREFIX = "signalbox-shell-";
const CACHE = `${PREFIX}${program}-${version}`;
const STATIC = "/static/";
const OURS = `${STATIC}${version}/`;
const CHOSEN = "signalbox_language"; // the cookie with a choice of language
const PATIENCE = 4_000; // milliseconds for a network that neither answers nor fails
const GATEWAY = 502; // and above: a proxy before us says that the program is away

self.addEventListener("install", (event) => {
  self.skipWaiting();
  event.waitUntil(keep());
});

self.addEventListener("activate", (event) => event.waitUntil(takeOver()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== location.origin) return;
  const spare = spareFor(request, url);
  if (spare) event.respondWith(url.pathname === spare ? kept(request, spare) : newest(request, spare));
});

/** Keep all files of this version. Errors: one that is of another version, whose own worker is about to come. */
async function keep() {
  const cache = await caches.open(CACHE);
  await Promise.all(Object.entries(files).map(async ([name, tag]) => {
    const answer = await fetch(OURS + name);
    if (!answer.ok || !answer.headers.get("ETag")?.includes(tag)) throw new Error(`${name} is of another version`);
    await cache.put(OURS + name, answer);
  }));
  await cache.addAll(languages.flatMap((one) => pages.map((name) => spoken(OURS + name, one))));
}

/** The address of a page in a language: that of the sources has no mark. */
const spoken = (page, language) => (languages.includes(language) ? page.replace(/\.html$/, `.${language}.html`) : page);

/** What somebody chose on the page, where the browser tells a worker of it; else what it asks for. */
async function readersLanguage() {
  const chosen = await self.cookieStore?.get(CHOSEN).catch(() => null);
  const wanted = [chosen?.value ?? "", ...navigator.languages].map((one) => one.split("-")[0]);
  return wanted.find((one) => one === "en" || languages.includes(one)) ?? "en";
}

async function takeOver() {
  const old = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
  await self.clients.claim();
}

/** What is shown in place of an answer that doesn't come; nothing for what is not ours to keep. */
function spareFor(request, { pathname }) {
  if (request.mode === "navigate") {
    if (pathname === "/") return `${OURS}index.html`;
    return pathname === "/console" || pathname.startsWith("/console/") ? `${OURS}offline.html` : null;
  }
  const name = [OURS, STATIC].filter((before) => pathname.startsWith(before)).map((before) => pathname.slice(before.length))[0];
  return name !== undefined && Object.hasOwn(files, name) ? OURS + name : null;
}

async function spared(spare) {
  const page = pages.some((name) => spare === OURS + name) ? spoken(spare, await readersLanguage()) : spare;
  return caches.match(page, { cacheName: CACHE });
}

/** A file of this version: under its address never stands another one. */
const kept = async (request, spare) => (await spared(spare)) ?? fetch(request);

async function newest(request, spare) {
  const asked = fetch(request);
  try {
    const answer = await Promise.race([asked, later(PATIENCE)]);
    if (answer && answer.status < GATEWAY) return answer;
    return (await spared(spare)) ?? answer ?? (await asked);
  } catch {
    return (await spared(spare)) ?? Response.error();
  }
}

const later = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds, null));

// ---- what is pushed

self.addEventListener("push", (event) => event.waitUntil(announce(event.data?.json() ?? {})));

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data));
});

async function announce({ kind, title, link }) {
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  if (windows.some(({ focused }) => focused)) return; // the page shows it to whoever looks
  await self.registration.showNotification(title || "Signalbox", {
    tag: link, // what is pushed once more takes the place of what is shown
    data: link,
    icon: "/static/icon-192.png",
    badge: "/static/icon-one-colour-96.png",
    requireInteraction: kind === "approval",
  });
}

/** At its card: in a window that is open, or in a new one. Only places of this page are opened. */
async function open(link) {
  const place = new URL(link || "/", location.origin);
  if (place.origin !== location.origin) return;
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const known = windows.find((one) => new URL(one.url).pathname === "/") ?? null;
  if (!known) return void (await self.clients.openWindow(place.href));
  known.postMessage({ go: place.hash });
  await known.focus();
}
