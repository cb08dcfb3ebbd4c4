// Uploads and downloads: progress, cancel, a retry after a lost connection, and the digest of what was sent.

import { useEffect, useState } from "./html.js";
import { Problem, headersWithToken } from "./api.js";
import { fetchToDisk } from "./download.js";
import { Hash } from "./sha256.js";
import { t } from "../texts.js";

const TRIES = 5;
const WAIT_MS = 1000;

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
  constructor({ topic, name, size, kind, run, finished }) {
    Object.assign(this, { topic, name, size, kind, finished, id: (last += 1), moved: 0, state: "waiting", message: "" });
    this.work = run;
    this.abort = new AbortController();
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
    this.set({ moved, speed, state: "running" });
  }

  async start() {
    this.abort = new AbortController();
    this.marks = [];
    for (let attempt = 1; ; attempt += 1) {
      try {
        const result = await this.work(this, this.abort.signal);
        this.set({ state: "done", moved: this.size, message: result?.message ?? "" });
        this.finished?.(result);
        return;
      } catch (error) {
        if (this.abort.signal.aborted) return this.set({ state: "cancelled", message: t.transfers.cancelled });
        const isLost = error instanceof Problem && (error.status === 0 || error.status === 503);
        if (!isLost || attempt === TRIES) return this.set({ state: "failed", message: error.message });
        this.set({ state: "retrying", message: t.transfers.retrying });
        await new Promise((resolve) => setTimeout(resolve, WAIT_MS * 2 ** (attempt - 1)));
        if (this.abort.signal.aborted) return this.set({ state: "cancelled", message: t.transfers.cancelled });
      }
    }
  }

  cancel() {
    this.abort.abort();
  }

  /** Remove it from the list. */
  remove() {
    transfers = transfers.filter((one) => one !== this);
    publish();
  }
}

function begin(options) {
  const transfer = new Transfer(options);
  transfers = [transfer, ...transfers];
  publish();
  transfer.start();
  return transfer;
}

/**
 * Upload a file. A second try has the same idempotency key, so that an upload whose answer was lost is not stored twice.
 *
 * `finished(answer)` is called at the end. The digest is computed while the file is sent, and compared with the answer's
 * `sha256`.
 */
export function upload({ topic, file, url, method = "PUT", headers = {}, finished }) {
  const key = Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(16).padStart(8, "0")).join("");
  let digest = null;
  const run = async (transfer, signal) => {
    digest ??= new Hash().file(file);
    const answer = await put({ url, method, file, signal, headers: { ...headers, "Idempotency-Key": key }, progress: (moved) => transfer.progress(moved) });
    transfer.set({ state: "checking", message: t.transfers.checking });
    const own = await digest;
    if (answer.sha256 && own !== answer.sha256) throw new Problem(422, { detail: t.transfers.differs });
    return { ...answer, message: t.transfers.checked };
  };
  return begin({ topic, name: file.name, size: file.size, kind: "upload", run, finished });
}

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
    signal.addEventListener("abort", () => request.abort());
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
    const digest = await fetchToDisk({ transfer, url, target, signal });
    if (sha256 && digest !== sha256) throw new Problem(422, { detail: t.transfers.damagedDownload });
    return { message: t.transfers.checked };
  };
  return begin({ topic, name, size, kind: "download", run });
}
