// What somebody may do in a namespace, and by which roles: `can-i` for a whole user.

import { inNamespace, kubectl } from "../command.js";
import { element } from "../element.js";
import { address } from "../places.js";
import { session } from "../session.js";
import { explain } from "../why.js";
import { t } from "../words.js";

/** Show the rights; returns a function that ends it. */
export function show(root, app, namespace, parameters) {
  const user = parameters.get("user") || "", groups = parameters.get("groups") || "";
  const where = app.namespaces.choice(namespace, () => form(), { all: false });
  const who = element("input", { "aria-label": t("User"), placeholder: session().user, value: user });
  const of = element("input", { "aria-label": t("Groups, with commas"), placeholder: t("Groups, with commas"), value: groups });
  const answer = element("div", { class: "why panel" });
  const form = (event) => { event?.preventDefault(); location.hash = address(["access", where.value || "default"], { user: who.value.trim(), groups: of.value.trim() }); };
  root.replaceChildren(element("header", { class: "bar" }, element("h1", {}, t("Rights")), element("form", { class: "actions", onsubmit: form }, where, who, of, element("button", {}, t("Show"))),
    element("code", { class: "command" }, kubectl("auth", "can-i", "--list", inNamespace(namespace), user && `--as=${user}`, groups.split(",").filter(Boolean).map((group) => `--as-group=${group}`)))), answer);
  explain(app, { rights: "true", namespace, user, groups }, answer);
  return () => {};
}
