// Overview: is everything backed up? What is not comes first.

import { html } from "../lib/html.js";
export default () => html`<h1>Overview</h1>`;
