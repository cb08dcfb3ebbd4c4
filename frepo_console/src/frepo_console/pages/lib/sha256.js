// SHA-256 of files and streams, computed by a worker.

/** A hash that takes pieces: `add(bytes)`, then `await end()` for the digest in hexadecimal; `stop()` gives up. */
export class Hash {
  constructor() {
    this.worker = new Worker(new URL("./sha256_worker.js", import.meta.url), { type: "module" });
    this.digest = new Promise((resolve, reject) => {
      this.worker.onmessage = ({ data }) => (data.digest ? resolve(data.digest) : reject(new Error(data.error)));
      this.worker.onerror = () => reject(new Error("The worker failed"));
    });
    this.digest.catch(() => {});
  }

  /** Add bytes. They are handed over: the caller must not use them any more. */
  add(piece) {
    this.worker.postMessage({ piece }, [piece.buffer]);
  }

  file(file) {
    this.worker.postMessage({ file });
    return this.digest.finally(() => this.stop());
  }

  end() {
    this.worker.postMessage({ end: true });
    return this.digest.finally(() => this.stop());
  }

  stop() {
    this.worker.terminate();
  }
}
