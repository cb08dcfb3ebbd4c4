// The versions of a collection: the table, the sizes as one chart, the trash, and a year as a calendar.

import { html, useState } from "../../lib/html.js";
import { useAccess } from "../../lib/access.js";
import { path, send } from "../../lib/api.js";
import { useList, useReload } from "../../lib/data.js";
import { size } from "../../lib/format.js";
import { changeQuery } from "../../lib/navigation.js";
import { savedName } from "../../lib/saved_name.js";
import { ActionButton } from "../../components/action.js";
import { Empty, Lazy, Loaded } from "../../components/feedback.js";
import { Icon } from "../../components/icons.js";
import { Slot } from "../../components/slots.js";
import { ListEnd, Table, useSelection } from "../../components/table.js";
import { t } from "../../texts/collection.js";
import { isLocked } from "./lock.js";
import { Trash } from "./trash.js";
import {
  DeleteDialog,
  NoteDialog,
  PinDialog,
  ReleaseOvertaken,
  downloadVersion,
  versionPath,
} from "./versions/actions.js";
import { Calendar, useOutcomes } from "./versions/calendar.js";
import { columnsFor } from "./versions/rows.js";
import { SizeChart } from "./versions/size_chart.js";

// A phone has room for fewer.
const SHOWN = matchMedia("(max-width: 40rem)").matches ? 8 : 30;
const loadPanel = () => import("./versions/panel.js");
const loadCompare = () => import("./versions/compare.js");

/** @typedef {{ kind: "note" | "pin" | "compare", version: any } | { kind: "delete", versions: any[] } | { kind: "slot", slot: ConsoleSlot, version: any }} Asked */

export function Versions({ collection, changed, changes, query, now }) {
  const access = useAccess();
  const list = useList(`/collections${path(collection.id)}/versions`, { limit: SHOWN });
  const [dialog, setDialog] = useState(/** @type {Asked | null} */ (null));
  const selection = useSelection((list.items ?? []).map((one) => one.number));
  const outcomes = useOutcomes(collection, list.items?.length > 0 && access.may("events.view"), now);
  useReload(list, changes);
  useReload(outcomes, changes);
  const close = () => setDialog(null);
  const open = {
    panel: (number) => changeQuery({ version: String(number) }),
    note: (version) => setDialog({ kind: "note", version }),
    pin: (version) => setDialog({ kind: "pin", version }),
    compare: (version) => setDialog({ kind: "compare", version }),
    delete: (versions) => setDialog({ kind: "delete", versions }),
    slot: (slot, version) => setDialog({ kind: "slot", slot, version }),
  };
  const table = { collection, open, changed, now };
  const shown = query.get("version");
  return html`<${Loaded} resource=${{ ...list, data: list.items }}>
      ${(items) =>
        items.length === 0
          ? html`<div class="card">
              <${Empty} icon="upload" title=${t.versions_.none} text=${t.versions_.noneText} />
            </div>`
          : html`<${ReleaseOvertaken} collection=${collection} versions=${items} changed=${changed} />
              <${OtherName} name=${collection.name} newest=${items[0]} />
              <section class="card flush" aria-label=${t.collection.tabs.versions}>
                <${Table}
                  caption=${t.collection.tabs.versions}
                  columns=${columnsFor(items, table)}
                  rows=${items}
                  keyOf=${(one) => one.number}
                  nameOf=${(one) => t.versions_.number(one.number)}
                  open=${(one) => open.panel(one.number)}
                  selection=${selection}
                  keys=${ROW_KEYS}
                />
                <${ListEnd} list=${list} total=${collection.versions + (collection.quarantined_versions ?? 0)} />
              </section>
              ${
                selection.keys.length > 0 &&
                html`<${SelectedBar}
                  collection=${collection}
                  items=${items.filter((one) => selection.has(one.number))}
                  selection=${selection}
                  remove=${open.delete}
                  changed=${changed}
                />`
              }
              ${
                (outcomes.data || outcomes.error || !access.may("events.view")) &&
                html`<${SizeChart} ...${{ collection, events: outcomes.data, versions: items, now }} />`
              }`}
    <//>
    ${
      collection.may.includes("trash.list") &&
      html`<${Trash} collection=${collection} changed=${changed} changes=${changes} now=${now} />`
    }
    ${
      list.items?.length > 0 &&
      access.may("events.view") &&
      html`<${Calendar} ...${{ collection, events: outcomes, versions: list.items, now }} />`
    }
    ${
      /^\d{1,18}$/.test(shown ?? "") &&
      html`<${Lazy}
        load=${loadPanel}
        key=${shown}
        ...${{ ...table, number: Number(shown), close: () => changeQuery({ version: "" }) }}
      />`
    }
    ${dialog?.kind === "compare" && html`<${Lazy} load=${loadCompare} ...${{ ...table, ...dialog, close }} />`}
    ${
      dialog?.kind === "note" &&
      html`<${NoteDialog} collection=${collection} version=${dialog.version} close=${close} changed=${changed} />`
    }
    ${
      dialog?.kind === "pin" &&
      html`<${PinDialog} collection=${collection} version=${dialog.version} close=${close} changed=${changed} />`
    }
    ${dialog?.kind === "slot" && html`<${Slot} ...${{ ...dialog, collection, changed, close }} />`}
    ${
      dialog?.kind === "delete" &&
      html`<${DeleteDialog}
        collection=${collection}
        versions=${dialog.versions}
        until=${access.trashEnds}
        close=${close}
        changed=${() => (selection.clear(), changed())}
      />`
    }`;
}

/** Says once that downloads get another name than the collection has, and why. */
function OtherName({ name, newest }) {
  const saved = savedName(name, newest.mime_type);
  return saved !== name && html`<p class="sm dim">${t.versions_.savedAs(name, saved)}</p>`;
}

/** Press the button of a row, which shows an error in the row. A row without that button ignores the key. */
const press = (key) => (version, row) => row.querySelector(`[data-row-key=${key}]`)?.click();
const ROW_KEYS = { d: press("d"), p: press("p") };

/** What can be done with the selected versions. */
function SelectedBar({ collection, items, selection, remove, changed }) {
  const bytes = items.reduce((sum, one) => sum + one.size, 0);
  const free = items.filter((one) => !one.pinned && !one.quarantined);
  const removable = items.filter((one) => !one.pinned && !isLocked(one));
  const download = async () => {
    for (const one of items) await downloadVersion(collection, one);
  };
  const pin = async () => {
    for (const one of free) await send("PATCH", versionPath(collection, one.number), { body: { pinned: true } });
    selection.clear();
    changed();
  };
  return html`<div class="bar" role="region" aria-label=${t.selected(items.length)}>
    <b>${t.selected(items.length)}</b><span class="dim sm grow">${size(bytes)}</span>
    <${ActionButton} className="btn" run=${download}
      ><${Icon} name="download" />${t.versions_.downloadMany(items.length)}<//
    >
    ${
      collection.may.includes("version.edit") &&
      free.length > 0 &&
      html`<${ActionButton} className="btn" run=${pin}><${Icon} name="pin" />${t.versions_.pinMany(free.length)}<//>`
    }
    ${
      collection.may.includes("version.delete") &&
      removable.length > 0 &&
      html`<button class="btn bad" onClick=${() => remove(items)}>
        <${Icon} name="trash" />${t.versions_.delete(items.length)}
      </button>`
    }
    <button class="btn bare" onClick=${selection.clear}><${Icon} name="close" />${t.clear}</button>
  </div>`;
}
