// Scale: another number of pods.

import { forEachNamespace, kubectl } from "../command.js";
import { field } from "../dialog.js";
import { t } from "../words.js";

export const scale = {
  key: "s",
  title: () => t("Scale"),
  fits: (kind) => kind.subresources.includes("scale"),
  needs: { verb: "patch", subresource: "scale" },
  dialog(app, targets) {
    const now = targets[0].object?.spec?.replicas ?? 1;
    return {
      fields: [field(t("Replicas"), { type: "number", name: "replicas", min: 0, step: 1, required: true, value: now })],
      ready: ({ replicas }) => /^\d{1,9}$/.test(replicas),
      command: ({ replicas }) => forEachNamespace(targets, (names, scope) => kubectl("scale", names, scope, `--replicas=${replicas}`)),
      one: (target, { replicas }) => app.patch(`${target.path}/scale`, { spec: { replicas: Number(replicas) } }),
    };
  },
};
