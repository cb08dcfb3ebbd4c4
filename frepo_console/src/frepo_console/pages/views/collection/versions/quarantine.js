// What can be done with a version that is broken or suspicious, next to the banner that names it.

import { html, useState } from "../../../lib/html.js";
import { useAccess } from "../../../lib/access.js";
import { useNow } from "../../../lib/data.js";
import { t } from "../../../texts/collection.js";
import { isLocked } from "../lock.js";
import { DeleteDialog } from "./actions.js";
import { CompareDialog } from "./compare.js";
import { Release } from "./rows.js";

export default function Quarantine({ collection, version, changed, style = "btn" }) {
  const access = useAccess();
  const now = useNow();
  const [dialog, setDialog] = useState("");
  const close = () => setDialog("");
  const given = { collection, version, changed, close, now };
  const name = t.versions_.number(version.number);
  return html`<div class="row wrap">
    <button class=${style} onClick=${() => setDialog("compare")}>
      ${t.versions_.compare}<span class="vh"> ${name}</span>
    </button>
    <${Release} ...${given} className="btn" />
    ${
      collection.may.includes("version.delete") &&
      !isLocked(version) &&
      html`<button class="btn bad" onClick=${() => setDialog("delete")}>${t.versions_.deleteOne(name)}</button>`
    }
    ${dialog === "compare" && html`<${CompareDialog} ...${given} open=${{ delete: () => setDialog("delete") }} />`}
    ${dialog === "delete" && html`<${DeleteDialog} ...${given} versions=${[version]} until=${access.trashEnds} />`}
  </div>`;
}
