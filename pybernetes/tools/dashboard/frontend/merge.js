// What two people have made of one text, together. Pure.

import { difference } from "./diff.js";

/** Return the text with the changes of both, and how many places both have changed, each in another way: those stay as `mine` has them. */
export function merged(base, mine, theirs) {
  const lines = base.split("\n"), made = [];
  let clashes = 0, at = 0;
  for (const { from, to, own, other } of places(edits(base, mine), edits(base, theirs))) {
    made.push(...lines.slice(at, from));
    const [one, two] = [own, other].map((all) => applied(lines, from, to, all));
    if (own.length && other.length && one.join("\n") !== two.join("\n")) clashes++;
    made.push(...(own.length ? one : two));
    at = to;
  }
  return { text: [...made, ...lines.slice(at)].join("\n"), clashes };
}

/** Return what becomes of a text as pieces: lines from one number to another give way to others. */
function edits(base, after) {
  const found = [];
  let at = 0, open = null;
  for (const [sign, line] of difference(base, after)) {
    if (sign === " ") { open = null; at++; continue; }
    if (!open) found.push(open = { from: at, to: at, lines: [] });
    if (sign === "-") open.to = ++at;
    else open.lines.push(line);
  }
  return found.flatMap(single);
}

/** Return a change of so many lines into as many others as one for each line: who changes one of them leaves the next to others. */
function single(edit) {
  if (edit.to - edit.from !== edit.lines.length) return [edit];
  return edit.lines.map((line, at) => ({ from: edit.from + at, to: edit.from + at + 1, lines: [line] }));
}

/** Return the places that one, the other or both change, in order. */
function places(mine, theirs) {
  const all = [...mine.map((edit) => ({ edit, own: true })), ...theirs.map((edit) => ({ edit, own: false }))].sort((one, other) => one.edit.from - other.edit.from || one.edit.to - other.edit.to);
  const found = [];
  for (const { edit, own } of all) {
    const last = found.at(-1);
    const meets = last && (edit.from < last.to || (edit.from === last.from && edit.from === last.to));
    const place = meets ? last : { from: edit.from, to: edit.to, own: [], other: [] };
    if (!meets) found.push(place);
    place.to = Math.max(place.to, edit.to);
    place[own ? "own" : "other"].push(edit);
  }
  return found;
}

function applied(lines, from, to, all) {
  const made = [];
  let at = from;
  for (const edit of all) {
    made.push(...lines.slice(at, edit.from), ...edit.lines);
    at = edit.to;
  }
  return [...made, ...lines.slice(at, to)];
}
