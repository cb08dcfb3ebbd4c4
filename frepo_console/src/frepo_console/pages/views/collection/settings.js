// The settings of a collection as a form, with the retention simulator next to it.

import { html, useState } from "../../lib/html.js";
import { path, send } from "../../lib/api.js";
import {
  Expectation,
  Group,
  Guards,
  Limits,
  Names,
  Retention,
  bodyOf,
  valuesOf,
  withStrategy,
} from "../../components/collection_form.js";
import { FormError, useForm } from "../../components/form.js";
import { t } from "../../texts/collection.js";
import { Badge } from "../../components/badge.js";
import { Hold } from "./hold.js";
import { Lock } from "./lock.js";
import { Places } from "./places.js";
import { RestoreTest } from "./restore_test.js";
import { Simulator } from "./simulator.js";

export function Settings({ collection, changed, now }) {
  const [saved, setSaved] = useState(collection);
  return html`<${Form}
    key=${JSON.stringify([valuesOf(saved), saved.storage, saved.mirror])}
    collection=${saved}
    now=${now}
    done=${(answer) => (setSaved(answer), changed())}
  />`;
}

function Form({ collection, done, now }) {
  const form = useForm(valuesOf(collection));
  const submit = (event) => {
    event.preventDefault();
    form.submit(async (values) => {
      const options = collection.strategy === values.strategy ? (collection.strategy_options ?? {}) : {};
      const body = bodyOf(values, withStrategy(form.changed), options);
      done(await send("PATCH", `/collections${path(collection.id)}`, { body }));
    });
  };
  const wrong = Object.keys(form.errors).length;
  return html`<div class="cols">
    <form class="card w5 stack" onSubmit=${submit}>
      <h2>${t.settings.title}</h2>
      <${Names} form=${form} />
      <${Expectation} form=${form} />
      <${Retention} form=${form} />
      <${Limits} form=${form} />
      <${Guards} form=${form} />
      <${Group} form=${form} />
      <${FormError} form=${form} />
      <div class="row held">
        <span class="sm grow late fg" role="status"
          >${form.changed.length > 0 && t.settings.unsaved(form.changed.length, wrong)}</span
        >
        <button type="button" class="btn" disabled=${form.changed.length === 0} onClick=${() => form.reset()}>
          ${t.discard}
        </button>
        <button class="btn pri" disabled=${form.changed.length === 0 || form.isSending}>${t.save}</button>
      </div>
    </form>
    <div class="w7 stack">
      <${Simulator} collection=${collection} values=${form.values} />
      <${Lock} collection=${collection} changed=${done} /><${Hold} collection=${collection} changed=${done} isSetting />
      <${Places} collection=${collection} changed=${done} />
      <${RestoreTest} collection=${collection} now=${now} />
      <${Badge} path=${`/collections${path(collection.id)}/badge`} />
    </div>
  </div>`;
}
