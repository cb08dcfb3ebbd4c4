// How a collection is restore-tested: the engine, what a restored copy must have, and what the last test has found.

import { html, useState } from "../../lib/html.js";
import { Problem, path, send } from "../../lib/api.js";
import { useResource } from "../../lib/data.js";
import { dateTime, duration } from "../../lib/format.js";
import { parseInterval } from "../../lib/parse.js";
import { Dialog } from "../../components/dialog.js";
import { ErrorNote } from "../../components/feedback.js";
import { Field, FormError, fieldOf, useForm } from "../../components/form.js";
import { t } from "../../texts/collection.js";
import { t as own } from "../../texts/restore_test.js";

const FIELDS = ["question", "min", "max", "newest_within", "span"];
const LABELLED = "";

const pathOf = (collection) => `/collections${path(collection.id, "restore-test")}`;
const field = (name, one) => `assertions.${name}.${one}`;

/** The card of restore tests. Without engines of the settings there is nothing to choose. */
export function RestoreTest({ collection, now }) {
  const test = useResource(pathOf(collection));
  const [isOpen, setOpen] = useState(false);
  const { data } = test;
  if (test.error) return html`<${ErrorNote} error=${test.error} at=${test.at} retry=${test.retry} />`;
  if (!data || (data.engines.length === 0 && !data.last)) return null;
  const { used, last } = data;
  const names = Object.keys(data.assertions ?? {});
  return html`<section class="card stack" aria-label=${own.title}>
    <h2>${own.title}</h2>
    <p>${used ? own.used(used) : own.none}</p>
    ${names.length > 0 && html`<p>${own.asserts(names.join(", "))}</p>`}
    ${
      last &&
      html`<p>
        ${own.last(last.version, dateTime(last.at, now))}${" "}
        <b class=${last.outcome === "broken" ? "failed fg" : ""}
          >${t.versions_.outcomes[last.outcome] ?? last.outcome}</b
        >
        <small class="dim"> ${last.message}</small>
      </p>`
    }
    ${
      data.engines.length > 0 &&
      html`<div class="row">
        <button class="btn" onClick=${() => setOpen(true)}>${own.choose}</button>
      </div>`
    }
    ${
      isOpen &&
      html`<${RestoreTestDialog} ...${{ collection, test: data, changed: test.reload, close: () => setOpen(false) }} />`
    }
  </section>`;
}

function RestoreTestDialog({ collection, test, changed, close }) {
  const form = useForm(valuesOf(test));
  const [names, setNames] = useState(Object.keys(test.assertions ?? {}));
  const [added, setAdded] = useState("");
  const add = () => {
    for (const one of FIELDS) form.set(field(added, one), "");
    setNames([...names, added]);
    setAdded("");
  };
  const submit = (event) => {
    event.preventDefault();
    form.submit(async (values) => {
      await send("PATCH", pathOf(collection), { body: bodyOf(values, form.changed, names) });
      changed();
      close();
    });
  };
  const isRemoved = Object.keys(test.assertions ?? {}).some((name) => !names.includes(name));
  return html`<${Dialog} title=${own.dialog} close=${close}>
    <form class="stack" onSubmit=${submit}>
      <${Field} label=${own.engine} options=${optionsOf(test)} ...${fieldOf(form, "engine")} />
      ${names.map(
        (name) =>
          html`<${Assertion}
            key=${name}
            ...${{ form, name }}
            remove=${() => setNames(names.filter((one) => one !== name))}
          />`,
      )}
      ${
        test.assertions &&
        html`<div class="row">
          <${Field} label=${own.name} hint=${own.nameHint} value=${added} change=${setAdded} />
          <button
            type="button"
            class="btn"
            disabled=${!/^[a-z][a-z0-9_]*$/.test(added) || names.includes(added)}
            onClick=${add}
          >
            ${own.add}
          </button>
        </div>`
      }
      <${FormError} form=${form} />
      <div class="row actions">
        <button type="button" class="btn" onClick=${close}>${t.cancel}</button
        ><button class="btn pri" disabled=${(form.changed.length === 0 && !isRemoved) || form.isSending}>
          ${t.save}
        </button>
      </div>
    </form>
  <//>`;
}

function Assertion({ form, name, remove }) {
  return html`<fieldset class="stack">
    <legend>${name}</legend>
    ${FIELDS.map((one) => html`<${Field} key=${one} label=${own.fields[one]} ...${fieldOf(form, field(name, one))} />`)}
    <div class="row">
      <button type="button" class="btn" onClick=${remove}>${own.remove(name)}</button>
    </div>
  </fieldset>`;
}

/** An engine that the settings do not have any more stays a choice. */
function optionsOf({ engine, engines }) {
  const names = engine && !engines.includes(engine) ? [engine, ...engines] : engines;
  return [[LABELLED, own.byLabel], ...names.map((name) => [name, name])];
}

/** @returns {Record<string, string>} */
function valuesOf({ engine, assertions }) {
  const values = { engine: engine ?? LABELLED };
  for (const [name, one] of Object.entries(assertions ?? {}))
    for (const key of FIELDS)
      values[field(name, key)] = key === "newest_within" && one[key] ? duration(one[key]) : String(one[key] ?? "");
  return values;
}

/** Only what was touched. */
function bodyOf(values, changed, names) {
  const body = /** @type {any} */ ({});
  if (changed.includes("engine")) body.engine = values.engine || null;
  const all = new Set(Object.keys(values).flatMap((key) => (key === "engine" ? [] : [key.split(".")[1]])));
  const assertions = {};
  for (const name of all) {
    const touched = FIELDS.filter((one) => changed.includes(field(name, one)));
    if (!names.includes(name)) assertions[name] = null;
    else if (touched.length)
      assertions[name] = Object.fromEntries(touched.map((one) => [one, parse(one, values[field(name, one)], name)]));
  }
  return Object.keys(assertions).length ? { ...body, assertions } : body;
}

function parse(one, text, name) {
  if (one === "question") return text;
  if (one === "newest_within") return parseInterval(text, field(name, one));
  if (!text.trim()) return null;
  const number = Number(text.replace(",", "."));
  if (!Number.isNaN(number)) return number;
  const detail = own.noNumber(text);
  throw new Problem(400, { detail, errors: [{ field: field(name, one), message: detail }] });
}
