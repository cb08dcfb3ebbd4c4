// Collections: all of them, the worst first, with filters.

import { html } from "../lib/html.js";
export default () => html`<h1>Collections</h1>`;
