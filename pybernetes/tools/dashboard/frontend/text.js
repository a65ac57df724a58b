// Values as people read them: ages, and objects as YAML.

/** Return how long ago a timestamp was, as kubectl says it. */
export function age(timestamp, now = Date.now()) {
  if (!timestamp) return "";
  const seconds = Math.max(0, Math.floor((now - Date.parse(timestamp)) / 1000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return seconds % 60 ? `${minutes}m${seconds % 60}s` : `${minutes}m`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return minutes % 60 ? `${hours}h${minutes % 60}m` : `${hours}h`;
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (days < 8) return hours % 24 ? `${days}d${hours % 24}h` : `${days}d`;
  if (days < 730) return `${days}d`;
  return `${Math.floor(days / 365)}y`;
}

/** Amounts as people read them: thousandths of CPU, bytes. */
export const amount = {
  cpu: (milli) => ((milli && milli % 1000 === 0) || milli >= 10_000 ? String(Math.round(milli / 1000)) : milli >= 1000 ? (milli / 1000).toFixed(1) : `${milli}m`),
  bytes(bytes) {
    const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let at = 0;
    while (bytes >= 1024 && at < units.length - 1) { bytes /= 1024; at++; }
    return `${bytes >= 10 || at === 0 ? Math.round(bytes) : bytes.toFixed(1)} ${units[at]}`;
  },
};

const SCALES = { m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50 };

/** Return the number that a quantity such as 100m or 4Gi stands for. */
export function quantity(text) {
  const [, number, unit] = /^([-+.0-9eE]*?\d\.?)([a-zA-Z]*)$/.exec(String(text)) || [];
  return Number(number || 0) * (SCALES[unit] ?? 1);
}

// Words that YAML takes for something else than a text, and texts that need no quotes.
const WORDS = /^(?:true|false|null|yes|no|on|off|y|n|~)$/i;
const PLAIN = /^[A-Za-z_/][A-Za-z0-9_./:@%+=,() -]*$/;

function scalar(value) {
  if (typeof value !== "string") return JSON.stringify(value);
  const bare = PLAIN.test(value) && !WORDS.test(value) && !value.includes(": ") && !/[: ]$/.test(value);
  return bare ? value : quoted(value);
}

// JSON leaves some characters as they are that YAML does not take, or takes for the end of a line, or that turn the direction of a text.
function quoted(value) {
  return JSON.stringify(value).replace(/[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Return a value as YAML, at an indentation. */
export function yaml(value, indent = "") {
  if (Array.isArray(value)) {
    if (!value.length) return `${indent}[]\n`;
    return value.map((item) => {
      if (item === null || typeof item !== "object" || !Object.keys(item).length) return `${indent}- ${inline(item)}\n`;
      return `${indent}- ${yaml(item, indent + "  ").slice(indent.length + 2)}`;
    }).join("");
  }
  return Object.entries(value).map(([name, item]) => {
    const key = `${indent}${scalar(name)}:`;
    if (item === null || typeof item !== "object" || !Object.keys(item).length) return `${key} ${block(item, indent)}\n`;
    return `${key}\n${yaml(item, Array.isArray(item) ? indent : indent + "  ")}`;
  }).join("");
}

function inline(item) {
  if (Array.isArray(item)) return "[]";
  if (item !== null && typeof item === "object") return "{}";
  return scalar(item);
}

function block(item, indent) {
  if (typeof item !== "string" || !item.includes("\n") || /[^\x20-\x7e\n\u00a0-\u061b\u061d-\u200d\u2010-\u2027\u202f-\u2065\u206a-\ud7ff]/.test(item) || /^[ \n]/.test(item)) return inline(item);
  const kept = item.endsWith("\n\n") ? "|+" : item.endsWith("\n") ? "|" : "|-";
  return `${kept}\n${item.replace(/\n$/, "").split("\n").map((line) => line && `${indent}  ${line}`).join("\n")}`;
}

/** Return a value with all names in order, as kubectl shows objects. */
export function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.keys(value).sort().map((name) => [name, sorted(value[name])]));
}
