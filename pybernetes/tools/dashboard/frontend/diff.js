// What changes between two texts, line by line.

import { element } from "./element.js";

const CLASSES = { "+": "good", "-": "bad", " ": "" };
const MOST = 4_000_000;

/** Return pairs of a sign (" ", "-" or "+") and a line. */
export function difference(before, after) {
  const left = before.split("\n"), right = after.split("\n");
  let begin = 0;
  while (begin < left.length && begin < right.length && left[begin] === right[begin]) begin++;
  let end = 0;
  while (end < left.length - begin && end < right.length - begin && left[left.length - 1 - end] === right[right.length - 1 - end]) end++;
  const same = (lines) => lines.map((line) => [" ", line]);
  const middle = changed(left.slice(begin, left.length - end), right.slice(begin, right.length - end));
  return [...same(left.slice(0, begin)), ...middle, ...same(left.slice(left.length - end))];
}

function changed(left, right) {
  const all = [...left.map((line) => ["-", line]), ...right.map((line) => ["+", line])];
  if (left.length * right.length > MOST) return all;
  // How many lines can be kept from each pair of places on.
  const width = right.length + 1;
  const kept = new Uint32Array((left.length + 1) * width);
  for (let one = left.length - 1; one >= 0; one--) {
    for (let two = right.length - 1; two >= 0; two--) {
      const at = one * width + two;
      kept[at] = left[one] === right[two] ? kept[at + width + 1] + 1 : Math.max(kept[at + width], kept[at + 1]);
    }
  }
  const lines = [];
  let one = 0, two = 0;
  while (one < left.length || two < right.length) {
    if (one < left.length && two < right.length && left[one] === right[two]) {
      lines.push([" ", left[one++]]);
      two++;
    } else if (two >= right.length || (one < left.length && kept[(one + 1) * width + two] >= kept[one * width + two + 1])) lines.push(["-", left[one++]]);
    else lines.push(["+", right[two++]]);
  }
  return lines;
}

/** Return the lines that change with some around them, and null where others are left out. */
export function excerpt(lines, around = 3) {
  const near = new Uint8Array(lines.length);
  lines.forEach(([sign], at) => { if (sign !== " ") near.fill(1, Math.max(0, at - around), at + around + 1); });
  const shown = [];
  lines.forEach((line, at) => { if (near[at]) shown.push(line); else if (shown.length && shown.at(-1)) shown.push(null); });
  return shown;
}

/** Return elements that show what changes; none if nothing does. */
export function drawn(before, after) {
  return excerpt(difference(before, after)).map((line) => element("span", { class: line ? CLASSES[line[0]] : "quiet" }, line ? `${line[0]} ${line[1]}\n` : "…\n"));
}
