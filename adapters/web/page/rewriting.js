// The newest message in the composer once more: sent, it is said in place of what it was.

import { byId } from "./dom.js";

export class Rewriting {
  #bar = byId("rewriting");
  #before = null; // what stood in the composer
  #cancelled;

  /** `onCancel(before)` puts back what stood in the composer. */
  constructor(onCancel) {
    this.id = null;
    this.#cancelled = onCancel;
    byId("rewriting-cancel").addEventListener("click", () => this.cancel());
  }

  begin(id, before) {
    if (!this.id) this.#before = before;
    this.set(id);
  }

  /** Rewrite message `id` from now on, or none. */
  set(id) {
    this.id = id;
    if (!id) this.#before = null;
    this.#bar.hidden = !id;
  }

  cancel() {
    if (!this.id) return false;
    const before = this.#before;
    this.set(null);
    this.#cancelled(before ?? { text: "", files: [] });
    return true;
  }
}
