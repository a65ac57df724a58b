// A table of any number of rows, of which only those that can be seen are elements.

import { element } from "./element.js";

const HEIGHT = 28;
const BEYOND = 10;

export class VirtualRows {
  /** `draw(row)` gives the cells of a row; `open(row)` is called when one is chosen. */
  constructor(draw, open) {
    this.draw = draw;
    this.open = open;
    this.rows = [];
    this.chosen = 0;
    this.head = element("div", { class: "row head", role: "row" });
    this.space = element("div", { class: "space", role: "rowgroup" });
    this.body = element("div", { class: "rows", tabindex: "0", role: "table", onkeydown: (event) => this.key(event) }, this.space);
    this.element = element("div", { class: "table" }, this.head, this.body);
    this.body.addEventListener("scroll", () => this.later(), { passive: true });
    new ResizeObserver(() => this.later()).observe(this.body);
  }

  columns(cells, widths) {
    this.element.style.setProperty("--columns", widths);
    this.head.replaceChildren(...cells);
  }

  set(rows) {
    this.rows = rows;
    this.chosen = Math.max(0, Math.min(this.chosen, rows.length - 1));
    this.later();
  }

  later() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.paint();
    });
  }

  paint() {
    const first = Math.max(0, Math.floor(this.body.scrollTop / HEIGHT) - BEYOND);
    const last = Math.min(this.rows.length, Math.ceil((this.body.scrollTop + this.body.clientHeight) / HEIGHT) + BEYOND);
    this.space.style.height = `${this.rows.length * HEIGHT}px`;
    this.body.setAttribute("aria-rowcount", this.rows.length);
    const drawn = [];
    for (let at = first; at < last; at++) {
      const row = element(
        "div",
        {
          class: at === this.chosen ? "row chosen" : "row", role: "row", "aria-rowindex": at + 1,
          onclick: () => { this.chosen = at; this.open(this.rows[at]); },
        },
        this.draw(this.rows[at]),
      );
      row.style.transform = `translateY(${at * HEIGHT}px)`;
      drawn.push(row);
    }
    this.space.replaceChildren(...drawn);
  }

  key(event) {
    const page = Math.floor(this.body.clientHeight / HEIGHT);
    const moves = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key === "Enter" && this.rows.length) this.open(this.rows[this.chosen]);
    else if (event.key in moves) {
      this.chosen = Math.max(0, Math.min(this.rows.length - 1, this.chosen + moves[event.key]));
      const top = this.chosen * HEIGHT;
      if (top < this.body.scrollTop) this.body.scrollTop = top;
      else if (top + HEIGHT > this.body.scrollTop + this.body.clientHeight) this.body.scrollTop = top + HEIGHT - this.body.clientHeight;
      this.later();
    } else return;
    event.preventDefault();
  }
}
