// Reads a stream without growing the memory: what was read is garbage, which may be gigabytes before it is collected.

const PIECE = 1024 * 1024;
const PATIENCE_MS = 10_000;
const MOST_SILENCES = 6;

/**
 * Call `take(bytes)` for each piece of a stream, and wait for it. `reuse()` returns memory of an earlier piece that is
 * not needed any more, if there is some. A browser that cannot read into it makes new memory for each piece.
 */
export async function readPieces(stream, reuse, take, patience = 0) {
  const reader = readerOf(stream);
  for (;;) {
    const answer = await within(patience, reader.read(new Uint8Array(reuse() ?? new ArrayBuffer(PIECE))));
    if (answer === null) return void reader.cancel().catch(() => {});
    const { done, value } = answer;
    if (value?.length) await take(value);
    if (done) return;
  }
}

/**
 * Call `take(bytes)` for each piece of a file. Chromium stopped to deliver files of 10 GB somewhere, without an error:
 * a file that is silent for `patience` milliseconds is opened again where it stopped. Throws an error if that brings
 * nothing six times.
 */
export async function readFile(file, take, patience = PATIENCE_MS) {
  let at = 0;
  let silences = 0;
  let free;
  const reuse = () => {
    const buffer = free;
    free = undefined;
    return buffer;
  };
  while (at < file.size) {
    const before = at;
    await readPieces(
      file.slice(at).stream(),
      reuse,
      (bytes) => {
        take(bytes);
        at += bytes.length;
        free = bytes.buffer;
      },
      patience,
    );
    silences = at === before ? silences + 1 : 0;
    if (silences === MOST_SILENCES) throw new Error(`The file cannot be read from byte ${at} on`);
  }
}

/** The result of a promise, null if it takes longer; 0 waits for ever. */
function within(milliseconds, promise) {
  if (!milliseconds) return promise;
  let timer;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, milliseconds, null)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function readerOf(stream) {
  try {
    return stream.getReader({ mode: "byob" });
  } catch {
    return stream.getReader(); // it ignores the memory
  }
}
