// A terminal on a page: draws a screen, and turns keys into what programs expect.

import { element } from "../element.js";
import { t } from "../words.js";
import { Parser } from "./parser.js";
import { written } from "./pen.js";
import { Screen } from "./screen.js";

const KEYS = { ArrowUp: "A", ArrowDown: "B", ArrowRight: "C", ArrowLeft: "D", Home: "H", End: "F" };
const OTHERS = { Enter: "\r", Backspace: "\x7f", Tab: "\t", Escape: "\x1b", Insert: "\x1b[2~", Delete: "\x1b[3~", PageUp: "\x1b[5~", PageDown: "\x1b[6~",
  F1: "\x1bOP", F2: "\x1bOQ", F3: "\x1bOR", F4: "\x1bOS", F5: "\x1b[15~", F6: "\x1b[17~", F7: "\x1b[18~", F8: "\x1b[19~", F9: "\x1b[20~", F10: "\x1b[21~", F11: "\x1b[23~", F12: "\x1b[24~" };

/** Return what a key sends, empty if it is typed as text. */
export function sequence({ key, ctrlKey, altKey, shiftKey }, applicationKeys) {
  const modifier = 1 + (shiftKey ? 1 : 0) + (altKey ? 2 : 0) + (ctrlKey ? 4 : 0);
  if (key in KEYS) return modifier > 1 ? `\x1b[1;${modifier}${KEYS[key]}` : `\x1b${applicationKeys ? "O" : "["}${KEYS[key]}`;
  if (key === "Tab" && shiftKey) return "\x1b[Z";
  if (key in OTHERS) return (altKey ? "\x1b" : "") + OTHERS[key];
  if (ctrlKey && !altKey && /^[@-_a-z ]$/i.test(key)) return String.fromCharCode(key === " " ? 0 : key.toUpperCase().charCodeAt(0) & 31);
  if (altKey && !ctrlKey && key.length === 1) return `\x1b${key}`;
  return "";
}

export class Terminal {
  /** `send(text)` gets what is typed, `sized(columns, rows)` the size when it changes. */
  constructor(send, sized) {
    this.send = send;
    this.sized = sized;
    this.screen = new Screen();
    this.screen.reply = (text) => send(text);
    this.parser = new Parser(this.screen);
    this.past = 0; // how many lines of the history are drawn
    this.old = element("div", {});
    this.now = element("div", {});
    this.input = element("textarea", { class: "keys", "aria-label": t("Terminal; Ctrl+F6 leaves it"), autocapitalize: "off", autocomplete: "off", spellcheck: "false",
      onkeydown: (event) => this.key(event), oninput: (event) => this.typed(event), onpaste: (event) => this.paste(event), oncompositionend: () => this.take() });
    this.probe = element("span", { class: "probe", "aria-hidden": "true" }, "M".repeat(10));
    this.element = element("div", { class: "terminal", role: "group", "aria-label": t("Shell"), onmouseup: () => String(getSelection()) || this.input.focus() }, this.probe, this.old, this.now, this.input);
    this.watching = new ResizeObserver(() => this.fit());
    this.watching.observe(this.element);
  }

  close() {
    this.watching.disconnect();
    cancelAnimationFrame(this.waiting);
  }

  write(text) {
    this.parser.write(text);
    this.later();
  }

  fit() {
    const { width, height } = this.probe.getBoundingClientRect();
    if (!width || !this.element.clientHeight) return;
    const columns = Math.max(2, Math.min(500, Math.floor((this.element.clientWidth - 16) / (width / 10))));
    const rows = Math.max(2, Math.min(200, Math.floor((this.element.clientHeight - 16) / height)));
    if (columns === this.screen.columns && rows === this.screen.rows && this.fitted) return;
    this.fitted = true;
    this.now.style.minHeight = `${this.element.clientHeight - 16}px`; // no part of a line of the past above
    this.screen.resize(columns, rows);
    this.sized(columns, rows);
    this.later();
  }

  later() {
    this.waiting ||= requestAnimationFrame(() => { this.waiting = 0; this.draw(); });
  }

  draw() {
    const { screen } = this;
    const end = this.element.scrollHeight - this.element.scrollTop - this.element.clientHeight < 40;
    if (this.past > screen.history.length || screen.history[0] !== this.first) { this.old.replaceChildren(); this.past = 0; }
    this.first = screen.history[0];
    this.old.append(...screen.history.slice(this.past).map((line) => lineOf(line)));
    this.past = screen.history.length;
    this.now.replaceChildren(...screen.lines.map((line, at) => lineOf(line, at === screen.y && screen.visible ? screen.x : -1)));
    if (end) this.element.scrollTop = this.element.scrollHeight;
  }

  key(event) {
    if (event.isComposing || event.metaKey) return;
    // Programs want every other key: with this one people without a mouse get out.
    if (event.ctrlKey && event.key === "F6") { event.preventDefault(); document.getElementById("view").focus(); return; }
    const copies = event.ctrlKey && event.key.toLowerCase() === "c" && (event.shiftKey || String(getSelection()));
    const pastes = event.ctrlKey && event.key.toLowerCase() === "v";
    if (copies || pastes) return; // the browser's own
    const text = sequence(event, this.screen.applicationKeys);
    if (!text) return;
    event.preventDefault();
    this.send(text);
  }

  typed(event) {
    if (!event.isComposing) this.take();
  }

  take() {
    const text = this.input.value;
    this.input.value = "";
    if (text) this.send(text.replaceAll("\n", "\r"));
  }

  paste(event) {
    event.preventDefault();
    // What is pasted cannot pretend that it has ended.
    const text = event.clipboardData.getData("text").replaceAll(/\r?\n/g, "\r").replaceAll("\x1b", "");
    this.send(this.screen.bracketedPaste ? `\x1b[200~${text}\x1b[201~` : text);
  }
}

function lineOf(line, cursor = -1) {
  const made = element("div", { class: "line" });
  let run = "", pen = null;
  const flush = () => { if (run) made.append(written(run, pen)); run = ""; };
  // Blanks at the end are not selected with the text.
  let last = line.length - 1;
  while (last > cursor && last >= 0 && line[last].text === " " && line[last].pen.bg === null && !line[last].pen.inverse) last--;
  for (let at = 0; at <= last; at++) {
    const cell = line[at];
    if (at === cursor) {
      flush();
      const span = written(cell.text || " ", cell.pen);
      span.classList.add("cursor");
      made.append(span);
      continue;
    }
    if (cell.pen !== pen) flush();
    pen = cell.pen;
    run += cell.text;
  }
  flush();
  if (!made.childNodes.length) made.append("\u200b");
  return made;
}
