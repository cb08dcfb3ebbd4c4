// A file: its links, how it is reached, and its picture.

import { html, useState } from "../../lib/html.js";
import { apiUrl, path } from "../../lib/api.js";
import { Icon } from "../../components/icons.js";

const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/svg+xml"]);
const LARGEST_PICTURE = 8_000_000;

/** The public address of a file by its stored name or an alias, as other web sites link it. */
export const fileUrl = (name) => new URL(`../repository/file/${encodeURIComponent(name)}`, document.baseURI).href;

/** "password", "public" or "link". */
export const reachOf = (file) => (file.password_protected ? "password" : file.public ? "public" : "link");

export const REACH_ICONS = { password: "lock", public: "eye", link: "link" };

/** The picture of a file, or its icon. Only open files are shown: for others the browser would need the password. */
export function Picture({ file }) {
  const [isBroken, setBroken] = useState(false);
  const isShown =
    PICTURES.has(file.mime_type) &&
    file.size <= LARGEST_PICTURE &&
    !file.password_protected &&
    !file.damaged &&
    !isBroken;
  return html`<span class="pic"
    >${
      isShown
        ? html`<img
            src=${apiUrl(`${path("files", file.name)}/content`)}
            alt=""
            width="100%"
            loading="lazy"
            decoding="async"
            onError=${() => setBroken(true)}
          />`
        : html`<${Icon} name=${file.damaged ? "damaged" : "files"} />`
    }</span
  >`;
}
