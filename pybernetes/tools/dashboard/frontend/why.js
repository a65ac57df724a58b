// Answers in words: why an object is as it is, why somebody may not do something, with the objects linked.

import { element, link } from "./element.js";
import { objectOf } from "./places.js";
import { t, told } from "./words.js";

// What can be asked about, as tools/why/kinds has it.
export const ANSWERED = ["pods", "services", "deployments.apps", "replicasets.apps", "statefulsets.apps", "daemonsets.apps", "jobs.batch", "horizontalpodautoscalers.autoscaling", "persistentvolumeclaims", "nodes"];

/** Return whether an object needs an explanation by itself. */
export function unwell({ spec = {}, status = {}, kind }) {
  if (kind === "Pod") return status.phase !== "Succeeded" && !(status.conditions || []).some((condition) => condition.type === "Ready" && condition.status === "True");
  if (kind === "Node") return !(status.conditions || []).some((condition) => condition.type === "Ready" && condition.status === "True");
  if (kind === "PersistentVolumeClaim") return status.phase !== "Bound";
  if (typeof spec.replicas === "number") return (status.readyReplicas || 0) < spec.replicas;
  return false;
}

/** Ask, and show the answer in an element. */
export async function explain(app, question, root) {
  root.replaceChildren(element("p", { class: "quiet" }, t("looking into it")));
  try {
    const { answer } = await app.stream.ask({ op: "why", ...question });
    root.replaceChildren(...drawn(app, answer));
  } catch (error) {
    root.replaceChildren(element("p", { class: "problem" }, error.message));
  }
}

function drawn(app, answer) {
  const kinds = [...app.kinds.values()];
  const to = ({ kind, name, namespace, group }) => {
    const known = kinds.find((candidate) => candidate.kind === kind && candidate.group === group);
    return known ? link(objectOf(known.resource, namespace, name), `${kind} ${name}`) : `${kind} ${name}`;
  };
  return [element("p", { class: answer.findings.some((finding) => finding.cause) ? "bad" : "good" }, told(answer.state)),
    ...answer.findings.map((finding) => element("div", { class: `finding ${finding.cause ? "bad" : ""}` }, element("b", {}, told(finding.title)),
      element("ul", {}, finding.nodes.length ? finding.nodes.map((group) => element("li", {}, `${group.reason} (${group.plugin}): `, group.nodes.slice(0, 20).flatMap((node) => [link(objectOf("nodes", "", node), node), " "]), group.nodes.length > 20 ? `+${group.nodes.length - 20}` : null))
        : finding.details.filter(Boolean).map((detail) => element("li", {}, told(detail)))),
      finding.links.length ? element("p", { class: "links" }, t("see"), finding.links.map(to)) : null,
      finding.command ? element("pre", { class: "command" }, finding.command) : null)),
    ...answer.notes.map((note) => element("p", { class: "quiet" }, told(note)))];
}
