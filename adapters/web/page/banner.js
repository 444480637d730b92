// A line over the page: a warning, which stays, or a notice that whoever has read it closes for good.

import { byId, h, icon, storage } from "./dom.js";
import { words } from "./words.js";

const MODEL = "/console/settings-model"; // where a model and its key are entered
const CLOSED = "signalbox.closed"; // the notice that was closed: another one is shown again

/** `banner` warns; `notice` tells of the model, which those who may can change. */
export function showBanner({ banner, notice, console: mayOperate }) {
  const line = byId("banner");
  const told = banner || (storage.get(CLOSED, "") === notice ? "" : notice);
  line.hidden = !told;
  if (!told) return;
  line.classList.toggle("may-close", !banner);
  line.replaceChildren(h("span", { title: told }, told));
  if (banner) return;
  const close = () => {
    storage.set(CLOSED, notice);
    line.hidden = true;
    byId("composer-text").focus(); // the button is gone, and with it where a keyboard was
  };
  if (mayOperate) line.append(h("a", { href: MODEL }, words.setUpModel));
  line.append(h("button", { type: "button", class: "icon small", "aria-label": words.close, title: words.close, "data-testid": "close-banner", onclick: close }, icon("close")));
}
