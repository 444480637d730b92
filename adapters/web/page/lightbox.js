// A picture as large as the window allows, over the page; Escape, or a click anywhere, closes it, and arrows lead to the others.

import { h, icon } from "./dom.js";
import { words } from "./words.js";

const STEPS = { ArrowLeft: -1, ArrowRight: 1 };

/** Open `link`, which shows a picture, here instead of in a tab of its own. */
export function enlarge(link) {
  const all = [...document.querySelectorAll(".log a.picture")];
  let shown = link;
  const picture = h("img");
  const name = h("span", { "aria-live": "polite" });
  const inTab = h("a", { target: "_blank", rel: "noopener", onclick: (event) => event.stopPropagation() }, words.openInTab);
  const show = (one) => {
    shown = one;
    picture.src = inTab.href = one.href;
    picture.alt = one.querySelector("img").alt;
    name.textContent = all.length > 1 ? words.pictureOf(one.title, all.indexOf(one) + 1, all.length) : one.title;
    box.setAttribute("aria-label", picture.alt);
  };
  const step = (by) => all.length > 1 && show(all[(all.indexOf(shown) + by + all.length) % all.length]);
  const stepper = (by, label, side) => h("button", { type: "button", class: `icon ${side}`, "aria-label": label, onclick: (event) => (event.stopPropagation(), step(by)) }, icon("down"));
  const box = h("dialog", { class: "lightbox", "data-testid": "lightbox", onclick: () => box.close(), onclose: () => closed(box, shown), onkeydown: ({ key }) => STEPS[key] && step(STEPS[key]) },
    picture, h("p", {}, name, inTab),
    ...(all.length > 1 ? [stepper(-1, words.previousPicture, "before"), stepper(1, words.nextPicture, "after")] : []),
    h("button", { type: "button", class: "icon shut", "aria-label": words.closePicture }, icon("close")));
  show(link);
  document.body.append(box);
  box.showModal();
}

function closed(box, link) {
  box.remove();
  link.focus();
  link.scrollIntoView({ block: "nearest" });
}
