// One change of many collections. What it would do to each is shown before it is made.

import { html, useEffect, useState } from "../../lib/html.js";
import { Problem, send } from "../../lib/api.js";
import {
  Expectation,
  Group,
  Guards,
  Limits,
  Retention,
  bodyOf,
  isKeep,
  valuesOf,
  withStrategy,
} from "../../components/collection_form.js";
import { duration, size } from "../../lib/format.js";
import { Dialog } from "../../components/dialog.js";
import { ErrorNote } from "../../components/feedback.js";
import { Field, FormError, fieldOf, useForm } from "../../components/form.js";
import { PlaceFields, useStorages } from "../collection/places.js";
import { inWords, t as common } from "../../texts.js";
import { t } from "../../texts/collections.js";

const TYPING_MS = 300;
const NAMED = 8;
const SIZES = new Set(["version_size", "total_size", "min_version_size"]);

const Labels = ({ form }) =>
  html`<${Field} label=${t.form.labels} hint=${t.selection.labelsHint} ...${fieldOf(form, "labels")} />`;

const Storages = ({ form }) => html`<${PlaceFields} form=${form} configured=${useStorages()} />`;

/** The form of each change, and its fields, of which it sends those that were touched. */
const FORMS = {
  retention: {
    parts: [Retention, Limits],
    fields: [
      "strategy",
      "trash_keep",
      "strategy_options.",
      "limits.versions",
      "limits.version_size",
      "limits.total_size",
    ],
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
      "guards.max_decline_percent",
      "guards.max_unchanged",
      "guards.on_suspicious",
    ],
  },
  interval: { parts: [Expectation], fields: ["expected_every", "grace"] },
  labels: { parts: [Labels], fields: ["labels"] },
  storages: { parts: [Storages], fields: ["storage", "mirror"] },
  group: { parts: [Group], fields: ["compact_group"] },
};

export default function EditMany({ what, items, close, done }) {
  const { parts, fields } = FORMS[what];
  const form = useForm(untouched(items, fields));
  const leaves = Object.fromEntries(
    fields.filter((name) => !isOption(name)).map((name) => [name, spanOf(items, name)]),
  );
  const names = form.changed.filter((name) => !isOption(name) || isKeep(form.values));
  const ask = async (isTrial) => {
    const change = bodyOf(form.values, withStrategy(names));
    const body = { collections: items.map((one) => one.id), change, dry_run: isTrial };
    return (await send("POST", "/collections:edit", { body })).items;
  };
  const touched = names.length > 0 && JSON.stringify(names.map((name) => [name, form.values[name]]));
  const preview = usePreview(ask, touched);
  const number = preview.items?.filter((one) => !one.error && isChanged(one)).length ?? 0;
  const submit = (event) => {
    event.preventDefault();
    form.submit(async () => {
      const result = resultOf(await ask(false));
      if (result.changed === 0) throw new Problem(400, { detail: [result.title, ...result.lines].join(". ") });
      done(result);
    });
  };
  return html`<${Dialog} title=${t.selection.editTitle(t.selection.edits[what], items.length)} close=${close} isWide>
    <form class="stack" onSubmit=${submit}>
      <p class="dim sm">${t.selection.onlyTouched}</p>
      ${parts.map((part) => html`<${part} form=${{ ...form, leaves }} />`)}
      ${isKeep(form.values) && html`<p class="faint sm">${t.selection.rulesHint}</p>`}
      <${Preview} ...${preview} isTouched=${Boolean(touched)} />
      <${FormError} form=${form} />
      <div class="row actions">
        <button type="button" class="btn" onClick=${close}>${t.cancel}</button>
        <button class="btn pri" disabled=${form.isSending || number === 0}>${t.selection.change(number)}</button>
      </div>
    </form>
  <//>`;
}

const isOption = (name) => name.startsWith("strategy_options.");

/** The values of the form: undefined is left as it is. The numbers of `keep` belong to the choice of this strategy. */
function untouched(items, fields) {
  const like = items.find((one) => one.strategy === "keep") ?? items[0];
  const options = Object.entries(valuesOf(like)).filter(([name]) => isOption(name));
  return Object.fromEntries([
    ...fields.filter((name) => !isOption(name)).map((name) => [name, undefined]),
    ...(fields.some(isOption) ? options : []),
  ]);
}

/** What the collections have in a field: one value, two or three, or from which to which. */
function spanOf(items, name) {
  const texts = [...new Set(items.map((one) => textIn(valuesOf(one), name)))];
  if (texts.length <= 3) return t.selection.or(texts);
  const [group, field] = name.split(".");
  const numbers = items.map((one) => one[group]?.[field]).filter((value) => typeof value === "number" && value > 0);
  if (numbers.length === 0) return t.selection.different(texts.length);
  const shown = (value) => (SIZES.has(field) ? size(value) : String(value));
  const span = t.selection.span(shown(Math.min(...numbers)), shown(Math.max(...numbers)));
  return numbers.length < items.length ? t.selection.or([span, t.none]) : span;
}

/** The text of a value in a form, for people. */
function textIn(values, name) {
  const value = values[name];
  if (typeof value === "boolean") return common.yesOrNo[value ? "yes" : "no"];
  if (name in t.form.places) return t.form.places[name][value] ?? value;
  return t.form.strategies[value] ?? t.form.actions[value] ?? (value || t.none);
}

/** What has happened, for the line above the list. */
function resultOf(items) {
  const refused = items.filter((one) => one.error);
  const changed = items.filter((one) => !one.error && isChanged(one)).length;
  return {
    changed,
    isWell: refused.length === 0,
    title: t.selection.result(changed, items.length - changed - refused.length, refused.length),
    lines: refused.map((one) => t.selection.refusal(one.name || one.id, inWords(one.error))),
  };
}

const isChanged = (one) => Object.keys(one.after).length > 0;

/** What the change would do, a moment after the form has changed; `key` is false while nothing is touched. */
function usePreview(ask, key) {
  const nothing = { items: /** @type {any[] | null} */ (null), error: /** @type {Problem | null} */ (null) };
  const [state, setState] = useState(nothing);
  useEffect(() => {
    let isStopped = false;
    setState(nothing);
    const run = () =>
      ask(true).then(
        (items) => isStopped || setState({ items, error: null }),
        (error) => isStopped || (error instanceof Problem && setState({ items: null, error })),
      );
    const timer = key ? setTimeout(run, TYPING_MS) : undefined;
    return () => {
      isStopped = true;
      clearTimeout(timer);
    };
  }, [key]);
  return state;
}

function Preview({ items, error, isTouched }) {
  if (error) return html`<${ErrorNote} error=${error} />`;
  if (!isTouched) return html`<p class="dim">${t.selection.nothingYet}</p>`;
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
  if (error) return inWords(error);
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
  if (typeof value === "boolean") return common.yesOrNo[value ? "yes" : "no"];
  if (SIZES.has(name) && value) return size(value);
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value === "object")
    return Object.entries(value)
      .map(([rule, number]) => `${rule} ${number}`)
      .join(", ");
  return t.form.strategies[value] ?? t.form.actions[value] ?? duration(String(value));
}
