// Help of the schema for the editor: what a field is, and what its object may have, from the server's own OpenAPI.

const documents = new Map();

/** Return the schema of a kind, and the others that it refers to; null if the server has none. */
export async function schemaOf(app, kind) {
  const path = kind.group ? `/openapi/v3/apis/${kind.group}/${kind.version}` : `/openapi/v3/api/${kind.version}`;
  if (!documents.has(path)) documents.set(path, app.call("GET", path).catch(() => null));
  const schemas = (await documents.get(path))?.components?.schemas;
  if (!schemas) return null;
  const is = (schema) => (schema["x-kubernetes-group-version-kind"] || []).some((one) => one.kind === kind.kind && one.group === kind.group && one.version === kind.version);
  const root = Object.values(schemas).find(is);
  return root ? { root, schemas } : null;
}

/** Return the names from the top to a line of YAML, such as ["spec", "replicas"]; items of lists have no name. */
export function pathAt(text, line) {
  const lines = text.split("\n");
  const path = [];
  let limit = Infinity;
  for (let at = line; at >= 0; at--) {
    const match = /^(\s*)((?:- )*)([^\s#][^:]*?)\s*:(?:\s|$)/.exec(lines[at]);
    if (!match) continue;
    const depth = match[1].length + match[2].length;
    if (depth >= limit) continue;
    path.unshift(match[3].replace(/^["']|["']$/g, ""));
    // A field of an item stands further to the right than the list's own name, which may stand at the dash.
    limit = match[2] ? match[1].length + 1 : depth;
    if (limit === 0) break;
  }
  return path;
}

/** Return the schema at a path, and that of the object that the last name is a field of; null where there is none. */
export function describe({ root, schemas }, path) {
  let here = resolved(root, schemas), parent = null;
  for (const name of path) {
    while (here?.items) here = resolved(here.items, schemas);
    parent = here;
    here = resolved(here?.properties?.[name] ?? (typeof here?.additionalProperties === "object" ? here.additionalProperties : null), schemas);
    if (!here) return { here: null, parent };
  }
  return { here, parent };
}

function resolved(schema, schemas) {
  if (!schema) return null;
  const reference = schema.$ref || schema.allOf?.find((one) => one.$ref)?.$ref;
  if (!reference) return schema;
  const target = schemas[reference.split("/").at(-1)];
  return target ? { ...target, description: schema.description || target.description } : null;
}

/** Return what kind of value a schema takes, in a word. */
export function typeOf(schema, schemas) {
  const own = resolved(schema, schemas) || {};
  if (own.type === "array") return `[]${typeOf(own.items || {}, schemas)}`;
  return own.enum ? own.enum.join(" | ") : own.type || (own.properties ? "object" : "any");
}
