// The trash of a collection: versions that were evicted or deleted, and can be restored.

import { html, useState } from "../../lib/html.js";
import { Problem, path, send } from "../../lib/api.js";
import { useList, useReload } from "../../lib/data.js";
import { dateTime, exactTime, size } from "../../lib/format.js";
import { Confirm } from "../../components/dialog.js";
import { ErrorNote } from "../../components/feedback.js";
import { Icon } from "../../components/icons.js";
import { ListEnd } from "../../components/table.js";
import { t } from "../../texts/collection.js";
import { ActionButton } from "../../components/action.js";
import { downloadTrashed } from "./versions/actions.js";

const howItEnded = ({ size: bytes, reason, evicted_at: at, evicted_by: by, evicted_by_name: name }, now) =>
  `${size(bytes)}, ${t.trash.reasons[reason] ?? reason} ${dateTime(at, now)} ${t.by(name ?? by)}`;

export function Trash({ collection, changed, changes, now }) {
  const base = `/collections${path(collection.id)}/trash`;
  const list = useList(base, { limit: 20 });
  const [ending, setEnding] = useState(/** @type {{ number: number; size: number } | null} */ (null));
  const [tight, setTight] = useState(/** @type {Tight | null} */ (null));
  useReload(list, changes);
  const items = list.items ?? [];
  const mayEdit = collection.may.includes("collection.edit");
  if (items.length === 0 && !list.error) return null;
  const restore = (entry) => async () => {
    try {
      await send("POST", `${base}${path(entry.number, "restore")}`);
    } catch (problem) {
      const limits = problem instanceof Problem && mayEdit ? problem.context.limits : null;
      if (!limits) throw problem;
      setTight({ number: entry.number, limits });
      return;
    }
    changed();
  };
  const end = async () => {
    await send("DELETE", `${base}${path(ending?.number)}`);
    changed();
  };
  return html`<section class="card flush">
    <div class="sec">
      <h2>${t.trash.title}</h2>
      <p class="dim sm">${t.trash.text}</p>
    </div>
    ${list.error && html`<${ErrorNote} error=${list.error} at=${list.at} retry=${list.retry} />`}
    <ul class="list">
      ${items.map(
        (entry) =>
          html`<li key=${entry.number}>
            ${
              entry.damaged
                ? html`<span class="damaged"><${Icon} name="damaged" isColoured /></span>`
                : html`<span class="faint"><${Icon} name="trash" /></span>`
            }
            <div class="grow">
              <b>${t.versions_.number(entry.number)}</b>${" "}<span class="dim">${howItEnded(entry, now)}</span>
              <div class="sm dim" title=${exactTime(entry.ends_at)}>${t.trash.until(dateTime(entry.ends_at, now))}</div>
              ${entry.damaged && html`<div class="sm damaged"><span class="fg">${t.trash.damaged}</span></div>`}
            </div>
            <div class="row wrap">
              ${
                collection.may.includes("trash.read") &&
                html`<${ActionButton} run=${() => downloadTrashed(collection, entry)}
                  ><${Icon} name="download" />${t.trash.download}<span class="vh"
                    >${" "}${t.versions_.number(entry.number)}</span
                  ><//
                >`
              }
              ${
                collection.may.includes("trash.restore") &&
                html`<${ActionButton} run=${restore(entry)}
                  ><${Icon} name="retry" />${t.trash.restore}<span class="vh"
                    >${" "}${t.versions_.number(entry.number)}</span
                  ><//
                >`
              }
              ${
                collection.may.includes("trash.end") &&
                html`<button class="btn s bare bad" onClick=${() => setEnding(entry)}>
                  ${t.trash.end}<span class="vh">${" "}${t.versions_.number(entry.number)}</span>
                </button>`
              }
            </div>
          </li>`,
      )}
    </ul>
    ${items.length > 0 && html`<${ListEnd} list=${list} />`}
    ${
      ending &&
      html`<${Confirm}
        title=${t.trash.endTitle(ending.number)}
        action=${t.trash.endAction}
        run=${end}
        close=${() => setEnding(null)}
        >${t.trash.endText(size(ending.size))}<//
      >`
    }
    ${tight && html`<${RaiseAndRestore} ...${{ collection, changed, base, tight }} close=${() => setTight(null)} />`}
  </section>`;
}

/** @typedef {{ number: number; limits: Record<string, number> }} Tight a version, and the limits that it needs */

/** Raises the limits that leave no room for a version, and restores it: both or neither. */
function RaiseAndRestore({ collection, changed, base, tight: { number, limits }, close }) {
  const edits = Object.entries(limits).map(([name, least]) => [
    t.trash.limits[name],
    ...[collection.limits[name], least].map(name === "versions" ? String : size),
  ]);
  const run = async () => {
    await send("POST", `${base}${path(number, "restore")}`, { body: { limits } });
    changed();
  };
  const [only] = edits;
  return html`<${Confirm}
    title=${t.trash.tightTitle(number)}
    action=${edits.length > 1 ? t.trash.raiseAll : t.trash.raise(only[2])}
    isHarmless
    run=${run}
    close=${close}
  >
    <p>${t.trash.tight}</p>
    <ul>
      ${edits.map((edit) => html`<li>${t.trash.edit(...edit)}</li>`)}
    </ul>
  <//>`;
}
