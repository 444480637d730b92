// Messages that were said in place of an earlier one. The earlier one and its answer stay, folded, where they stood.

import { words } from "./words.js";

/**
 * What is drawn of `entries`, in order: { entry, said } or { fold: { id, title, entries } }. `said` tells how an entry that
 * replaces another differs from it: "again" or "edited".
 */
export function branched(entries) {
  const at = new Map(entries.map((entry, place) => [entry.id, place]));
  const known = (id) => entries[at.get(id)];
  const newer = new Map(entries.filter((entry) => known(entry.replaces)).map((entry) => [entry.replaces, entry]));
  if (newer.size === 0) return entries.map((entry) => ({ entry }));
  const folded = new Map(); // entry -> the message behind whose fold it is
  for (const id of newer.keys()) {
    for (const entry of entries) if (belongs(entry, known(id), at)) folded.set(entry.id, id);
  }
  return entries.flatMap((entry) => {
    if (newer.has(entry.id)) return [{ fold: foldOf(entry, newer, known, entries.filter((one) => folded.get(one.id) === entry.id)) }];
    if (folded.has(entry.id)) return [];
    const old = known(entry.replaces);
    return [{ entry, said: old && (same(entry, old) ? "again" : "edited") }];
  });
}

/** The message itself, and what its run said from then on: an earlier message may have begun that run. */
function belongs(entry, old, at) {
  if (entry === old) return true;
  return entry.author === "agent" && entry.run && entry.run === old.run && at.get(entry.id) > at.get(old.id);
}

function foldOf(old, newer, known, entries) {
  let number = 1;
  let all = 1;
  for (let one = old; (one = known(one.replaces)); ) number += 1;
  for (let one = old; (one = newer.get(one?.id)); ) all += 1;
  all += number - 1;
  const again = same(old, newer.get(old.id));
  const answers = entries.filter((entry) => entry !== old);
  const title = again && answers.length ? words.earlierAnswer(number, all) : words.earlierMessage(number, all);
  return { id: old.id, title, entries: again && answers.length ? answers : entries };
}

const named = (files = []) => files.map((file) => file.path).join("\n");
const same = (one, other) => one.text === other.text && named(one.files) === named(other.files);

/** What may be done about the newest message: { edit: its entry, retry: the entry of its last answer }. */
export function offers(entries, me) {
  const last = entries.findLast((entry) => entry.author === "person");
  if (!last || !me.may_write || last.name !== me.name || last.text?.startsWith("/")) return {};
  const answer = entries.findLast((entry) => entry.run && entry.run === last.run && entry.kind === "final");
  return { edit: last, retry: answer && answer.at > last.at ? answer : undefined };
}
