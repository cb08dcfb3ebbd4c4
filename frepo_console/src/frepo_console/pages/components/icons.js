// The icons: 16 units wide, drawn with the colour of the text. Those of states are filled shapes.

import { html } from "../lib/html.js";

const line = (d) =>
  html`<path
    d=${d}
    fill="none"
    stroke="currentColor"
    stroke-width="1.5"
    stroke-linecap="round"
    stroke-linejoin="round"
  />`;
const filled = (d) => html`<path d=${d} fill="currentColor" fill-rule="evenodd" />`;

const SHAPES = {
  ok: () => html`<g stroke-width="2">${line("m3 8.600 3.200 3.200L13 5")}</g>`,
  late: () => filled("M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Zm-.8 3h1.600v3.700l2.500 1.600-.8 1.300-3.300-2.100Z"),
  overdue: () =>
    filled(
      "M8 1.200c.5 0 1 .3 1.200.7l6 10.700c.5.9-.2 2-1.200 2H2c-1 0-1.700-1.100-1.200-2l6-10.700C7 1.500 7.500 1.200 8 1.200ZM7.100 5.300v4.300h1.800V5.300Zm0 5.600v1.800h1.800v-1.800Z",
    ),
  failed: () => filled("M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1ZM4 6.900v2.200h8V6.900Z"),
  suspicious: () =>
    filled(
      "M7 .9a1.400 1.400 0 0 1 2 0L15.100 7a1.400 1.400 0 0 1 0 2L9 15.100a1.400 1.400 0 0 1-2 0L.9 9a1.400 1.400 0 0 1 0-2Zm1 3.200c-1.500 0-2.500.9-2.600 2.200h1.500c.1-.6.5-.9 1.100-.9.600 0 1 .3 1 .8 0 .5-.3.7-.8 1.100-.700.500-1 .9-1 1.800v.3h1.500v-.2c0-.500.2-.700.8-1.100.600-.500 1.100-1 1.100-1.900 0-1.300-1-2.100-2.600-2.100Zm-.9 6.200v1.600h1.700v-1.600Z",
    ),
  full: () =>
    filled(
      "M3 1h10a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H3a2 2 0 0 1-2-2V3a2 2 0 0 1 2-2Zm1 2.700v1.600h8V3.700Zm0 3.500v1.600h8V7.200Zm0 3.500v1.600h8v-1.600Z",
    ),
  problem: () =>
    filled(
      "M3 1h10a2 2 0 0 1 2 2v7a2 2 0 0 1-2 2H9l-4 3v-3H3a2 2 0 0 1-2-2V3a2 2 0 0 1 2-2Zm4.100 1.700v4h1.800v-4Zm0 5.100v1.800h1.800V7.800Z",
    ),
  damaged: () =>
    filled(
      "M5.100 1h5.800L15 5.100v5.800L10.900 15H5.100L1 10.900V5.100Zm.7 3.500L4.500 5.800 6.700 8l-2.200 2.200 1.300 1.300L8 9.300l2.200 2.200 1.300-1.300L9.300 8l2.200-2.200-1.300-1.300L8 6.700Z",
    ),
  new: () =>
    html`<circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" stroke-width="2" stroke-dasharray="2.700 2" />`,
  overview: () =>
    line(
      "M3 2h3a1 1 0 0 1 1 1v3a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1V3a1 1 0 0 1 1-1Zm7 0h3a1 1 0 0 1 1 1v3a1 1 0 0 1-1 1h-3a1 1 0 0 1-1-1V3a1 1 0 0 1 1-1ZM3 9h3a1 1 0 0 1 1 1v3a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1v-3a1 1 0 0 1 1-1Zm7 0h3a1 1 0 0 1 1 1v3a1 1 0 0 1-1 1h-3a1 1 0 0 1-1-1v-3a1 1 0 0 1 1-1Z",
    ),
  collections: () =>
    line(
      "M13.500 3.700c0 1.200-2.500 2.200-5.500 2.200s-5.500-1-5.500-2.200 2.500-2.200 5.500-2.200 5.500 1 5.500 2.200Zm0 0v8.600c0 1.200-2.500 2.200-5.500 2.200s-5.500-1-5.500-2.200V3.700M2.500 8c0 1.200 2.500 2.200 5.500 2.200s5.500-1 5.500-2.200",
    ),
  files: () => line("M9 1.500H4.500a1 1 0 0 0-1 1v11a1 1 0 0 0 1 1h7a1 1 0 0 0 1-1V5Zm0 0V5h3.500"),
  tokens: () =>
    line("M8.200 11A3.200 3.200 0 1 1 1.800 11a3.200 3.200 0 0 1 6.400 0Zm-.9-2.300 6-6.200m-2.300 2.300 2 2"),
  events: () => line("M2 3.500h1M6 3.500h8M2 8h1m3 0h8M2 12.500h1m3 0h8"),
  health: () => line("M1.500 8.500h3l2-5 3 9 2-4h3"),
  play: () => line("M5 3v10l8-5Z"),
  plus: () => line("M8 3v10M3 8h10"),
  minus: () => line("M3 8h10"),
  close: () => line("m4 4 8 8m0-8-8 8"),
  search: () => line("M11.500 7a4.500 4.500 0 1 1-9 0 4.500 4.500 0 0 1 9 0Zm-1.300 3.200 3.800 3.800"),
  download: () => line("M8 2v8m0 0 3-3m-3 3L5 7M2.500 13.500h11"),
  upload: () => line("M8 10V2m0 0 3 3M8 2 5 5m-2.500 8.500h11"),
  pin: () => line("M8 10v4.500M5.500 1.500h5M6.500 1.500V6L4 9.500h8L9.500 6V1.500"),
  pinned: () => html`${filled("M6.500 1.500h3V6l2.500 3.500H4L6.500 6Z")}${line("M8 10v4.500M5.500 1.500h5")}`,
  trash: () => line("M2.500 4h11M6 4V2.500h4V4m2.500 0-.7 9.500H4.200L3.500 4M6.500 7v3.500m3-3.500v3.500"),
  retry: () => line("M13 8a5 5 0 1 1-1.600-3.600L13 6m0-3.500V6H9.500"),
  copy: () => line("M6 5.500h7.500v8H6Zm4-3H2.500v8H4"),
  edit: () => line("m10.500 3 2.500 2.500L5.500 13l-3 .5.5-3Z"),
  more: () =>
    filled(
      "M3 6.800a1.200 1.200 0 1 0 0 2.400 1.200 1.200 0 0 0 0-2.400Zm5 0a1.200 1.200 0 1 0 0 2.400 1.200 1.200 0 0 0 0-2.400Zm5 0a1.200 1.200 0 1 0 0 2.400 1.200 1.200 0 0 0 0-2.400Z",
    ),
  link: () =>
    line(
      "M6.700 9.300 9.300 6.700M7.500 4.500l1.300-1.300a2.800 2.800 0 0 1 4 4L11.500 8.500m-3 3-1.300 1.300a2.800 2.800 0 0 1-4-4L4.500 7.500",
    ),
  eye: () =>
    line(
      "M1.500 8S4 3.500 8 3.500 14.500 8 14.500 8 12 12.500 8 12.500 1.500 8 1.500 8Zm8.500 0a2 2 0 1 1-4 0 2 2 0 0 1 4 0Z",
    ),
  lock: () => line("M3.500 7.500h9v6h-9Zm2 0V5a2.500 2.500 0 0 1 5 0v2.500"),
  clock: () => line("M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0ZM8 4.500V8l2.500 1.500"),
  page: () => line("M2.500 2.500h11v11h-11Zm0 3.500h11M6 6v7.500"),
  theme: () => html`${line("M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0Z")}${filled("M8 2a6 6 0 0 1 0 12Z")}`,
  keyboard: () => line("M1.500 4h13v8h-13ZM4 6.500h.01M6.700 6.500h.01M9.300 6.500h.01M12 6.500h.01M5 9.500h6"),
  exit: () => line("M6.500 2.500h-4v11h4m3.500-9L13.500 8 10 11.500M13.500 8H6"),
};

/** An icon. Without a `label` it is hidden from screen readers: the text next to it says the same. */
export function Icon({ name, label, isColoured = false }) {
  const role = label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" };
  return html`<svg class=${isColoured ? "i fg" : "i"} viewBox="0 0 16 16" ...${role}>${SHAPES[name]()}</svg>`;
}

export const Logo = () =>
  html`<svg class="i" viewBox="0 0 16 16" aria-hidden="true">
    <path class="logo" d="M1 3.500A2.500 2.500 0 0 1 3.500 1H15v3.500H4.500V7H12v3.500H4.500V15H1Z" />
  </svg>`;
