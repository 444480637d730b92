// The list of conversations.

import { byId, dayOf, h, icon, newId, part, shortTime, storage } from "./dom.js";
import { Failed, request, roomOf } from "./net.js";
import { words } from "./words.js";

const UNDO_WITHIN = 30_000; // milliseconds, twice as long for whoever stays at the line; the server waits a little longer

const TITLE_SHOWN = 32; // letters of a title in the line that tells of what was done with it

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
  if (roomInAddress() === room) history.replaceState(null, "");
}

/** The conversation that the address names, or null. */
export const { roomInAddress } = self.early;

/** Put a conversation into the address. A new one is marked there: a page that is loaded anew knows it before any storage is read. */
export const intoAddress = (room) => history.pushState(isFresh(room) ? { fresh: true } : null, "", `#${room}`);

/** The message that the address points to, or null. */
export function entryInAddress() {
  try {
    return (roomInAddress() && decodeURIComponent(location.hash.split("/")[1] ?? "")) || null;
  } catch {
    return null; // a link that was cut within a letter
  }
}

export const INBOX = "#/approvals"; // the address of what waits for the person
export const isInbox = (hash) => hash === INBOX || hash.startsWith(`${INBOX}/`);

export class Rooms {
  #list = byId("rooms");
  #empty = byId("rooms-empty");
  #rooms = [];
  #known = false; // once the list was read
  #open;
  #failed;
  #mayWrite;
  #current = null;
  #drawn = "";

  /** `onOpen(room)` when a conversation is chosen, `onFailed(why)` when it can't be changed. */
  constructor({ mayWrite, onOpen, onFailed }) {
    this.#mayWrite = mayWrite;
    this.#open = onOpen;
    this.#failed = onFailed;
  }

  get newest() {
    return this.#rooms.find((room) => !room.archived)?.id ?? null;
  }

  /** A conversation was looked at until now: told when one leaves it, not with each message. */
  read(room, at) {
    const known = this.#rooms.find((one) => one.id === room);
    if (!known || !at || known.read === at) return;
    known.read = at;
    known.unread = false;
    request(`/api/v1/rooms/${room}/mark`, { method: "POST", body: { read_at: at }, keepalive: true }).catch(() => (known.read = null));
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

  /** Something was said in a conversation: it stands where it belongs, without the list being read. False for one that isn't listed. */
  saidIn(room, at) {
    const known = this.#rooms.find((one) => one.id === room);
    if (!known) return isFresh(room);
    if (at && at > known.last_at) {
      known.last_at = at;
      this.#rooms.sort((one, other) => (one.last_at < other.last_at ? 1 : -1));
      this.draw(this.#current);
    }
    return true;
  }

  /** Read the list, or take an answer that is on its way. */
  async load(current, asked = null) {
    try {
      this.#rooms = (await request("/api/v1/rooms", { asked })).data.map(({ room, questions, ...kept }) => ({ id: roomOf(room), waiting_approvals: questions, ...kept }));
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      return; // the list as it was is better than none
    }
    this.#known = true;
    this.draw(current);
  }

  draw(current) {
    const shape = JSON.stringify([current, this.#known, this.#rooms, new Date().toDateString()]);
    if (shape === this.#drawn) return; // a redraw would take the focus from an item
    this.#drawn = shape;
    const focused = this.#list.contains(document.activeElement) ? document.activeElement : null;
    const row = focused?.closest(".room-row")?.querySelector("a").hash;
    this.#current = current;
    const open = this.#list.querySelector("details")?.open ?? false;
    this.#list.replaceChildren(...grouped(this.#rooms).map(([name, rooms]) => this.#group(name, rooms, open)));
    this.#empty.hidden = !this.#known || this.#rooms.length > 0;
    if (row) this.#list.querySelector(`a[href="${row}"]${focused.matches("a") ? "" : " + .room-more"}`)?.focus();
  }

  #group(name, rooms, open) {
    const items = h("ul", { class: "rooms", "aria-label": name }, ...rooms.map((room) => this.#item(room, room.id === this.#current)));
    if (name !== words.archived) return h("section", {}, h("h2", { class: "rooms-head" }, name), items);
    return h("details", { open, "data-testid": "archived" }, h("summary", { class: "rooms-head" }, `${name} (${rooms.length})`), items);
  }

  #item(room, current) {
    const waiting = room.waiting_approvals;
    const questions = words.questions(waiting);
    const title = room.title || words.untitled;
    const choose = (event) => {
      event.preventDefault();
      this.#open(room.id);
    };
    return h("li", { class: "room-row" },
      h("a", { href: `#${room.id}`, class: room.unread && !current ? "room unread" : "room", "data-testid": "room-item", "aria-current": current ? "true" : null, title: `${title} · ${shortTime(room.last_at)}`, onclick: choose },
        h("span", { class: "room-title" }, title, room.unread && !current && h("span", { class: "visually-hidden" }, ` (${words.unread})`)),
        waiting > 0 && h("span", { class: "badge", title: questions }, String(waiting), h("span", { class: "visually-hidden" }, ` ${questions}`))),
      h("button", { type: "button", class: "icon small room-more", "aria-label": words.roomMenu(title), "aria-haspopup": "menu", "data-testid": "room-more", onclick: (event) => this.#menu(event.currentTarget, room) }, icon("more")));
  }

  /** What one may do with a conversation in the list. */
  async #menu(opener, room) {
    const { openMenu } = await part("menu");
    const does = (label, mark) => ({ label, act: () => this.#mark(room, mark) });
    openMenu(opener, [
      { label: words.rename, act: () => this.#rename(room) },
      room.pinned ? does(words.unpin, { pinned: false }) : does(words.pin, { pinned: true }),
      room.archived ? does(words.unarchive, { archived: false }) : { label: words.archive, act: () => this.#putAway(room) },
      { label: words.downloadText, act: () => download(`/api/v1/rooms/${room.id}/copy?format=markdown`) },
      { label: words.downloadFile, act: () => download(`/api/v1/rooms/${room.id}/copy?format=json`) },
      this.#mayWrite && { label: words.deleteRoom, act: () => this.#delete(room) },
    ].filter(Boolean));
  }

  /** Shown at once; what the server then says is right. */
  async #mark(room, mark) {
    Object.assign(room, mark, mark.pinned ? { archived: false } : {}, mark.archived ? { pinned: false } : {});
    this.draw(this.#current);
    try {
      await request(`/api/v1/rooms/${room.id}/mark`, { method: "POST", body: mark });
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      this.#failed(error.message);
    }
    await this.load(this.#current);
  }

  /** Out of sight at once, which can be taken back. */
  async #putAway(room) {
    const { pinned } = room;
    await this.#mark(room, { archived: true });
    const { offerUndo } = await part("undo");
    offerUndo(words.putAway(short(room)), UNDO_WITHIN, () => this.#mark(this.#rooms.find((one) => one.id === room.id) ?? room, { archived: false, ...(pinned && { pinned }) }));
  }

  /** Gone at once; for a while it can be taken back. */
  async #delete(room) {
    const answer = await this.#ask(`/api/rooms/${room.id}/delete`, { id: newId() });
    if (answer?.notice) this.#failed(answer.notice);
    if (!answer || answer.notice) return;
    const wasOpen = room.id === this.#current;
    await this.load(this.#current);
    if (wasOpen) this.#open(this.newest ?? newRoom());
    const { offerUndo } = await part("undo");
    offerUndo(words.deleted(short(room)), UNDO_WITHIN, () => this.#restore(room, wasOpen));
  }

  async #restore(room, open) {
    if (!(await this.#ask(`/api/v1/rooms/${room.id}/restore`))) return;
    await this.load(this.#current);
    if (open) this.#open(room.id);
  }

  /** The answer; null where there is none, and the person is told why. */
  async #ask(path, body = {}) {
    try {
      return await request(path, { method: "POST", body });
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      this.#failed(error.message);
      return null;
    }
  }

  async #rename(room) {
    const { asked } = await part("menu");
    const title = await asked(words.nameOf, room.title);
    if (title !== null) await this.#mark(room, { title });
  }
}

/** The title, as far as a line has room for it beside other words. */
function short({ title }) {
  const letters = [...(title || words.untitled)];
  return letters.length > TITLE_SHOWN ? `${letters.slice(0, TITLE_SHOWN).join("")}…` : letters.join("");
}

/** The server names the file. */
function download(address) {
  h("a", { href: address, download: "" }).click();
}

/** By day, those that are pinned first, and those that were put away behind a fold. */
function grouped(rooms) {
  const groups = new Map([[words.pinned, []], [words.today, []], [words.yesterday, []], [words.earlierRooms, []], [words.archived, []]]);
  for (const room of rooms) {
    const day = dayOf(room.last_at);
    const name = room.archived ? words.archived : room.pinned ? words.pinned : groups.has(day) ? day : words.earlierRooms;
    groups.get(name).push(room);
  }
  return [...groups].filter(([, found]) => found.length);
}
