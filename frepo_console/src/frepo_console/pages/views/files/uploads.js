// The uploads of the view Files: what is asked for, and what has become of each.

import { html } from "../../lib/html.js";
import { apiUrl } from "../../lib/api.js";
import { size } from "../../lib/format.js";
import { upload } from "../../lib/transfers.js";
import { CopyButton } from "../../components/form.js";
import { Transfers } from "../../components/transfers.js";
import { t } from "../../texts/files.js";
import { fileUrl } from "./file.js";

export const TOPIC = "files";

/** Upload files; `finished` is called after each. One with a password is not sent in parts, which have none. */
export function uploadFiles(
  files,
  { access, tags = /** @type {string[]} */ ([]), isPublic = false, password = "" },
  finished,
) {
  const headers = password ? { "X-File-Password": password } : {};
  for (const file of files) {
    const url = apiUrl("/files", { name: file.name, public: isPublic, tag: tags });
    const metadata = { filename: file.name, public: String(isPublic), ...(tags.length && { tags: tags.join(",") }) };
    const inParts = password ? null : access.inParts(metadata);
    upload({ topic: TOPIC, file, url, method: "POST", headers, inParts, finished, textOf });
  }
}

export const textOf = (answer) =>
  answer.existed ? t.existed(size(answer.size), answer.name) : t.stored(size(answer.size));

export const Uploads = () =>
  html`<${Transfers}
    topic=${TOPIC}
    title=${t.uploads}
    result=${({ answer }) => html`<div><${CopyButton} text=${fileUrl(answer.name)} label=${t.copyLink} /></div>`}
  />`;
