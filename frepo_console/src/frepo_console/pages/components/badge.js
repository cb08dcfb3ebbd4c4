// The badge of a collection, or of all: a picture for a wiki, which anybody who has its address can see.

import { html, useState } from "../lib/html.js";
import { read } from "../lib/api.js";
import { t } from "../texts/badge.js";
import { ActionButton } from "./action.js";
import { CopyButton } from "./form.js";

/** `path` is where the API says the address. It is asked for when a person wants it: whoever has it sees the state. */
export function Badge({ path }) {
  const [url, setUrl] = useState("");
  const show = async () => setUrl((await read(path)).url);
  return html`<section class="card stack" aria-label=${t.title}>
    <h2>${t.title}</h2>
    <p class="dim sm">${t.text}</p>
    ${
      url
        ? html`<img src=${url} alt=${t.alt} height="20" />
            <pre tabindex="0">${url}</pre>
            <div class="row"><${CopyButton} text=${url} label=${t.copy} /></div>`
        : html`<div class="row"><${ActionButton} className="btn" run=${show}>${t.show}<//></div>`
    }
  </section>`;
}
