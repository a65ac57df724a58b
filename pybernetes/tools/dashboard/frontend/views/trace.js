// The ten steps of a pod's creation, filled in while it happens, each with its time.

import { element, link } from "../element.js";
import { objectOf } from "../places.js";
import { t } from "../words.js";

const TEN = () => [t("request"), t("admission and write"), t("watch"), t("filter and score"), t("binding"), t("the node notices"), t("sandbox and image"), t("start"), t("report"), t("recorded")];

/** Show the creation of a pod, or wait for it; returns a function that ends it. */
export function show(root, app, namespace, pod) {
  let trace = null, ticking = 0, seen = 0;
  const says = element("p", { class: "problem", role: "alert" });
  const ten = element("ol", { class: "ten", "aria-label": t("The ten steps") });
  const rows = element("div", { class: "steps", role: "table" });
  const total = element("p", { role: "status" }, t("waiting for the pod"));
  const notes = element("ul", { class: "quiet" });
  root.replaceChildren(element("header", { class: "bar" }, element("h1", {}, `${t("The ten steps of")} `, element("b", {}, pod)), link(objectOf("pods", namespace, pod), t("the pod")),
    element("code", { class: "command" }, `pyb trace pod/${pod} -n ${namespace} --follow`)), says, ten, total, rows, notes);

  const now = () => (trace.end ?? Math.max(...trace.steps.map((step) => step.begin + (step.seconds ?? 0)), trace.begin ?? 0) + (performance.now() - seen) / 1000);

  function draw() {
    const begin = trace.begin ?? 0, length = Math.max(0.001, now() - begin);
    ten.replaceChildren(...TEN().map((name, at) => box(name, at + 1, trace.steps.filter((step) => step.number === at + 1))));
    rows.replaceChildren(...trace.steps.map((step) => row(step, begin, length)));
    total.textContent = trace.seconds === null ? t("{phase}: {time} so far", { phase: trace.phase || t("not there yet"), time: milliseconds(length) })
      : t("{phase} on {node}: {time} from the request, of which the steps account for {part}", { phase: trace.phase, node: trace.pod.node, time: milliseconds(trace.seconds), part: `${((trace.accounted ?? 0) * 100).toFixed(1)} %` });
    notes.replaceChildren(...trace.notes.map((note) => element("li", {}, note)));
  }

  // What is under way grows with the time; nothing else is asked for.
  function tick() {
    if (trace && trace.end === null) draw();
    ticking = setTimeout(() => requestAnimationFrame(tick), 100);
  }

  const stop = app.stream.subscribe({ op: "trace", namespace, pod }, (message) => {
    if (message.error) says.textContent = message.error.message;
    if (!message.trace) return;
    trace = message.trace;
    seen = performance.now();
    draw();
  });
  tick();
  return () => { stop(); clearTimeout(ticking); };
}

const milliseconds = (seconds) => (seconds === null ? "…" : seconds >= 10 ? `${seconds.toFixed(1)} s` : `${(seconds * 1000).toFixed(1)} ms`);

function box(name, number, steps) {
  const under = steps.some((step) => step.seconds === null);
  const state = !steps.length ? "" : under ? "wait" : "good";
  const time = steps.length && !under ? milliseconds(steps.reduce((all, step) => all + step.seconds, 0)) : under ? "…" : "";
  return element("li", { class: state, "data-step": number }, element("b", {}, number), element("span", {}, name), element("small", {}, time));
}

function row(step, begin, length) {
  const bar = element("i", { class: step.seconds === null ? "under" : step.component });
  bar.style.left = `${(100 * (step.begin - begin)) / length}%`;
  bar.style.width = `${Math.max(0.3, (100 * (step.seconds ?? Math.max(0, length - (step.begin - begin)))) / length)}%`;
  return element("div", { class: "step", role: "row", title: step.precise ? "" : t("known to the second") },
    element("span", { role: "cell" }, step.number), element("span", { role: "cell" }, step.name), element("span", { role: "cell", class: "quiet" }, step.component),
    element("span", { role: "cell", class: "time" }, `${step.precise ? "" : "~"}${milliseconds(step.seconds)}`), element("span", { class: "track" }, bar), element("small", { role: "cell", class: "quiet" }, step.detail));
}
