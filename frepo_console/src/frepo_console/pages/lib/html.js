// The templates of the console: `html` makes elements of Preact, which escapes every text and attribute.

import { h } from "../vendor/preact.mjs";
import htm from "../vendor/htm.mjs";

export { Component, Fragment, createContext, render } from "../vendor/preact.mjs";
export * from "../vendor/preact-hooks.mjs";

export const html = htm.bind(h);
