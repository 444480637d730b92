// Small things that every part of the page needs.

import { locale } from "./language.js";
import { words } from "./words.js";

export const byId = (id) => document.getElementById(id);

/** An element: `h("button", { class: "x", onclick: f }, "text", child)`. Text is always text, never markup. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** A sentence with what stands in backticks as code. */
export const coded = (sentence) => sentence.split("`").map((piece, number) => (number % 2 ? h("code", {}, piece) : piece));

export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `#i-${name}`);
  svg.setAttribute("aria-hidden", "true");
  svg.append(use);
  return svg;
}

const letters = "abcdefghijklmnopqrstuvwxyz0123456789";

/** A random name; not crypto.randomUUID, which browsers keep from plain http on a local network. */
export function newId(length = 24) {
  const bytes = crypto.getRandomValues(new Uint8Array(length));
  return Array.from(bytes, (byte) => letters[byte % letters.length]).join("");
}

const clock = new Intl.DateTimeFormat(locale, { hour: "numeric", minute: "2-digit" });
const day = new Intl.DateTimeFormat(locale, { weekday: "long", day: "numeric", month: "long" });
const dayAndYear = new Intl.DateTimeFormat(locale, { day: "numeric", month: "long", year: "numeric" });
const shortDay = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" });
const inText = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
const full = new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "medium" });

const ago = new Intl.RelativeTimeFormat(locale, { numeric: "always", style: "short" });
const CLOCK_AFTER = 12 * 60; // minutes
const midnight = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
const daysAgo = (date) => Math.round((midnight(new Date()) - midnight(date)) / 86_400_000);

export function timeOf(at) {
  const date = new Date(at);
  return h("time", { datetime: at, title: full.format(date), class: "since", "aria-live": "off" }, since(date));
}

/** How long ago it was; the time alone where that says more. */
function since(date) {
  const minutes = Math.floor((Date.now() - date) / 60_000);
  if (minutes >= CLOCK_AFTER || minutes < 0) return clock.format(date);
  if (minutes === 0) return words.justNow;
  return minutes < 60 ? ago.format(-minutes, "minute") : ago.format(-Math.floor(minutes / 60), "hour");
}

/** Times that are told by how long ago they were go on. */
setInterval(() => {
  for (const time of document.querySelectorAll("time.since")) {
    const told = since(new Date(time.dateTime));
    if (time.textContent !== told) time.textContent = told; // else what a person selects stays selected
  }
}, 20_000);

/** An instant in a text, by the reader's clocks; what the server wrote, by clocks that it names, is behind it. */
export function showLocally(time) {
  time.title = time.textContent;
  time.textContent = inText.format(new Date(time.dateTime));
}

/** Instants in a plain text, as the server wrote them, by the reader's clocks. */
export const locally = (text) =>
  text
    .replace(/\b(\d\d)\.(\d\d)\.(\d{4}), (\d\d:\d\d UTC)\b/g, "$3-$2-$1 $4") // in German
    .replace(/\b(\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC\b/g, (_, date, time) => inText.format(new Date(`${date}T${time}Z`)));

/** The time alone where it is today's. */
export function until(at) {
  const date = new Date(at);
  return (daysAgo(date) === 0 ? clock : inText).format(date);
}

export function dayOf(at) {
  const date = new Date(at);
  const ago = daysAgo(date);
  if (ago === 0) return words.today;
  if (ago === 1) return words.yesterday;
  return date.getFullYear() === new Date().getFullYear() ? day.format(date) : dayAndYear.format(date);
}

export function shortTime(at) {
  const date = new Date(at);
  const ago = daysAgo(date);
  return ago === 0 ? clock.format(date) : ago === 1 ? words.yesterday : shortDay.format(date);
}

export function sizeOf(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  const units = ["kB", "MB", "GB", "TB"];
  const step = Math.min(units.length, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** step;
  return `${value.toLocaleString(locale, value < 10 ? { minimumFractionDigits: 1, maximumFractionDigits: 1 } : { maximumFractionDigits: 0 })} ${units[step - 1]}`;
}

export async function copyText(text) {
  if (navigator.clipboard?.writeText) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // not allowed here: the old way may still be
    }
  }
  const area = h("textarea", { class: "visually-hidden", "aria-hidden": "true" });
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  return copied;
}

const sized = new ResizeObserver((changes) => {
  for (const { target } of changes) {
    if (target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight) target.tabIndex = 0;
    else if (target !== document.activeElement) target.removeAttribute("tabindex");
  }
});

/** A box that the keyboard comes to only where there is something to scroll. */
export function stopsWhereItScrolls(box) {
  sized.observe(box);
  return box;
}

/** localStorage, or nothing where the browser forbids it. */
export const storage = {
  get(key, otherwise) {
    try {
      return JSON.parse(localStorage.getItem(key)) ?? otherwise;
    } catch {
      return otherwise;
    }
  },
  set(key, value) {
    try {
      if (value === null) localStorage.removeItem(key);
      else localStorage.setItem(key, JSON.stringify(value));
      return true;
    } catch {
      return false;
    }
  },
};

const PART_EVERY = 3_000; // milliseconds
const UNSEEN = 500; // milliseconds; a tab in the background draws nothing
const after = []; // what waits for the next picture
let unseen = 0;

/** Do `work` once what was drawn until now is on screen: what nobody sees at once does not hold it up. */
export function afterPaint(work) {
  if (after.push(work) > 1) return;
  requestAnimationFrame(() => setTimeout(doAfter));
  unseen = setTimeout(doAfter, UNSEEN);
}

function doAfter() {
  clearTimeout(unseen);
  for (const work of after.splice(0)) work();
}

export const painted = () => new Promise(afterPaint);
export const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const parts = new Map(); // name -> promise

/** A module that no first picture needs. Where Signalbox is away it comes once that is back: by another address, since browsers keep a failure. */
export function part(name) {
  if (!parts.has(name)) parts.set(name, coming(name));
  return parts.get(name);
}

async function coming(name) {
  for (let again = ""; ; again = `?${Date.now()}`) {
    try {
      return await import(`./${name}.js${again}`);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      await sleep(PART_EVERY);
    }
  }
}
