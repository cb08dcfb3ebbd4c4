// Chains: tokens that have replaced each other at their own request. What is done to one is done to those behind it.

import { html } from "../../lib/html.js";

/** The fingerprints of the tokens behind this one. */
export const successorsOf = ({ chain, fingerprint }) => chain.slice(chain.indexOf(fingerprint) + 1);

export function AlsoEnds({ title, fingerprints }) {
  return (
    fingerprints.length > 0 &&
    html`<p>${title}${fingerprints.map((fingerprint) => html` <code class="tag">${fingerprint}</code>`)}</p>`
  );
}
