"use strict";

// Edits of settings: shown as a change of the file first, saved when a person has seen it. What goes into the page is put
// there as text.

const NEEDS_LINK = 403;
const FILE_CHANGED = 409;

function part(name, words = "", attributes = {}) {
  const made = document.createElement(name);
  made.textContent = words;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

async function ask(path, body) {
  const answer = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  }).catch(() => {
    throw new Refused(t("Signalbox isn't answering. Before you try again, check whether your change was made."));
  });
  const told = await answer.json();
  return { status: answer.status, told };
}

/** Fields of a form that were there when it was made, not the second yes. */
const fieldsIn = (form) => [...form.elements].filter((field) => field.name && field.name !== "accept");

/** What a field said when the form was made. */
const atFirst = (field) => (field.localName === "select" ? [...field.options].find((one) => one.defaultSelected) ?? field.options[0] : { value: field.defaultValue }).value;

/** What a person changed in a form, what it does, and the file that it was made of. What others saved meanwhile is not undone. */
function edit(form) {
  const fields = fieldsIn(form);
  const touched = form.dataset.edits === "add" ? fields : fields.filter((field) => field.value !== atFirst(field));
  return {
    verb: form.dataset.edits,
    values: Object.fromEntries(touched.map((field) => [field.name, field.value])),
    opened: Object.fromEntries(fields.map((field) => [field.name, atFirst(field)])),
    digest: form.dataset.digest,
    mark: form.dataset.mark ?? "",
    accept: form.querySelector("input[name=accept]:checked") ? "yes" : "",
  };
}

/** Fields that a person left alone show what the file says now; of the others, that is what they'd be compared with next. */
function catchUp(form, now) {
  for (const field of fieldsIn(form).filter(({ name }) => name in now)) {
    const isTouched = field.value !== atFirst(field);
    const typed = field.value;
    if (field.localName === "select") for (const one of field.options) one.defaultSelected = one.value === now[field.name];
    else field.defaultValue = now[field.name];
    field.value = isTouched ? typed : now[field.name];
  }
}

/** What somebody else changed since the form was opened, beside the change that it would make. */
function warning(words) {
  const place = part("div", "", { class: "notice", role: "alert" });
  for (const sentence of words) place.append(part("p", sentence));
  return place;
}

function diff(text) {
  const shown = part("pre", "", { class: "diff", tabindex: "0", "aria-label": t("The change of the file") });
  for (const line of text.split("\n")) {
    const kind = line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : line.startsWith("@@") ? "place" : "";
    shown.append(part("span", `${line}\n`, kind ? { class: kind } : {}));
  }
  return shown;
}

function rows(outcomes) {
  const heads = [t("Tool"), t("A user"), t("An operator"), t("An owner"), t("Rule")];
  const table = part("table");
  const head = part("tr");
  for (const name of heads) head.append(part("th", name, { scope: "col" }));
  const body = part("tbody");
  for (const row of outcomes) {
    const line = part("tr", "", row.is_freer ? { class: "freer" } : {});
    const cells = ["user", "operator", "owner"].map((role) =>
      row.before[role] === row.after[role] ? row.after[role] : `${row.before[role]} → ${row.after[role]}`,
    );
    const told = [`${row.tool} (${row.effect})`, ...cells, [row.rule, row.limit, row.else].filter(Boolean).join("; ")];
    heads.forEach((name, at) => line.append(part("td", told[at], { "data-head": name })));
    body.append(line);
  }
  const top = part("thead");
  top.append(head);
  table.append(part("caption", t("What would happen to calls")), top, body);
  const frame = part("div", "", { class: "wide", role: "group", "aria-label": t("What would happen to calls") });
  frame.append(table);
  return frame;
}

/** Put each fault at its field; what belongs to none is told together. */
function faults(form, found) {
  for (const place of form.querySelectorAll(".fault")) {
    place.hidden = true;
    place.textContent = "";
    form.querySelector(`[name="${place.id.slice("fault-".length)}"]`)?.removeAttribute("aria-invalid");
  }
  const others = [];
  let first = null;
  for (const { name, words } of found) {
    const key = name.split(".").at(-1);
    const place = form.querySelector(`#fault-${CSS.escape(key)}`);
    const field = form.querySelector(`[name="${CSS.escape(key)}"]`);
    if (place && field) {
      place.textContent = words;
      place.hidden = false;
      field.setAttribute("aria-invalid", "true");
      field.setAttribute("aria-describedby", `about-${key} ${place.id}`);
      first ??= field;
    } else others.push(name ? `${name}: ${words}` : words);
  }
  return { others, first };
}

function whenItHolds(takesEffect) {
  const ways = new Set(Object.values(takesEffect));
  if (ways.size > 1) return t("Some of it takes effect at once, the rest with a restart.");
  return ways.has("at once") ? t("It takes effect at once.") : t("It takes effect with a restart.");
}

async function show(form) {
  const { status, told } = await ask(`${form.getAttribute("action")}/try`, edit(form));
  if (status !== 200) throw new Refused(told.error);
  const place = form.querySelector(".outcome");
  place.replaceChildren();
  const { others, first } = faults(form, told.faults);
  if (told.faults.length) {
    const list = part("ul", "", { class: "wrong" });
    for (const words of others) list.append(part("li", words));
    if (others.length) place.append(list);
    tell(t("This can't be saved yet. Nothing was changed."), true, form);
    (first ?? place).focus();
    return;
  }
  catchUp(form, told.meanwhile.now);
  form.dataset.digest = told.digest;
  if (told.told) {
    tell(told.told, false, form);
    return;
  }
  if (told.meanwhile.words.length) place.append(warning(told.meanwhile.words));
  place.append(diff(told.diff));
  if (told.outcomes.length) place.append(rows(told.outcomes));
  if (told.widened.length) {
    const list = part("ul", "", { class: "widened" });
    for (const words of told.widened) list.append(part("li", words));
    const label = part("label", "", { class: "accept" });
    label.append(part("input", "", { type: "checkbox", name: "accept", value: "yes" }), part("span", t("Yes, let them do more than now")));
    place.append(list, label);
  }
  place.append(part("p", whenItHolds(told.takes_effect), { class: "faint" }));
  const buttons = part("div", "", { class: "buttons" });
  buttons.append(part("button", t("Save"), { type: "button", class: "main", "data-saves": "" }), part("button", t("Leave it"), { type: "button", "data-leaves": "" }));
  place.append(buttons);
  tell(t("This is the change of the file. Nothing is saved yet."));
  place.focus();
}

function saved(told) {
  const lines = [told.told];
  if (told.changed?.length) lines.push(t("In effect now: {names}.", { names: told.changed.join(", ") }));
  if (told.restart?.length) lines.push(t("Needs a restart: {names}.", { names: told.restart.join(", ") }));
  if (told.notes?.length) lines.push(...told.notes);
  return lines.join(" ");
}

let waiting = null; // the form whose person has to show first that it's them

async function save(form) {
  const yes = form.querySelector("input[name=accept]");
  if (yes && !yes.checked) {
    tell(t("Tick the box first: it lets people do more than now."), true, form);
    yes.focus();
    return;
  }
  const { status, told } = await ask(form.getAttribute("action"), edit(form));
  if (status === NEEDS_LINK) {
    const confirmation = document.getElementById("confirmation");
    waiting = form;
    confirmation.hidden = false;
    tell(told.error, true);
    confirmation.querySelector("input").focus();
    return;
  }
  if (status === FILE_CHANGED) {
    await show(form);
    tell(told.error, true);
    return;
  }
  if (status !== 200) throw new Refused(told.error);
  const words = saved(told);
  if (form.dataset.then) {
    sessionStorage.setItem("settings-told", words);
    location.assign(form.dataset.then.replace(/%5B.*$/, ""));
    return;
  }
  await refresh({ force: true });
  tell(words);
  said.focus();
}

async function confirmed(form) {
  const { status, told } = await ask(form.getAttribute("action"), { link: form.elements.link.value });
  if (status !== 200) throw new Refused(told.error);
  form.reset();
  form.hidden = true;
  tell(told.told);
  const next = waiting;
  waiting = null;
  const button = next?.querySelector("[data-saves]") ?? next?.querySelector("button");
  (button ?? said).focus();
}

/** A form whose answer is told, and which may need a confirmation first. */
async function plain(form, pressed) {
  tell(t("One moment…"));
  const { status, told } = await ask(form.getAttribute("action"), Object.fromEntries(new FormData(form, pressed)));
  if (status === NEEDS_LINK) {
    waiting = form;
    document.getElementById("confirmation").hidden = false;
    tell(told.error, true);
    document.getElementById("own-link").focus();
    return;
  }
  if (status !== 200) throw new Refused(told.error);
  for (const field of form.querySelectorAll("input[type=password]")) field.value = "";
  tell(saved(told));
  said.focus();
}

async function doing(form, work, pressed = null) {
  const buttons = [...form.querySelectorAll("button")];
  const hadFocus = document.activeElement;
  try {
    const done = work(form, pressed); // what was pressed counts, so it is read before it is switched off
    buttons.forEach((button) => (button.disabled = true));
    await done;
  } catch (error) {
    tellFault(error, form);
  } finally {
    buttons.forEach((button) => (button.disabled = false));
    if (document.activeElement === document.body) hadFocus?.focus({ preventScroll: true }); // a button that is switched off loses it
  }
}

document.addEventListener(
  "submit",
  (event) => {
    const form = event.target;
    const work = form.dataset.edits ? show : form.dataset.confirms === "" ? confirmed : form.dataset.plain === "" ? plain : null;
    if (!work) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (form.reportValidity()) doing(form, work, event.submitter);
  },
  { capture: true },
);

document.addEventListener("click", (event) => {
  const form = event.target.closest("form");
  if (event.target.dataset.saves === "") doing(form, save);
  if (event.target.dataset.leaves === "") {
    form.querySelector(".outcome").replaceChildren();
    tell("");
    form.querySelector("button").focus();
  }
});

/** Show the tables in which all words are found, while somebody types. */
function narrow(field) {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const table of document.querySelectorAll("details.settings")) {
    const all = `${table.id} ${table.textContent}`.toLowerCase();
    let found = table.querySelector("tbody") || !words.every((word) => all.includes(word)) ? 0 : 1;
    for (const row of table.querySelectorAll("tbody tr")) {
      const text = `${table.id} ${row.textContent}`.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      found += row.hidden ? 0 : 1;
    }
    table.hidden = !found;
    table.open = words.length > 0 && found > 0;
  }
}

document.addEventListener("input", (event) => {
  if (event.target.id === "search") narrow(event.target);
});

said.tabIndex = -1;
const kept = sessionStorage.getItem("settings-told");
if (kept) {
  sessionStorage.removeItem("settings-told");
  tell(kept);
}
