// The storages of a collection: where its new versions are stored, where their second copies are, and the move of the
// versions that are elsewhere.

import { html } from "../../lib/html.js";
import { useAccess } from "../../lib/access.js";
import { path, send } from "../../lib/api.js";
import { useResource } from "../../lib/data.js";
import { count, size } from "../../lib/format.js";
import { Field, FormError, fieldOf, useForm } from "../../components/form.js";
import { t } from "../../texts/storages.js";

const NONE = "none";

/** The storages of the service, as far as the token may see them. */
export function useStorages() {
  const access = useAccess();
  const storages = useResource(access.may("settings.view") ? "/storages" : null);
  return storages.data?.items.filter((one) => one.configured) ?? [];
}

/** The card of the storages. It is shown if there are several, or if the collection names one. */
export function Places({ collection, changed }) {
  const configured = useStorages();
  if (configured.length < 2 && !collection.storage && !collection.mirror) return null;
  return html`<section class="card stack" aria-label=${t.title}>
    <h2>${t.title}</h2>
    ${
      configured.length > 1 && collection.may.includes("collection.edit")
        ? html`<${Choice}
            key=${`${collection.storage} ${collection.mirror}`}
            collection=${collection}
            configured=${configured}
            changed=${changed}
          />`
        : html`<p>${t.shown(collection.storage, collection.mirror)}</p>`
    }
    <${Move} collection=${collection} />
  </section>`;
}

function Choice({ collection, configured, changed }) {
  const form = useForm({ storage: collection.storage ?? "", mirror: collection.mirror ?? "" });
  const submit = (event) => {
    event.preventDefault();
    form.submit(async (values) => {
      const body = Object.fromEntries(form.changed.map((name) => [name, values[name] || null]));
      changed(await send("PATCH", `/collections${path(collection.id)}`, { body }));
    });
  };
  return html`<form class="stack" onSubmit=${submit}>
    <${PlaceFields} form=${form} configured=${configured} />
    <${FormError} form=${form} />
    <div class="row">
      <button class="btn" disabled=${form.changed.length === 0 || form.isSending}>${t.save}</button>
    </div>
  </form>`;
}

/** The choice of a storage for versions, and of one for their second copies. */
export function PlaceFields({ form, configured }) {
  const first = configured.find((one) => one.current)?.name;
  const names = configured.map(({ name }) => [name, name]);
  const mirrors = [["", t.ofService], ...names, [NONE, t.noMirror]];
  return html`<${Field}
      label=${t.storage}
      hint=${t.storageHint}
      options=${[["", t.first(first)], ...names]}
      ...${fieldOf(form, "storage")}
    />
    <${Field} label=${t.mirror} hint=${t.mirrorHint} options=${mirrors} ...${fieldOf(form, "mirror")} />`;
}

/** What is in another storage, with a button that moves it, or how much of a move is left. */
function Move({ collection }) {
  const place = `/collections${path(collection.id)}/move`;
  const move = useResource(place);
  const form = useForm({});
  if (!move.data || (move.data.left === 0 && !move.data.requested_at)) return null;
  const { left, left_size: bytes, requested_at: requested, storage } = move.data;
  const start = () =>
    form.submit(async () => {
      await send("POST", place, { body: {} });
      move.reload();
    });
  return html`<p role="status">
      ${requested ? t.moving(count(left), size(bytes), storage) : t.elsewhere(left, count(left), size(bytes), storage)}
    </p>
    <${FormError} form=${form} />
    ${
      !requested &&
      collection.may.includes("collection.edit") &&
      html`<div class="row">
        <button class="btn" disabled=${form.isSending} onClick=${start}>${t.move(storage)}</button>
      </div>`
    }`;
}
