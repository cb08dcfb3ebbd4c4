// Uploads and downloads: progress, cancel, a retry after a lost connection, and the digest of what was sent.

import { useEffect, useState } from "./html.js";
import { Problem, onSessionChange } from "./api.js";
import { fetchToDisk } from "./download.js";
import { sendFile } from "./upload.js";
import { t } from "../texts/transfers.js";

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

/**
 * A transfer. `state` is `waiting`, `hashing`, `running`, `retrying`, `checking`, `done`, `failed` or `cancelled`;
 * `part` is what a second try continues with.
 */
class Transfer {
  constructor({ topic, name, size, kind, run, finished }) {
    this.topic = topic;
    this.name = name;
    this.size = size;
    this.kind = kind;
    this.work = run;
    this.finished = finished;
    this.id = last += 1;
    this.moved = 0;
    this.speed = 0;
    this.state = "waiting";
    this.message = "";
    this.abort = new AbortController();
  }

  get isActive() {
    return !["done", "failed", "cancelled"].includes(this.state);
  }

  /** Return what a second try continues with; the first try makes it. */
  async continueWith(make, signal) {
    if (this.part) return this.part;
    const part = await make();
    if (signal.aborted) discard(part);
    signal.throwIfAborted();
    this.part = part;
    return part;
  }

  /** Forget what has arrived. The file on disk, if there was one, stays as it was. */
  clean() {
    discard(this.part);
    delete this.part;
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
    const speed = now - firstTime > 500 ? ((moved - firstMoved) / (now - firstTime)) * 1000 : this.speed;
    Object.assign(this, { moved, speed, state: "running", message: "" });
    if (now - (this.drawn ?? 0) < DRAW_MS && moved < this.size) return;
    this.drawn = now;
    publish();
  }

  /** Start, or start again, as soon as fewer than three run. */
  start() {
    this.abort.abort();
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
        delete this.part;
        this.set({ state: "done", moved: this.size, ...result });
        this.finished?.(result.answer);
        return;
      } catch (error) {
        if (signal.aborted) return;
        const isLost = error instanceof Problem && [0, 429, 503].includes(error.status);
        if (!isLost) this.clean();
        if (!isLost || attempt === TRIES) return this.set({ state: "failed", message: messageOf(error) });
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

function discard(part) {
  part?.hash.stop();
  Promise.resolve(part?.file?.abort()).catch(() => {});
}

const messageOf = (error) => Object.values(error.fields ?? {})[0] ?? error.message;

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
 * Upload a file. `finished(answer)` is called at the end, and `textOf(answer)` says what has become of it.
 */
export function upload({
  topic,
  file,
  url,
  method = "PUT",
  headers = {},
  finished,
  textOf = /** @type {(answer: any) => string} */ (() => t.transfers.checked),
}) {
  const run = async (transfer, signal) => {
    const answer = await sendFile({ transfer, url, method, file, headers, signal });
    return { answer, message: textOf(answer) };
  };
  return begin({ topic, name: file.name, size: file.size, kind: "upload", run, finished });
}

/** Download `url` to a file on disk, and compare its digest with `sha256`. `target` is from `chooseTarget`. */
export function download({ topic, name, size, sha256, url, target }) {
  const run = async (transfer, signal) => {
    await fetchToDisk({ transfer, url, target, sha256, signal });
    return { message: t.transfers.checked };
  };
  return begin({ topic, name, size, kind: "download", run });
}

onSessionChange(() => {
  for (const one of transfers.filter(({ isActive }) => isActive)) one.cancel();
  transfers = [];
  publish();
});
addEventListener("beforeunload", (event) => {
  if (transfers.some((one) => one.isActive)) event.preventDefault();
});
