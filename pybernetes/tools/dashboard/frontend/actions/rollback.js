// Roll back: the template of an earlier revision, with the difference shown first.

import { kubectl, inNamespace } from "../command.js";
import { drawn } from "../diff.js";
import { element } from "../element.js";
import { sorted, yaml } from "../text.js";
import { t } from "../words.js";

const KINDS = ["deployments.apps", "daemonsets.apps", "statefulsets.apps"];
const REVISION = "deployment.kubernetes.io/revision", CAUSE = "kubernetes.io/change-cause";

export const rollback = {
  key: "z",
  single: true,
  title: () => t("Roll back"),
  fits: (kind) => KINDS.includes(kind.resource),
  needs: { verb: "patch" },
  async dialog(app, [target]) {
    const object = await app.call("GET", target.path);
    const revisions = await history(app, object, target.kind.resource);
    const current = cleaned(object.spec.template);
    const others = revisions.filter((revision) => yaml(revision.template) !== yaml(current));
    const choice = element("select", { name: "revision", id: "revision", onchange: draw }, others.map((revision) => element("option", { value: revision.number }, `${revision.number}${revision.cause ? `: ${revision.cause}` : ""}`)));
    const changes = element("pre", { class: "yaml", id: "changes" });
    const chosen = () => others.find((revision) => String(revision.number) === choice.value);
    function draw() {
      changes.replaceChildren(...(chosen() ? drawn(yaml(current), yaml(chosen().template)) : [t("There is no other revision.")]));
    }
    draw();
    return {
      fields: [element("label", { class: "field" }, element("span", {}, t("Revision")), choice), changes],
      ready: () => Boolean(chosen()),
      command: () => kubectl("rollout", "undo", `${target.kind.resource}/${target.name}`, inNamespace(target.namespace), `--to-revision=${choice.value}`),
      one() {
        if (object.spec.paused) throw new Error(t("{name} is paused: resume it first", { name: target.name }));
        // Against what was shown: if somebody changes it meanwhile, the server refuses. Its status may change, as it does during a rollout.
        const patch = [{ op: "test", path: "/metadata/generation", value: object.metadata.generation }, { op: "replace", path: "/spec/template", value: chosen().template }];
        return app.call("PATCH", target.path, JSON.stringify(patch), "application/json-patch+json").catch((error) => {
          throw error.status === 422 && /rejected/.test(error.message) ? new Error(t("It has changed meanwhile: open this again.")) : error;
        });
      },
    };
  },
};

/** Return the revisions of a workload, the newest first: numbers, templates and why they were made. */
async function history(app, object, resource) {
  const { namespace, uid } = object.metadata;
  const kept = resource === "deployments.apps" ? "replicasets" : "controllerrevisions";
  const { items } = await app.call("GET", `/apis/apps/v1/namespaces/${encodeURIComponent(namespace)}/${kept}`);
  return items.filter((item) => (item.metadata.ownerReferences || []).some((owner) => owner.controller && owner.uid === uid)).map((item) => {
    const annotations = item.metadata.annotations || {};
    const template = kept === "replicasets" ? item.spec.template : item.data?.spec?.template;
    return { number: Number(kept === "replicasets" ? annotations[REVISION] : item.revision), template: cleaned(template || {}), cause: annotations[CAUSE] || "" };
  }).filter((revision) => revision.number > 0).sort((one, other) => other.number - one.number);
}

function cleaned(template) {
  const copy = structuredClone(template);
  delete copy.$patch;
  delete copy.metadata?.labels?.["pod-template-hash"];
  return sorted(copy);
}
