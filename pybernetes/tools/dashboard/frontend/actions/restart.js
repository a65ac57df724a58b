// Restart: new pods in place of all, by a change of the template that means nothing else.

import { forEachNamespace, kubectl } from "../command.js";
import { t } from "../words.js";

const KINDS = ["deployments.apps", "daemonsets.apps", "statefulsets.apps"];

export const restart = {
  key: "r",
  title: () => t("Restart"),
  fits: (kind) => KINDS.includes(kind.resource),
  needs: { verb: "patch" },
  dialog: (app, targets) => ({
    explanation: t("All pods are replaced, as the rollout strategy says."),
    command: () => forEachNamespace(targets, (names, scope) => kubectl("rollout", "restart", names, scope)),
    async one(target) {
      if ((await app.call("GET", target.path)).spec.paused) throw new Error(t("{name} is paused: resume it first", { name: target.name }));
      const annotations = { "kubectl.kubernetes.io/restartedAt": new Date().toISOString().replace(/\.\d+Z$/, "Z") };
      await app.patch(target.path, { spec: { template: { metadata: { annotations } } } });
    },
  }),
};
