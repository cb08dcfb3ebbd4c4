// The place to drop files: the whole page takes them. What applies to new files is chosen here.

import { html, useContext, useState } from "../../lib/html.js";
import { About, useAccess } from "../../lib/access.js";
import { Check, Field } from "../../components/form.js";
import { Icon } from "../../components/icons.js";
import { useDrop } from "../../components/transfers.js";
import { t } from "../../texts/files.js";
import { uploadFiles } from "./uploads.js";

const FORCED_TAGS = "upload.enforce_tags_selected_in_token";
const NO_PASSWORD = "upload.enforce_no_password";

/** `choose` is a reference to the field that opens the browser's dialog. */
export function DropZone({ choose, reload }) {
  const { token } = useContext(About);
  const access = useAccess();
  const hasForcedTags = token.roles.includes(FORCED_TAGS);
  const [values, setValues] = useState({ tags: "", isPublic: false, password: "" });
  const [isOver, setOver] = useState(false);
  const set = (name) => (value) => setValues((old) => ({ ...old, [name]: value }));
  const tags = hasForcedTags ? token.restrictions.tags : values.tags.split(/[\s,]+/).filter(Boolean);
  const add = (files) => uploadFiles(files, { ...values, access, tags: hasForcedTags ? [] : tags }, reload);
  useDrop(add, setOver);
  const picked = (event) => {
    add(event.target.files);
    event.target.value = "";
  };
  return html`<div class=${isOver ? "drop over stack" : "drop stack"}>
    <${Icon} name="upload" />
    <b>${isOver ? t.drop : t.dropHere}</b>
    <span class="sm dim">${t.dropText(tags, values.isPublic)}</span>
    <input ref=${choose} class="vh" type="file" multiple aria-label=${t.choose} tabindex="-1" onChange=${picked} />
    <details>
      <summary class="sm">${t.settings}</summary>
      <div class="nums stack">
        ${
          !hasForcedTags &&
          html`<${Field} label=${t.newTags} value=${values.tags} change=${set("tags")} hint=${t.newTagsHint} />`
        }
        ${
          !token.roles.includes(NO_PASSWORD) &&
          html`<${Field}
            label=${t.newPassword}
            type="password"
            value=${values.password}
            change=${set("password")}
            hint=${t.passwordHint}
          />`
        }
        <${Check} label=${t.newPublic} value=${values.isPublic} change=${set("isPublic")} />
      </div>
    </details>
  </div>`;
}
