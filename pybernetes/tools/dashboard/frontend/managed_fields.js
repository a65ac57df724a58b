// Managed fields as people ask for them: who wrote which field, and when. Pure.

/** Return [path, manager, operation, time] for each field that somebody has written, in order of paths. */
export function writers(managedFields = []) {
  const rows = [];
  for (const entry of managedFields) {
    const who = entry.subresource ? `${entry.manager} (${entry.subresource})` : entry.manager;
    walk(entry.fieldsV1 || {}, "", (path) => rows.push([path, who, entry.operation, entry.time || ""]));
  }
  return rows.sort((one, other) => one[0].localeCompare(other[0]) || one[3].localeCompare(other[3]));
}

// "f:name" is a field, "k:{…}" an item with these keys, "v:…" an item with this value, "." the thing itself.
function walk(fields, path, add) {
  const names = Object.keys(fields).filter((name) => name !== ".");
  if (!names.length && path) add(path);
  for (const name of names) {
    const rest = name.slice(2);
    const step = name.startsWith("f:") ? (path ? `.${rest}` : rest) : name.startsWith("k:") ? `[${keys(rest)}]` : `[${rest}]`;
    walk(fields[name] || {}, path + step, add);
  }
}

function keys(text) {
  try {
    return Object.entries(JSON.parse(text)).map(([name, value]) => `${name}=${value}`).join(",");
  } catch {
    return text;
  }
}
