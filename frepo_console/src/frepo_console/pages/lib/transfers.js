// Uploads and downloads: progress, cancel, a retry after a lost connection, and the digest of what was sent.

import { useEffect, useState } from "./html.js";
import { Problem, headersWithToken, onSessionChange } from "./api.js";
import { discardPart, fetchToDisk } from "./download.js";
import { Hash } from "./sha256.js";
import { t } from "../texts.js";

const AT_ONCE = 3;
const DRAW_MS = 100;
// A minute in all, in which a service restarts: the pauses are 1, 2, 4, 8, 15, 15, 15 seconds.
const TRIES = 8;
const WAIT_MS = 1000;
const MAX_WAIT_MS = 15_000;

// All transfers of this tab, the newest first. They go on while the person looks at other views.
let transfers = [];
const listeners = new Set();
let last = 0;

function publish() {
  for (const listener of listeners) listener();
}

/** The transfers about a `topic`, such as the id of a collection; the component is drawn again when one changes. */
export function useTransfers(topic) {
  const [, draw] = useState(0);
  useEffect(() => {
    const changed = () => draw((count) => count + 1);
    listeners.add(changed);
    return () => listeners.delete(changed);
  }, []);
  return transfers.filter((one) => one.topic === topic);
}

/** A transfer. `state` is `waiting`, `running`, `retrying`, `checking`, `done`, `failed` or `cancelled`. */
class Transfer {
  constructor({ topic, name, size, kind, run, clean, finished }) {
    Object.assign(this, { topic, name, size, kind, clean, finished, id: (last += 1), moved: 0, state: "waiting", message: "" });
    this.work = run;
    this.abort = new AbortController();
  }

  get isActive() {
    return ["waiting", "running", "retrying", "checking"].includes(this.state);
  }

  set(changes) {
    Object.assign(this, changes);
    publish();
  }

  /** Note how many bytes have moved; the speed is that of the last seconds. */
  progress(moved) {
    const now = performance.now();
    this.marks = [...(this.marks ?? []).filter(([time]) => now - time < 5000), [now, moved]];
    const [[firstTime, firstMoved]] = this.marks;
    const speed = now - firstTime > 500 ? ((moved - firstMoved) / (now - firstTime)) * 1000 : (this.speed ?? 0);
    Object.assign(this, { moved, speed, state: "running", message: "" });
    if (now - (this.drawn ?? 0) < DRAW_MS && moved < this.size) return;
    this.drawn = now;
    publish();
  }

  /** Start, or start again, as soon as fewer than three run. */
  start() {
    this.abort = new AbortController();
    this.set({ state: "waiting", message: "" });
    startNext();
  }

  async run() {
    const { signal } = this.abort;
    this.set({ state: "running" });
    this.marks = [];
    for (let attempt = 1; ; attempt += 1) {
      try {
        const result = await this.work(this, signal);
        this.set({ state: "done", moved: this.size, message: result?.message ?? "" });
        this.finished?.(result);
        return;
      } catch (error) {
        if (signal.aborted) return;
        const isLost = error instanceof Problem && (error.status === 0 || error.status === 503);
        if (!isLost) this.clean();
        if (!isLost || attempt === TRIES) return this.set({ state: "failed", message: error.message });
        this.set({ state: "retrying", message: t.transfers.retrying });
        await pause(Math.min(MAX_WAIT_MS, WAIT_MS * 2 ** (attempt - 1)), signal);
        if (signal.aborted) return;
      }
    }
  }

  cancel() {
    this.abort.abort();
    this.clean();
    this.set({ state: "cancelled", message: t.transfers.cancelled });
    startNext();
  }

  /** Remove it from the list. */
  remove() {
    this.clean();
    transfers = transfers.filter((one) => one !== this);
    publish();
  }
}

const pause = (milliseconds, signal) =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", resolve, { once: true });
  });

function begin(options) {
  const transfer = new Transfer(options);
  transfers = [transfer, ...transfers];
  transfer.start();
  return transfer;
}

/** Start those that wait, the oldest first. The browser has six connections to a service, and lists need some, too. */
function startNext() {
  const running = transfers.filter((one) => one.isActive && one.state !== "waiting").length;
  const waiting = transfers.filter((one) => one.state === "waiting").reverse();
  for (const one of waiting.slice(0, Math.max(0, AT_ONCE - running))) one.run().finally(startNext);
}

/**
 * Upload a file. A second try has the same idempotency key, so that an upload whose answer was lost is not stored twice.
 *
 * `finished(answer)` is called at the end. The digest is computed while the file is sent, and compared with the answer's
 * `sha256`.
 */
export function upload({ topic, file, url, method = "PUT", headers = {}, finished }) {
  let key = newKey();
  let hash = null;
  let digest = null;
  const run = async (transfer, signal) => {
    hash ??= new Hash();
    digest ??= hash.file(file);
    const answer = await put({ url, method, file, signal, headers: { ...headers, "Idempotency-Key": key }, progress: (moved) => transfer.progress(moved) });
    transfer.set({ state: "checking", message: t.transfers.checking });
    // The worker may have been asked for while the service did not answer.
    digest = digest.catch(() => (hash = new Hash()).file(file));
    if (answer.sha256 && (await digest) !== answer.sha256) {
      key = newKey(); // with the same key the service would only repeat its answer
      throw new Problem(422, { detail: t.transfers.differs });
    }
    return { ...answer, message: t.transfers.checked };
  };
  const clean = () => {
    hash?.stop();
    hash = digest = null;
  };
  return begin({ topic, name: file.name, size: file.size, kind: "upload", run, clean, finished });
}

const newKey = () => Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(16).padStart(8, "0")).join("");

/** Send a file. Only XMLHttpRequest reports the progress of a body. */
function put({ url, method, file, headers, signal, progress }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, url);
    for (const [name, value] of Object.entries(headersWithToken({ "Content-Type": "application/octet-stream", ...headers }))) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => progress(event.loaded);
    request.onload = () => {
      const body = parsed(request.responseText);
      if (request.status < 300) resolve(body);
      else reject(new Problem(request.status, body));
    };
    request.onerror = () => reject(new Problem(0, { detail: t.errors.offline }));
    request.onabort = () => reject(new Problem(0, { detail: t.transfers.cancelled }));
    signal.addEventListener("abort", () => request.abort(), { once: true });
    request.send(file);
  });
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** Download `url` to a file on disk, and compare its digest with `sha256`. `target` is from `chooseTarget`. */
export function download({ topic, name, size, sha256, url, target }) {
  const run = async (transfer, signal) => {
    await fetchToDisk({ transfer, url, target, sha256, signal });
    return { message: t.transfers.checked };
  };
  const transfer = begin({ topic, name, size, kind: "download", run, clean: () => discardPart(transfer) });
  return transfer;
}

onSessionChange(() => {
  for (const one of transfers.filter(({ isActive }) => isActive)) one.cancel();
  transfers = [];
  publish();
});
addEventListener("beforeunload", (event) => {
  if (transfers.some((one) => one.isActive)) event.preventDefault();
});
