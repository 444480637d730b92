"use strict";

// Lines of the log as they come, newest first. Texts become text and nothing else.

const log = document.getElementById("log");
const pause = document.getElementById("pause");
const flow = document.getElementById("flow");
const none = document.getElementById("no-lines");
const LINES_MOST = 1000;
const TONES_OF = { warning: "ask", error: "bad", critical: "bad" };
let held = [];
let source = null;

function part(name, words, kind) {
  const element = document.createElement(name);
  if (words) element.textContent = words;
  if (kind) element.className = kind;
  return element;
}

function row(line) {
  const item = part("li");
  if (line.at) {
    const time = part("time", line.at);
    time.dateTime = line.at;
    time.dataset.clock = "";
    item.append(time);
  }
  item.append(part("span", line.level || "-", `badge ${TONES_OF[line.level] ?? "over"}`), part("span", line.event, "words"));
  const fields = part("span", "", "fields");
  for (const [name, value] of Object.entries(line.fields)) {
    if (name === "exception") continue;
    const field = part("span");
    field.append(part("b", `${name} `), value);
    fields.append(field);
  }
  item.append(fields);
  if (line.fields.exception) {
    const folded = part("details");
    folded.append(part("summary", t("Traceback")), part("pre", line.fields.exception));
    item.append(folded);
  }
  localTimes(item);
  return item;
}

function show(lines) {
  if (!lines.length) return;
  none.hidden = true;
  log.prepend(...lines.map(row).reverse());
  while (log.children.length > LINES_MOST) log.lastElementChild.remove();
}

function tellFlow() {
  const isPaused = pause.getAttribute("aria-pressed") === "true";
  if (isPaused) flow.textContent = held.length ? t("Paused; {number} new", { number: held.length }) : t("Paused");
  else flow.textContent = source.readyState === EventSource.OPEN ? t("Live") : t("Not connected; trying again");
}

pause.addEventListener("click", () => {
  const isPaused = pause.getAttribute("aria-pressed") !== "true";
  pause.setAttribute("aria-pressed", String(isPaused));
  if (!isPaused) {
    show(held);
    held = [];
  }
  tellFlow();
});

function follow() {
  const join = log.dataset.stream.endsWith("?") ? "" : "&";
  source = new EventSource(`${log.dataset.stream}${join}after=${log.dataset.after}`);
  source.addEventListener("open", tellFlow);
  source.addEventListener("error", tellFlow);
  source.addEventListener("line", (event) => {
    const { line } = JSON.parse(event.data);
    if (pause.getAttribute("aria-pressed") === "true") {
      held.push(line);
      held = held.slice(-LINES_MOST);
      tellFlow();
    } else show([line]);
  });
}

follow();
tellFlow();
