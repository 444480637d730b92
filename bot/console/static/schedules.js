"use strict";

// The form of a schedule: its next times while somebody types, rooms by name, and a look at its report. All of it comes
// from the operators' API, which programs use too.

const API = "/console/api";
const TYPING_MS = 250; // after the last key
const form = document.getElementById("schedule-form") ?? document.getElementById("report-form");
const own = Intl.DateTimeFormat().resolvedOptions().timeZone;

const byId = (id) => document.getElementById(id);

function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

async function ask(path, fields, signal) {
  const post = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(fields) };
  const answer = await fetch(API + path, { ...(fields ? post : {}), signal });
  const told = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(told.error), { field: told.field });
  return told;
}

/** Runs `work` once nobody has asked for a while; only the last answer counts. */
function settling(work, wait) {
  let timer = 0;
  let running = null;
  return () => {
    clearTimeout(timer);
    running?.abort();
    timer = setTimeout(() => {
      running = new AbortController();
      work(running.signal).catch((error) => {
        if (error.name !== "AbortError") tell(error.message, true);
      });
    }, wait);
  };
}

// ------------------------------------------------------------------------------------------------- times as one types

const asked = () => ({ ...fieldsOf(form), ...(form.dataset.schedule ? { schedule: form.dataset.schedule } : {}) });
let roomsLooked = null; // each look at a room may ask its platform

async function look(signal) {
  const fields = asked();
  const rooms = fields.to ?? "";
  if (rooms === roomsLooked) delete fields.to;
  const seen = await ask("/schedule-previews", fields, signal);
  const faults = { ...seen.faults };
  if (fields.to === undefined && roomFault) faults.to = roomFault;
  roomsLooked = rooms;
  roomFault = faults.to ?? "";
  showFaults(form, faults);
  showTimes(seen);
}
let roomFault = "";

function showTimes({ when, zone, next, there }) {
  byId("coming-words").textContent = when ? `${when[0].toUpperCase()}${when.slice(1)}.` : t("They show here as you type.");
  const rows = next.map((at, number) => {
    const local = make("time", { datetime: at, "data-exact": "" });
    const here = zone === own ? [] : [" · ", make("span", { class: "faint" }, t("for you:"), " ", local)];
    return make("li", {}, `${there[number]} (${zone})`, ...here);
  });
  byId("coming-list").replaceChildren(...rows);
  localTimes(byId("coming-list"));
}

const looking = settling(look, TYPING_MS);

// --------------------------------------------------------------------------------------------------- fields that depend

function showKind() {
  const kind = byId("kind")?.value;
  for (const set of form.querySelectorAll("[data-kind]")) set.hidden = set.disabled = set.dataset.kind !== kind;
  for (const part of form.querySelectorAll("[data-kinds]")) part.hidden = !part.dataset.kinds.split(" ").includes(kind);
  showOptions();
}

function showOptions() {
  const report = byId("report")?.value;
  for (const set of form.querySelectorAll("[data-options]")) set.hidden = set.disabled = set.dataset.options !== report;
}

function zones() {
  const field = byId("zone");
  if (!field) return;
  byId("zones").replaceChildren(...Intl.supportedValuesOf("timeZone").map((name) => make("option", { value: name })));
  if (field.dataset.own === "" && !field.value && !form.dataset.schedule) field.value = own;
}

// ------------------------------------------------------------------------------------------------------ rooms by name

class Picker {
  #hidden;
  #input;
  #list;
  #chips;
  #found = [];
  #at = -1;

  constructor(root) {
    this.#hidden = root.querySelector('[name="to"]');
    this.#input = root.querySelector('[role="combobox"]');
    this.#list = root.querySelector('[role="listbox"]');
    this.#chips = root.querySelector(".chips");
    this.search = settling(async (signal) => this.#show(await this.#rooms(signal)), TYPING_MS / 2);
    this.#input.addEventListener("input", () => this.search());
    this.#input.addEventListener("focus", () => this.search());
    this.#input.addEventListener("keydown", (event) => this.#key(event));
    this.#input.addEventListener("blur", () => setTimeout(() => this.#close(), 150));
    this.#list.addEventListener("pointerdown", (event) => this.#press(event));
    this.#chips.addEventListener("click", (event) => this.#remove(event));
    root.closest("form").addEventListener("reset", () => (this.#chips.replaceChildren(), this.#kept()));
  }

  get chosen() {
    return this.#hidden.value ? this.#hidden.value.split(",") : [];
  }

  #rooms(signal) {
    const query = new URLSearchParams({ query: this.#input.value.trim(), limit: "30" });
    return ask(`/destinations?${query}`, null, signal);
  }

  #show(found) {
    if (document.activeElement !== this.#input) return;
    this.#found = found.filter((room) => !this.chosen.includes(room.address));
    this.#at = this.#found.length && this.#input.value.trim() ? 0 : -1;
    this.#draw();
  }

  #draw() {
    const rows = this.#found.map((room, number) =>
      make("li", { role: "option", id: `room-${number}`, "aria-selected": String(number === this.#at), "data-number": number },
        make("span", {}, room.name), ...(room.name === room.address ? [] : [make("small", {}, room.address)])));
    this.#list.replaceChildren(...rows);
    this.#list.hidden = !rows.length;
    this.#input.setAttribute("aria-expanded", String(rows.length > 0));
    if (this.#at >= 0) this.#input.setAttribute("aria-activedescendant", `room-${this.#at}`);
    else this.#input.removeAttribute("aria-activedescendant");
    this.#list.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }

  #close() {
    this.#found = [];
    this.#at = -1;
    this.#draw();
  }

  #key(event) {
    const last = this.#found.length - 1;
    if (event.key === "ArrowDown" && last >= 0) this.#at = this.#at >= last ? 0 : this.#at + 1;
    else if (event.key === "ArrowUp" && last >= 0) this.#at = this.#at <= 0 ? last : this.#at - 1;
    else if (event.key === "Escape" && last >= 0) return event.preventDefault(), this.#close();
    else if (event.key === "Enter") return event.preventDefault(), this.#enter();
    else return;
    event.preventDefault();
    this.#draw();
  }

  #enter() {
    const words = this.#input.value.trim();
    const room = this.#found[this.#at];
    if (room) this.#take(room);
    else if (words) this.#take({ name: words, address: words }); // an address; the server says if it is none
  }

  #press(event) {
    const row = event.target.closest("[data-number]");
    if (!row) return;
    event.preventDefault();
    this.#take(this.#found[Number(row.dataset.number)]);
  }

  #take({ name, address }) {
    const remove = make("button", { type: "button", "aria-label": t("Remove {name}", { name }) }, t("Remove"));
    this.#chips.append(make("li", { "data-address": address }, make("span", { title: address }, name), remove));
    this.#input.value = "";
    this.#close();
    this.#kept();
  }

  #remove(event) {
    if (!event.target.closest("button")) return;
    event.target.closest("li").remove();
    this.#kept();
    this.#input.focus();
  }

  #kept() {
    const rooms = [...this.#chips.children].map((chip) => chip.dataset.address);
    this.#hidden.value = rooms.join(",");
    this.#chips.hidden = !rooms.length;
    this.#hidden.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

// -------------------------------------------------------------------------------------------- the report as it will look

async function picture({ png, alt }) {
  const bytes = Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const canvas = make("canvas", { width: image.width, height: image.height, role: "img", "aria-label": alt });
  canvas.getContext("2d").drawImage(image, 0, 0);
  return canvas; // pages load pictures from our own addresses alone, and this one has none
}

/** What is to be shown: a schedule as it is, a report, or what stands in the form. */
function wished(button) {
  if (button.dataset.preview) return { schedule: button.dataset.preview };
  const { when, starts, ends, to, ...fields } = asked();
  return form.id === "report-form" ? { report: fields.name, options: fields.options ?? {} } : fields;
}

async function preview(button) {
  const place = byId("preview");
  place.hidden = false;
  place.replaceChildren(make("p", { class: "faint" }, t("Making it…")));
  button.disabled = true;
  try {
    const seen = await ask("/report-previews", wished(button));
    const text = make("div", { class: "report" });
    text.innerHTML = seen.html; // made and escaped by the server
    if (seen.silent) text.append(make("p", {}, t("Nothing is new, so it would post nothing.")));
    if (seen.cut) text.append(make("p", { class: "faint" }, t("The rest is longer than a preview shows.")));
    place.replaceChildren(text, ...(await Promise.all(seen.charts.map(picture))), closer(place, button));
    localTimes(place);
  } catch (error) {
    place.replaceChildren(make("p", { class: "fault" }, error.message), closer(place, button));
  } finally {
    button.disabled = false;
  }
}

function closer(place, button) {
  const close = make("button", { type: "button" }, t("Close the preview"));
  close.addEventListener("click", () => {
    place.hidden = true;
    place.replaceChildren();
    button.focus();
  });
  return make("div", { class: "buttons" }, close);
}

// ------------------------------------------------------------------------------------------------------------ all of it

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-preview], [data-fill]");
  if (button?.dataset.preview !== undefined) preview(button);
  else if (button) {
    byId(button.dataset.fill).value = button.textContent;
    byId(button.dataset.fill).focus();
    looking();
  }
});

if (form) {
  for (const root of form.querySelectorAll(".picker")) new Picker(root);
  zones();
  showKind();
  byId("kind")?.addEventListener("change", showKind);
  byId("report")?.addEventListener("change", showOptions);
  if (form.id === "schedule-form") {
    form.addEventListener("input", looking);
    form.addEventListener("change", looking);
    looking();
  }
}
