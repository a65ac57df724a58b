// Objects that an object is about: what it names in its fields, and the chain of its owners. `references` asks nobody.

import { element, link } from "./element.js";
import { listOf, objectOf, path } from "./places.js";
import { many } from "./views/kinds.js";
import { t } from "./words.js";

const MOST_OWNERS = 6;
const CHOOSING = new Set(["services", "replicationcontrollers", "deployments.apps", "replicasets.apps", "statefulsets.apps", "daemonsets.apps", "jobs.batch", "poddisruptionbudgets.policy"]);
const WITHIN = ["pods", "deployments.apps", "statefulsets.apps", "daemonsets.apps", "jobs.batch", "services", "configmaps", "secrets", "persistentvolumeclaims", "events"];

/** Return [resource, namespace, name] of what a pod's template names. */
function ofPod(spec, namespace) {
  const found = [];
  const add = (resource, name) => { if (typeof name === "string" && name) found.push([resource, namespace, name]); };
  add("serviceaccounts", spec.serviceAccountName);
  for (const volume of spec.volumes || []) {
    add("configmaps", volume.configMap?.name);
    add("secrets", volume.secret?.secretName);
    add("persistentvolumeclaims", volume.persistentVolumeClaim?.claimName);
    for (const source of volume.projected?.sources || []) { add("configmaps", source.configMap?.name); add("secrets", source.secret?.name); }
  }
  for (const container of [...(spec.initContainers || []), ...(spec.containers || [])]) {
    for (const from of container.envFrom || []) { add("configmaps", from.configMapRef?.name); add("secrets", from.secretRef?.name); }
    for (const variable of container.env || []) { add("configmaps", variable.valueFrom?.configMapKeyRef?.name); add("secrets", variable.valueFrom?.secretKeyRef?.name); }
  }
  for (const secret of spec.imagePullSecrets || []) add("secrets", secret.name);
  return found;
}

/** Return [resource, namespace, name] of what an object names, each once. */
export function references(resource, { metadata, spec = {} }) {
  const namespace = metadata.namespace || "", found = [];
  const add = (other, where, name) => { if (typeof name === "string" && name) found.push([other, where, name]); };
  if (resource === "pods") found.push(...ofPod(spec, namespace));
  const template = resource === "cronjobs.batch" ? spec.jobTemplate?.spec?.template : spec.template;
  if (template?.spec) found.push(...ofPod(template.spec, namespace));
  if (resource === "persistentvolumeclaims") { add("persistentvolumes", "", spec.volumeName); add("storageclasses.storage.k8s.io", "", spec.storageClassName); }
  if (resource === "persistentvolumes") add("persistentvolumeclaims", spec.claimRef?.namespace, spec.claimRef?.name);
  if (resource === "horizontalpodautoscalers.autoscaling" && spec.scaleTargetRef?.kind === "Deployment") add("deployments.apps", namespace, spec.scaleTargetRef.name);
  if (resource === "ingresses.networking.k8s.io") {
    for (const rule of spec.rules || []) for (const one of rule.http?.paths || []) add("services", namespace, one.backend?.service?.name);
    for (const own of spec.tls || []) add("secrets", namespace, own.secretName);
  }
  return found.filter(([one, where, name], at) => found.findIndex((other) => other[0] === one && other[1] === where && other[2] === name) === at);
}

/** Return the label selector of an object's pods as the API takes it; empty if it chooses none. */
export function selectorOf(resource, { spec = {} }) {
  if (!CHOOSING.has(resource)) return "";
  // Services and replication controllers have labels only.
  const { matchLabels = {}, matchExpressions = [] } = resource.includes(".") ? spec.selector || {} : { matchLabels: spec.selector || {} };
  const sets = { In: " in ", NotIn: " notin " };
  return [...Object.entries(matchLabels).map(([name, value]) => `${name}=${value}`),
    ...matchExpressions.map(({ key, operator, values = [] }) => (operator in sets ? `${key}${sets[operator]}(${values.join(",")})` : operator === "Exists" ? key : `!${key}`))].join(",");
}

/** Show what is related to an object: its owners up to the first, what it names, its pods. */
export async function related(app, resource, object, root) {
  const { namespace = "", name } = object.metadata;
  const groups = [[t("Owners"), await owners(app, object)]];
  const named = references(resource, object).filter(([other]) => app.kinds.has(other));
  if (named.length) groups.push([t("Names"), named.map(([other, where, one]) => link(objectOf(other, where, one), `${app.kinds.get(other).kind} ${one}`))]);
  if (resource === "namespaces") groups.push([t("Within"), WITHIN.map((other) => app.kinds.get(other)).filter(Boolean).map((kind) => link(listOf(kind.resource, { ns: name }), many(kind)))]);
  const shown = groups.filter(([, links]) => links.length);
  root.closest("section").hidden = !shown.length;
  root.replaceChildren(...shown.flatMap(([term, links]) => [element("dt", {}, term), element("dd", { class: "links" }, links)]));
}

/** Return links to who owns an object, who owns that, and so on. */
async function owners(app, object) {
  const links = [];
  let current = object;
  while (current && links.length < MOST_OWNERS) {
    const { namespace = "", ownerReferences = [] } = current.metadata;
    const owner = ownerReferences.find((one) => one.controller) || ownerReferences[0];
    if (!owner) break;
    const group = owner.apiVersion.includes("/") ? owner.apiVersion.split("/")[0] : "";
    const kind = [...app.kinds.values()].find((one) => one.kind === owner.kind && one.group === group);
    links.push(kind ? link(objectOf(kind.resource, kind.namespaced ? namespace : "", owner.name), `${owner.kind} ${owner.name}`) : `${owner.kind} ${owner.name}`);
    // Who may not read it sees no further.
    current = kind && await app.call("GET", `${path(kind, encodeURIComponent(namespace))}/${encodeURIComponent(owner.name)}`).catch(() => null);
  }
  return links;
}
