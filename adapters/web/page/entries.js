// The part of a conversation that the page holds. It is never torn and never large: whoever scrolls far lets go of what is
// far behind, which is read again on the way back.

export const DRAWN = 300; // messages in the document at once, however long a conversation is
const AROUND = 150; // messages that are held before and after those
const STEP = 100; // messages by which those that are drawn move up or down

export class Entries {
  #all = [];
  #last = null; // the id of the last message that is drawn; null for the newest that is held
  older = false; // there are older ones than we hold
  newest = true; // the newest that is held is the conversation's newest

  get all() {
    return this.#all;
  }

  get length() {
    return this.#all.length;
  }

  /** When the newest that is held was said; undefined where there is none. */
  get latest() {
    return this.#all.at(-1)?.at;
  }

  get earliest() {
    return this.#all[0]?.at;
  }

  placeOf(id) {
    return this.#all.findIndex((entry) => entry.id === id);
  }

  clear() {
    this.set([], { older: false });
  }

  /** Hold `entries` from now on, in place of what was held. */
  set(entries, { older, newest = true }) {
    this.#all = entries;
    this.#last = null;
    Object.assign(this, { older, newest });
  }

  // ---- what is told of the newest

  /** Whether a brief entry is told that we do not hold in this version. Those before all that we hold are none of ours. */
  lacks(told) {
    const known = new Map(this.#all.map((entry) => [entry.id, entry.version]));
    const first = told.findIndex((entry) => known.has(entry.id));
    return told.some((entry, place) => {
      if (entry.at !== undefined) return false;
      return known.has(entry.id) ? known.get(entry.id) !== entry.version : this.newest && (place > first || first < 0);
    });
  }

  /**
   * Take in the newest entries as they are told. After a long sleep others may stand between them and what we hold: whoever
   * `follows` the end goes there, and reads the others by scrolling up; whoever reads stays, and comes to them by scrolling down.
   * True if something was told that is not held.
   */
  take(told, { follows }) {
    const known = new Map(this.#all.map((entry) => [entry.id, entry]));
    const whole = told.filter((entry) => entry.at !== undefined || known.has(entry.id));
    const fresh = whole.map((entry) => (entry.at === undefined ? { ...known.get(entry.id), ...entry } : entry));
    const torn = this.#all.length > 0 && fresh.length > 0 && fresh[0].at > this.latest && !told.some((entry) => known.has(entry.id));
    if (torn && follows) return void this.set(fresh, { older: true });
    if (torn) this.newest = false;
    if (!this.newest) {
      const changed = new Map(fresh.map((entry) => [entry.id, entry]));
      this.#all = this.#all.map((entry) => changed.get(entry.id) ?? entry);
      return fresh.some((entry) => !known.has(entry.id) && entry.at > this.latest);
    }
    const inside = new Set(fresh.map((entry) => entry.id));
    const before = fresh.length ? this.#all.filter((entry) => !inside.has(entry.id) && entry.at < fresh[0].at) : [];
    this.#all = [...before, ...fresh];
    return false;
  }

  /** Take in what comes before all that is held. */
  before(entries, { older }) {
    const top = this.#all[0];
    const known = new Set(this.#all.map((entry) => entry.id));
    const fresh = entries.filter((entry) => !known.has(entry.id));
    this.older = older && fresh.length > 0;
    this.#all = [...fresh, ...this.#all];
    this.begin(this.#all.indexOf(top) - STEP);
  }

  /** Take in what comes after all that is held. */
  after(entries, { newest }) {
    const { start } = this.span();
    const known = new Set(this.#all.map((entry) => entry.id));
    this.#all = [...this.#all, ...entries.filter((entry) => !known.has(entry.id) && entry.at >= this.latest)];
    this.newest = newest;
    this.begin(start + STEP);
  }

  // ---- which of them are drawn

  /** The place of the first one that is drawn, and of the one after the last. */
  span(room = DRAWN) {
    const found = this.#last === null ? -1 : this.placeOf(this.#last);
    const end = found < 0 ? this.#all.length : found + 1;
    return { start: Math.max(0, end - room), end };
  }

  /** Draw from `start` on; what is far from there is let go. */
  begin(start) {
    const end = Math.min(this.#all.length, Math.max(0, start) + DRAWN);
    this.#last = end === this.#all.length && this.newest ? null : (this.#all[end - 1]?.id ?? null);
    this.#letGo();
  }

  /** Draw earlier ones that are held; false if there are none. */
  up() {
    const { start } = this.span();
    if (start > 0) this.begin(start - STEP);
    return start > 0;
  }

  /** Draw later ones that are held; false if there are none. */
  down() {
    const { start, end } = this.span();
    if (end < this.#all.length) this.begin(start + STEP);
    return end < this.#all.length;
  }

  /** Draw the newest that are held. */
  toEnd() {
    this.#last = null;
    this.#letGo();
  }

  /** Whoever reads further up keeps what they read, whatever comes below. */
  stay(top) {
    const start = this.placeOf(top);
    if (start >= 0 && this.#all.length - start > DRAWN) this.begin(start);
  }

  /** Draw a message in the midst of others. */
  center(id) {
    this.begin(this.placeOf(id) - DRAWN / 2);
  }

  #letGo() {
    if (this.#all.length <= DRAWN + 2 * AROUND) return;
    const { start, end } = this.span();
    const first = Math.max(0, start - AROUND);
    const last = Math.min(this.#all.length, end + AROUND);
    if (first > 0) this.older = true;
    if (last < this.#all.length) this.newest = false;
    this.#all = this.#all.slice(first, last);
  }
}
