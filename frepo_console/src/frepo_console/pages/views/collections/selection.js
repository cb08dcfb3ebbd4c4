// What can be done with the selected collections: changes, access for a token, and deletion.

import { html, useContext, useState } from "../../lib/html.js";
import { About, useAccess } from "../../lib/access.js";
import { Problem, path, send } from "../../lib/api.js";
import { useResource } from "../../lib/data.js";
import { date, size } from "../../lib/format.js";
import { Confirm, Dialog } from "../../components/dialog.js";
import { Lazy } from "../../components/feedback.js";
import { Field, FormError, fieldOf, useForm } from "../../components/form.js";
import { Icon } from "../../components/icons.js";
import { useStorages } from "../collection/places.js";
import { t } from "../../texts/collections.js";

/** What can be changed of many, each with its icon. */
const EDITS = {
  retention: "clock",
  guards: "suspicious",
  interval: "clock",
  labels: "edit",
  group: "collections",
  storages: "collections",
};
const loadEdit = () => import("./edit_many.js");

/** `tell` shows what has happened, as the bar is gone then. */
export function SelectionBar({ items, clear, reload, tell }) {
  const [dialog, setDialog] = useState("");
  const isOffered = { storages: useStorages().length > 1, group: useContext(About).compacts };
  const mayAll = (action) => items.every(({ may }) => may.includes(action));
  const sum = (field) => items.reduce((total, one) => total + one[field], 0);
  const close = () => setDialog("");
  const done = (result) => {
    close();
    clear();
    reload();
    tell(result);
  };
  return html`<div class="bar" role="region" aria-label=${t.selected(items.length)}>
      <b>${t.selected(items.length)}</b
      ><span class="dim sm grow">${size(sum("stored_size"))}, ${t.versions(sum("versions"))}</span>
      ${
        mayAll("collection.edit") &&
        Object.keys(EDITS)
          .filter((name) => isOffered[name] ?? true)
          .map(
            (name) =>
              html`<button class="btn" onClick=${() => setDialog(name)}>
                <${Icon} name=${EDITS[name]} />${t.selection.edits[name]}
              </button>`,
          )
      }
      ${
        mayAll("collection.tokens") &&
        html`<button class="btn" onClick=${() => setDialog("access")}>
          <${Icon} name="tokens" />${t.selection.access}
        </button>`
      }
      ${
        mayAll("collection.delete") &&
        html`<button class="btn bad" onClick=${() => setDialog("delete")}>
          <${Icon} name="trash" />${t.selection.delete}
        </button>`
      }
      <button class="btn bare" onClick=${clear}><${Icon} name="close" />${t.clear}</button>
    </div>
    ${dialog in EDITS && html`<${Lazy} key=${dialog} load=${loadEdit} ...${{ what: dialog, items, close, done }} />`}
    ${dialog === "delete" && html`<${DeleteDialog} items=${items} close=${close} done=${done} />`}
    ${dialog === "access" && html`<${AccessDialog} items=${items} close=${close} done=${done} />`}`;
}

/** Send one request for each collection. Throws a `Problem` that says how many succeeded. */
async function forEach(items, run) {
  for (const [index, one] of items.entries()) {
    try {
      await run(one);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const detail = t.selection.failed(one.name, error.message, index, items.length);
      throw new Problem(error.status, {
        detail,
        errors: Object.keys(error.fields).map((field) => ({ field, message: detail })),
      });
    }
  }
}

function DeleteDialog({ items, close, done }) {
  const until = useAccess().trashEnds;
  const versions = items.reduce((total, one) => total + one.versions, 0);
  const bytes = items.reduce((total, one) => total + one.stored_size, 0);
  const run = async () => {
    const query = until ? { versions: "trash" } : {};
    await forEach(items, (one) => send("DELETE", `/collections${path(one.id)}`, { query }));
    done({ isWell: true, title: t.selection.deleted(items.length), lines: [] });
  };
  return html`<${Confirm}
    title=${t.selection.deleteTitle(items.length)}
    action=${t.selection.deleteAction(items.length)}
    run=${run}
    close=${close}
  >
    ${until ? t.selection.deleteText(versions, size(bytes), date(until)) : t.selection.deleteEmpty}
    <ul class="sm">
      ${items.map((one) => html`<li>${one.name}</li>`)}
    </ul>
  <//>`;
}

function AccessDialog({ items, close, done }) {
  const form = useForm({ fingerprint: "" });
  const submit = (event) => {
    event.preventDefault();
    form.submit(async ({ fingerprint }) => {
      await forEach(items, (one) => send("PUT", `/collections${path(one.id, "access", fingerprint.trim())}`));
      done({ isWell: true, title: t.selection.granted(items.length), lines: [] });
    });
  };
  return html`<${Dialog} title=${t.selection.accessTitle(items.length)} close=${close}>
    <form class="stack" onSubmit=${submit}>
      <${TokenField} form=${form} />
      <${FormError} form=${form} />
      <div class="row actions">
        <button type="button" class="btn" onClick=${close}>${t.cancel}</button>
        <button class="btn pri" disabled=${form.isSending || !form.values.fingerprint}>${t.selection.grant}</button>
      </div>
    </form>
  <//>`;
}

/** A choice of the tokens, or a field for a fingerprint if the token may not list them. */
export function TokenField({ form }) {
  const access = useAccess();
  const mayChoose = access.may("token.list");
  const tokens = useResource(mayChoose ? "/tokens" : null, { query: { limit: 500 }, every: 0 });
  if (!mayChoose || tokens.error)
    return html`<${Field} label=${t.selection.fingerprint} ...${fieldOf(form, "fingerprint")} autofocus />`;
  const options = (tokens.data?.items ?? [])
    .filter((one) => !one.setting)
    .map((one) => [one.fingerprint, `${one.name ?? t.selection.noName} · ${one.fingerprint}`]);
  return html`<${Field}
    label=${t.selection.token}
    options=${[["", t.selection.choose], ...options]}
    ...${fieldOf(form, "fingerprint")}
    autofocus
  />`;
}
