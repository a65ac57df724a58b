// Delete, one object or many.

import { forEachNamespace, kubectl } from "../command.js";
import { field } from "../dialog.js";
import { element } from "../element.js";
import { t } from "../words.js";

// With these goes much that is not shown: the name must be typed.
const GRAVE = ["namespaces", "customresourcedefinitions.apiextensions.k8s.io"];
const CASCADES = ["background", "foreground", "orphan"];

export const remove = {
  key: "Delete",
  danger: true,
  title: () => t("Delete"),
  fits: (kind) => kind.verbs.includes("delete"),
  needs: { verb: "delete" },
  dialog(app, targets) {
    const grave = GRAVE.includes(targets[0].kind.resource);
    const name = targets.map((target) => target.name).join(" ");
    const cascade = element("select", { name: "cascade" }, CASCADES.map((way) => element("option", {}, way)));
    return {
      explanation: t("This cannot be undone."),
      fields: [element("label", { class: "field" }, element("span", {}, t("What it owns")), cascade),
        ...(grave ? [field(t("Type “{name}” to confirm", { name }), { name: "typed", autocomplete: "off" })] : [])],
      ready: ({ typed }) => !grave || typed === name,
      command: ({ cascade: way }) => forEachNamespace(targets, (names, scope) => kubectl("delete", names, scope, way === "background" ? "" : `--cascade=${way}`)),
      one(target, { cascade: way }) {
        const policy = way[0].toUpperCase() + way.slice(1);
        // What was shown is what goes, not something that was made meanwhile with the same name.
        const options = { propagationPolicy: policy, ...(target.uid && { preconditions: { uid: target.uid } }) };
        return app.call("DELETE", target.path, JSON.stringify(options), "application/json");
      },
    };
  },
};
