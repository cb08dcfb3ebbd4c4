// The fields of a collection, for a new one and for its settings, and their translation from and to the API.

import { html, useContext, useEffect, useState } from "../lib/html.js";
import { About } from "../lib/access.js";
import { read } from "../lib/api.js";
import { dateTime, duration, size, weekday } from "../lib/format.js";
import { parseAll, parseCount, parseInterval, parseLabels, parseSize, sizeText } from "../lib/parse.js";
import { t } from "../texts/collections.js";
import { Check, Field, fieldOf } from "./form.js";

const RULES = ["last", "hourly", "daily", "weekly", "monthly", "yearly"];
const TYPING_MS = 300;
const TIMES = 5;
const KEEP = "keep";
const KEEP_DEFAULT = { last: 3, daily: 7, weekly: 4, monthly: 12 };

/** The texts of the fields for a collection of the API. Names with dots are those of the API's errors. */
export function valuesOf(collection) {
  const { limits, guards, strategy_options: options } = collection;
  // What is proposed when the strategy is chosen; the options of another strategy are not for this form.
  const shown = collection.strategy === KEEP ? (options ?? KEEP_DEFAULT) : KEEP_DEFAULT;
  const rules = RULES.map((rule) => [`strategy_options.${rule}`, String(shown[rule] ?? 0)]);
  return {
    name: collection.name,
    description: collection.description,
    labels: collection.labels.join(", "),
    storage: collection.storage ?? "",
    mirror: collection.mirror ?? "",
    compact_group: collection.compact_group ?? "",
    trash_keep: intervalText(collection.trash_keep),
    expected_every: intervalText(collection.expected_every),
    grace: intervalText(collection.grace),
    strategy: collection.strategy,
    ...Object.fromEntries(rules),
    "limits.versions": limits.versions ? String(limits.versions) : "",
    "limits.version_size": sizeText(limits.version_size),
    "limits.total_size": sizeText(limits.total_size),
    "guards.max_shrink_percent": String(guards.max_shrink_percent || ""),
    "guards.max_growth_percent": String(guards.max_growth_percent || ""),
    "guards.min_version_size": sizeText(guards.min_version_size),
    "guards.min_retention": guards.min_retention === "PT0S" ? "" : intervalText(guards.min_retention),
    "guards.expects_kind": guards.expects_kind,
    "guards.expects_change": guards.expects_change,
    "guards.max_decline_percent": String(guards.max_decline_percent || ""),
    "guards.max_unchanged": guards.max_unchanged === "PT0S" ? "" : intervalText(guards.max_unchanged),
    "guards.on_suspicious": guards.on_suspicious,
  };
}

const intervalText = (text) => (text?.startsWith("P") ? duration(text) : (text ?? ""));

const READERS = {
  name: (text) => text.trim(),
  description: (text) => text,
  labels: parseLabels,
  storage: (name) => name || null,
  mirror: (name) => name || null,
  compact_group: (name) => name.trim() || null,
  trash_keep: parseInterval,
  expected_every: parseInterval,
  grace: parseInterval,
  strategy: (text) => text,
  "limits.versions": parseCount,
  "limits.version_size": parseSize,
  "limits.total_size": parseSize,
  "guards.max_shrink_percent": parseCount,
  "guards.max_growth_percent": parseCount,
  "guards.min_version_size": parseSize,
  "guards.min_retention": (text, field) => parseInterval(text, field) ?? "PT0S",
  "guards.expects_kind": (isOn) => isOn,
  "guards.expects_change": (isOn) => isOn,
  "guards.max_decline_percent": parseCount,
  "guards.max_unchanged": (text, field) => parseInterval(text, field) ?? "PT0S",
  "guards.on_suspicious": (text) => text,
};

/**
 * The body for the API with the fields `names`. `options` are those of the strategy that the form does not have, and
 * that stay. Throws `Problem` with all fields that cannot be read.
 */
export function bodyOf(values, names, options = {}) {
  const wanted = names.filter((name) => name in READERS);
  const parsed = parseAll(Object.fromEntries(wanted.map((name) => [name, () => READERS[name](values[name], name)])));
  const body = {};
  for (const [name, value] of Object.entries(parsed)) {
    const [first, second] = name.split(".");
    if (second) body[first] = { ...body[first], [second]: value };
    else body[first] = value;
  }
  if (names.some((name) => name.startsWith("strategy_options.")) && values.strategy === KEEP)
    body.strategy_options = { ...options, ...keepOptions(values) };
  return body;
}

/** The options of the strategy `keep`. Throws `Problem`. */
export function keepOptions(values) {
  return parseAll(
    Object.fromEntries(
      RULES.map((rule) => [rule, () => parseCount(values[`strategy_options.${rule}`], `strategy_options.${rule}`)]),
    ),
  );
}

export const isKeep = (values) => values.strategy === KEEP;

export const Names = ({ form }) => html`
  <${Field} label=${t.form.name} hint=${t.form.nameHint} ...${fieldOf(form, "name")} required />
  <${Field} label=${t.form.description} ...${fieldOf(form, "description")} />
  <${Field} label=${t.form.labels} hint=${t.form.labelsHint} ...${fieldOf(form, "labels")} />
`;

export const Expectation = ({ form }) =>
  html`<div class="cols two">
      <${Field} label=${t.form.expected} hint=${t.form.expectedHint} ...${fieldOf(form, "expected_every")} />
      ${
        "grace" in form.values &&
        html`<${Field} label=${t.form.grace} hint=${t.form.graceHint} ...${fieldOf(form, "grace")} />`
      }
    </div>
    <${NextTimes} text=${form.values.expected_every} />
    <${TimeOfDay} use=${(text) => form.set("expected_every", text)} />`;

/** The next five times of an expectation, a moment after it was typed. */
function NextTimes({ text }) {
  const [times, setTimes] = useState(/** @type {string[]} */ ([]));
  useEffect(() => {
    let isStopped = false;
    const ask = async () => {
      try {
        const every = parseInterval(text, "expected_every");
        const { items } = every ? await read("/expected-times", { query: { every, limit: TIMES } }) : { items: [] };
        if (!isStopped) setTimes(items);
      } catch {
        if (!isStopped) setTimes([]); // the form says what is wrong when it is sent
      }
    };
    const timer = setTimeout(ask, TYPING_MS);
    return () => {
      isStopped = true;
      clearTimeout(timer);
    };
  }, [text]);
  return (
    times.length > 0 && html`<p class="sm dim">${t.form.nextTimes(times.map((one) => dateTime(one)).join(" · "))}</p>`
  );
}

/** Writes cron for a time of day, in the time zone of the browser. */
function TimeOfDay({ use }) {
  const [days, setDays] = useState("*");
  const [time, setTime] = useState("03:00");
  const choices = [
    ["*", t.form.everyDay],
    ["1-5", t.form.workdays],
    ...Array.from({ length: 7 }, (_, day) => [
      String((day + 1) % 7),
      weekday(new Date(Date.UTC(2024, 0, 1 + day, 12))),
    ]),
  ];
  const write = () => {
    const [hour, minute] = time.split(":").map(Number);
    use(`${minute} ${hour} * * ${days} ${new Intl.DateTimeFormat().resolvedOptions().timeZone}`);
  };
  return html`<details class="stack">
    <summary class="sm">${t.form.timeEditor}</summary>
    <div class="row wrap">
      <${Field} label=${t.form.timeDays} options=${choices} value=${days} change=${setDays} />
      <${Field} label=${t.form.timeOf} type="time" value=${time} change=${setTime} />
      <button type="button" class="btn" disabled=${!time} onClick=${write}>${t.form.useTime}</button>
    </div>
  </details>`;
}

/** The strategy; for `keep` a slider and a number for each rule, see the retention simulator. */
export function Retention({ form }) {
  const { strategies, trash_keep: trash } = useContext(About);
  const names = strategies.map((name) => [name, t.form.strategies[name] ?? name]);
  return html`<${Field} label=${t.form.strategy} options=${names} ...${fieldOf(form, "strategy")} /> ${
      isKeep(form.values) &&
      html`<fieldset class="stack">
        <legend>${t.form.keep}</legend>
        <div class="nums">${RULES.map((rule) => html`<${Rule} rule=${rule} form=${form} />`)}</div>
      </fieldset>`
    }
    ${
      trash &&
      "trash_keep" in form.values &&
      html`<${Field} label=${t.form.trashKeep} hint=${t.form.trashKeepHint} ...${fieldOf(form, "trash_keep")} />`
    }`;
}

/** The number of a rule, to type or to drag. */
function Rule({ rule, form }) {
  const field = fieldOf(form, `strategy_options.${rule}`);
  const most = Math.max(31, Number(field.value) || 0);
  return html`<div>
    <${Field} label=${t.form.rules[rule]} inputmode="numeric" ...${field} />
    <input
      type="range"
      min="0"
      max=${most}
      value=${Number(field.value) || 0}
      aria-label=${t.form.drag(t.form.rules[rule])}
      onInput=${(event) => field.change(event.target.value)}
    />
  </div>`;
}

/** The limits. `isNew`: an empty one is that of the service, else there is none. */
export function Limits({ form, isNew = false }) {
  const limits = useContext(About).limits;
  const shown = (value, format) => (isNew && value ? format(value) : t.form.noLimit);
  return html`<fieldset>
    <legend>${t.form.limits}</legend>
    <div class="nums">
      <${Field}
        label=${t.form.maxVersions}
        inputmode="numeric"
        placeholder=${shown(limits.versions, String)}
        ...${fieldOf(form, "limits.versions")}
      />
      <${Field}
        label=${t.form.maxVersionSize}
        placeholder=${shown(limits.version_size, size)}
        ...${fieldOf(form, "limits.version_size")}
      />
      <${Field}
        label=${t.form.maxTotalSize}
        placeholder=${shown(limits.total_size, size)}
        ...${fieldOf(form, "limits.total_size")}
      />
    </div>
  </fieldset>`;
}

/** The group of compact storage, where the service has that, or the collection names one. */
export const Group = ({ form }) =>
  (useContext(About).compacts || form.values.compact_group !== "") &&
  html`<${Field} label=${t.form.group} hint=${t.form.groupHint} ...${fieldOf(form, "compact_group")} />`;

export const Guards = ({ form }) =>
  html`<fieldset class="stack">
      <legend>${t.form.guards}</legend>
      <div class="nums">
        ${["max_shrink_percent", "max_growth_percent", "min_version_size", "max_decline_percent", "max_unchanged"].map(
          (name) =>
            html`<${Field}
              label=${t.form.guardLabels[name]}
              placeholder=${t.form.off}
              ...${fieldOf(form, `guards.${name}`)}
            />`,
        )}
      </div>
      <p class="faint sm">${t.form.sizesHint}</p>
      <${Check} label=${t.form.expectsKind} ...${checkOf(form, "guards.expects_kind")} />
      <${Check} label=${t.form.expectsChange} ...${checkOf(form, "guards.expects_change")} />
    </fieldset>
    <${Field} label=${t.form.onSuspicious} options=${actionsFor(form)} ...${fieldOf(form, "guards.on_suspicious")} />
    <${Field}
      label=${t.form.minRetention}
      hint=${t.form.minRetentionHint}
      ...${fieldOf(form, "guards.min_retention")}
    />`;

const checkOf = (form, name) => ({
  value: form.values[name],
  change: (isOn) => form.set(name, isOn),
  leave: form.leaves?.[name],
});

/** The options belong to the strategy: a new strategy is sent with them. */
export const withStrategy = (names) => (names.includes("strategy") ? [...names, "strategy_options."] : names);

function actionsFor(form) {
  const known = Object.entries(t.form.actions);
  const current = form.values["guards.on_suspicious"];
  return current === undefined || known.some(([name]) => name === current) ? known : [[current, current], ...known];
}
