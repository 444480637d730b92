// Thumbs under the agent's answers, and a line for what was good or bad about one.

import { h } from "./dom.js";
import { request } from "./net.js";
import { isFresh } from "./rooms.js";
import { words } from "./words.js";

const KINDS = new Set(["final", "report"]); // what can be rated
const VALUES = { up: "👍", down: "👎" };

export class Ratings {
  #room = null;
  #mayWrite;
  #marks = new Map(); // delivery -> "up" or "down"

  constructor(mayWrite) {
    this.#mayWrite = mayWrite;
  }

  enter(room) {
    this.#room = room;
    this.#marks.clear();
  }

  async load() {
    const room = this.#room;
    if (!this.#mayWrite || isFresh(room)) return; // no thumbs are shown, or there is nothing to rate yet
    try {
      const { ratings } = await request(`/api/rooms/${room}/feedback`);
      if (room !== this.#room) return;
      this.#marks = new Map(Object.entries(ratings));
      for (const row of document.querySelectorAll("[data-testid=rating]")) this.#show(row);
    } catch {
      // one that can't be read now is rated anew without harm
    }
  }

  /** The thumbs of an entry; null for one that can't be rated. */
  of(entry) {
    if (!this.#mayWrite || !KINDS.has(entry.kind) || entry.failed) return null;
    const delivery = entry.id.split(".")[0];
    const notice = h("span", { class: "rating-notice", role: "status" });
    const why = h("form", { class: "rating-words", hidden: true });
    const thumbs = Object.entries(VALUES).map(([value, emoji]) =>
      h("button", { type: "button", class: "thumb", "data-testid": `rate-${value}`, "aria-label": words.rate[value], title: words.rate[value], onclick: (event) => this.#press(entry, delivery, value, notice, why, event.currentTarget) }, emoji));
    const row = h("div", { class: "rating", "data-testid": "rating", "data-delivery": delivery }, ...thumbs, notice, why);
    this.#show(row);
    return row;
  }

  /** Nothing here holds a row: it goes with its message. */
  #show(row) {
    const mark = this.#marks.get(row.dataset.delivery);
    for (const value of Object.keys(VALUES)) row.querySelector(`[data-testid=rate-${value}]`).setAttribute("aria-pressed", String(mark === value));
  }

  async #press(entry, delivery, value, notice, why, thumb) {
    const wanted = this.#marks.get(delivery) === value ? "none" : value;
    if (!(await this.#send(entry, delivery, wanted, "", notice))) return;
    why.hidden = wanted === "none";
    if (why.hidden) return;
    const field = h("input", { type: "text", maxlength: 1000, "aria-label": words.rateWhy[value], placeholder: words.rateWhy[value] });
    why.replaceChildren(field, h("button", { type: "submit", class: "link" }, words.rateSend));
    field.focus(); // whoever types on says why
    why.onsubmit = async (event) => {
      event.preventDefault();
      if (!(await this.#send(entry, delivery, wanted, field.value, notice))) return;
      why.hidden = true;
      notice.textContent = words.rated;
      thumb.focus(); // the field is gone, and with it where a keyboard was
    };
  }

  async #send(entry, delivery, value, told, notice) {
    notice.textContent = "";
    try {
      await request(`/api/rooms/${this.#room}/feedback`, { method: "POST", body: { entry: entry.id, value, words: told } });
    } catch (error) {
      notice.textContent = error.message;
      return false;
    }
    if (value === "none") this.#marks.delete(delivery);
    else this.#marks.set(delivery, value);
    const row = document.querySelector(`[data-delivery="${CSS.escape(delivery)}"]`);
    if (row) this.#show(row);
    return true;
  }
}
