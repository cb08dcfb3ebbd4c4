// The texts of the list of shortcuts.

export const t = {
  title: "Keyboard shortcuts",
  on: "Use shortcuts of single letters",
  list: [
    ["/", "search"],
    ["g then o c f t e h", "go to a view: Overview, Collections, Files, Tokens, Events, Health"],
    ["j k or arrows", "next and previous row"],
    ["Enter", "open"],
    ["x", "select"],
    ["Shift+x", "select up to here"],
    ["n", "new"],
    ["u", "upload"],
    ["d", "download"],
    ["p", "pin"],
    ["Esc", "close, then clear the selection"],
    ["?", "this list"],
  ],
};
