// A line of a log: its colours, and no other escape of a terminal.

import { plain } from "../element.js";
import { changed, changes, PLAIN, written } from "./pen.js";

const ESCAPES = /\x1b(?:\[([0-9;:]*)m|\[[0-?]*[ -/]*[@-~]?|[\]PX^_].*?(?:\x07|\x1b\\|$)|[()*+#%].?|[^[\]PX^_]|$)/gs;
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;
const SPECIAL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;

/** Return what of a line would be seen at its end: what a program wrote over itself is gone. */
export const settled = (line) => line.replace(/\r+$/, "").replace(/^.*\r/s, "");

/** Return pairs of a text and its pen. */
export function runs(line) {
  if (!SPECIAL.test(line)) return [[line, PLAIN]];
  const found = [];
  let pen = PLAIN, at = 0;
  const take = (text) => { const clean = text.replace(CONTROLS, ""); if (clean) found.push([clean, pen]); };
  for (const match of line.matchAll(ESCAPES)) {
    take(line.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[1] === undefined) continue;
    for (const change of changes(match[1].split(";").map((part) => part.split(":").map((text) => Math.min(Number(text) || 0, 65535))))) pen = changed(pen, change);
  }
  take(line.slice(at));
  return found;
}

/** Return the texts and elements of a line, with what is looked for marked; `needle` is in small letters. */
export function drawn(line, needle = "") {
  return runs(line).flatMap(([text, pen]) => marked(plain(text), needle).map(([part, hit]) => {
    if (!hit && pen === PLAIN) return part;
    const made = written(part, pen);
    if (hit) made.classList.add("hit");
    return made;
  }));
}

function marked(text, needle) {
  if (!needle) return [[text, false]];
  const lower = text.toLowerCase(), parts = [];
  // Some letters have another length in small.
  if (lower.length !== text.length) return [[text, false]];
  let at = 0;
  for (let next = lower.indexOf(needle); next >= 0; next = lower.indexOf(needle, at)) {
    if (next > at) parts.push([text.slice(at, next), false]);
    at = next + needle.length;
    parts.push([text.slice(next, at), true]);
  }
  return at < text.length || !parts.length ? [...parts, [text.slice(at), false]] : parts;
}
