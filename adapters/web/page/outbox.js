// What was typed and is not acknowledged yet. It lives in localStorage, so a reload or a restart of the server loses
// nothing; each message keeps the id it was given when it was sent, so trying again doubles nothing.
//
// Messages leave one by one in the order they were written: a second one never overtakes a first that has to wait.

import { newId, sleep, storage } from "./dom.js";
import { Failed, request } from "./net.js";
import { words } from "./words.js";

const FIRST_WAIT = 1_000; // milliseconds; doubles up to LONGEST_WAIT
const LONGEST_WAIT = 20_000;

export class Outbox {
  #key;
  #items;
  #working = false;
  #wake = () => {};
  #changed;
  #accepted;

  /** `onChange()` after anything changed; `onAccepted(item, verdict)` when a message is stored at the other end. */
  constructor(person, { onChange, onAccepted }) {
    this.#key = `signalbox.outbox.${person}`;
    this.#changed = onChange;
    this.#accepted = onAccepted;
    this.#items = storage.get(this.#key, []).map((item) => (item.state === "failed" ? item : { ...item, state: "sending" }));
  }

  of(room) {
    return this.#items.filter((item) => item.room === room);
  }

  /** The room of the last message that is not acknowledged yet. */
  get room() {
    return this.#items.at(-1)?.room ?? null;
  }

  get waiting() {
    return this.#items.some((item) => item.state !== "failed");
  }

  /** Keep a message and send it. `replaces` is the message that it is said in place of; `after` is the newest time known in the room, to recognise the message there. */
  add({ room, text, files, after, replaces = null }) {
    const item = { id: newId(), room, text, files, after, replaces, at: new Date().toISOString(), state: "sending", error: "" };
    this.#items.push(item);
    this.#save();
    this.run();
    return item;
  }

  retry(id) {
    this.#update(id, { state: "sending", error: "" });
    this.run();
  }

  remove(id) {
    this.#items = this.#items.filter((item) => item.id !== id);
    this.#save();
  }

  /** Take in what other tabs keep here: with the first messages on screen, since a browser takes its time to agree. */
  listen() {
    addEventListener("storage", (event) => event.key === this.#key && this.#merge());
    this.#merge();
  }

  /** Send what waits, and try at once what was waiting for a better moment. */
  async run() {
    this.#wake();
    if (this.#working) return;
    this.#working = true;
    let wait = FIRST_WAIT;
    try {
      for (let item; (item = this.#items.find((one) => one.state !== "failed")); ) {
        if (await this.#send(item)) {
          wait = FIRST_WAIT;
          continue;
        }
        await Promise.race([sleep(wait), new Promise((resolve) => (this.#wake = resolve))]);
        wait = Math.min(wait * 2, LONGEST_WAIT);
      }
    } finally {
      this.#working = false;
    }
  }

  /** One try. True when the queue can go on. */
  async #send(item) {
    try {
      const files = item.files.map((file) => file.path);
      const body = { id: item.id, text: item.text, files, replaces: item.replaces ?? undefined };
      const verdict = await request(`/api/rooms/${item.room}/messages`, { method: "POST", body });
      if (verdict.outcome === "refused") {
        this.#update(item.id, { state: "failed", error: verdict.notice || words.notTaken });
      } else {
        await this.#accepted(item, verdict);
        this.remove(item.id);
      }
      return true;
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      const lasting = !error.retry && error.status !== 401; // a new link in this browser makes 401 go away
      this.#update(item.id, { state: lasting ? "failed" : "waiting", error: error.message });
      return lasting;
    }
  }

  #update(id, change) {
    this.#items = this.#items.map((item) => (item.id === id ? { ...item, ...change } : item));
    this.#save();
  }

  #save() {
    storage.set(this.#key, this.#items.length ? this.#items : null);
    this.#changed();
  }

  /** Another tab of the same person changed the queue. Both may send: equal ids are the same message. */
  #merge() {
    this.#items = storage.get(this.#key, []);
    this.#changed();
    if (this.waiting) this.run();
  }
}
