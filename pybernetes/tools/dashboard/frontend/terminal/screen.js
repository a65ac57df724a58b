// What a terminal shows: lines of cells, a cursor, colours. Knows nothing of pages; `parser.js` calls its methods.

import { changed, PLAIN } from "./pen.js";

const LONGEST_HISTORY = 2000;
// Characters that take two cells, those that take none, and the lines that are drawn with letters.
const WIDE = /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const NONE = /[\p{Mn}\p{Me}\u200b-\u200f\ufe00-\ufe0f]/u;
const LINES = Object.fromEntries([..."jklmnqtuvwx`afgyz{|}~"].map((letter, at) => [letter, [..."┘┐┌└┼─├┤┴┬│◆▒°±≤≥π≠£·"][at]]));

export class Screen {
  constructor(columns = 80, rows = 24) {
    this.history = []; // lines that have left the top
    this.reply = () => {};
    this.reset(columns, rows);
  }

  reset(columns = this.columns, rows = this.rows) {
    Object.assign(this, {
      columns, rows, x: 0, y: 0, top: 0, bottom: rows - 1, pen: PLAIN, saved: null, main: null, wrapping: true, wrap: false, visible: true,
      applicationKeys: false, bracketedPaste: false, insert: false, origin: false, graphics: [false, false], charset: 0, last: " ",
    });
    this.lines = Array.from({ length: rows }, () => this.blank());
  }

  blank() {
    return Array.from({ length: this.columns }, () => ({ text: " ", pen: PLAIN }));
  }

  empty() {
    return { text: " ", pen: this.pen.bg === null ? PLAIN : { ...PLAIN, bg: this.pen.bg } };
  }

  resize(columns, rows) {
    if (columns === this.columns && rows === this.rows) return;
    const fit = (line) => (line.length > columns ? line.slice(0, columns) : [...line, ...Array.from({ length: columns - line.length }, () => ({ text: " ", pen: PLAIN }))]);
    this.columns = columns;
    const shaped = (lines, y) => {
      const kept = lines.map(fit);
      // Lines below the cursor go first, then those at the top.
      while (kept.length > rows && kept.length - 1 > y) kept.pop();
      while (kept.length > rows) { this.keep(kept.shift()); y--; }
      while (kept.length < rows) kept.push(this.blank());
      return [kept, Math.max(0, y)];
    };
    [this.lines, this.y] = shaped(this.lines, this.y);
    if (this.main) [this.main.lines, this.main.y] = shaped(this.main.lines, this.main.y);
    this.rows = rows;
    this.top = 0;
    this.bottom = rows - 1;
    this.x = Math.min(this.x, columns - 1);
    this.wrap = false;
  }

  keep(line) {
    if (this.main) return; // what programs draw on a screen of their own is not history
    this.history.push(line);
    if (this.history.length > LONGEST_HISTORY) this.history.shift();
  }

  // -- characters --------------------------------------------------------------------------------------

  put(character) {
    const text = this.graphics[this.charset] ? LINES[character] || character : character;
    if (text > "\u02ff" && NONE.test(text)) {
      const before = this.lines[this.y][Math.max(0, this.x - 1)];
      if (before.text.length < 16) before.text += text; // no cell becomes as long as somebody likes
      return;
    }
    const width = text > "\u10ff" && WIDE.test(text) && this.columns > 1 ? 2 : 1;
    if (this.wrap || this.x + width > this.columns) {
      if (this.wrapping) { this.x = 0; this.feed(); } else this.x = this.columns - width;
      this.wrap = false;
    }
    const line = this.lines[this.y];
    if (this.insert) { line.splice(this.x, 0, ...Array.from({ length: width }, () => this.empty())); line.length = this.columns; }
    line[this.x] = { text, pen: this.pen };
    if (width === 2) line[this.x + 1] = { text: "", pen: this.pen };
    this.last = character;
    this.x += width;
    if (this.x >= this.columns) { this.x = this.columns - 1; this.wrap = true; }
  }

  feed() {
    if (this.y === this.bottom) this.scroll(1);
    else if (this.y < this.rows - 1) this.y++;
  }

  reverseFeed() {
    if (this.y === this.top) this.scroll(-1);
    else if (this.y > 0) this.y--;
  }

  tab(count = 1) {
    this.move(Math.max(0, (Math.floor(this.x / 8) + count) * 8), this.y);
  }

  // -- places ------------------------------------------------------------------------------------------

  move(x, y) {
    this.x = Math.max(0, Math.min(this.columns - 1, x));
    this.y = Math.max(0, Math.min(this.rows - 1, y));
    this.wrap = false;
  }

  /** Move up or down, not beyond the margins when inside of them. */
  climb(count) {
    const inside = this.y >= this.top && this.y <= this.bottom;
    const [low, high] = inside ? [this.top, this.bottom] : [0, this.rows - 1];
    this.move(this.x, Math.max(low, Math.min(high, this.y + count)));
  }

  /** Move to a row and column that begin with 1. */
  address(row, column) {
    this.move(column - 1, row - 1 + (this.origin ? this.top : 0));
  }

  save() {
    this.saved = { x: this.x, y: this.y, pen: this.pen, graphics: [...this.graphics], charset: this.charset };
  }

  restore() {
    const { x, y, ...rest } = this.saved || { x: 0, y: 0, pen: PLAIN, graphics: [false, false], charset: 0 };
    Object.assign(this, rest);
    this.move(x, y);
  }

  margins(top, bottom) {
    if (top >= bottom || bottom > this.rows) [top, bottom] = [1, this.rows];
    this.top = top - 1;
    this.bottom = bottom - 1;
    this.address(1, 1);
  }

  // -- changes -----------------------------------------------------------------------------------------

  scroll(count) {
    this.shift(this.top, count);
  }

  /** Move lines from a row to the bottom margin up, or down if the count is negative. */
  shift(from, count) {
    const number = Math.min(Math.abs(count), this.bottom - from + 1);
    for (let done = 0; done < number; done++) {
      if (count > 0) {
        const [line] = this.lines.splice(from, 1);
        if (from === 0) this.keep(line);
        this.lines.splice(this.bottom, 0, this.fresh());
      } else {
        this.lines.splice(this.bottom, 1);
        this.lines.splice(from, 0, this.fresh());
      }
    }
  }

  fresh() {
    return Array.from({ length: this.columns }, () => this.empty());
  }

  lineShift(count) {
    if (this.y < this.top || this.y > this.bottom) return;
    this.shift(this.y, count);
    this.move(0, this.y);
  }

  eraseInLine(how) {
    this.wrap = false;
    const [from, to] = how === 1 ? [0, this.x + 1] : how === 2 ? [0, this.columns] : [this.x, this.columns];
    for (let at = from; at < to; at++) this.lines[this.y][at] = this.empty();
  }

  eraseInScreen(how) {
    if (how === 3) { this.history.length = 0; return; }
    const [from, to] = how === 1 ? [0, this.y] : how === 2 ? [0, this.rows] : [this.y + 1, this.rows];
    for (let at = from; at < to; at++) this.lines[at] = this.fresh();
    if (how !== 2) this.eraseInLine(how);
  }

  /** Take characters out at the cursor, or put blanks in if the count is negative. */
  cells(count) {
    const line = this.lines[this.y], number = Math.min(Math.abs(count), this.columns - this.x);
    const blanks = Array.from({ length: number }, () => this.empty());
    if (count > 0) { line.splice(this.x, number); line.push(...blanks); } else { line.splice(this.x, 0, ...blanks); line.length = this.columns; }
    this.wrap = false;
  }

  eraseCells(count) {
    for (let at = this.x; at < Math.min(this.columns, this.x + count); at++) this.lines[this.y][at] = this.empty();
  }

  repeat(count) {
    for (let done = 0; done < Math.min(count, this.columns * this.rows); done++) this.put(this.last);
  }

  /** Go to a screen of a program's own, or back from it. */
  alternate(on) {
    if (on && !this.main) {
      this.main = { lines: this.lines, x: this.x, y: this.y };
      this.lines = Array.from({ length: this.rows }, () => this.blank());
    } else if (!on && this.main) {
      const { lines, x, y } = this.main;
      this.main = null;
      this.lines = lines;
      this.move(x, y);
    }
    this.top = 0;
    this.bottom = this.rows - 1;
  }

  style(changes) {
    this.pen = changed(this.pen, changes);
  }
}
