// How characters look: colours and styles, as programs ask for them and as a page shows them.

import { element } from "../element.js";

export const PLAIN = Object.freeze({ fg: null, bg: null, bold: false, dim: false, italic: false, underline: false, inverse: false });
const FLAGS = { 1: { bold: true }, 2: { dim: true }, 3: { italic: true }, 4: { underline: true }, 7: { inverse: true }, 22: { bold: false, dim: false }, 23: { italic: false }, 24: { underline: false }, 27: { inverse: false } };
const COLOURS = ["#3b4252", "#e06c75", "#8fc07a", "#e3b341", "#6aa7f5", "#c58af9", "#5fc5c9", "#d8dee9", "#6b7687", "#ff8a93", "#b0e08f", "#ffd479", "#9cc8ff", "#e0b0ff", "#8fe5e8", "#ffffff"];
// The same where the ground is light.
const ON_LIGHT = ["#1b2330", "#b3261e", "#17793b", "#8a5a00", "#1f66c9", "#8a2f9e", "#0b7480", "#5a6675", "#5a6675", "#c4281f", "#1a7f37", "#8f6200", "#0969da", "#8250df", "#1b7c83", "#1b2330"];

/** Yield what numbers such as 31, 38;5;N, 38;2;R;G;B and 38:2::R:G:B change of a pen; null for all of it. */
export function* changes(numbers) {
  for (let at = 0; at < numbers.length; at++) {
    const [number, ...own] = numbers[at];
    if (number === 0) yield null;
    else if (FLAGS[number]) yield number === 4 && own[0] === 0 ? { underline: false } : FLAGS[number];
    else if (number >= 30 && number <= 37) yield { fg: number - 30 };
    else if (number >= 90 && number <= 97) yield { fg: number - 82 };
    else if (number >= 40 && number <= 47) yield { bg: number - 40 };
    else if (number >= 100 && number <= 107) yield { bg: number - 92 };
    else if (number === 39) yield { fg: null };
    else if (number === 49) yield { bg: null };
    else if (number === 38 || number === 48) {
      const rest = own.length ? own : numbers.slice(at + 1).map(([value]) => value);
      const colour = rest[0] === 5 ? rest[1] : rest[0] === 2 ? rest.slice(own.length > 4 ? 2 : 1).slice(0, 3) : undefined;
      if (!own.length) at += rest[0] === 5 ? 2 : rest[0] === 2 ? 4 : 0;
      if (colour !== undefined) yield { [number === 38 ? "fg" : "bg"]: colour };
    }
  }
}

/** Return a pen after a change. */
export const changed = (pen, change) => (change === null ? PLAIN : Object.freeze({ ...pen, ...change }));

/** Return a colour of 256, or of three numbers; one of the first 16 is for a ground of ours if `ours` says so. */
export function colour(value, ours = false) {
  if (Array.isArray(value)) return `rgb(${value.map((part) => Math.min(255, part || 0)).join(" ")})`;
  if (value < 16) return ours ? `light-dark(${ON_LIGHT[value]}, ${COLOURS[value]})` : COLOURS[value];
  if (value > 255) return "";
  if (value >= 232) return `rgb(${Array(3).fill(8 + 10 * (value - 232)).join(" ")})`;
  const part = (number) => (number ? 55 + 40 * number : 0);
  return `rgb(${part(Math.floor((value - 16) / 36))} ${part(Math.floor((value - 16) / 6) % 6)} ${part((value - 16) % 6)})`;
}

/** Return an element with text that is written with a pen. */
export function written(text, pen) {
  const span = element("span", {}, text);
  const [fg, bg] = pen.inverse ? [pen.bg ?? "inverse", pen.fg ?? "inverse"] : [pen.fg, pen.bg];
  if (fg === "inverse") span.style.color = "var(--ground)"; else if (fg !== null) span.style.color = colour(pen.bold && fg < 8 ? fg + 8 : fg, bg === null);
  if (bg === "inverse") span.style.background = "var(--text)"; else if (bg !== null) span.style.background = colour(bg);
  for (const name of ["bold", "dim", "italic", "underline"]) if (pen[name]) span.classList.add(name);
  return span;
}
