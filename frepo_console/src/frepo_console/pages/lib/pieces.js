// Reads a stream without growing the memory: what was read is garbage, which may be gigabytes before it is collected.

const PIECE = 1024 * 1024;

/**
 * Call `take(bytes)` for each piece of a stream, and wait for it. `reuse()` returns memory of an earlier piece that is not
 * needed any more, if there is some. A browser that cannot read into it makes new memory for each piece.
 */
export async function readPieces(stream, reuse, take) {
  const reader = readerOf(stream);
  for (;;) {
    const { done, value } = await reader.read(new Uint8Array(reuse() ?? new ArrayBuffer(PIECE)));
    if (value?.length) await take(value);
    if (done) return;
  }
}

function readerOf(stream) {
  try {
    return stream.getReader({ mode: "byob" });
  } catch {
    return stream.getReader(); // it ignores the memory
  }
}
