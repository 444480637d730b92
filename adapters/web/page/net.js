// Requests to the API that programs use, and to the page's own wire.

import { words } from "./words.js";

/** A request that did not work. `retry` says that the same request may work later. */
export class Failed extends Error {
  constructor(message, { status = 0 } = {}) {
    super(message);
    this.status = status;
    this.retry = status === 0 || status === 429 || status >= 500;
  }
}

async function asFailure(response) {
  let sentence = words.answered(response.status);
  try {
    const told = await response.json();
    sentence = told.detail ?? told.error ?? sentence; // by the API for programs, or by the page's own wire
  } catch {
    // an answer that is not ours, from a proxy perhaps
  }
  return new Failed(sentence, { status: response.status });
}

/** The answer, read as JSON. `asked`: the request that is under way already. Errors: Failed. */
export async function request(path, { method = "GET", body, timeout = 20_000, keepalive = false, asked = null } = {}) {
  const options = { method, credentials: "same-origin", cache: "no-store", keepalive, signal: AbortSignal.timeout(timeout) };
  if (method !== "GET") {
    options.headers = { "Content-Type": "application/json", "X-Signalbox": "1" };
    options.body = JSON.stringify(body ?? {});
  }
  let response;
  try {
    response = await (asked ?? fetch(path, options));
  } catch {
    throw new Failed(words.away);
  }
  if (!response.ok) throw await asFailure(response);
  try {
    return await response.json();
  } catch {
    throw new Failed(words.away);
  }
}

/** Name of one of the page's own rooms, by its address as the API writes it: "web:main/NAME". */
export const roomOf = (address) => address.slice(address.indexOf("/") + 1);

/** Upload one file; `onProgress` gets 0 to 1. */
export function upload(room, file, onProgress) {
  return new Promise((resolve, reject) => {
    const form = new FormData();
    form.append("file", file, file.name);
    const call = new XMLHttpRequest();
    call.open("POST", `/api/rooms/${room}/files`);
    call.setRequestHeader("X-Signalbox", "1");
    call.responseType = "json";
    call.upload.onprogress = (event) => event.lengthComputable && onProgress(event.loaded / event.total);
    call.onerror = () => reject(new Failed(words.uploadCut));
    call.onload = () => {
      if (call.status === 201 && call.response) resolve(call.response);
      else reject(new Failed(call.response?.error ?? words.answered(call.status), { status: call.status }));
    };
    call.send(form);
  });
}

export const fileLink = (room, path) => `/api/rooms/${room}/files/${path.split("/").map(encodeURIComponent).join("/")}`;
