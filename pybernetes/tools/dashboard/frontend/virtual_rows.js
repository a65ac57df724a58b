// A table of any number of rows, of which only those that can be seen are elements.

import { element } from "./element.js";
import { t } from "./words.js";

const HEIGHT = 30;
const BEYOND = 10;

export class VirtualRows {
  /** `label` says what the rows are; `draw(row)` gives the cells of a row, `key(row)` its name; `open(row)` is called for the one that is chosen, `picked()` when others are selected. */
  constructor({ label, draw, open, key, picked, keys = {} }) {
    Object.assign(this, { draw, open, name: key, picked, keys });
    this.rows = [];
    this.selected = new Set();
    this.chosen = 0;
    // The head does not scroll, and belongs to the grid nevertheless: its row is the first.
    this.head = element("div", { class: "row head", role: "row", id: "head", "aria-rowindex": 1 });
    this.space = element("div", { class: "space", role: "rowgroup" });
    this.body = element("div", { class: "rows", tabindex: "0", role: "grid", "aria-label": label, "aria-owns": "head", "aria-multiselectable": "true", onkeydown: (event) => this.key(event) }, this.space);
    this.element = element("div", { class: "table" }, this.head, this.body);
    this.body.addEventListener("scroll", () => this.later(), { passive: true });
    new ResizeObserver(() => this.later()).observe(this.body);
  }

  columns(cells, widths) {
    this.element.style.setProperty("--columns", `34px ${widths}`);
    this.head.replaceChildren(element("span", { class: "cell", role: "columnheader", "aria-label": t("Selected") }), ...cells);
  }

  set(rows) {
    this.rows = rows;
    this.chosen = Math.max(0, Math.min(this.chosen, rows.length - 1));
    if (this.selected.size) {
      // What is gone, or hidden by a filter, must not be acted on unseen.
      const names = new Set(rows.map(this.name));
      const before = this.selected.size;
      for (const name of this.selected) if (!names.has(name)) this.selected.delete(name);
      if (this.selected.size !== before) this.picked();
    }
    this.later();
  }

  /** Return the rows that are selected. */
  picks() {
    return this.rows.filter((row) => this.selected.has(this.name(row)));
  }

  toggle(row) {
    const name = this.name(row);
    if (!this.selected.delete(name)) this.selected.add(name);
    this.picked();
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
    this.body.setAttribute("aria-rowcount", this.rows.length + 1);
    if (this.rows.length) this.body.setAttribute("aria-activedescendant", `row-${this.chosen}`);
    else this.body.removeAttribute("aria-activedescendant");
    const drawn = [];
    for (let at = first; at < last; at++) {
      const row = element(
        "div",
        {
          class: at === this.chosen ? "row chosen" : "row", role: "row", id: `row-${at}`, "aria-rowindex": at + 2, "aria-selected": String(this.selected.has(this.name(this.rows[at]))),
          onclick: (event) => { if (!others(event, row)) { this.chosen = at; this.open(this.rows[at]); } },
        },
        this.box(this.rows[at]), this.draw(this.rows[at]),
      );
      row.style.transform = `translateY(${at * HEIGHT}px)`;
      drawn.push(row);
    }
    this.space.replaceChildren(...drawn);
  }

  box(row) {
    const picked = this.selected.has(this.name(row));
    const box = element("input", { type: "checkbox", checked: picked, tabindex: "-1", "aria-label": this.name(row) });
    return element("label", { class: "cell pick", role: "gridcell", onclick: (event) => { event.stopPropagation(); if (event.target === box) this.toggle(row); } }, box);
  }

  key(event) {
    const row = this.rows[this.chosen];
    if (row && !event.ctrlKey && !event.metaKey && !event.altKey) {
      if (event.key === " ") this.toggle(row);
      else if (event.key in this.keys && !this.selected.size) this.keys[event.key](row);
      else if (event.key === "*") { this.selected = new Set(this.rows.map(this.name)); this.picked(); this.later(); }
      if ([" ", "*"].includes(event.key) || (event.key in this.keys && !this.selected.size)) return event.preventDefault();
    }
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

/** Return whether a click is for the browser: for another tab, or the end of a selection of text. */
function others(event, row) {
  const selection = getSelection();
  return event.ctrlKey || event.metaKey || event.shiftKey || (!selection.isCollapsed && row.contains(selection.anchorNode));
}
