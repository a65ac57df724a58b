// The map: how objects belong together, from the way in to the node, with their health.

import { inNamespace, kubectl } from "../command.js";
import { element, link } from "../element.js";
import { address, objectOf } from "../places.js";
import { t } from "../words.js";

const WIDTH = 162, HEIGHT = 48, GAP = 10, NARROWEST = 24, WIDEST = 90;
// Names of pods differ at their end: what is too long loses its middle.
const LONGEST = 16, HEAD = 6, TAIL = 9;
const SVG = "http://www.w3.org/2000/svg";

/** Return a name that fits into a box. */
export const fitting = (name) => (name.length > LONGEST ? `${name.slice(0, HEAD)}…${name.slice(-TAIL)}` : name);

/** Return where each box stands, on a screen of a width if that is possible: in its column, near what it belongs to. */
export function layout(boxes, edges, screen) {
  const used = [...new Set(boxes.map((box) => box.column))].sort((one, other) => one - other);
  const places = new Map(), neighbours = new Map(boxes.map((box) => [box.id, []]));
  for (const [one, other] of edges) { neighbours.get(one)?.push(other); neighbours.get(other)?.push(one); }
  const between = Math.max(NARROWEST, Math.min(WIDEST, (screen - used.length * WIDTH) / (used.length - 1 || 1)));
  used.forEach((column, at) => {
    const own = boxes.filter((box) => box.column === column);
    const wish = (box) => {
      const known = neighbours.get(box.id).map((id) => places.get(id)?.y).filter((y) => y !== undefined);
      return known.length ? known.reduce((all, y) => all + y, 0) / known.length : Infinity;
    };
    const wishes = new Map(own.map((box) => [box.id, wish(box)]));
    own.sort((one, other) => wishes.get(one.id) - wishes.get(other.id) || one.resource.localeCompare(other.resource) || one.name.localeCompare(other.name, "en", { numeric: true }));
    own.forEach((box, row) => places.set(box.id, { x: at * (WIDTH + between), y: row * (HEIGHT + GAP) }));
  });
  return places;
}

/** Show the map of a namespace ("-" for all); returns a function that ends it. */
export function show(root, app, namespace, parameters) {
  const labels = parameters.get("labels") || "";
  const scope = namespace === "-" ? "" : namespace;
  const says = element("p", { class: "problem", role: "alert" });
  const picture = element("div", { class: "map" });
  const form = (event) => { event?.preventDefault(); location.hash = address(["map", where.value || "-"], { labels: filter.value }); };
  const where = app.namespaces.choice(scope, () => form());
  const filter = element("input", { "aria-label": t("Labels of pods"), placeholder: t("Labels of pods"), value: labels });
  root.replaceChildren(element("header", { class: "bar" }, element("h1", {}, t("Map")), element("form", { class: "actions", onsubmit: form }, where, filter, element("button", {}, t("Show"))),
    element("code", { class: "command" }, kubectl("get", "ingress,service,deployment,pod,pvc", scope ? inNamespace(scope) : "-A", labels && ["-l", labels]))), says, picture);

  function draw({ boxes, edges }) {
    const places = layout(boxes, edges, picture.clientWidth);
    const all = [...places.values()];
    const width = Math.max(0, ...all.map(({ x }) => x)) + WIDTH, height = Math.max(0, ...all.map(({ y }) => y)) + HEIGHT;
    const lines = document.createElementNS(SVG, "svg");
    lines.setAttribute("width", width);
    lines.setAttribute("height", height);
    lines.setAttribute("aria-hidden", "true");
    for (const [one, other] of edges) {
      let [from, to] = [places.get(one), places.get(other)];
      if (!from || !to) continue;
      if (from.x > to.x) [from, to] = [to, from];
      const [x, y, toX, toY] = [from.x + (from.x === to.x ? 0 : WIDTH), from.y + HEIGHT / 2, to.x, to.y + HEIGHT / 2];
      const line = document.createElementNS(SVG, "path");
      const bend = from.x === to.x ? -30 : NARROWEST;
      line.setAttribute("d", `M${x} ${y} C${x + bend} ${y} ${toX - Math.abs(bend)} ${toY} ${toX} ${toY}`);
      lines.append(line);
    }
    const drawn = boxes.map((box) => {
      const group = box.id.startsWith("pods of ");
      const made = link(group ? address(["list", "pods"], { ns: box.namespace, q: box.name }) : objectOf(box.resource, box.namespace, box.name), [element("small", {}, group ? t("pods of") : box.resource.split(".")[0]), element("b", {}, fitting(box.name)), element("small", {}, box.text)],
        { class: `box ${box.state}`, "aria-label": `${box.resource.split(".")[0]} ${box.name} ${box.text}`, title: `${box.namespace ? `${box.namespace}/` : ""}${box.name} ${box.text}` });
      const { x, y } = places.get(box.id);
      made.style.transform = `translate(${x}px, ${y}px)`;
      return made;
    });
    picture.replaceChildren(lines, ...drawn);
    picture.style.minHeight = `${height}px`;
  }

  const stop = app.stream.subscribe({ op: "map", namespace: scope, labels }, (message) => {
    says.textContent = message.error ? message.error.message : message.unread?.length ? t("not shown, because you may not list them: {names}", { names: message.unread.join(", ") }) : "";
    if (message.map) draw(message.map);
    if (message.map && !message.map.boxes.length) picture.replaceChildren(element("p", { class: "quiet" }, t("None.")));
  });
  return stop;
}
