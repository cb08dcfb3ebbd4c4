// Sizes, numbers, times and durations for people, in the language of the browser.

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte", "petabyte"];
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** @type {Intl.DateTimeFormatOptions} */
const MONTH_NAMES = { day: "numeric", month: "short" };

const numbers = new Map();
const numberFormat = (options) => {
  const key = JSON.stringify(options);
  if (!numbers.has(key)) numbers.set(key, new Intl.NumberFormat(undefined, options));
  return numbers.get(key);
};
const relativeTimes = new Intl.RelativeTimeFormat(undefined, { style: "long", numeric: "always" });
const justNow = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const exactTimes = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });
const dayAndTime = new Intl.DateTimeFormat(undefined, { ...MONTH_NAMES, hour: "2-digit", minute: "2-digit" });
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, MONTH_NAMES);
const dayOfYear = new Intl.DateTimeFormat(undefined, { ...MONTH_NAMES, year: "numeric" });
const longDay = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });

/** A size in bytes with three digits: "3.20 GB". */
export function size(bytes) {
  let value = bytes;
  let unit = 0;
  while (Math.abs(value) >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || Math.abs(value) >= 99.95 ? 0 : Math.abs(value) >= 9.995 ? 1 : 2;
  const fraction = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const unitDisplay = unit === 0 ? "long" : "short"; // "0 bytes", as the short form has no plural
  return numberFormat({ style: "unit", unit: UNITS[unit], unitDisplay, ...fraction }).format(value);
}

export const count = (value) => numberFormat({}).format(value);

/** A part of 1 as per cent, with its sign if `isChange`. */
export const percent = (part, { isChange = false } = {}) =>
  numberFormat({
    style: "percent",
    maximumFractionDigits: Math.abs(part) < 0.1 ? 1 : 0,
    signDisplay: isChange ? "exceptZero" : "auto",
  }).format(part);

/** A part of 1 as per cent, rounded down: what is not all is not 100 %, and what is not nothing is at least "0.1%". */
export function share(part) {
  const least = 0.001;
  const rounded = Math.max(part > 0 ? least : 0, Math.floor(part / least + 1e-9) * least);
  return numberFormat({ style: "percent", maximumFractionDigits: 1 }).format(rounded);
}

/** "5 hours ago", "in 3 days", "now" for less than a minute ahead; from ten days on the day. */
export function relative(time, now = new Date()) {
  const seconds = (new Date(time).getTime() - now.getTime()) / 1000;
  const distance = Math.abs(seconds);
  if (distance < 2 || (seconds > 0 && distance < MINUTE)) return justNow.format(0, "second");
  if (distance < MINUTE) return relativeTimes.format(Math.trunc(seconds), "second");
  if (distance < 100 * MINUTE) return relativeTimes.format(Math.trunc(seconds / MINUTE), "minute");
  if (distance < 48 * HOUR) return relativeTimes.format(Math.trunc(seconds / HOUR), "hour");
  if (distance < 10 * DAY) return relativeTimes.format(Math.trunc(seconds / DAY), "day");
  return date(time, now);
}

/** A distance of times, without "ago": "31 hours", "3 days". */
export function elapsed(from, now = new Date()) {
  const seconds = Math.max(0, (now.getTime() - new Date(from).getTime()) / 1000);
  const [length, unit] =
    seconds >= 48 * HOUR
      ? [DAY, "day"]
      : seconds >= 100 * MINUTE
        ? [HOUR, "hour"]
        : seconds >= MINUTE
          ? [MINUTE, "minute"]
          : [1, "second"];
  return numberFormat({ style: "unit", unit, unitDisplay: "long" }).format(Math.floor(seconds / length));
}

/** Seconds as "25 sec", "4 min" or "1.5 hr", in the unit that fits `most`. */
export function length(seconds, most = seconds) {
  const [part, unit] = most >= 2 * HOUR ? [HOUR, "hour"] : most >= 2 * MINUTE ? [MINUTE, "minute"] : [1, "second"];
  return numberFormat({ style: "unit", unit, maximumFractionDigits: 1 }).format(seconds / part);
}

export const exactTime = (time) => exactTimes.format(new Date(time));

/** "23 Nov, 03:12"; with the year if it is not this one. */
export const dateTime = (time, now = new Date()) =>
  new Date(time).getFullYear() === now.getFullYear()
    ? dayAndTime.format(new Date(time))
    : `${dayOfYear.format(new Date(time))}, ${timeOfDay(time)}`;

export const timeOfDay = (time) => clock.format(new Date(time));

export const date = (time, now = new Date()) =>
  (new Date(time).getFullYear() === now.getFullYear() ? day : dayOfYear).format(new Date(time));

export const today = (time) => longDay.format(time);

export const weekday = (time) => new Intl.DateTimeFormat(undefined, { weekday: "short" }).format(new Date(time));

export const month = (time) => new Intl.DateTimeFormat(undefined, { month: "short" }).format(new Date(time));

/** The seconds of a duration of ISO 8601 as the API writes them (`P1D`, `PT6H`, `P2W`), null for anything else. */
export function durationSeconds(text) {
  const found = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/.exec(text ?? "");
  if (!found) return null;
  const [weeks, days, hours, minutes, seconds] = found.slice(1).map((part) => Number(part ?? 0));
  return (weeks * 7 + days) * DAY + hours * HOUR + minutes * MINUTE + seconds;
}

/** A duration of ISO 8601 for people: "1 day", "6 hours". A text that is no duration, such as cron, stays as it is. */
export function duration(text) {
  const seconds = durationSeconds(text);
  if (seconds === null) return text;
  /** @type {[number, string][]} */
  const units = [
    [7 * DAY, "week"],
    [DAY, "day"],
    [HOUR, "hour"],
    [MINUTE, "minute"],
    [1, "second"],
  ];
  const [length, unit] = units.find(([length]) => seconds >= length && seconds % length === 0) ?? [1, "second"];
  return numberFormat({ style: "unit", unit, unitDisplay: "long" }).format(seconds / length);
}
