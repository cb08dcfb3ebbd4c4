// Light, dark, or what the browser prefers.

const KEY = "frepo.theme";

export const THEMES = ["system", "light", "dark"];

export const currentTheme = () => localStorage.getItem(KEY) ?? "system";

export function setTheme(theme) {
  if (theme === "system") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, theme);
  applyTheme();
}

export function applyTheme() {
  const theme = currentTheme();
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  dispatchEvent(new Event("themechange"));
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", applyTheme);

/** The colour of a CSS variable now, for canvases, which do not know `light-dark()`. */
export function colour(name) {
  const probe = document.createElement("i");
  probe.hidden = true;
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}
