// Drain: pods leave a node, as disruption budgets allow. What is to go is decided by `plan`, which asks nobody.

import { kubectl } from "../command.js";
import { tick } from "../dialog.js";
import { t } from "../words.js";

const MIRROR = "kubernetes.io/config.mirror";
const AGAIN = 5000;

/** Return the pods that are to go, and what stands in the way, as `kubectl drain --ignore-daemonsets` decides it. */
export function plan(pods, { force = false, data = false } = {}) {
  const going = [], obstacles = [];
  for (const pod of pods) {
    const name = `${pod.metadata.namespace}/${pod.metadata.name}`;
    const owner = (pod.metadata.ownerReferences || []).find((reference) => reference.controller);
    const ended = ["Succeeded", "Failed"].includes(pod.status?.phase);
    if (MIRROR in (pod.metadata.annotations || {}) || (owner?.kind === "DaemonSet" && !ended)) continue;
    if (!ended && !data && (pod.spec.volumes || []).some((volume) => "emptyDir" in volume)) obstacles.push(t("{name} has data in an emptyDir volume", { name }));
    else if (!ended && !force && !owner) obstacles.push(t("{name} has no controller that would make another", { name }));
    else going.push(pod);
  }
  return { going, obstacles };
}

export const drain = {
  key: "r",
  danger: true,
  title: () => t("Drain"),
  fits: (kind) => kind.resource === "nodes",
  needs: { verb: "patch" },
  dialog: (app, targets) => ({
    explanation: t("The node takes no new pods, and its pods are evicted, as disruption budgets allow. Pods of daemon sets stay."),
    fields: [tick(t("Pods without a controller, too: they do not come back"), "force"), tick(t("Pods with emptyDir volumes, too: their data is lost"), "data")],
    command: ({ force, data }) => kubectl("drain", targets.map((target) => target.name), "--ignore-daemonsets", force && "--force", data && "--delete-emptydir-data"),
    async one(target, values, say, signal) {
      await app.patch(target.path, { spec: { unschedulable: true } });
      say(t("{name} takes no new pods", { name: target.name }));
      const { items } = await app.call("GET", `/api/v1/pods?fieldSelector=${encodeURIComponent(`spec.nodeName=${target.name}`)}`);
      const { going, obstacles } = plan(items, values);
      if (obstacles.length) throw new Error(obstacles.join("\n"));
      const gone = departures(app, target.name, going, say);
      try {
        await Promise.all(going.map((pod) => evict(app, pod, say, signal)));
        await gone.all(signal);
      } finally {
        gone.stop();
      }
      say(t("{name} is drained", { name: target.name }));
    },
  }),
};

async function evict(app, { metadata: { namespace, name, uid } }, say, signal) {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}/eviction`;
  const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { namespace, name }, deleteOptions: { preconditions: { uid } } };
  let told = "";
  for (;;) {
    signal.throwIfAborted();
    try {
      await app.call("POST", path, JSON.stringify(body), "application/json");
      return;
    } catch (error) {
      if (error.status === 404 || error.status === 409) return; // it is gone already, or another one has its name
      if (error.status !== 429) throw error;
      if (told !== error.message) say(`${namespace}/${name}: ${error.message}`);
      told = error.message;
      await new Promise((resolve) => setTimeout(resolve, AGAIN)); // a budget says no more than "not now"
    }
  }
}

/** Follow pods until they are gone. */
function departures(app, node, pods, say) {
  const left = new Set(pods.map((pod) => `${pod.metadata.namespace}/${pod.metadata.name}`));
  let resolve, complete = false;
  const empty = new Promise((done) => { resolve = done; });
  const total = left.size, seen = new Set();
  const leave = (key) => {
    if (!left.delete(key)) return;
    say(t("{name} is gone: {count} of {total}", { name: key, count: total - left.size, total }));
  };
  const stop = app.stream.subscribe({ op: "table", path: "/api/v1/pods", fields: `spec.nodeName=${node}` }, (message) => {
    if (message.reset) { seen.clear(); complete = false; }
    for (const row of message.changed || []) seen.add(row[0]);
    for (const key of message.removed || []) leave(key);
    if (message.complete && !complete) {
      complete = true;
      for (const key of [...left]) if (!seen.has(key)) leave(key);
    }
    if (!left.size) resolve();
  });
  const all = (signal) => Promise.race([empty, new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))]);
  return { stop, all };
}
