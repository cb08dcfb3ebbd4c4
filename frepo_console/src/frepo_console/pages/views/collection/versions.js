// The versions of a collection: bars and a curve of their sizes, a calendar, the table, and the trash.

import { html, useMemo, useState } from "../../lib/html.js";
import { useAccess } from "../../lib/access.js";
import { path } from "../../lib/api.js";
import { useList, useReload, useResource } from "../../lib/data.js";
import { dateTime, exactTime, percent, size } from "../../lib/format.js";
import { ActionButton } from "../../components/action.js";
import { Empty, ErrorNote, Loaded } from "../../components/feedback.js";
import { Icon } from "../../components/icons.js";
import { Slot, SlotButtons } from "../../components/slots.js";
import { ListEnd, Table, useSelection } from "../../components/table.js";
import { t } from "../../texts/collection.js";
import { Calendar } from "./calendar.js";
import { LockedUntil, PinOf } from "./holds.js";
import { isLocked } from "./lock.js";
import { SizeCurve, VersionBars } from "./size_charts.js";
import { Trash } from "./trash.js";
import { DeleteDialog, NoteDialog, PinDialog, downloadVersion, releaseVersion } from "./version_actions.js";

const SHOWN = 100;

/** @typedef {{ kind: "note" | "pin", version: any } | { kind: "delete", versions: any[] } | { kind: "slot", slot: ConsoleSlot, version: any }} Asked */

export function Versions({ collection, changed, changes, now }) {
  const access = useAccess();
  const base = `/collections${path(collection.id)}`;
  const list = useList(`${base}/versions`, { limit: SHOWN });
  const checks = useResource(`${base}/checks`, { query: { limit: 500 }, every: 60 });
  const [dialog, setDialog] = useState(/** @type {Asked | null} */ (null));
  const selection = useSelection((list.items ?? []).map((one) => one.number));
  useReload(list, changes);
  const results = useMemo(() => checks.data && byVersion(checks.data.items), [checks.data]);
  const close = () => setDialog(null);
  const open = {
    note: (version) => setDialog({ kind: "note", version }),
    pin: (version) => setDialog({ kind: "pin", version }),
    delete: (versions) => setDialog({ kind: "delete", versions }),
    slot: (slot, version) => setDialog({ kind: "slot", slot, version }),
  };
  const table = { collection, results, hasFailed: Boolean(checks.error), open, changed, now };
  return html`<${Loaded} resource=${{ ...list, data: list.items }}>
      ${(items) =>
        items.length === 0
          ? html`<div class="card">
              <${Empty} icon="upload" title=${t.versions_.none} text=${t.versions_.noneText} />
            </div>`
          : html`<div class="cols">
                <${VersionBars} versions=${items} collection=${collection} /><${SizeCurve}
                  versions=${items}
                  collection=${collection}
                />
              </div>
              ${access.may("events.view") && html`<${Calendar} collection=${collection} now=${now} />`}
              <section class="card flush" aria-label=${t.collection.tabs.versions}>
                ${checks.error && html`<${ErrorNote} error=${checks.error} at=${checks.at} retry=${checks.retry} />`}
                <${Table}
                  caption=${t.collection.tabs.versions}
                  columns=${columnsFor(items, table)}
                  rows=${items}
                  keyOf=${(one) => one.number}
                  nameOf=${(one) => t.versions_.number(one.number)}
                  open=${press("d")}
                  selection=${collection.may.includes("version.delete") ? selection : undefined}
                  keys=${ROW_KEYS}
                />
                <${ListEnd} list=${list} total=${collection.versions + (collection.quarantined_versions ?? 0)} />
              </section>`}
    <//>
    ${
      selection.keys.length > 0 &&
      html`<${SelectedBar}
        items=${list.items.filter((one) => selection.has(one.number))}
        selection=${selection}
        remove=${open.delete}
      />`
    }
    ${
      collection.may.includes("trash.list") &&
      html`<${Trash} collection=${collection} changed=${changed} changes=${changes} now=${now} />`
    }
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

/** Press the button of a row, which shows an error in the row. A row without that button ignores the key. */
const press = (key) => (version, row) => row.querySelector(`[data-row-key=${key}]`)?.click();
const ROW_KEYS = { d: press("d"), p: press("p") };

const byVersion = (results) => Map.groupBy(results, (result) => result.version);

function SelectedBar({ items, selection, remove }) {
  const bytes = items.reduce((sum, one) => sum + one.size, 0);
  return html`<div class="bar" role="region" aria-label=${t.selected(items.length)}>
    <b>${t.selected(items.length)}</b><span class="dim sm grow">${size(bytes)}</span>
    <button class="btn bad" onClick=${() => remove(items)}>
      <${Icon} name="trash" />${t.versions_.delete(items.length)}
    </button>
    <button class="btn bare" onClick=${selection.clear}><${Icon} name="close" />${t.clear}</button>
  </div>`;
}

function columnsFor(items, table) {
  // The size of the version before, for the change. Those in quarantine are not compared with.
  const counted = items.filter((one) => !one.quarantined);
  const before = new Map(items.map((one) => [one.number, counted.find((other) => other.number < one.number)]));
  return [
    { title: t.versions_.version, className: "b", cell: (one) => one.number },
    {
      title: t.versions_.received,
      className: "main",
      cell: (one) => html`<${Received} version=${one} now=${table.now} table=${table} />`,
    },
    { title: t.table.size, className: "n", label: t.table.sizeShort, cell: (one) => size(one.size) },
    {
      title: t.versions_.change,
      className: "n",
      label: t.versions_.changeShort,
      cell: (one) => html`<${Change} version=${one} before=${before.get(one.number)} />`,
    },
    { title: t.versions_.verdict, cell: (one) => html`<${Verdict} version=${one} />` },
    { title: t.versions_.checks, cell: (one) => html`<${Checks} version=${one} ...${table} />` },
    {
      title: t.table.actions,
      isHidden: true,
      className: "n act",
      cell: (one) => html`<${Actions} version=${one} ...${table} />`,
    },
  ];
}

const Received = ({ version, now, table }) => html`
  <time datetime=${version.created_at} title=${exactTime(version.created_at)}
    >${dateTime(version.created_at, now)}</time
  >
  ${version.pinned && html` <span class="badge"><${Icon} name="pin" />${t.versions_.pinned}</span>`}
  ${
    version.quarantined &&
    html` <span class="badge suspicious"><${Icon} name="suspicious" />${t.versions_.quarantined}</span>`
  }
  ${version.damaged && html` <span class="badge damaged"><${Icon} name="damaged" />${t.states.damaged}</span>`}
  <${Standing} version=${version} table=${table} now=${now} />
  ${isLocked(version, now) && html` <${LockedUntil} until=${version.locked_until} now=${now} />`}
  ${version.pinned && html`<${PinOf} version=${version} now=${now} />`}
  ${version.note && html`<div class="sm dim">${version.note}</div>`}
`;

/** What follows from the verdict: quarantine, waiting, or that it is not the latest any more; and who released it. */
function Standing({ version, table, now }) {
  const { quarantined, condemned_at: condemned, verdict, released_by: by } = version;
  const isBad = quarantined || condemned || verdict === "broken" || verdict === "suspicious";
  const text = quarantined
    ? version.quarantine_reason === "overtaken"
      ? t.versions_.overtakenText
      : t.versions_.quarantineText
    : condemned
      ? t.versions_.condemned(dateTime(condemned, now))
      : version.pending
        ? t.versions_.pending
        : by && t.versions_.releasedBy(version.released_by_name, by, dateTime(version.released_at, now));
  if (!isBad && !text) return null;
  return html`<div class="row wrap sm dim">
    ${text}${isBad && html`<${Release} version=${version} ...${table} />`}
  </div>`;
}

const VERDICT_STATES = { unchecked: "new", pending: "late", suspicious: "suspicious", broken: "failed" };

/** What is known about a version, as shape and word. The reason is the title. */
function Verdict({ version }) {
  const state = VERDICT_STATES[version.verdict] ?? "ok";
  return html`<span class=${`row ${state}`} title=${version.verdict_reason ?? undefined}
    ><${Icon} name=${state} isColoured />${t.versions_.verdicts[version.verdict] ?? version.verdict}</span
  >`;
}

function Release({ version, collection, changed }) {
  if (!collection.may.includes("version.edit")) return null;
  const release = async () => {
    await releaseVersion(collection, version);
    changed();
  };
  return html`<${ActionButton} run=${release}
    >${t.versions_.release}<span class="vh"> ${t.versions_.number(version.number)}</span><//
  >`;
}

function Change({ version, before }) {
  if (!before || !before.size) return null;
  const part = version.size / before.size - 1;
  const isLarge = Math.abs(part) >= 0.5;
  return html`<span class=${isLarge ? "suspicious" : "dim"}
    ><span class=${isLarge ? "fg b" : ""}>${percent(part, { isChange: true })}</span></span
  >`;
}

const CHECK_ICONS = {
  good: "ok",
  broken: "damaged",
  suspicious: "suspicious",
  pending: "clock",
  "not checked": "minus",
};

/** The results of a version. Until they are read it is not known whether there are any: `results` is null. */
function Checks({ version, results, hasFailed }) {
  const found = results?.get(version.number);
  if (!found) {
    const text = version.damaged
      ? t.versions_.unreadable
      : results
        ? t.versions_.unchecked
        : hasFailed && t.versions_.unknown;
    return text && html`<span class="faint">${text}</span>`;
  }
  return found.map(
    (one) =>
      html`<span class=${`row ${CHECK_ICONS[one.outcome] ?? ""}`} title=${one.message}
        ><${Icon} name=${CHECK_ICONS[one.outcome] ?? "minus"} isColoured /><span class="cut check-text"
          >${one.name} ${t.versions_.outcomes[one.outcome] ?? one.outcome}</span
        ></span
      >`,
  );
}

function Actions({ version, collection, open }) {
  const name = t.versions_.number(version.number);
  const canPin = "pinned" in version && collection.may.includes("version.edit");
  const bare = { className: "btn bare s" };
  return html`<span class="row actions">
    <${ActionButton}
      run=${() => downloadVersion(collection, version)}
      aria-label=${t.versions_.downloadOne(name)}
      title=${t.versions_.downloadOne(name)}
      data-row-key="d"
      ...${bare}
      ><${Icon} name="download"
    /><//>
    ${
      canPin &&
      !version.quarantined &&
      html`<button
        class="btn bare s"
        aria-label=${t.versions_.pinOne(name, version.pinned)}
        title=${t.versions_.pinOne(name, version.pinned)}
        aria-pressed=${String(version.pinned)}
        data-row-key="p"
        onClick=${() => open.pin(version)}
      >
        <${Icon} name="pin" />
      </button>`
    }
    ${
      canPin &&
      html`<button
        class="btn bare s"
        aria-label=${t.versions_.noteOne(name)}
        title=${t.versions_.noteOne(name)}
        onClick=${() => open.note(version)}
      >
        <${Icon} name="edit" />
      </button>`
    }
    ${
      collection.may.includes("version.delete") &&
      !version.pinned &&
      !isLocked(version) &&
      html`<button
        class="btn bare s"
        aria-label=${t.versions_.deleteOne(name)}
        title=${t.versions_.deleteOne(name)}
        onClick=${() => open.delete([version])}
      >
        <${Icon} name="trash" />
      </button>`
    }
    <${SlotButtons} name=${name} open=${(slot) => open.slot(slot, version)} />
  </span>`;
}
