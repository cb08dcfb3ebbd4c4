// Uploads in parts (tus 1.0, `/api/v1/uploads`). They survive a lost connection, a restart of the service, and a reload
// of the page: then the person has to choose the file again, which a page cannot open by itself.

import { Problem, answerOf, apiUrl, currentToken, headersWithToken, path } from "./api.js";
import { loadHash } from "./sha256.js";
import { sendBody } from "./upload.js";
import { t } from "../texts/transfers.js";

const PART = 16 * 1024 * 1024;
const ASK_AGAIN_MS = 2000;
const TUS = { "Tus-Resumable": "1.0.0" };
/** What the browser keeps of open uploads, for the next time the page is loaded. It has no token and no content. */
const KEY = "frepo.uploads";

const statusOf = (error) => (error instanceof Problem ? error.status : undefined);
const ended = (error) => [404, 410].includes(statusOf(error) ?? 0);

/**
 * Send a file in parts; return what was stored. A second try asks the service where it goes on.
 *
 * Throws `Problem`: status 0 if the connection was lost, 422 if other bytes were stored.
 */
export async function sendInParts({ transfer, file, inParts, signal }) {
  const part = await transfer.continueWith(() => begin(transfer.topic, file, inParts), signal);
  const { session } = part;
  session.hold();
  try {
    if (!part.hash) {
      const hash = await loadHash();
      if (signal.aborted) hash.stop();
      signal.throwIfAborted();
      Object.assign(part, { hash, digest: hash.file(file) });
    }
    await session.sendRest({ transfer, file, signal });
    transfer.set({ state: "checking", message: t.transfers.checking });
    const stored = await session.stored(signal);
    session.forget();
    if (stored.sha256 && (await part.digest) !== stored.sha256) throw new Problem(422, { detail: t.transfers.differs });
    return stored;
  } catch (error) {
    if (ended(error)) session.forget();
    throw error;
  }
}

/**
 * The uploads of a token about a topic that were interrupted and can go on. Those that no longer exist are forgotten;
 * those that another tab sends are left to it.
 */
export async function interruptedSessions(topic, token) {
  const { held = [] } = (await navigator.locks?.query()) ?? {};
  const isFree = ({ id }) => !held.some((lock) => lock.name === lockOf(id));
  const records = kept().filter((one) => one.topic === topic && one.token === token && isFree(one));
  const found = await Promise.all(records.map(async (record) => (await new Session(record).check()) ?? []));
  return found.flat();
}

async function begin(topic, file, { token, metadata }) {
  const headers = { "Upload-Length": String(file.size), "Upload-Metadata": encoded(metadata) };
  const answer = await ask("POST", apiUrl("/uploads"), { headers });
  const id = String(answer.headers.get("Location")).split("/").pop();
  const session = new Session({ id, topic, token, metadata, ...identityOf(file), offset: 0 });
  session.isNew = true;
  session.keep();
  return { session };
}

/** By what a file is known again. */
const identityOf = ({ name, size, lastModified }) => ({ name, size, modified: lastModified });

const ask = (method, url, { headers = {}, signal = /** @type {AbortSignal | undefined} */ (undefined) } = {}) =>
  answerOf(url, { method, headers: headersWithToken({ ...TUS, ...headers }), signal });

/** An upload of the service. `record` is what the browser keeps of it. */
class Session {
  constructor(record) {
    this.record = record;
    this.url = apiUrl(path("uploads", record.id));
    this.secret = currentToken();
    this.isNew = false;
    this.isOver = false;
    this.release = () => {};
  }

  /** Whether this is the file that was sent, for the same purpose if `metadata` is given. */
  isOf(file, metadata = this.record.metadata) {
    const { name, size, modified } = identityOf(file);
    const { record } = this;
    return (
      name === record.name &&
      size === record.size &&
      modified === record.modified &&
      JSON.stringify(metadata) === JSON.stringify(record.metadata)
    );
  }

  /** Tell other tabs that this one sends it. */
  hold() {
    this.release();
    navigator.locks?.request(
      lockOf(this.record.id),
      { ifAvailable: true },
      () => new Promise((resolve) => (this.release = () => resolve(undefined))),
    );
  }

  keep() {
    keepOnly([...kept().filter(({ id }) => id !== this.record.id), this.record]);
  }

  forget() {
    this.isOver = true;
    this.release();
    keepOnly(kept().filter(({ id }) => id !== this.record.id));
  }

  note(offset) {
    this.record.offset = offset;
    if (!this.isOver) this.keep();
  }

  /** Return itself with its present offset, null if it cannot go on. */
  async check() {
    try {
      this.record.offset = await this.offset();
      if (this.record.offset < this.record.size) return this;
      this.forget(); // its last part has arrived, only the answer was lost
    } catch (error) {
      if (ended(error)) this.forget();
      else if (statusOf(error) !== 423) return this;
    }
    return null;
  }

  async offset(signal = /** @type {AbortSignal | undefined} */ (undefined)) {
    const answer = await ask("HEAD", this.url, { signal });
    return Number(answer.headers.get("Upload-Offset"));
  }

  /** Where it goes on. While the service stores what has arrived, wait. */
  async start(transfer, signal) {
    for (;;) {
      try {
        return await this.offset(signal);
      } catch (error) {
        if (statusOf(error) !== 423) throw error;
        transfer.set({ state: "checking", message: t.transfers.storing });
        await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
        signal.throwIfAborted();
      }
    }
  }

  async sendRest({ transfer, file, signal }) {
    let offset = this.isNew ? 0 : await this.start(transfer, signal);
    this.isNew = false;
    transfer.progress(offset);
    while (offset < file.size) {
      offset = await this.sendPart({ transfer, file, offset, signal });
      this.note(offset);
      transfer.set({ kept: offset });
    }
  }

  /** Send the next part; return where the one after it begins. The answer to the last one comes when all is stored. */
  async sendPart({ transfer, file, offset, signal }) {
    const body = await file.slice(offset, offset + PART).arrayBuffer();
    const headers = {
      ...TUS,
      ...(await checksum(body)),
      "Content-Type": "application/offset+octet-stream",
      "Upload-Offset": String(offset),
    };
    signal.throwIfAborted();
    const progress = (moved) => {
      transfer.progress(offset + moved);
      if (offset + moved === file.size) transfer.set({ state: "checking", message: t.transfers.storing });
    };
    // A request that waits for a lost network may wait for ever.
    const lost = new AbortController();
    const lose = () => lost.abort();
    addEventListener("offline", lose, { once: true });
    try {
      const either = AbortSignal.any([signal, lost.signal]);
      const answer = await sendBody({ url: this.url, method: "PATCH", body, headers, signal: either, progress });
      return Number(answer.getResponseHeader("Upload-Offset"));
    } finally {
      removeEventListener("offline", lose);
    }
  }

  /** What was stored, as an ordinary upload is answered. */
  async stored(signal) {
    const answer = await (await ask("GET", this.url, { signal })).json();
    if (answer.state !== "committed") throw new Problem(410, { detail: answer.error?.message ?? t.transfers.ended });
    return answer.version ?? answer.file ?? { name: this.record.name, size: this.record.size };
  }

  /** End it on the service. After another sign-in it stays, and is offered to its token again. */
  async abort() {
    this.release();
    if (this.isOver || this.secret !== currentToken()) return;
    try {
      await ask("DELETE", this.url);
    } catch (error) {
      if (statusOf(error) === 0) return;
    }
    this.forget();
  }
}

const lockOf = (id) => `${KEY}.${id}`;

function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "[]");
  } catch {
    return [];
  }
}

function keepOnly(records) {
  try {
    if (records.length) localStorage.setItem(KEY, JSON.stringify(records));
    else localStorage.removeItem(KEY);
  } catch {
    // The browser keeps nothing: the upload goes on, but not after a reload.
  }
}

const base64 = (bytes) => btoa(String.fromCharCode(...bytes));

const encoded = (metadata) =>
  Object.entries(metadata)
    .map(([key, value]) => `${key} ${base64(new TextEncoder().encode(value))}`)
    .join(",");

/** The header that names the SHA-256 of a part. Only pages from HTTPS or this computer can compute it. */
async function checksum(bytes) {
  if (!crypto.subtle) return {};
  return { "Upload-Checksum": `sha256 ${base64(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)))}` };
}
