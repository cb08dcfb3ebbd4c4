// Gives the person a file.

/** Let the browser save a blob under a name. */
export function saveBlob(blob, name) {
  const url = URL.createObjectURL(blob);
  saveUrl(url, name);
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Let the browser download a URL; a name is only a proposal for URLs of this service. */
export function saveUrl(url, name = "") {
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = name;
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
}
