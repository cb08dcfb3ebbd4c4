import js from "@eslint/js";
import globals from "globals";

const VENDORED = ["**/vendor/**", "**/swagger-ui-bundle.js"];

export default [
  { ignores: [...VENDORED, "**/build/**", "**/.venv*/**", "var/**"] },
  js.configs.recommended,
  {
    languageOptions: { globals: globals.browser },
    rules: { "no-unused-vars": ["error", { ignoreRestSiblings: true }] },
  },
  { files: ["**/sha256_worker.js"], languageOptions: { globals: globals.worker } },
  {
    files: ["frepo_core/**/viewer.js"],
    languageOptions: { sourceType: "script", globals: { SwaggerUIBundle: "readonly" } },
  },
];
