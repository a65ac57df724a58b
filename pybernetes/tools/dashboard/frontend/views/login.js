// Log-in with a bearer token, where there is no one-time link.

import { element } from "../element.js";
import { logIn } from "../session.js";
import { t } from "../words.js";

/** Show the form; `done` is called once somebody is logged in. */
export function show(root, done, problem = "") {
  const token = element("input", { id: "token", type: "password", autocomplete: "off", "aria-label": t("Bearer token"), placeholder: t("Bearer token") });
  const says = element("p", { class: "problem", role: "alert" }, problem);
  const submit = async (event) => {
    event.preventDefault();
    try {
      await logIn({ token: token.value });
      token.value = "";
      done();
    } catch (error) {
      says.textContent = error.message;
    }
  };
  root.replaceChildren(element("main", { class: "login" },
    element("h1", {}, "Pybernetes"),
    element("p", {}, t("Open the link that `pyb dashboard` printed, or press Enter there for a new one. Or log in with a token:")),
    element("form", { onsubmit: submit }, token, element("button", {}, t("Log in"))),
    says));
  token.focus();
}
