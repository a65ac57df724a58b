// Lines of logs on a page: up to a hundred thousand, in blocks, of which the browser lays out those that are seen.

import { element } from "./element.js";
import { drawn, runs, settled } from "./terminal/log_line.js";
import { t } from "./words.js";

const BLOCK = 500, COLOURS = 6, NEAR = 40;

export class LogText {
  constructor() {
    this.element = element("pre", { class: "log", tabindex: "0", role: "log", "aria-label": t("Logs") });
    this.needle = "";
    this.again();
  }

  /** Show only lines with a text from now on. */
  find(text) {
    this.needle = text.toLowerCase();
    this.again();
  }

  /** Draw all lines anew, the next time. */
  again() {
    this.done = 0;
    this.count = 0;
    this.last = null;
  }

  /** Draw the lines that have come since the last time; `sources` are who writes, if that is to be told. */
  draw(lines, sources) {
    const { scrollHeight, scrollTop, clientHeight } = this.element;
    const end = scrollHeight - scrollTop - clientHeight < NEAR;
    const fresh = !this.done, blocks = [];
    for (; this.done < lines.length; this.done++) {
      const entry = lines[this.done], line = settled(entry.line);
      if (this.needle && !runs(line).map(([text]) => text).join("").toLowerCase().includes(this.needle)) continue;
      if (!this.last || this.last.count === BLOCK) {
        this.last = { count: 0, block: element("div", { class: "block" }) };
        blocks.push(this.last.block);
      }
      this.last.count++;
      this.count++;
      if (sources.length) this.last.block.append(element("span", { class: `from from-${sources.indexOf(entry.from) % COLOURS}` }, entry.from), "  ");
      this.last.block.append(...drawn(line, this.needle), "\n");
    }
    if (fresh) this.element.replaceChildren(...blocks);
    else this.element.append(...blocks);
    if (end) this.element.scrollTop = this.element.scrollHeight;
  }
}
