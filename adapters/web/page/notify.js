// Notifications in this browser, for approvals and mentions: turned on and off by the person, and none while they look.

import { byId } from "./dom.js";
import { Failed, request } from "./net.js";
import { words } from "./words.js";

const HERE_EVERY = 20_000; // milliseconds; the server takes somebody to look for twice as long

const isAble = () => "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;

export class Notifications {
  #box = byId("inbox-notify");
  #button = byId("inbox-notify-turn");
  #said = byId("inbox-notify-said");
  #terms = { on: false };
  #subscription = null;
  #seen;
  #here = false;

  /** `seen()` are the ids of the questions that the person was shown. */
  constructor({ seen }) {
    this.#seen = seen;
    this.#button.addEventListener("click", () => this.#turn());
    for (const event of ["visibilitychange", "focus"]) addEventListener(event, () => this.#tell(), true);
    addEventListener("pagehide", () => this.#tell({ leaves: true }));
    setInterval(() => this.#tell(), HERE_EVERY);
  }

  /** Ask how it stands. A browser that is told already says so again: its sign-in may be a newer one. */
  async load() {
    try {
      this.#terms = await request("/api/push");
      if (!this.#terms.on) return;
      if (isAble() && !this.#terms.trouble) await this.#again();
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      return; // away: asked again when the inbox is opened next
    } finally {
      this.#draw();
    }
    this.#tell();
  }

  async #again() {
    const registration = await navigator.serviceWorker.getRegistration("/");
    const known = (await registration?.pushManager.getSubscription()) ?? null;
    if (!known) return;
    if (keyOf(known) === this.#terms.key) await this.#keep(known);
    else await known.unsubscribe(); // made for a key that this Signalbox has no more
  }

  async #keep(subscription) {
    await request("/api/push/browsers", { method: "POST", body: subscription.toJSON() });
    this.#subscription = subscription;
    this.#terms.told = true;
  }

  async #turn() {
    this.#button.disabled = true;
    try {
      await (this.#subscription ? this.#turnOff() : this.#turnOn());
      this.#draw();
    } catch (error) {
      if (!(error instanceof Failed || error instanceof DOMException)) throw error;
      this.#draw(error instanceof Failed ? error.message : words.notify.failed);
    } finally {
      this.#button.disabled = false;
    }
  }

  async #turnOn() {
    if ((await Notification.requestPermission()) !== "granted") return;
    const registration = await navigator.serviceWorker.ready;
    await this.#keep(await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: this.#terms.key }));
  }

  async #turnOff() {
    await request("/api/push/browsers/drop", { method: "POST", body: { endpoint: this.#subscription.endpoint } });
    await this.#subscription.unsubscribe();
    this.#subscription = null;
  }

  #draw(trouble = "") {
    this.#box.hidden = !this.#terms.on;
    if (!this.#terms.on) return;
    const blocked = isAble() && Notification.permission === "denied";
    const why = trouble || this.#terms.trouble || (isAble() ? blocked && words.notify.blocked : words.notify.unable);
    this.#button.hidden = Boolean(why) && !trouble;
    this.#button.textContent = this.#subscription ? words.notify.turnOff : words.notify.turnOn;
    this.#said.textContent = why || (this.#subscription ? words.notify.isOn : "");
  }

  /** Whether somebody looks at this page, for those who are told in any browser: nothing is pushed to them meanwhile. */
  #tell({ leaves = false } = {}) {
    if (!this.#terms.told) return;
    const here = !leaves && !document.hidden && document.hasFocus();
    if (!here && !this.#here) return;
    this.#here = here;
    request("/api/push/here", { method: "POST", body: { here, seen: this.#seen() }, keepalive: true }).catch(() => {}); // it ends by itself
  }
}

/** The key that a subscription was made for, as the server writes it. */
function keyOf({ options }) {
  const bytes = new Uint8Array(options?.applicationServerKey ?? []);
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}
