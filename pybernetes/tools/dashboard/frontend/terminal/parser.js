// Reads what programs write to a terminal: characters and escape sequences, as xterm understands them. What a program can ask of
// a terminal that would put words into the user's mouth (titles, colours, the clipboard) is read and left.

import { changes } from "./pen.js";

const LONGEST = 4096; // a sequence that does not end is no sequence

export class Parser {
  constructor(screen) {
    this.screen = screen;
    this.state = this.ground;
    this.sequence = "";
  }

  write(text) {
    for (const character of text) this.state(character);
  }

  ground(character) {
    if (character >= " " && character !== "\x7f" && !(character >= "\x80" && character <= "\x9f")) this.screen.put(character);
    else this.control(character);
  }

  control(character) {
    const { screen } = this;
    if (character === "\x1b") { this.state = this.escape; this.sequence = ""; }
    else if (character === "\n" || character === "\v" || character === "\f") { screen.wrap = false; screen.feed(); }
    else if (character === "\r") screen.move(0, screen.y);
    else if (character === "\b") screen.move(screen.x - 1, screen.y);
    else if (character === "\t") screen.tab();
    else if (character === "\x0e") screen.charset = 1;
    else if (character === "\x0f") screen.charset = 0;
  }

  escape(character) {
    const { screen } = this;
    this.state = this.ground;
    if (character === "[") this.state = this.collect;
    else if ("]PX^_".includes(character)) this.state = this.string;
    else if ("()".includes(character)) { this.set = character === "(" ? 0 : 1; this.state = this.charset; }
    else if ("*+#%".includes(character)) this.state = this.skip;
    else if (character === "7") screen.save();
    else if (character === "8") screen.restore();
    else if (character === "D") screen.feed();
    else if (character === "E") { screen.move(0, screen.y); screen.feed(); }
    else if (character === "M") screen.reverseFeed();
    else if (character === "c") screen.reset();
    else if (character < " ") this.control(character);
  }

  skip() {
    this.state = this.ground;
  }

  charset(character) {
    this.screen.graphics[this.set] = character === "0";
    this.state = this.ground;
  }

  /** Text for something that we do not do: up to BEL or ESC \. */
  string(character) {
    if (character === "\x1b") this.state = this.ending;
    else if (character === "\x07" || ++this.length > LONGEST * 16) { this.state = this.ground; this.length = 0; }
  }

  ending(character) {
    this.length = 0;
    this.state = this.ground;
    if (character !== "\\") this.escape(character);
  }

  length = 0;

  collect(character) {
    if (character >= "@" && character <= "~") {
      this.state = this.ground;
      this.act(character);
    } else if (character < " ") this.control(character); // as terminals of old did, within a sequence
    else if (this.sequence.length < LONGEST) this.sequence += character;
    else this.state = this.ground;
  }

  act(final) {
    const { screen } = this;
    const mark = /^[<=>?]/.exec(this.sequence)?.[0] || "", between = /[ -/]+$/.exec(this.sequence)?.[0] || "";
    const numbers = this.sequence.slice(mark.length, this.sequence.length - between.length).split(";").map((part) => part.split(":").map((text) => Math.min(Number(text) || 0, 65535)));
    const flat = numbers.map(([number]) => number);
    const count = Math.max(1, flat[0]);
    if (between) return;
    if (mark === "?" && "hl".includes(final)) for (const number of flat) this.mode(number, final === "h");
    if (mark) return;
    const actions = {
      A: () => screen.climb(-count), B: () => screen.climb(count), e: () => screen.climb(count), C: () => screen.move(screen.x + count, screen.y), a: () => screen.move(screen.x + count, screen.y),
      D: () => screen.move(screen.x - count, screen.y), E: () => { screen.climb(count); screen.move(0, screen.y); }, F: () => { screen.climb(-count); screen.move(0, screen.y); },
      G: () => screen.move(count - 1, screen.y), "`": () => screen.move(count - 1, screen.y), d: () => screen.address(count, screen.x + 1),
      H: () => screen.address(count, flat[1] || 1), f: () => screen.address(count, flat[1] || 1), J: () => screen.eraseInScreen(flat[0]), K: () => screen.eraseInLine(flat[0]),
      L: () => screen.lineShift(-count), M: () => screen.lineShift(count), P: () => screen.cells(count), "@": () => screen.cells(-count), X: () => screen.eraseCells(count),
      S: () => screen.scroll(count), T: () => screen.scroll(-count), I: () => screen.tab(count), Z: () => screen.tab(-count), b: () => screen.repeat(count),
      r: () => screen.margins(flat[0] || 1, flat[1] || screen.rows), s: () => screen.save(), u: () => screen.restore(), m: () => { for (const change of changes(numbers)) screen.style(change); },
      h: () => { if (flat[0] === 4) screen.insert = true; }, l: () => { if (flat[0] === 4) screen.insert = false; },
      n: () => { if (flat[0] === 6) screen.reply(`\x1b[${screen.y + 1};${screen.x + 1}R`); else if (flat[0] === 5) screen.reply("\x1b[0n"); },
      c: () => { if (!flat[0]) screen.reply("\x1b[?1;2c"); },
    };
    actions[final]?.();
  }

  mode(number, on) {
    const { screen } = this;
    if (number === 1) screen.applicationKeys = on;
    else if (number === 6) { screen.origin = on; screen.address(1, 1); }
    else if (number === 7) screen.wrapping = on;
    else if (number === 25) screen.visible = on;
    else if (number === 47 || number === 1047) screen.alternate(on);
    else if (number === 1048) { if (on) screen.save(); else screen.restore(); }
    else if (number === 1049) { if (on) screen.save(); screen.alternate(on); if (!on) screen.restore(); }
    else if (number === 2004) screen.bracketedPaste = on;
  }
}
