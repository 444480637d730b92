// Where to go, by typing a part of its name; and the keys that there are.

import { byId, h, icon, locally, shortTime } from "./dom.js";
import { Failed, request, roomOf } from "./net.js";
import { words } from "./words.js";

const MOST = 50; // places that are listed at once
const LEAST = 2; // letters by which messages are looked for
const REST = 200; // milliseconds without a key

export class Palette {
  #box = byId("palette");
  #field = byId("palette-field");
  #list = byId("palette-list");
  #empty = byId("palette-empty");
  #places;
  #shown = [];
  #at = 0;
  #toEntry;
  #found = []; // messages
  #soon = 0;

  /** `places()` are { title, icon, at, go } of all that one can go to, the nearest first; `toEntry({ room, entry })`. */
  constructor(places, toEntry) {
    this.#places = places;
    this.#toEntry = toEntry;
    this.#field.addEventListener("input", () => this.#typed());
    this.#box.addEventListener("keydown", (event) => this.#key(event));
    this.#box.addEventListener("click", (event) => event.target === this.#box && this.#box.close());
  }

  open() {
    if (document.querySelector("dialog[open]")) return;
    this.#field.value = "";
    this.#found = [];
    this.#box.showModal();
    this.#draw();
  }

  /** Names are there at once; messages are asked for when the typing rests. */
  #typed() {
    clearTimeout(this.#soon);
    const wanted = this.#field.value.trim();
    if (wanted.length < LEAST) this.#found = [];
    else this.#soon = setTimeout(() => this.#find(wanted), REST);
    this.#draw();
  }

  async #find(wanted) {
    let found = [];
    try {
      found = (await request(`/api/v1/search?${new URLSearchParams({ q: wanted })}`)).data;
    } catch (error) {
      if (!(error instanceof Failed)) throw error; // offline: names alone
    }
    if (wanted !== this.#field.value.trim()) return;
    this.#found = found.map((one) => ({ title: locally(one.text), beneath: words.foundIn(one.name, one.title), icon: "talk", at: one.at, go: () => this.#toEntry({ room: roomOf(one.room), entry: one.id }) }));
    this.#draw();
  }

  #draw() {
    const wanted = this.#field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = ({ title }) => wanted.every((word) => title.toLowerCase().includes(word));
    this.#shown = [...this.#places().filter(fits), ...this.#found].slice(0, MOST);
    this.#at = 0;
    this.#list.replaceChildren(...this.#shown.map((place, number) => this.#item(place, number)));
    this.#empty.hidden = this.#shown.length > 0;
    this.#mark();
  }

  #item(place, number) {
    return h("li", { id: `place-${number}`, role: "option", "data-testid": "place", onclick: () => this.#go(place) },
      icon(place.icon), h("span", { class: "place" }, h("span", { class: "room-title" }, place.title), place.beneath && h("span", { class: "place-in" }, place.beneath)), place.at && h("span", { class: "room-time" }, shortTime(place.at)));
  }

  #mark() {
    [...this.#list.children].forEach((item, number) => item.setAttribute("aria-selected", String(number === this.#at)));
    this.#list.children[this.#at]?.scrollIntoView({ block: "nearest" });
    if (this.#shown.length) this.#field.setAttribute("aria-activedescendant", `place-${this.#at}`);
    else this.#field.removeAttribute("aria-activedescendant");
  }

  #key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && this.#shown.length) {
      event.preventDefault();
      this.#at = (this.#at + step + this.#shown.length) % this.#shown.length;
      this.#mark();
    } else if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      if (this.#shown.length) this.#go(this.#shown[this.#at]);
    }
  }

  #go(place) {
    this.#box.close();
    place.go();
  }
}

/** The list of keys, which opens by "?" and closes by Escape. */
export function showKeys() {
  if (document.querySelector("dialog[open]")) return;
  const row = ([keys, does]) => [h("dt", {}, ...keys.map((key) => h("kbd", {}, key))), h("dd", {}, does)];
  const box = h("dialog", { class: "keys", "aria-label": words.keys.title, "data-testid": "keys", onclose: () => box.remove(), onclick: (event) => event.target === box && box.close() },
    h("h2", {}, words.keys.title), h("dl", {}, ...words.keys.rows.flatMap(row)),
    h("form", { method: "dialog" }, h("button", { class: "ghost" }, words.keys.close)));
  document.body.append(box);
  box.showModal();
}
