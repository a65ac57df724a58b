// Cordon and uncordon: whether new pods may come to a node.

import { kubectl } from "../command.js";
import { t } from "../words.js";

const action = (key, verb, title, unschedulable) => ({
  key,
  title,
  fits: (kind) => kind.resource === "nodes",
  needs: { verb: "patch" },
  // A node's page offers the one that changes something.
  suits: (object) => Boolean(object.spec?.unschedulable) !== unschedulable,
  dialog: (app, targets) => ({
    command: () => kubectl(verb, targets.map((target) => target.name)),
    one: (target) => app.patch(target.path, { spec: { unschedulable: unschedulable || null } }),
  }),
});

export const cordon = action("c", "cordon", () => t("Cordon"), true);
export const uncordon = action("u", "uncordon", () => t("Uncordon"), false);
