// The list of conversations.

import { byId, h, newId, shortTime, storage } from "./dom.js";
import { Failed, request } from "./net.js";
import { words } from "./words.js";

const ROOM = /^[a-z0-9]{6,32}$/;

// Conversations that were made here and in which nothing is said yet: until then the server knows no room of that name.
const FRESH = "signalbox.fresh";
const FRESH_KEPT = 20;

export function newRoom() {
  const room = newId(20);
  storage.set(FRESH, [...storage.get(FRESH, []), room].slice(-FRESH_KEPT));
  return room;
}

export const isFresh = (room) => storage.get(FRESH, []).includes(room);

export function hasBegun(room) {
  storage.set(FRESH, storage.get(FRESH, []).filter((one) => one !== room));
}

export function roomInAddress() {
  const [room] = location.hash.slice(1).split("/");
  return ROOM.test(room) ? room : null;
}

/** The message that the address points to, or null. */
export const entryInAddress = () => (roomInAddress() ? decodeURIComponent(location.hash.split("/")[1] ?? "") : "") || null;

export class Rooms {
  #list = byId("rooms");
  #empty = byId("rooms-empty");
  #rooms = [];
  #open;
  #drawn = "";

  /** `onOpen(room)` when a conversation is chosen. */
  constructor({ onOpen }) {
    this.#open = onOpen;
  }

  get newest() {
    return this.#rooms[0]?.id ?? null;
  }

  /** All of them as places to go to. */
  get places() {
    return this.#rooms.map((room) => ({ title: room.title || words.untitled, icon: "talk", at: room.last_at, go: () => this.#open(room.id) }));
  }

  titleOf(room) {
    return this.#rooms.find((one) => one.id === room)?.title ?? null;
  }

  /** Approvals that wait in other rooms than `current`. */
  waitingBeside(current) {
    return this.#rooms.reduce((sum, room) => sum + (room.id === current ? 0 : room.waiting_approvals), 0);
  }

  async load(current) {
    try {
      this.#rooms = (await request("/api/rooms")).rooms;
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      return; // the list as it was is better than none
    }
    this.draw(current);
  }

  draw(current) {
    const shape = JSON.stringify([current, this.#rooms]);
    if (shape === this.#drawn) return; // a redraw would take the focus from an item
    this.#drawn = shape;
    const focused = this.#list.contains(document.activeElement) ? document.activeElement.hash : null;
    this.#list.replaceChildren(...this.#rooms.map((room) => this.#item(room, room.id === current)));
    this.#empty.hidden = this.#rooms.length > 0;
    if (focused) this.#list.querySelector(`a[href="${focused}"]`)?.focus();
  }

  #item(room, current) {
    const waiting = room.waiting_approvals;
    const questions = words.questions(waiting);
    const choose = (event) => {
      event.preventDefault();
      this.#open(room.id);
    };
    return h("li", {},
      h("a", { href: `#${room.id}`, class: "room", "data-testid": "room-item", "aria-current": current ? "true" : null, onclick: choose },
        h("span", { class: "room-title" }, room.title || words.untitled),
        h("span", { class: "room-time" }, shortTime(room.last_at)),
        waiting > 0 && h("span", { class: "badge", title: questions }, String(waiting), h("span", { class: "visually-hidden" }, ` ${questions}`))));
  }
}
