// Logs of one or several pods, followed, each line with the pod and container that wrote it.

import { text as asked } from "../api.js";
import { inNamespace, kubectl } from "../command.js";
import { element, link } from "../element.js";
import { LogText } from "../log_text.js";
import { address, objectOf } from "../places.js";
import { t } from "../words.js";

const TAILS = ["1000", "10000", "100000"], MOST_LINES = 100_000;
// What the pods had written before comes one pod after another, and is put in order; what comes later comes in order, nearly.
const SETTLED = 3000;
const STAMPED = /^(\d{4}-\d\d-\d\dT\S+) (.*)$/s;

/** Show the logs of pods (names, with commas between them); returns a function that ends it. */
export function show(root, app, namespace, names, parameters) {
  const pods = names.split(",");
  const previous = parameters.get("previous") || "", timestamps = parameters.get("timestamps") || "", container = parameters.get("container") || "";
  const tail = TAILS.includes(parameters.get("tail")) ? parameters.get("tail") : TAILS[0];
  const stops = [], rest = new Map();
  let lines = [], waiting = 0, ended = false;
  const began = performance.now();
  const shown = new LogText();
  const find = element("input", { type: "search", id: "filter", placeholder: t("Only lines with"), "aria-label": t("Only lines with"), oninput: () => { shown.find(find.value); later(); } });
  const says = element("span", { class: "problem", role: "alert" });
  const count = element("span", { class: "count", role: "status" });
  const go = (changed) => { location.hash = address(["logs", namespace, names], { previous, timestamps, container, tail: tail === TAILS[0] ? "" : tail, ...changed }); };
  const toggle = (id, label, value) => element("label", { class: "tick" }, element("input", { type: "checkbox", id, checked: Boolean(value), onchange: (event) => go({ [id]: event.target.checked ? "1" : "" }) }), label);
  const choice = element("select", { "aria-label": t("Container"), hidden: true, onchange: (event) => go({ container: event.target.value }) });
  const depth = element("select", { id: "tail", "aria-label": t("Lines from the end"), onchange: (event) => go({ tail: event.target.value }) }, TAILS.map((number) => element("option", { value: number, selected: number === tail }, t("last {count}", { count: Number(number).toLocaleString() }))));
  const download = element("button", { onclick: () => save().catch((error) => { says.textContent = error.message; }) }, t("Download"));
  const flags = [container ? ["-c", container] : "--all-containers", previous ? "--previous" : "-f", timestamps && "--timestamps", tail !== TAILS[0] && `--tail=${tail}`];
  root.replaceChildren(element("header", { class: "bar" }, element("h1", {}, `${t("Logs of")} `, pods.flatMap((pod, at) => [at ? ", " : "", link(objectOf("pods", namespace, pod), pod, { class: "strong" })])), find, choice, depth,
    toggle("previous", t("Previous"), previous), toggle("timestamps", t("Times"), timestamps), download, count, says,
    element("code", { class: "command" }, pods.map((pod) => kubectl("logs", inNamespace(namespace), pod, flags)).join("; "))), shown.element);

  const many = () => pods.length > 1 || rest.size > 1;

  function later() {
    // Of a long log not every part that comes is drawn on its own.
    waiting ||= setTimeout(draw, lines.length > TAILS[0] ? 150 : 16);
  }

  function draw() {
    waiting = 0;
    if (many() && performance.now() - began < SETTLED) {
      lines.sort((one, other) => (one.time < other.time ? -1 : one.time > other.time ? 1 : 0));
      shown.again();
    }
    if (lines.length > MOST_LINES * 1.1) { lines = lines.slice(-MOST_LINES); shown.again(); }
    shown.draw(lines, many() ? [...rest.keys()] : []);
    count.textContent = lines.length ? (find.value ? t("{count} of {all} lines", { count: shown.count.toLocaleString(), all: lines.length.toLocaleString() }) : t("{count} lines", { count: lines.length.toLocaleString() })) : ended ? t("None.") : "";
  }

  function add(from, part) {
    const parts = (rest.get(from).text + part).split("\n");
    rest.get(from).text = parts.pop();
    for (const part of parts) {
      const [, time = "", line = part] = STAMPED.exec(part) || [];
      lines.push({ from, line: timestamps ? part : line, time });
    }
    later();
  }

  /** Save everything that the node has, not only what is shown. */
  async function save() {
    download.disabled = true;
    try {
      const parts = [];
      for (const [from, { path, name }] of rest) {
        const query = new URLSearchParams({ container: name, ...(previous && { previous }), ...(timestamps && { timestamps: "true" }) });
        const log = await asked(`${path}/log?${query}`);
        parts.push(many() ? log.replace(/^(?=.)/gms, `${from}  `) : log);
      }
      const url = URL.createObjectURL(new Blob(parts, { type: "text/plain" }));
      element("a", { href: url, download: `${pods[0]}.log` }).click();
      setTimeout(() => URL.revokeObjectURL(url), 1000);
    } finally {
      download.disabled = false;
    }
  }

  async function begin(pod) {
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}`;
    const { spec } = await app.call("GET", path);
    const all = [...(spec.initContainers || []), ...spec.containers, ...(spec.ephemeralContainers || [])].map((one) => one.name);
    if (pods.length === 1 && all.length > 1) {
      choice.replaceChildren(element("option", { value: "" }, t("all containers")), ...all.map((name) => element("option", { value: name, selected: name === container }, name)));
      choice.hidden = false;
    }
    for (const name of all.filter((one) => !container || one === container)) {
      const from = `${pod}/${name}`;
      rest.set(from, { text: "", path, name });
      stops.push(app.stream.subscribe({ op: "log", path: `${path}/log`, container: name, previous, timestamps: "1", tail }, (message) => {
        if (message.reset) { lines = lines.filter((entry) => entry.from !== from); rest.get(from).text = ""; shown.again(); }
        if (message.error) says.textContent = message.error.message;
        if (message.text) add(from, message.text);
        if (!message.end) return;
        ended = true;
        if (rest.get(from).text) add(from, "\n"); // the last line may have no end
        later();
      }));
    }
  }

  for (const pod of pods) begin(pod).catch((error) => { says.textContent = error.message; });
  shown.element.focus();
  return () => { clearTimeout(waiting); stops.forEach((stop) => stop()); };
}
