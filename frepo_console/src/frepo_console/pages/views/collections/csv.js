// The list as CSV, made in the browser from all pages of the filtered list.

import { html } from "../../lib/html.js";
import { readAll } from "../../lib/data.js";
import { saveBlob } from "../../lib/save.js";
import { ActionButton } from "../../components/action.js";
import { Icon } from "../../components/icons.js";
import { t } from "../../texts/collections.js";

const MOST = 100_000;
const COLUMNS = {
  id: (one) => one.id,
  name: (one) => one.name,
  state: (one) => one.state,
  states: (one) => one.states.join(" "),
  state_reason: (one) => one.state_reason,
  labels: (one) => one.labels.join(" "),
  last_version_at: (one) => one.last_version?.at,
  last_version_size: (one) => one.last_version?.size,
  newest_good_at: (one) => one.newest_good?.at,
  versions: (one) => one.versions,
  stored_size: (one) => one.stored_size,
  due_at: (one) => one.due_at,
};

/** A cell. A text that a spreadsheet would take for a formula gets an apostrophe. */
function cell(value) {
  const text = String(value ?? "");
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function CsvButton({ filters }) {
  const download = async () => {
    const items = await readAll("/collections", { query: filters, most: MOST });
    const rows = items.map((one) =>
      Object.values(COLUMNS)
        .map((read) => cell(read(one)))
        .join(","),
    );
    saveBlob(
      new Blob([[Object.keys(COLUMNS).join(","), ...rows, ""].join("\r\n")], { type: "text/csv" }),
      "collections.csv",
    );
  };
  return html`<${ActionButton} run=${download} className="btn"><${Icon} name="download" />${t.collectionsView.csv}<//>`;
}
