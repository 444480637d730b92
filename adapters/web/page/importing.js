// A conversation's file, chosen by an operator and imported. Loaded when it is asked for.

import { h } from "./dom.js";
import { Failed, request } from "./net.js";
import { words } from "./words.js";

const MOST_BYTES = 16 * 1024 * 1024;
const WITHIN = 120_000; // milliseconds

/** What it became; null where none was chosen. Errors: Failed. */
export async function chosenConversation() {
  const file = await chosen();
  if (!file) return null;
  if (file.size > MOST_BYTES) throw new Failed(words.importTooLarge);
  let body;
  try {
    body = JSON.parse(await file.text());
  } catch {
    throw new Failed(words.importNoFile);
  }
  return request("/api/v1/conversation-copies", { method: "POST", body, timeout: WITHIN });
}

function chosen() {
  const input = h("input", { type: "file", accept: "application/json,.json" });
  return new Promise((resolve) => {
    input.addEventListener("change", () => resolve(input.files[0] ?? null));
    input.addEventListener("cancel", () => resolve(null));
    input.click();
  });
}
