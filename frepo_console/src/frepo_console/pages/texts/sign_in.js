// The texts of the page to sign in.

import { t as common } from "../texts.js";

export const t = {
  ...common,

  signIn: {
    title: "Sign in",
    text: "frepo knows no users and passwords: a token says what you may do.",
    token: "Token",
    button: "Sign in",
    memory: "Forget the token when the page is reloaded",
    whereTitle: "Where is a token?",
    where: [
      ["make serve", "prints a link that signs in, and writes the administrator's token to var/admin-token."],
      ["frepo auth:generate-admin-token", "makes a token of an administrator, on the machine of the service."],
      ["Tokens", "in this console: who may create tokens makes one for you."],
    ],
    replaceTitle: "Sign in with the token of this link?",
    replaceText:
      "You are signed in already. The link has another token, which replaces yours in this tab. If you have not opened this link yourself, stay signed in.",
    replace: "Sign in with the link",
    privacy: "The token stays in this tab. It is sent to this service only, and in no URL.",
  },
};
