// Uploads and downloads: progress, cancel, a retry after a lost connection, what a reload of the page has interrupted,
// and the digest of what was sent.

import { useEffect, useState } from "./html.js";
import { Problem, currentToken, onSessionChange } from "./api.js";
import { fetchToDisk } from "./download.js";
import { percent } from "./format.js";
import { sendFile } from "./upload.js";
import { t } from "../texts/transfers.js";

const AT_ONCE = 3;
const DRAW_MS = 100;
const WAIT_MS = 1000;
// A minute in all, in which a service restarts: the pauses are 1, 2, 4, 8, 15, 15, 15 seconds.
const ORDINARY = { tries: 8, longest: 15_000, passes: (status) => [0, 429, 503].includes(status) };
// What has arrived stays on the service: about four hours since the last part.
const IN_PARTS = {
  tries: 240,
  longest: 60_000,
  passes: (status) => [0, 408, 409, 423, 429, 460].includes(status) || status >= 500,
};
// Larger files are sent in parts.
const WHOLE = 64 * 1024 * 1024;

// All transfers of this tab, the newest first. They go on while the person looks at other views.
let transfers = [];
const listeners = new Set();
let last = 0;

function publish() {
  for (const listener of listeners) listener();
  dispatchEvent(new CustomEvent("transfers", { detail: summaryOf(transfers) }));
}

/** What the tray shows on the other pages: `{topic, active, failed, share}`; null if there is nothing to say. */
function summaryOf(all) {
  const active = all.filter((one) => one.isActive);
  const failed = all.filter((one) => one.state === "failed");
  const [first] = [...active, ...failed];
  if (!first) return null;
  const sum = (name) => active.reduce((total, one) => total + one[name], 0);
  return { topic: first.topic, active: active.length, failed: failed.length, share: sum("moved") / (sum("size") || 1) };
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
 * A transfer. `state` is `waiting`, `hashing`, `running`, `retrying`, `checking`, `done`, `failed`, `cancelled`, or
 * `interrupted` by a reload of the page, until `resume(file)`. `part` is what a second try continues with, `kept` how
 * many bytes the service has acknowledged. `patience` says how often what passes is tried again.
 */
class Transfer {
  constructor({ topic, name, size, kind, run, finished, patience = ORDINARY }) {
    this.topic = topic;
    this.name = name;
    this.size = size;
    this.kind = kind;
    this.work = run;
    this.finished = finished;
    this.patience = patience;
    this.id = last += 1;
    this.moved = 0;
    this.kept = 0;
    this.speed = 0;
    this.state = "waiting";
    this.message = "";
    this.abort = new AbortController();
  }

  get isActive() {
    return !["done", "failed", "cancelled", "interrupted"].includes(this.state);
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

  /** Go on with the file that the person has chosen again. */
  resume(file) {
    if (!this.part.session.isOf(file)) return this.set({ message: t.transfers.otherFile });
    this.file = file;
    this.start();
  }

  async run() {
    const { signal } = this.abort;
    const { tries, longest, passes } = this.patience;
    this.set({ state: "running" });
    this.marks = [];
    for (let attempt = 1; ; attempt += 1) {
      const { kept } = this;
      try {
        const result = await this.work(this, signal);
        delete this.part;
        this.set({ state: "done", moved: this.size, ...result });
        this.finished?.(result.answer);
        return;
      } catch (error) {
        if (signal.aborted) return;
        const isLost = error instanceof Problem && passes(error.status);
        if (!isLost) this.clean();
        if (this.kept > kept) attempt = 1;
        if (!navigator.onLine) attempt = Math.min(attempt, tries - 1); // the network is at fault: it may take long
        if (!isLost || attempt >= tries) return this.set({ state: "failed", message: messageOf(error) });
        this.set({ state: "retrying", message: error.status ? error.message : t.transfers.retrying });
        await pause(Math.min(longest, WAIT_MS * 2 ** (attempt - 1)), signal);
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
  part?.hash?.stop();
  Promise.resolve((part?.session ?? part?.file)?.abort()).catch(() => {});
}

const messageOf = (error) => Object.values(error.fields ?? {})[0] ?? error.message;

/** Wait, at most until the network is back. */
const pause = (milliseconds, signal) =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", resolve, { once: true });
    addEventListener("online", resolve, { once: true, signal });
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
 * Upload a file. `finished(answer)` is called at the end, and `textOf(answer)` says what has become of it. With
 * `inParts`, from `Access.inParts`, a large file survives a reload of the page; one that was interrupted goes on.
 * `refusal` says why the service would refuse the file: then it is not sent.
 */
export function upload({
  topic,
  file,
  url,
  method = "PUT",
  headers = {},
  refusal = "",
  inParts = /** @type {InParts | null} */ (null),
  finished,
  textOf = complete,
}) {
  if (!refusal && inParts && file.size > WHOLE) return uploadInParts({ topic, file, inParts, finished, textOf });
  const run = async (transfer, signal) => {
    if (refusal) throw new Problem(413, { detail: refusal });
    const answer = await sendFile({ transfer, url, method, file, headers, signal });
    return { answer, message: textOf(answer) };
  };
  return begin({ topic, name: file.name, size: file.size, kind: "upload", run, finished });
}

const complete = /** @type {(answer: any) => string} */ (() => t.transfers.checked);

const loadSessions = () =>
  import("./sessions.js").catch(() => {
    throw new Problem(0, { detail: t.errors.offline });
  });

function uploadInParts({ topic, file, inParts, finished, textOf }) {
  const isSame = (one) => one.state === "interrupted" && one.topic === topic;
  const known = transfers.find((one) => isSame(one) && one.part.session.isOf(file, inParts.metadata));
  if (known) return known.resume(file);
  return begin(partsOf({ topic, file, inParts, finished, textOf }));
}

/** What `Transfer` needs to send a file in parts. One that was interrupted gets its file later. */
function partsOf({ topic, file, inParts, finished, textOf }) {
  const run = async (transfer, signal) => {
    const { sendInParts } = await loadSessions();
    const answer = await sendInParts({ transfer, file: transfer.file ?? file, inParts, signal });
    return { answer, message: textOf(answer) };
  };
  return { topic, name: file.name, size: file.size, kind: "upload", run, finished, patience: IN_PARTS };
}

/** Offer to go on with the uploads about a topic that a reload of the page has interrupted. */
export function useInterrupted(topic, inParts, { finished, textOf = complete }) {
  const token = inParts?.token;
  useEffect(() => {
    if (!token || !localStorage.getItem("frepo.uploads")) return;
    offerInterrupted({ topic, token, finished, textOf }).catch(() => {}); // the next visit of the view offers them
  }, [topic, token]);
}

async function offerInterrupted({ topic, token, finished, textOf }) {
  const { interruptedSessions } = await loadSessions();
  for (const session of await interruptedSessions(topic, token)) {
    const { id, metadata, offset, ...file } = session.record;
    const isKnown = transfers.some((one) => one.part?.session?.record.id === id);
    if (isKnown || session.secret !== currentToken()) continue;
    const transfer = new Transfer(partsOf({ topic, file, inParts: { token, metadata }, finished, textOf }));
    const message = t.transfers.interrupted(percent(offset / file.size));
    transfers = [
      Object.assign(transfer, { part: { session }, state: "interrupted", moved: offset, message }),
      ...transfers,
    ];
  }
  publish();
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
  for (const one of transfers) one.isActive ? one.cancel() : one.clean();
  transfers = [];
  publish();
});
addEventListener("beforeunload", (event) => {
  if (transfers.some((one) => one.isActive)) event.preventDefault();
});
