// Curves by uPlot, which is loaded when the first one is shown.

import { html, useEffect, useRef, useState } from "../lib/html.js";
import { date, size } from "../lib/format.js";
import { ChartError, loadError } from "./feedback.js";

const LINE = { width: 2, points: { show: false } };
const HEIGHT = 190;
let loading;

/** Load uPlot and its styles, once. After a failure, the next chart tries it again. */
function loadUplot() {
  loading ??= Promise.all([import("../vendor/uplot.mjs"), loadSheet()]).catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading.then(([module]) => module.default);
}

function loadSheet() {
  const sheet = document.createElement("link");
  sheet.rel = "stylesheet";
  sheet.href = new URL("../vendor/uplot.css", import.meta.url).href;
  const loaded = new Promise((resolve, reject) => Object.assign(sheet, { onload: resolve, onerror: reject }));
  document.head.append(sheet);
  return loaded.catch((error) => {
    sheet.remove();
    throw error;
  });
}

/**
 * A curve over time. `times` are Dates; each line is `{values, name, colour, dash, isFilled, isPoint, spansGaps}` with one
 * value for each time, null for none, which `spansGaps` passes over; the area from a line with `isBand` to the next line is filled. `label` says in a
 * sentence what the curve shows. `format` makes a value a text. `marks` are Dates with a vertical line.
 */
export function Curve({ times, lines, label, format = size, marks = [], height = HEIGHT }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const isNear = useNearness(place);
  const [theme, setTheme] = useState(0);
  const [error, setError] = useState(/** @type {Failure | null} */ (null));
  useEffect(() => {
    const changed = () => setTheme((count) => count + 1);
    addEventListener("themechange", changed);
    return () => removeEventListener("themechange", changed);
  }, []);
  useEffect(() => {
    if (!isNear || error) return undefined;
    let chart;
    let isGone = false;
    const resized = new ResizeObserver(([entry]) => chart?.setSize({ width: entry.contentRect.width, height }));
    const draw = (UPlot) => {
      if (isGone || !place.current) return;
      const data = [times.map((time) => time.getTime() / 1000), ...lines.map((line) => line.values)];
      chart = new UPlot(
        options(lines, { format, marks, height, width: place.current.clientWidth }),
        data,
        place.current,
      );
      resized.observe(place.current);
    };
    const explain = async () => {
      const found = await loadError(); // meanwhile another try may have drawn the chart
      if (!isGone) setError(found);
    };
    loadUplot().then(draw, explain);
    return () => {
      isGone = true;
      resized.disconnect();
      chart?.destroy();
    };
  }, [isNear, error, theme, JSON.stringify([times, lines.map((line) => line.values)])]);
  return html`${error && html`<${ChartError} error=${error} retry=${error.retry ?? (() => setError(null))} />`}
    <div
      style=${{ minHeight: `${height}px` }}
      hidden=${Boolean(error)}
      ref=${place}
      role="img"
      aria-label=${label}
    ></div>`;
}

/** Whether an element has come near to what is seen: nobody waits for the chart of a long page that is not scrolled. */
function useNearness(place) {
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    const watched = new IntersectionObserver((entries) => entries.some((one) => one.isIntersecting) && setNear(true), {
      rootMargin: "300px",
    });
    watched.observe(place.current);
    return () => watched.disconnect();
  }, []);
  return isNear;
}

function options(lines, { format, marks, height, width }) {
  const font = `12px ${getComputedStyle(document.body).fontFamily}`;
  const axis = { stroke: colour("text2"), font, ticks: { show: false }, border: { show: false } };
  return {
    width,
    height,
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 24, 0, 0],
    scales: { y: { range: (_, __, most) => [0, (most || 1) * 1.08] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        space: 90,
        values: (_, ticks) => ticks.map((tick) => date(tick * 1000)),
      },
      {
        ...axis,
        grid: { stroke: colour("line"), width: 1 },
        size: 68,
        space: 34,
        values: (_, ticks) => ticks.map(format),
      },
    ],
    series: [{}, ...lines.map(series)],
    bands: lines.flatMap((line, index) =>
      line.isBand ? [{ series: [index + 1, index + 2], fill: colour(line.colour) }] : [],
    ),
    hooks: { draw: [(chart) => marks.forEach((mark) => drawMark(chart, mark.getTime() / 1000))] },
  };
}

function series(line) {
  const stroke = colour(line.colour ?? "accent");
  const area = stroke.replace(/rgb\((.*)\)/, "rgba($1, .12)");
  return {
    ...LINE,
    stroke,
    spanGaps: line.spansGaps,
    dash: line.dash,
    width: line.isPoint ? 0 : LINE.width,
    fill: line.isFilled ? area : undefined,
    points: line.isPoint ? { show: true, size: 8, fill: stroke, stroke } : LINE.points,
  };
}

function drawMark(chart, time) {
  const x = Math.round(chart.valToPos(time, "x", true));
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.strokeStyle = colour("line2");
  ctx.setLineDash([2, 2]);
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.restore();
}

/** The colour of a CSS variable or of a state now, for canvases, which do not know `light-dark()`. */
function colour(name) {
  const probe = document.createElement("i");
  probe.hidden = true;
  probe.className = name;
  probe.style.color = `var(--${name}, var(--c))`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}
