// Log-in where there is no one-time link: at the provider that the API server trusts, or with a bearer token.

import { element } from "../element.js";
import { beginAtProvider, logIn, waysIn } from "../session.js";
import { t } from "../words.js";

/** Show the form; `done` is called once somebody is logged in. */
export async function show(root, done, problem = "") {
  const token = element("input", { id: "token", type: "password", autocomplete: "off", "aria-label": t("Bearer token"), placeholder: t("Bearer token") });
  const says = element("p", { class: "problem", role: "alert" }, problem);
  const attempt = async (action) => {
    says.textContent = "";
    try {
      await action();
    } catch (error) {
      says.textContent = error.message;
    }
  };
  const submit = (event) => {
    event.preventDefault();
    attempt(async () => {
      await logIn({ token: token.value });
      token.value = "";
      done();
    });
  };
  const provider = element("p", { hidden: true }), link = element("p", { class: "quiet", hidden: true }, t("Open the link that `pyb dashboard` printed, or press Enter there for a new one."));
  root.replaceChildren(element("main", { class: "login" },
    element("img", { src: "/icon.svg", alt: "", width: 48, height: 48 }),
    element("h1", {}, "Pybernetes"),
    link, provider,
    element("form", { onsubmit: submit }, token, element("button", { class: "primary" }, t("Log in"))),
    says));
  token.focus();
  const ways = await waysIn();
  link.hidden = !ways.link;
  provider.hidden = !ways.provider;
  if (ways.provider) provider.replaceChildren(element("button", { id: "provider", class: "primary", onclick: () => attempt(beginAtProvider) }, t("Log in at {provider}", { provider: new URL(ways.provider).host })));
}
