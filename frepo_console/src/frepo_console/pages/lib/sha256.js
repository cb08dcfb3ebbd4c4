// SHA-256 of files and streams, computed by a worker.

import { Problem } from "./api.js";
import { t } from "../texts.js";

// Bytes that wait for the worker: a fast connection must not fill the memory.
const MAX_WAITING = 16 * 1024 * 1024;
const MAX_FREE = 16;

/** Return a hash whose worker is loaded. Throws `Problem` if it cannot be loaded, as the service may not answer. */
export async function loadHash() {
  const hash = new Hash();
  await Promise.race([hash.ready, hash.digest]).catch(() => {
    throw new Problem(0, { detail: t.errors.offline });
  });
  return hash;
}

/**
 * A hash that takes pieces: `await add(bytes)`, then `await end()` for the digest in hexadecimal; `stop()` gives up.
 */
class Hash {
  constructor() {
    this.waiting = 0;
    this.free = [];
    /** @type {(value?: unknown) => void} */
    this.resume = () => {};
    /** @type {(value?: unknown) => void} */
    this.loaded = () => {};
    this.ready = new Promise((resolve) => (this.loaded = resolve));
    this.worker = new Worker(new URL("./sha256_worker.js", import.meta.url), { type: "module" });
    this.digest = new Promise((resolve, reject) => {
      this.worker.onmessage = ({ data }) => {
        if (data.isReady) this.loaded();
        else if (data.digest) resolve(data.digest);
        else if (data.error) reject(new Error(data.error));
        else this.hashed(data);
        if (this.waiting <= MAX_WAITING) this.resume();
      };
      this.worker.onerror = () => reject(new Error("The worker failed"));
    });
    this.digest.catch(() => this.resume());
  }

  hashed({ hashed, buffer }) {
    this.waiting -= hashed;
    if (this.free.length < MAX_FREE) this.free.push(buffer);
  }

  /** Memory of bytes that were added and are hashed, if there is some. */
  reuse() {
    return this.free.pop();
  }

  /**
   * Add bytes, which are handed over: the caller must not use them any more. Wait while too many are not hashed yet.
   */
  async add(piece) {
    this.waiting += piece.length;
    this.worker.postMessage({ piece }, [piece.buffer]);
    if (this.waiting > MAX_WAITING)
      await Promise.race([this.digest, new Promise((resolve) => (this.resume = resolve))]);
  }

  file(file) {
    this.worker.postMessage({ file });
    return this.ending();
  }

  end() {
    this.worker.postMessage({ end: true });
    return this.ending();
  }

  ending() {
    const ended = this.digest.finally(() => this.stop());
    ended.catch(() => {}); // the caller may wait for it later
    return ended;
  }

  stop() {
    this.worker.terminate();
    this.resume();
  }
}
