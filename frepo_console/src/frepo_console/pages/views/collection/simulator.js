// The retention simulator: what the service would keep with the rules of the form, before they are saved.

import { html, useEffect, useMemo, useState } from "../../lib/html.js";
import { Problem, path, send } from "../../lib/api.js";
import { count, size } from "../../lib/format.js";
import { parseAll, parseInterval, parseSize, sizeText } from "../../lib/parse.js";
import { Curve } from "../../components/charts.js";
import { bodyOf } from "../../components/collection_form.js";
import { Note } from "../../components/feedback.js";
import { Field, fieldOf, useForm } from "../../components/form.js";
import { t as collections } from "../../texts/collections.js";
import { t } from "../../texts/simulator.js";
import { DAY, DayGrid, beginOfWeek, startOfDay } from "./day_grid.js";

const WAIT_MS = 250;
const AGAIN_MS = 3000;
const RULES = [
  "strategy",
  "strategy_options.",
  "limits.versions",
  "limits.version_size",
  "limits.total_size",
  "guards.min_retention",
];

export function Simulator({ collection, values }) {
  const [isImagined, setImagined] = useState(true);
  const size_ = collection.last_version?.size ?? 1e9;
  const form = useForm({
    every: "1 day",
    size: sizeText(Number(size_.toPrecision(2))),
    growth: "1",
    duration: "52 weeks",
  });
  const { answer, error } = usePreview(collection, values, isImagined ? form.values : null);
  if (error?.status === 404) return null;
  /** @type {[boolean, string][]} */
  const tabs = [
    [false, t.own],
    [true, t.imagined],
  ];
  return html`<section class="card stack">
    <div class="sec">
      <h2>${t.title}</h2>
      <span class="seg end" role="group" aria-label=${t.what}
        >${tabs.map(
          ([value, text]) =>
            html`<button
              type="button"
              class="btn s"
              aria-pressed=${String(value === isImagined)}
              onClick=${() => setImagined(value)}
            >
              ${text}
            </button>`,
        )}</span
      >
    </div>
    ${
      isImagined &&
      html`<div class="nums">
        <${Field} label=${t.every} ...${fieldOf(form, "every")} /><${Field}
          label=${collections.table.size}
          ...${fieldOf(form, "size")}
        />
        <${Field} label=${t.growth} inputmode="decimal" ...${fieldOf(form, "growth")} /><${Field}
          label=${t.duration}
          ...${fieldOf(form, "duration")}
        />
      </div>`
    }
    ${error && html`<p class="err" role="alert">${error.message}</p>`}
    ${answer && html`<${Result} answer=${answer} collection=${collection} isImagined=${isImagined} />`}
  </section>`;
}

/** Ask for a preview a moment after the last change. While a field cannot be read, the last answer stays. */
function usePreview(collection, values, schedule) {
  const [state, setState] = useState({ answer: null, error: /** @type {Problem | null} */ (null) });
  const key = JSON.stringify([values, schedule]);
  useEffect(() => {
    const stop = new AbortController();
    const ask = async () => {
      try {
        const body = { ...bodyOf(values, RULES), ...(schedule && { schedule: scheduleOf(schedule), empty: true }) };
        const answer = await send("POST", `/collections${path(collection.id)}/retention/preview`, {
          body,
          signal: stop.signal,
        });
        setState({ answer, error: null });
      } catch (error) {
        if (!(error instanceof Problem)) return;
        setState((old) => ({ ...old, error }));
        if (error.isTemporary) timer = setTimeout(ask, AGAIN_MS);
      }
    };
    let timer = setTimeout(ask, WAIT_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [key, collection.stored_size]);
  return state;
}

const scheduleOf = (texts) => ({
  ...parseAll({
    every: () => parseInterval(texts.every, "every"),
    size: () => parseSize(texts.size, "size"),
    duration: () => parseInterval(texts.duration, "duration"),
  }),
  growth: Number(texts.growth.replace(",", ".")) || 0,
});

function Result({ answer, collection, isImagined }) {
  const kept = answer.versions.filter((one) => one.kept);
  const bytes = kept.reduce((sum, one) => sum + one.size, 0);
  const days = useMemo(() => daysOf(answer.versions), [answer]);
  const kinds = new Set(days.map((day) => day.kind));
  return html`<p aria-live="polite">
      <b>${t.keeps(count(kept.length), count(answer.versions.length), size(bytes))}</b>${" "}
      <span class="dim">${t.now(count(collection.versions), size(collection.stored_size))}</span>
    </p>
    <${DayGrid}
      days=${days}
      label=${t.keeps(kept.length, answer.versions.length, size(bytes))}
      title=${(day) => t.day(day.versions)}
      square=${(day, place) => html`<${Square} kind=${day.kind} ...${place} />`}
    />
    <div class="key">
      ${["often", "weekly", "monthly", "evicted"]
        .filter((kind) => kinds.has(kind))
        .map(
          (kind) =>
            html`<span
              ><svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
                <${Square} kind=${kind} x=${0} y=${0} /></svg
              >${t.kinds[kind]}</span
            >`,
        )}
    </div>
    ${isImagined && answer.days.length > 1 && html`<${Needed} answer=${answer} />`}
    ${
      answer.refused.length > 0 &&
      html`<${Note} state="full" title=${t.refused(answer.refused.length)}>${answer.refused[0].message}<//>`
    }
    ${!isImagined && html`<${Next} versions=${answer.versions} />`}`;
}

/** What the next upload would evict of the versions that are there. */
function Next({ versions }) {
  const gone = versions.filter((one) => !one.kept && !one.imagined);
  if (gone.length === 0) return html`<p class="dim">${t.nothingGoes}</p>`;
  const bytes = gone.reduce((sum, one) => sum + one.size, 0);
  return html`<${Note} state="late" title=${t.goes(gone.length, size(bytes))}
    >${gone.map((one) => one.number).join(", ")}<//
  >`;
}

function Needed({ answer }) {
  const times = answer.days.map((day) => new Date(day.day));
  /** @type {CurveLine[]} */
  const lines = [{ values: answer.days.map((day) => day.size), isFilled: true }];
  const hasTrash = answer.days.some((day) => day.trash_size);
  if (hasTrash) lines.push({ values: answer.days.map((day) => day.size + day.trash_size), dash: [5, 3] });
  const limit = answer.limits.total_size;
  const isNear = limit > 0 && limit < 3 * answer.peak.size;
  if (isNear) lines.push({ values: times.map(() => limit), dash: [2, 3], colour: "full" });
  return html`<h3>${t.needed}</h3>
    <${Curve}
      times=${times}
      lines=${lines}
      label=${t.neededLabel(size(answer.days.at(-1).size), size(answer.peak.size))}
      height=${150}
    />
    ${
      lines.length > 1 &&
      html`<p class="key sm">${[hasTrash && t.dashed, isNear && t.dotted(size(limit))].filter(Boolean).join("; ")}</p>`
    }`;
}

/** The days from the first version to the last, with the versions of each and the weakest rule that keeps one. */
function daysOf(versions) {
  if (versions.length === 0) return [];
  const times = versions.map((one) => startOfDay(new Date(one.at)).getTime());
  const begin = beginOfWeek(new Date(Math.min(...times)));
  const length = Math.round((Math.max(...times) - begin.getTime()) / DAY) + 1;
  const days = Array.from({ length }, (_, index) => ({
    at: new Date(begin.getTime() + index * DAY),
    versions: /** @type {any[]} */ ([]),
    kind: "none",
  }));
  versions.forEach((one, index) => days[Math.round((times[index] - begin.getTime()) / DAY)].versions.push(one));
  return days.map((day) => ({ ...day, kind: kindOf(day.versions) }));
}

function kindOf(versions) {
  if (versions.length === 0) return "none";
  const kept = versions.filter((one) => one.kept);
  if (kept.length === 0) return "evicted";
  const rules = new Set(kept.flatMap((one) => one.rules));
  if (rules.size === 0 || ["last", "hourly", "daily", "within"].some((rule) => rules.has(rule))) return "often";
  return rules.has("weekly") ? "weekly" : "monthly";
}

const OPACITY = { often: 1, weekly: 0.68, monthly: 0.42 };

function Square({ kind, x, y }) {
  if (kind === "none") return html`<rect class="day faded" x=${x + 3.5} y=${y + 3.5} width="2" height="2" />`;
  if (kind === "evicted") return html`<rect class="day dot" x=${x + 2.5} y=${y + 2.5} width="4" height="4" rx="1" />`;
  return html`<rect class="day" x=${x} y=${y} width="9" height="9" rx="2" opacity=${OPACITY[kind]} />`;
}
