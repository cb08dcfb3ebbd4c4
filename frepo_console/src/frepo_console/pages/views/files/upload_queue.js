// Uploads of files: two at once, the others wait. They go on while another view is shown.

import { API, headersWithToken } from "../../lib/api.js";
import { onSessionChange } from "../../lib/session.js";

const AT_ONCE = 2;
// WebCrypto cannot stream, so only files of this size are sent with their digest, which the service compares.
const HASHED = 64_000_000;
const AGAIN_SECONDS = [2, 5, 15, 30];

let uploads = [];
let last = 0;
const listeners = new Set();

export const currentUploads = () => uploads;

/** Call `listener` after each change. Return a function that ends this. */
export function onUploads(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Add files. Each upload: `{id, file, state, sent, speed, answer, message}`; `state` is waiting, hashing, sending, done,
 * failed (refused), lost (the connection, tried again by itself) or cancelled. `done` is called after each.
 */
export function addUploads(files, { tags = [], isPublic = false, password = "" } = {}, done = () => {}) {
  const added = [...files].map((file) => ({ id: (last += 1), file, tags, isPublic, password, done, state: "waiting", sent: 0, speed: 0, tries: 0 }));
  uploads = [...uploads, ...added];
  changed();
}

export function cancel(id) {
  const upload = find(id);
  if (!upload || ["done", "failed", "cancelled"].includes(upload.state)) return;
  clearTimeout(upload.timer);
  set(id, { state: "cancelled" });
  upload.request?.abort();
}

export function retry(id) {
  const upload = find(id);
  clearTimeout(upload?.timer);
  set(id, { state: "waiting", sent: 0, message: "" });
}

export function remove(id) {
  cancel(id);
  uploads = uploads.filter((one) => one.id !== id);
  changed();
}

export const cancelAll = () => uploads.forEach((one) => cancel(one.id));

export function clearFinished() {
  uploads = uploads.filter((one) => isActive(one) || one.state === "lost");
  changed();
}

export const isActive = ({ state }) => ["waiting", "hashing", "sending"].includes(state);

const find = (id) => uploads.find((one) => one.id === id);

function set(id, values) {
  uploads = uploads.map((one) => (one.id === id ? { ...one, ...values } : one));
  changed();
}

function changed() {
  const running = uploads.filter((one) => one.state === "hashing" || one.state === "sending").length;
  for (const one of uploads.filter(({ state }) => state === "waiting").slice(0, Math.max(0, AT_ONCE - running))) start(one);
  for (const listener of listeners) listener(uploads);
}

async function start(upload) {
  const { id, file } = upload;
  uploads = uploads.map((one) => (one.id === id ? { ...one, state: "hashing" } : one));
  const digest = await digestOf(file).catch(() => null);
  if (find(id)?.state === "hashing") sendFile(find(id), digest);
}

/** The header that names the SHA-256 of a file (RFC 9530), null for a large one or without WebCrypto. */
async function digestOf(file) {
  if (file.size > HASHED || !globalThis.crypto?.subtle) return null;
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", await file.arrayBuffer()));
  return `sha-256=:${btoa(String.fromCharCode(...bytes))}:`;
}

/** Send with XMLHttpRequest: `fetch` tells no progress of an upload. The browser reads the file from the disk meanwhile. */
function sendFile({ id, file, tags, isPublic, password, done, tries }, digest) {
  const query = new URLSearchParams({ name: file.name, public: isPublic });
  for (const tag of tags) query.append("tag", tag);
  const request = new XMLHttpRequest();
  request.open("POST", `${API}/files?${query}`);
  const headers = headersWithToken({ "Content-Type": "application/octet-stream" });
  if (digest) headers["Repr-Digest"] = digest;
  if (password) headers["X-File-Password"] = password;
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  const started = Date.now();
  request.upload.onprogress = ({ loaded }) => set(id, { sent: loaded, speed: (loaded / Math.max(1, Date.now() - started)) * 1000 });
  request.onload = () => {
    const body = parsed(request.responseText);
    if (request.status < 300) set(id, { state: "done", sent: file.size, answer: body, existed: request.status === 200 });
    else if (request.status === 503 || request.status === 429) lose(id, tries);
    else set(id, { state: "failed", message: messageOf(body, request.status) });
    if (request.status < 300) done();
  };
  request.onerror = () => lose(id, tries);
  set(id, { state: "sending", request });
  request.send(file);
}

/** The connection was lost: try again by itself a few times, with growing pauses. */
function lose(id, tries) {
  if (find(id)?.state === "cancelled") return;
  const seconds = AGAIN_SECONDS[tries];
  const timer = seconds && setTimeout(() => find(id)?.state === "lost" && retry(id), seconds * 1000);
  set(id, { state: "lost", tries: tries + 1, timer });
}

const messageOf = (body, status) => body?.errors?.[0]?.message ?? body?.detail ?? String(status);

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

onSessionChange(() => {
  cancelAll();
  uploads = [];
  changed();
});
addEventListener("beforeunload", (event) => {
  if (uploads.some(isActive)) event.preventDefault();
});
