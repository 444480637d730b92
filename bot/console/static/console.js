"use strict";

// Keeps a console page fresh and sends its forms. Everything it shows was made, and escaped, by the server.

const REFRESH_MS = 3000;
const TOLD = "console.told"; // what the page before had to say
const said = document.getElementById("said");

function tell(words, wrong = false) {
  said.textContent = words;
  said.classList.toggle("wrong", wrong);
}

const UNITS = [["day", 86_400], ["hour", 3_600], ["minute", 60], ["second", 1]];
const NEAR_SECONDS = 7 * 86_400; // further away, a date says more
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const dated = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const distant = new Intl.RelativeTimeFormat(undefined, { numeric: "always" });

/** How long ago it was, or how far ahead it is; the date where that says more. */
function distance(date) {
  const seconds = Math.round((date - Date.now()) / 1000);
  if (Math.abs(seconds) >= NEAR_SECONDS) return dated.format(date);
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? UNITS.at(-1);
  return distant.format(Math.round(seconds / size), unit);
}

function localTimes(root) {
  for (const time of root.querySelectorAll("time")) {
    const date = new Date(time.dateTime);
    time.title = exact.format(date);
    if (time.dataset.relative === "") continue;
    const told = time.dataset.exact === "" ? dated.format(date) : distance(date);
    if (time.textContent !== told) time.textContent = told; // else what a person selects stays selected
  }
}

/** What scrolls sideways can be scrolled by the keyboard. */
function scrollers(root) {
  for (const frame of root.querySelectorAll(".wide")) {
    if (frame.scrollWidth > frame.clientWidth) frame.tabIndex = 0;
    else frame.removeAttribute("tabindex");
  }
}

// What a person is in the middle of must not be taken from under them.
function isInUse(live) {
  const typed = [...live.querySelectorAll("input, textarea")].some((input) => input.value !== input.defaultValue);
  const picked = [...live.querySelectorAll("select:has(option[selected])")].some((one) => !one.selectedOptions[0].defaultSelected);
  return typed || picked || live.querySelector("input:focus, textarea:focus, select:focus, button[disabled]") !== null;
}

let shown = null;

async function refresh({ force = false } = {}) {
  const live = document.getElementById("live");
  if (!force && (document.hidden || isInUse(live))) return;
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok) throw new Error(String(answer.status));
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("live");
  if (fresh.innerHTML === shown || (!force && isInUse(live))) return;
  shown = fresh.innerHTML;
  replace(live, fresh);
}

function replace(live, fresh) {
  const open = [...live.querySelectorAll("details[open]")].map((details) => details.id);
  const focused = live.contains(document.activeElement) ? pathOf(document.activeElement) : null;
  const preview = live.querySelector(".preview:not([hidden])");
  if (preview) fresh.querySelector(".preview")?.replaceWith(preview); // somebody is looking at it
  localTimes(fresh);
  live.replaceWith(fresh);
  scrollers(fresh);
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (focused) (fresh.querySelector(focused) ?? document.getElementById("main")).focus();
}

// A selector that finds the same link, summary or button in a page made anew.
function pathOf(element) {
  if (element.id) return `#${CSS.escape(element.id)}`;
  if (element.href) return `a[href="${CSS.escape(element.getAttribute("href"))}"]`;
  const holder = element.closest("[id]:not(#live), form");
  const place = holder?.id ? `#${CSS.escape(holder.id)}` : holder ? `form[action="${CSS.escape(holder.getAttribute("action"))}"]` : "";
  const value = element.value ? `[value="${CSS.escape(element.value)}"]` : "";
  return `${place} ${element.localName}${value}`;
}

/** Fields as the API takes them: `options:hours` is one of `options`. A form of changes sends what was changed. */
function fieldsOf(form, pressed) {
  const fields = {};
  for (const [name, value] of new FormData(form, pressed)) {
    const [outer, inner] = name.startsWith("options:") ? name.split(":", 2) : [name];
    if (inner) (fields[outer] ??= {})[inner] = value;
    else if (!isUnchanged(form, name)) fields[outer] = outer === "to" && form.dataset.list === "" ? value.split(",").filter(Boolean) : value;
  }
  return fields;
}

function isUnchanged(form, name) {
  const field = form.elements[name];
  if (form.dataset.changes !== "" || !field) return false;
  if (field.localName === "select") return field.selectedOptions[0]?.defaultSelected ?? true;
  return field.type === "hidden" ? field.value === field.getAttribute("value") : field.value === field.defaultValue;
}

/** Each fault stands below its field; the others lose theirs. Returns the first field that is wrong. */
function showFaults(form, faults) {
  let first = null;
  for (const place of form.querySelectorAll("[data-fault]")) {
    const words = faults[place.dataset.fault] ?? "";
    const field = form.querySelector(`[aria-describedby~="${place.id}"]`);
    if (place.textContent !== words) place.textContent = words;
    if (words) field?.setAttribute("aria-invalid", "true");
    else field?.removeAttribute("aria-invalid");
    if (words) first ??= field;
  }
  return first;
}

/** What must be filled in, told below the field. */
function missing(form) {
  const empty = [...form.querySelectorAll("[data-fault]")]
    .map((place) => [place.dataset.fault, form.querySelector(`[aria-describedby~="${place.id}"]`)])
    .filter(([, field]) => field?.required && !field.closest("[disabled]") && !field.value.trim());
  return Object.fromEntries(empty.map(([name]) => [name, "Fill this in."]));
}

async function send(form, pressed) {
  const fields = fieldsOf(form, pressed);
  const answer = await fetch(form.getAttribute("action"), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(fields),
  }).catch(() => {
    throw new Error("Signalbox isn't answering. Before you try again, check whether your change was made.");
  });
  const told = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(told.error), { field: told.field });
  return told;
}

/** Tells an error at its field, where the form has a place for it; else at the top of the page, and beside the button. */
function tellOf(form, error) {
  const fault = error.field === "task" ? form.querySelector("fieldset:not([disabled]) [data-fault]")?.dataset.fault : error.field;
  const field = fault && form.querySelector(`[data-fault="${CSS.escape(fault)}"]`) ? showFaults(form, { [fault]: error.message }) : null;
  const beside = form.querySelector("#form-fault");
  if (beside) beside.textContent = field ? "" : error.message;
  if (!beside) tell(error.message, true);
  field?.focus();
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.method === "get") return;
  event.preventDefault();
  const empty = missing(form);
  if (Object.keys(empty).length) return showFaults(form, empty)?.focus();
  if (form.dataset.ask && !confirm(form.dataset.ask)) return;
  const buttons = [...form.querySelectorAll("button")];
  let force = false; // after a refusal, what a person typed stays for them to fix
  try {
    const sending = send(form, event.submitter);
    buttons.forEach((button) => (button.disabled = true));
    const done = await sending;
    if (form.dataset.then) {
      sessionStorage.setItem(TOLD, done.told ?? "Saved."); // this page is about what is gone, or what it made
      location.assign(form.dataset.then.replace("{id}", encodeURIComponent(done.id)));
    }
    tell(done.told ?? `Done. It's ${done.state} now.`);
    form.reset();
    force = true;
  } catch (error) {
    tellOf(form, error);
  } finally {
    buttons.forEach((button) => (button.disabled = false));
    if (!force || !form.dataset.then) await refresh({ force }).catch(() => {});
  }
});

async function loop() {
  let away = false;
  for (;;) {
    await new Promise((wake) => setTimeout(wake, REFRESH_MS));
    localTimes(document);
    try {
      await refresh();
      if (away) tell("Connected again.");
      away = false;
    } catch {
      if (!away) tell("Signalbox isn't answering. This page may be out of date. Still trying.", true);
      away = true;
    }
  }
}

const before = sessionStorage.getItem(TOLD);
if (before) tell(before);
sessionStorage.removeItem(TOLD);
localTimes(document);
scrollers(document);
addEventListener("resize", () => scrollers(document));
if (document.getElementById("live").dataset.refreshed === "") loop();
