// What led to an answer, kept folded above it: what ran and for how long, what came out of it, what the model thought.

import { h, icon, stopsWhereItScrolls } from "./dom.js";
import { request } from "./net.js";
import { words } from "./words.js";

/** A line that unfolds to the calls behind `entry`; null where nothing did. Their texts are fetched when it is first opened. */
export function workOf(entry, room) {
  if (!entry.ran?.length && !entry.thought) return null;
  const body = h("div", { class: "work-body" });
  const box = h("details", { class: "work", "data-testid": "work" },
    h("summary", {}, icon("check"), h("span", {}, entry.ran.length > 0 ? words.work(entry.ran) : words.thought)), body);
  let fetched = false;
  box.addEventListener("toggle", async () => {
    if (!box.open || fetched) return;
    fetched = true;
    try {
      body.replaceChildren(...pieces(await request(`/api/rooms/${room}/work/${encodeURIComponent(entry.id)}`)));
    } catch (error) {
      fetched = false;
      body.replaceChildren(h("p", { role: "status" }, error.message));
    }
  });
  return box;
}

function pieces({ ran, thoughts }) {
  const told = (text) => h("p", { class: "said" }, text);
  const thought = ran.length === 0 ? thoughts.map(told) : thoughts.map((text) => h("details", {}, h("summary", {}, words.thought), told(text)));
  const calls = ran.map((one) => h("details", { "data-testid": "ran" },
    h("summary", {}, h("strong", {}, one.tool), " ", h("span", {}, words.seconds(one.seconds))),
    block(one.arguments), one.result && block(one.result)));
  return [...thought, ...calls];
}

const block = (text) => stopsWhereItScrolls(h("pre", {}, text));
