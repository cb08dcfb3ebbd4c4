// The templates of the console: `html` makes elements of Preact, which escapes every text and attribute. Long lists are
// drawn in parts.

import { Component, h } from "../vendor/preact.mjs";
import { useEffect, useState } from "../vendor/preact-hooks.mjs";
import htm from "../vendor/htm.mjs";

export { Fragment, createContext, render } from "../vendor/preact.mjs";
export * from "../vendor/preact-hooks.mjs";

export const html = htm.bind(h);

/**
 * How many of `length` parts are drawn: those of the first time at once, later ones step by step, so many for each
 * picture.
 */
export function useSteps(length, step = 10) {
  const [drawn, setDrawn] = useState(length);
  useEffect(() => {
    if (drawn === length) return undefined;
    const frame = requestAnimationFrame(() => setDrawn(Math.min(length, drawn + step)));
    return () => cancelAnimationFrame(frame);
  }, [length, drawn]);
  return drawn;
}

/**
 * A part of a long list, such as a row: `draw()` makes it. When the list is read again, each part is drawn in a task of
 * its own: hundreds at once would block the page. A change of `state` is seen at once. A part whose `uses`, a list of
 * what it shows, are the same stays as it is.
 */
export class Part extends Component {
  shouldComponentUpdate({ state, uses }) {
    if (state !== this.props.state) return true;
    if (uses.every((one, index) => one === this.props.uses[index])) return false;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.forceUpdate();
    });
    return false;
  }

  componentWillUnmount() {
    clearTimeout(this.timer);
  }

  render({ draw }) {
    return draw();
  }
}
