// What people type: sizes ("3 GB"), durations ("1 day"), lists of labels. Each returns the value, or throws `Problem`.

import { Problem } from "./api.js";
import { durationSeconds } from "./format.js";
import { t } from "../texts/collections.js";

const DECIMAL = ["", "k", "m", "g", "t", "p"];
const UNITS = { s: "S", m: "M", h: "H", d: "D", w: "W" };

/** Bytes of "3 GB" (powers of 1000), "3 GiB" (of 1024) or "3"; an empty text is 0. */
export function parseSize(text, field) {
  const found = /^\s*(\d+(?:[.,]\d+)?)?\s*([kmgtp]?)(i?)b?(?:ytes?)?\s*$/i.exec(text);
  if (!found || (found[2] && !found[1])) throw wrong(field, t.form.badSize(text));
  const power = DECIMAL.indexOf(found[2].toLowerCase());
  return Math.round(Number((found[1] ?? "0").replace(",", ".")) * (found[3] ? 1024 : 1000) ** power);
}

/** A size of the API as a text that `parseSize` reads without a loss; 0 is an empty text. */
export function sizeText(bytes) {
  if (!bytes) return "";
  for (const base of [1000, 1024]) {
    const suffix = base === 1000 ? "B" : "iB";
    for (let power = 5; power > 0; power -= 1) {
      if (bytes % (base ** power / 1000) === 0 && bytes >= base ** power)
        return `${bytes / base ** power} ${unit(power, base)}${suffix}`;
    }
  }
  return String(bytes);
}

const unit = (power, base) => (power === 1 && base === 1000 ? "k" : DECIMAL[power].toUpperCase());

/** ISO 8601 of "1 day", "6h", "2 weeks" or "P1D"; null for an empty text. Cron with a time zone stays as it is. */
export function parseInterval(text, field) {
  const value = text.trim();
  if (!value) return null;
  if (durationSeconds(value) !== null || value.split(/\s+/).length >= 5) return value;
  const found = /^(?:every\s+)?(\d+)?\s*(s|m|h|d|w)(?:ec(?:ond)?s?|in(?:ute)?s?|(?:ou)?rs?|ays?|eeks?)?$/i.exec(value);
  if (!found) throw wrong(field, t.form.badDuration(value));
  const unit = found[2].toLowerCase();
  const number = found[1] ?? "1";
  return unit === "d" || unit === "w" ? `P${number}${UNITS[unit]}` : `PT${number}${UNITS[unit]}`;
}

export const parseLabels = (text) => [
  ...new Set(
    text
      .split(",")
      .map((label) => label.trim())
      .filter(Boolean),
  ),
];

export function parseCount(text, field) {
  if (!/^\s*\d*\s*$/.test(text)) throw wrong(field, t.form.badNumber(text));
  return Number(text || 0);
}

const wrong = (field, message) => new Problem(400, { detail: message, errors: [{ field, message }] });

/** Run each function of `parts`; return their values by name, or throw one `Problem` with all wrong fields. */
export function parseAll(parts) {
  const values = {};
  const errors = [];
  for (const [name, parse] of Object.entries(parts)) {
    try {
      values[name] = parse();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      errors.push(...Object.entries(error.fields).map(([field, message]) => ({ field, message })));
    }
  }
  if (errors.length) throw new Problem(400, { detail: errors[0].message, errors });
  return values;
}
