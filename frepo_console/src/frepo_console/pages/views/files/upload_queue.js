// Uploads of files: two at once, the others wait. They go on while another view is shown.

import { API, headersWithToken, onSessionChange } from "../../lib/api.js";
import { Hash } from "../../lib/sha256.js";
import { t } from "../../texts/files.js";

const AT_ONCE = 2;
// The digest of a file up to this size, in bytes, is computed first and sent along: the service refuses other content. That
// of a larger one is computed while the file is sent, and compared at the end.
const HASHED_FIRST = 64_000_000;
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
 * Add files. Each upload: `{id, file, state, sent, speed, answer, message}`; `state` is waiting, hashing, sending,
 * checking, done, failed (refused), lost (the connection, tried again by itself) or cancelled. `done` is called after each.
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
  upload.hash?.stop();
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

export const isActive = ({ state }) => ["waiting", "hashing", "sending", "checking"].includes(state);

const find = (id) => uploads.find((one) => one.id === id);

function set(id, values) {
  uploads = uploads.map((one) => (one.id === id ? { ...one, ...values } : one));
  changed();
}

function changed() {
  const running = uploads.filter((one) => isActive(one) && one.state !== "waiting").length;
  for (const one of uploads.filter(({ state }) => state === "waiting").slice(0, Math.max(0, AT_ONCE - running))) start(one);
  for (const listener of listeners) listener(uploads);
}

async function start(upload) {
  const { id, file } = upload;
  const isFirst = file.size <= HASHED_FIRST;
  const hash = new Hash();
  const digest = hash.file(file).catch(() => null);
  // Not by `set`: this runs while `changed` counts. It calls the listeners after that.
  uploads = uploads.map((one) => (one.id === id ? { ...one, hash, state: isFirst ? "hashing" : "sending" } : one));
  const known = await (isFirst ? digest : null);
  if (find(id)?.hash === hash && isActive(find(id))) sendFile(find(id), reprDigest(known), digest);
}

/** The header that names a SHA-256, given in hexadecimal (RFC 9530). */
function reprDigest(digest) {
  if (!digest) return {};
  const bytes = digest.match(/../g).map((pair) => parseInt(pair, 16));
  return { "Repr-Digest": `sha-256=:${btoa(String.fromCharCode(...bytes))}:` };
}

/** Send with XMLHttpRequest: `fetch` reports no progress of an upload. The browser reads the file from the disk meanwhile. */
function sendFile({ id, file, tags, isPublic, password, tries }, header, digest) {
  const query = new URLSearchParams({ name: file.name, public: isPublic });
  for (const tag of tags) query.append("tag", tag);
  const request = new XMLHttpRequest();
  request.open("POST", `${API}/files?${query}`);
  const headers = headersWithToken({ "Content-Type": "application/octet-stream", ...header });
  if (password) headers["X-File-Password"] = password;
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  const started = Date.now();
  request.upload.onprogress = ({ loaded }) => set(id, { sent: loaded, speed: (loaded / Math.max(1, Date.now() - started)) * 1000 });
  request.onload = () => {
    const body = parsed(request.responseText);
    if (request.status < 300) finish(id, body, request.status === 200, digest);
    else if (request.status === 503 || request.status === 429) lose(id, tries);
    else fail(id, messageOf(body, request.status));
  };
  request.onerror = () => lose(id, tries);
  set(id, { state: "sending", request });
  request.send(file);
}

/** Compare the digest of what was stored with that of the file. */
async function finish(id, answer, existed, digest) {
  set(id, { state: "checking", sent: find(id)?.file.size });
  const own = await digest;
  const upload = find(id);
  if (upload?.state !== "checking") return;
  if (own && answer?.sha256 && own !== answer.sha256) return fail(id, t.differs);
  set(id, { state: "done", answer, existed });
  upload.done();
}

function fail(id, message) {
  find(id)?.hash.stop();
  set(id, { state: "failed", message });
}

/** The connection was lost: try again by itself a few times, with growing pauses. */
function lose(id, tries) {
  if (find(id)?.state === "cancelled") return;
  find(id)?.hash.stop();
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
