// One change of many collections. What it would do to each is shown before it is made.

import { html, useEffect, useState } from "../../lib/html.js";
import { Problem, send } from "../../lib/api.js";
import { Expectation, Guards, Limits, Retention, bodyOf, valuesOf } from "../../components/collection_form.js";
import { duration, size } from "../../lib/format.js";
import { Dialog } from "../../components/dialog.js";
import { ErrorNote } from "../../components/feedback.js";
import { Field, FormError, fieldOf, useForm } from "../../components/form.js";
import { PlaceFields, useStorages } from "../collection/places.js";
import { t } from "../../texts/collections.js";

const TYPING_MS = 300;
const NAMED = 8;
const SIZES = new Set(["version_size", "total_size", "min_version_size"]);

const Labels = ({ form }) =>
  html`<${Field} label=${t.form.labels} hint=${t.selection.labelsHint} ...${fieldOf(form, "labels")} />`;

const Storages = ({ form }) => html`<${PlaceFields} form=${form} configured=${useStorages()} />`;

/** The form of each change, and the fields that it sends. */
const FORMS = {
  retention: {
    parts: [Retention, Limits],
    fields: ["strategy", "strategy_options.", "limits.versions", "limits.version_size", "limits.total_size"],
  },
  guards: {
    parts: [Guards],
    fields: [
      "guards.max_shrink_percent",
      "guards.max_growth_percent",
      "guards.min_version_size",
      "guards.min_retention",
      "guards.expects_kind",
      "guards.expects_change",
      "guards.on_suspicious",
    ],
  },
  interval: { parts: [Expectation], fields: ["expected_every", "grace"] },
  labels: { parts: [Labels], fields: ["labels"] },
  storages: { parts: [Storages], fields: ["storage", "mirror"] },
};

export default function EditMany({ what, items, close, done }) {
  const { parts, fields } = FORMS[what];
  const form = useForm(valuesOf(items[0]));
  const ask = async (isTrial) => {
    const body = { collections: items.map((one) => one.id), change: bodyOf(form.values, fields), dry_run: isTrial };
    return (await send("POST", "/collections:edit", { body })).items;
  };
  const preview = usePreview(ask, JSON.stringify(form.values));
  const isIdle = preview.items !== null && !preview.items.some((one) => !one.error && isChanged(one));
  const submit = (event) => {
    event.preventDefault();
    form.submit(async () => {
      const failed = (await ask(false)).filter((one) => one.error);
      if (failed.length === 0) return done();
      throw new Problem(400, { detail: t.selection.refused(failed.length, failed[0].name, failed[0].error) });
    });
  };
  return html`<${Dialog} title=${t.selection.editTitle(t.selection.edits[what], items.length)} close=${close} isWide>
    <form class="stack" onSubmit=${submit}>
      <p class="dim sm">${t.selection.startsWith(items[0].name)}</p>
      ${parts.map((part) => html`<${part} form=${form} />`)}
      <${Preview} ...${preview} />
      <${FormError} form=${form} />
      <div class="row actions">
        <button type="button" class="btn" onClick=${close}>${t.cancel}</button>
        <button class="btn pri" disabled=${form.isSending || isIdle}>${t.selection.change(items.length)}</button>
      </div>
    </form>
  <//>`;
}

const isChanged = (one) => Object.keys(one.after).length > 0;

/** What the change would do, a moment after the form has changed. */
function usePreview(ask, key) {
  const [state, setState] = useState({
    items: /** @type {any[] | null} */ (null),
    error: /** @type {Problem | null} */ (null),
  });
  useEffect(() => {
    let isStopped = false;
    const run = () =>
      ask(true).then(
        (items) => isStopped || setState({ items, error: null }),
        (error) => isStopped || (error instanceof Problem && setState({ items: null, error })),
      );
    const timer = setTimeout(run, TYPING_MS);
    return () => {
      isStopped = true;
      clearTimeout(timer);
    };
  }, [key]);
  return state;
}

function Preview({ items, error }) {
  if (error) return html`<${ErrorNote} error=${error} />`;
  if (!items) return null;
  const changed = items.filter(isChanged);
  const refused = items.filter((one) => one.error);
  const evicting = items.filter((one) => one.next_upload?.evicts.length > 0);
  const shown = [...refused, ...evicting, ...changed.filter((one) => !evicting.includes(one))];
  return html`<section class="stack" aria-label=${t.selection.preview} aria-live="polite">
    <b>${t.selection.wouldChange(changed.length, items.length, refused.length)}</b>
    <ul class="sm">
      ${shown.slice(0, NAMED).map((one) => html`<li key=${one.id}><b>${one.name || one.id}</b>: ${effectOf(one)}</li>`)}
      ${shown.length > NAMED && html`<li class="dim">${t.selection.andMore(shown.length - NAMED)}</li>`}
    </ul>
  </section>`;
}

function effectOf({ before, after, next_upload: next, error }) {
  if (error) return error;
  const changes = Object.keys(after).map((name) =>
    t.selection.from(t.form.names[name] ?? name, textOf(name, before[name]), textOf(name, after[name])),
  );
  const evicted = next?.evicts.length > 0 && t.selection.evicts(next.evicts.length);
  return [...changes, evicted].filter(Boolean).join("; ");
}

/** The value of a field for people. */
function textOf(name, value) {
  if (name in t.form.places) return t.form.places[name][value ?? ""] ?? value;
  if (value === undefined || value === null || value === "" || value.length === 0) return t.none;
  if (SIZES.has(name) && value) return size(value);
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value === "object")
    return Object.entries(value)
      .map(([rule, number]) => `${rule} ${number}`)
      .join(", ");
  return t.form.strategies[value] ?? duration(String(value));
}
