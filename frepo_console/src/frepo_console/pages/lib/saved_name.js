// The name under which a content is saved: its extension says how it is compressed, as in `domain/saved_names.py`.

const UNKNOWN = "application/octet-stream";
const COMPRESSIONS = {
  "application/gzip": [".gz", ".tgz"],
  "application/x-bzip2": [".bz2", ".tbz2", ".tbz"],
  "application/x-lz4": [".lz4"],
  "application/x-lzip": [".lz"],
  "application/x-xz": [".xz", ".txz"],
  "application/zstd": [".zst", ".tzst"],
};

/** Returns a name whose extension fits a content of this type. It stays if the type is not known. */
export function savedName(name, mime) {
  if (mime === UNKNOWN) return name;
  for (const [compression, extensions] of Object.entries(COMPRESSIONS)) {
    const extension = extensions.find((one) => name.toLowerCase().endsWith(one));
    if (!extension) continue;
    if (compression === mime) return name;
    name = (name.slice(0, -extension.length) || name) + (extension.startsWith(".t") ? ".tar" : "");
    break;
  }
  return name + (COMPRESSIONS[mime]?.[0] ?? "");
}
