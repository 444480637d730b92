"use strict";

// Keeps a console page fresh and sends its forms. Everything it shows was made, and escaped, by the server.

const REFRESH_MS = 3000;
const TOLD = "console.told"; // what the page before had to say
const said = document.getElementById("said");

/** Texts of another language, by the English ones, with values in the places that they name in braces. They are literals, so that they are found. */
const language = document.documentElement.lang;
const locale = navigator.languages?.find((one) => one.split("-")[0] === language) ?? language;
const texts = JSON.parse(document.body.dataset.words ?? "{}");
const t = (text, values = {}) => (texts[text] ?? text).replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);

/** A refusal of the server; anything else that is thrown is a fault of ours. */
class Refused extends Error {}

/** Says something at the top of the page; where that is out of sight also in `near`, the form it's about. */
function tell(words, wrong = false, near = null) {
  said.replaceChildren(...coded(words));
  said.classList.toggle("wrong", wrong);
  for (const old of document.querySelectorAll(".told-here")) old.remove();
  if (!words || !near?.isConnected || said.getBoundingClientRect().top >= 0) return;
  const place = toldHere(words, wrong);
  near.append(place);
  place.scrollIntoView({ block: "nearest" });
}

function toldHere(words, wrong) {
  const place = made("p", "", { class: wrong ? "told-here fault" : "told-here" });
  place.append(...coded(words));
  return place;
}

/** Words of ours, with what stands in backticks as code: that is what one types. */
function coded(words) {
  return words.split("`").map((piece, number) => (number % 2 ? made("code", piece) : piece));
}

/** A fault of ours is told like a refusal, and the browser's log has it. */
function tellFault(error, near) {
  if (!(error instanceof Refused)) reportError(error);
  tell(error.message, true, near);
}

const UNITS = [["day", 86_400], ["hour", 3_600], ["minute", 60], ["second", 1]];
const NEAR_SECONDS = 7 * 86_400; // further away, a date says more
const exact = new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "long" });
const dated = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
const clock = new Intl.DateTimeFormat(locale, { timeStyle: "medium" });
const distant = new Intl.RelativeTimeFormat(locale, { numeric: "always" });

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
    const told = time.dataset.clock === "" ? clock.format(date) : time.dataset.exact === "" ? dated.format(date) : distance(date);
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
  const chosen = live.querySelector("[data-choose]:checked") !== null;
  const picked = [...live.querySelectorAll("select:has(option[selected])")].some((one) => !one.selectedOptions[0].defaultSelected);
  return typed || chosen || picked || live.querySelector("input:focus, textarea:focus, select:focus, button[disabled]") !== null;
}

document.querySelector(".side > nav [aria-current]")?.scrollIntoView({ block: "nearest" }); // the list is longer than many a screen

let shown = null;

async function refresh({ force = false } = {}) {
  const live = document.getElementById("live");
  if (!force && (document.hidden || isInUse(live))) return;
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (answer.status === 401) return location.reload(); // signed out: the page that comes tells how to sign in again
  if (!answer.ok) throw new Error(String(answer.status));
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("live");
  if (fresh.innerHTML === shown || (!force && isInUse(live))) return;
  shown = fresh.innerHTML;
  replace(live, fresh);
}

function replace(live, fresh) {
  const open = [...live.querySelectorAll("details[open]")].map((details) => details.id);
  const focused = live.contains(document.activeElement) ? pathOf(document.activeElement) : null;
  const told = live.querySelector(".told-here");
  const about = told && `form[action="${CSS.escape(told.closest("form").getAttribute("action"))}"]`;
  const typed = [...live.querySelectorAll("input:not([type=checkbox], [type=hidden]), textarea")].filter((field) => field.value !== field.defaultValue);
  const begun = typed.map((field) => [pathOf(field), field.value]);
  const preview = live.querySelector(".preview:not([hidden])");
  if (preview) fresh.querySelector(".preview")?.replaceWith(preview); // somebody is looking at it
  localTimes(fresh);
  live.replaceWith(fresh);
  counted();
  scrollers(fresh);
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  for (const [path, value] of begun) (fresh.querySelector(path) ?? {}).value = value; // begun while another form was sent
  if (told) keepTold(told, fresh.querySelector(about));
  if (focused) (fresh.querySelector(focused) ?? document.getElementById("main")).focus();
}

/** What was told in a form that is made anew is told there; where the form is gone, at the top, which comes in sight. */
function keepTold(told, form) {
  if (form) form.append(told);
  else said.scrollIntoView({ block: "nearest" });
}

// A selector that finds the same link, summary or button in a page made anew.
function pathOf(element) {
  if (element.id) return `#${CSS.escape(element.id)}`;
  if (element.href) return `a[href="${CSS.escape(element.getAttribute("href"))}"]`;
  const holder = element.closest("[id]:not(#live), form");
  const place = holder?.id ? `#${CSS.escape(holder.id)}` : holder ? `form[action="${CSS.escape(holder.getAttribute("action"))}"]` : "";
  const value = element.matches("input, textarea, select") ? `[name="${CSS.escape(element.name)}"]` : element.value ? `[value="${CSS.escape(element.value)}"]` : "";
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
  return Object.fromEntries(empty.map(([name]) => [name, t("Fill this in.")]));
}

/** What must be typed once more to the letter, told before anybody is asked whether they are sure. */
function mistyped(form) {
  const fields = [...form.querySelectorAll("[data-same]")].filter((field) => field.value.trim() !== field.dataset.same);
  return Object.fromEntries(fields.map((field) => [field.name, t("This must be exactly: {words}", { words: field.dataset.same })]));
}

async function send(form, pressed) {
  const fields = fieldsOf(form, pressed);
  if (form.dataset.link === "") fields.at = location.origin; // the address that this person knows us by
  const answer = await fetch(form.getAttribute("action"), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(fields),
  }).catch(() => {
    throw new Refused(t("Signalbox isn't answering. Before you try again, check whether your change was made."));
  });
  const told = await answer.json();
  if (!answer.ok) throw Object.assign(new Refused(told.error), { field: told.field });
  return told;
}

/** Tells an error at its field, where the form has a place for it; else at the top of the page, or beside the button. */
function tellOf(form, error) {
  const fault = error.field === "task" ? form.querySelector("fieldset:not([disabled]) [data-fault]")?.dataset.fault : error.field;
  const field = fault && form.querySelector(`[data-fault="${CSS.escape(fault)}"]`) ? showFaults(form, { [fault]: error.message }) : null;
  const beside = form.querySelector("#form-fault");
  if (beside) beside.textContent = field ? "" : error.message;
  if (!beside && !field) tellFault(error, form);
  else if (!(error instanceof Refused)) reportError(error);
  field?.focus();
}

const SVG = "http://www.w3.org/2000/svg";

function made(name, words, attributes = {}) {
  const element = document.createElement(name);
  if (words) element.textContent = words;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

/** The code of a link for a camera, dark on light in both colour schemes. */
function drawn(code) {
  const svg = document.createElementNS(SVG, "svg");
  for (const [key, value] of Object.entries({ viewBox: `0 0 ${code.size} ${code.size}`, role: "img", "aria-label": t("The link as a QR code"), class: "qr" })) svg.setAttribute(key, value);
  const light = document.createElementNS(SVG, "rect");
  for (const [key, value] of Object.entries({ width: code.size, height: code.size, fill: "#ffffff" })) light.setAttribute(key, value);
  const dark = document.createElementNS(SVG, "path");
  for (const [key, value] of Object.entries({ d: code.path, fill: "#000000", "shape-rendering": "crispEdges" })) dark.setAttribute(key, value);
  svg.append(light, dark);
  return svg;
}

/** A link that is shown once: in a window of its own, which no refresh takes away. */
function showLink(done) {
  const window_ = made("dialog", "", { class: "link", "aria-labelledby": "link-title" });
  const place = made("input", "", { readonly: "", "aria-label": t("The link"), value: done.url });
  const copy = made("button", t("Copy the link"), { type: "button", class: "main" });
  const close = made("button", t("Close"), { type: "button" });
  const buttons = made("div", "", { class: "buttons" });
  const told = made("p", "", { role: "status" });
  copy.addEventListener("click", async () => {
    place.select();
    const copied = await navigator.clipboard?.writeText(done.url).then(() => true, () => false);
    told.textContent = copied ? t("Copied.") : t("It's selected: copy it with your keyboard.");
  });
  close.addEventListener("click", () => window_.close());
  window_.addEventListener("close", () => window_.remove());
  buttons.append(copy, close);
  window_.append(made("h2", t("A link, shown once"), { id: "link-title" }), made("p", done.told));
  if (done.note) window_.append(made("p", done.note, { class: "faint" }));
  if (done.qr) window_.append(drawn(done.qr));
  window_.append(place, buttons, told);
  document.body.append(window_);
  window_.showModal();
  copy.focus();
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.method === "get") return;
  event.preventDefault();
  const wrong = { ...mistyped(form), ...missing(form) };
  if (Object.keys(wrong).length) return showFaults(form, wrong)?.focus();
  if (form.dataset.ask && !confirm(form.dataset.ask)) return;
  const buttons = [...form.querySelectorAll("button")];
  const hadFocus = document.activeElement;
  let force = false; // after a refusal, what a person typed stays for them to fix
  try {
    const sending = send(form, event.submitter);
    buttons.forEach((button) => (button.disabled = true));
    if (form.dataset.meanwhile) tell(form.dataset.meanwhile); // it takes long enough to wonder
    const done = await sending;
    if (form.dataset.then) {
      sessionStorage.setItem(TOLD, done.told ?? t("Saved.")); // this page is about what is gone, or what it made
      location.assign(form.dataset.then.replace("{id}", encodeURIComponent(done.id)).replace("{name}", encodeURIComponent(done.name)));
    }
    if (done.url) showLink(done);
    tell(done.told ?? (done.state ? t("Done. It's {state} now.", { state: t(done.state) }) : t("Saved.")), false, form);
    form.reset();
    force = true;
  } catch (error) {
    tellOf(form, error);
  } finally {
    buttons.forEach((button) => (button.disabled = false));
    if (document.activeElement === document.body) hadFocus?.focus({ preventScroll: true }); // a button that is switched off loses it
    if (!force || !form.dataset.then) await refresh({ force }).catch(() => {});
  }
});

// ---- questions: as on the page of conversations, with the same keys

const MOVES = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };
const DECIDES = { a: "approve", d: "deny" };
const ARMED_FOR_MS = 4000; // between the two presses for a dangerous call
const TITLE = document.title;
let armed = { what: "", at: 0 };

const cards = () => [...document.querySelectorAll("article.card[tabindex]")];

/** True if this is the second press of the same; the first one says so. */
function sure(what, sentence) {
  const again = armed.what === what && Date.now() - armed.at < ARMED_FOR_MS;
  armed = again ? { what: "", at: 0 } : { what, at: Date.now() };
  if (!again) tell(sentence);
  return again;
}

/** How many questions wait: in the tab's title, on its icon and on that of the installed app. */
function counted() {
  if (!location.pathname.startsWith("/console/approvals")) return;
  const number = cards().length;
  document.title = number ? `(${number}) ${TITLE}` : TITLE;
  const icon = number ? `/static/icon-${encodeURIComponent(number > 9 ? "9+" : number)}.svg` : "/static/icon.svg";
  document.querySelector("link[rel=icon]").setAttribute("href", icon);
}

function step(event, by) {
  const all = cards();
  if (!all.length) return;
  const here = all.findIndex((one) => one.contains(event.target));
  event.preventDefault();
  const next = all[here < 0 ? 0 : Math.min(all.length - 1, Math.max(0, here + by))];
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

function decide(event, choice) {
  const card = event.target.closest("article.card[tabindex]");
  const button = card?.querySelector(`button[name=choice][value=${choice}]:not(:disabled)`);
  if (!button) return;
  event.preventDefault();
  const danger = card.dataset.danger === "" && choice === "approve";
  if (!danger || sure(card.id, t("This call is dangerous. Press A again to approve it."))) button.click();
}

function choose(event) {
  const box = event.target.closest("article.card[tabindex]")?.querySelector("[data-choose]");
  if (!box) return;
  event.preventDefault();
  box.click();
}

addEventListener("keydown", (event) => {
  const busy = event.ctrlKey || event.metaKey || event.altKey || event.isComposing;
  if (busy || event.target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]")) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (MOVES[key]) step(event, MOVES[key]);
  else if (event.repeat) return;
  else if (DECIDES[key]) decide(event, DECIDES[key]);
  else if (key === "x") choose(event);
});

document.addEventListener("change", (event) => {
  const bar = document.querySelector(".bulk");
  if (!bar || !event.target.matches("[data-choose]")) return;
  const number = document.querySelectorAll("[data-choose]:checked").length;
  bar.hidden = number === 0;
  bar.querySelector("span").textContent = t("Selected: {number}", { number });
});

function decided(choice, number) {
  if (choice === "approve") return number === 1 ? t("Approved 1 call.") : t("Approved {number} calls.", { number });
  return number === 1 ? t("Denied 1 call.") : t("Denied {number} calls.", { number });
}

/** Each selected question is decided for itself, in the order in which they stand. */
document.addEventListener("click", async (event) => {
  const choice = event.target.dataset?.bulk;
  if (!choice) return;
  const chosen = cards().filter((card) => card.querySelector("[data-choose]")?.checked);
  const danger = choice === "approve" && chosen.some((card) => card.dataset.danger === "");
  if (danger && !sure(chosen.map(({ id }) => id).join(), t("Some of these calls are dangerous. Press again to approve them all."))) return;
  const buttons = [...event.target.closest(".bulk").querySelectorAll("button")];
  buttons.forEach((button) => (button.disabled = true));
  let done = 0;
  let failed = "";
  for (const card of chosen) {
    const form = card.querySelector(`form:has(button[value=${choice}])`);
    await send(form, form.querySelector(`button[value=${choice}]`)).then(() => (done += 1), (error) => (failed ||= error.message));
  }
  tell(`${decided(choice, done)}${failed && ` ${failed}`}`, Boolean(failed));
  await refresh({ force: true }).catch(() => {});
});

async function loop() {
  let away = false;
  for (;;) {
    await new Promise((wake) => setTimeout(wake, REFRESH_MS));
    localTimes(document);
    try {
      await refresh();
      if (away) tell(t("Connected again."));
      away = false;
    } catch {
      if (!away) tell(t("Signalbox isn't answering. This page may be out of date. Still trying."), true);
      away = true;
    }
  }
}

document.addEventListener("click", (event) => {
  const chosen = event.target.closest?.("[data-language]")?.dataset.language;
  if (!chosen) return;
  document.cookie = `signalbox_language=${chosen}; path=/; max-age=31536000; samesite=lax${location.protocol === "https:" ? "; secure" : ""}`;
  location.reload();
});

const before = sessionStorage.getItem(TOLD);
if (before) tell(before);
sessionStorage.removeItem(TOLD);
localTimes(document);
scrollers(document);
counted();
addEventListener("resize", () => scrollers(document));
if (document.getElementById("live").dataset.refreshed === "") loop();
