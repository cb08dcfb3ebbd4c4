// What can be done with a version: download, pin, note, release, delete, restore from the trash.

import { html } from "../../../lib/html.js";
import { apiUrl, isAbort, path, send } from "../../../lib/api.js";
import { chooseTarget } from "../../../lib/download.js";
import { saveUrl } from "../../../lib/save.js";
import { savedName } from "../../../lib/saved_name.js";
import { date, size } from "../../../lib/format.js";
import { download } from "../../../lib/transfers.js";
import { ActionButton } from "../../../components/action.js";
import { Confirm, Dialog } from "../../../components/dialog.js";
import { Field, FormError, fieldOf, useForm } from "../../../components/form.js";
import { isLocked } from "../lock.js";
import { t } from "../../../texts/collection.js";

export const versionPath = (collection, number) => `/collections${path(collection.id, "versions", `v${number}`)}`;

/**
 * Save a version to disk, with its digest compared. A browser that cannot write a large file to disk gets a link that
 * works without a token for ten minutes.
 */
export function downloadVersion(collection, version) {
  const base = versionPath(collection, version.number);
  return save(collection, version, base, async () => (await send("POST", `${base}/link`, { body: {} })).url);
}

/** Save a version that is in the trash. It stays there. There are no links to it. */
export const downloadTrashed = (collection, entry) =>
  save(collection, entry, `/collections${path(collection.id, "trash", entry.number)}`, () => {
    throw new Error(t.trash.tooLarge(collection.name, entry.number));
  });

async function save(collection, version, base, link) {
  const name = fileName(collection.name, version);
  let target;
  try {
    target = await chooseTarget(name, version.size);
  } catch (error) {
    if (isAbort(error)) return;
    throw error;
  }
  if (target)
    download({
      topic: collection.id,
      name,
      size: version.size,
      sha256: version.sha256,
      url: apiUrl(`${base}/content`),
      target,
    });
  else saveUrl(await link(), name);
}

/** "shop-v12.sql.gz" for version 12 of shop.sql.gz, or "shop-v12.sql" if it is not compressed. */
export function fileName(name, { number, mime_type }) {
  const [first, ...rest] = savedName(name, mime_type).split(".");
  return [`${first}-v${number}`, ...rest].join(".");
}

export const releaseVersion = (collection, version) =>
  send("PATCH", versionPath(collection, version.number), { body: { quarantined: false } });

const isOvertaken = (version) => version.quarantined && version.quarantine_reason === "overtaken";

/** Releases all versions that newer ones have overtaken, the oldest first, whether they are shown or not. */
export function ReleaseOvertaken({ collection, versions, changed }) {
  if (!collection.may.includes("version.edit") || !versions.some(isOvertaken)) return null;
  const query = { reason: "overtaken", sort: "number", limit: 100 };
  const run = async () => {
    let items;
    do {
      ({ items } = await send("GET", `/collections${path(collection.id)}/versions`, { query }));
      for (const one of items) await releaseVersion(collection, one);
    } while (items.length > 0);
    changed();
  };
  return html`<div class="bar">
    <span class="sm grow">${t.versions_.overtakenNote}</span>
    <${ActionButton} className="btn" run=${run}>${t.versions_.releaseOvertaken}<//>
  </div>`;
}

/**
 * Asks before versions are deleted. The text names them, and until when they can be restored; `until` null: not at all.
 */
export function DeleteDialog({ collection, versions, until, close, changed }) {
  const free = versions.filter((one) => !one.pinned && !isLocked(one));
  const bytes = free.reduce((sum, one) => sum + one.size, 0);
  const numbers = free.map((one) => one.number).join(", ");
  const run = async () => {
    for (const one of free) await send("DELETE", versionPath(collection, one.number));
    changed();
  };
  const text = until
    ? t.versions_.toTrash(free.length, numbers, size(bytes), date(until))
    : t.versions_.deleted(free.length, numbers, size(bytes));
  const action = until ? t.versions_.moveToTrash(free.length) : t.versions_.delete(free.length);
  return html`<${Confirm}
    title=${t.versions_.deleteTitle(free.length, numbers)}
    action=${action}
    run=${run}
    close=${close}
  >
    ${text} ${free.length < versions.length && t.versions_.pinnedStay(versions.length - free.length)}
  <//>`;
}

/** Pins a version, with a reason and an end if it has one; changes the pin of a pinned version, or unpins it. */
export function PinDialog({ collection, version, close, changed }) {
  const { number, pinned } = version;
  const form = useForm({ pinned_until: version.pinned_until?.slice(0, 10) ?? "", pin_reason: version.pin_reason });
  const patch = (body) =>
    form.submit(async () => {
      await send("PATCH", versionPath(collection, number), { body });
      changed();
      close();
    });
  const submit = (event) => {
    event.preventDefault();
    const { pinned_until: until, pin_reason: reason } = form.values;
    const isChanged = (name) => form.changed.includes(name);
    patch({
      ...(!pinned && { pinned: true }),
      ...(isChanged("pin_reason") && { pin_reason: reason }),
      ...(isChanged("pinned_until") && { pinned_until: until || null }),
    });
  };
  return html`<${Dialog} title=${t.versions_.pinTitle(number, pinned)} close=${close}>
    <form class="stack" onSubmit=${submit}>
      <p class="sm dim">${t.versions_.pinText}</p>
      <${Field} label=${t.versions_.pinReason} rows="2" maxlength="1000" ...${fieldOf(form, "pin_reason")} />
      <${Field}
        label=${t.versions_.pinUntil}
        type="date"
        hint=${t.versions_.pinUntilHint}
        ...${fieldOf(form, "pinned_until")}
      />
      <${FormError} form=${form} />
      <div class="row actions">
        ${
          pinned &&
          html`<button
            type="button"
            class="btn bad"
            disabled=${form.isSending}
            onClick=${() => patch({ pinned: false })}
          >
            ${t.versions_.unpin}
          </button>`
        }
        <button type="button" class="btn" onClick=${close}>${t.cancel}</button
        ><button class="btn pri" disabled=${form.isSending || (pinned && form.changed.length === 0)}>
          ${pinned ? t.save : t.versions_.pin}
        </button>
      </div>
    </form>
  <//>`;
}

/** Changes the note of a version. */
export function NoteDialog({ collection, version, close, changed }) {
  const form = useForm({ note: version.note });
  const submit = (event) => {
    event.preventDefault();
    form.submit(async ({ note }) => {
      await send("PATCH", versionPath(collection, version.number), { body: { note } });
      changed();
      close();
    });
  };
  return html`<${Dialog} title=${t.versions_.noteTitle(version.number)} close=${close}>
    <form class="stack" onSubmit=${submit}>
      <${Field} label=${t.versions_.note} rows="3" maxlength="1000" ...${fieldOf(form, "note")} />
      <${FormError} form=${form} />
      <div class="row actions">
        <button type="button" class="btn" onClick=${close}>${t.cancel}</button
        ><button class="btn pri" disabled=${form.isSending || form.changed.length === 0}>${t.save}</button>
      </div>
    </form>
  <//>`;
}
