// Requests to the API, as the user.

import { asked, context, session } from "./session.js";

/** Ask the API; throws what it says against it, with its status. */
export async function call(method, path, body, type) {
  return JSON.parse(await text(path, method, body, type));
}

/** The same, for what need not be JSON. */
export async function text(path, method = "GET", body = undefined, type = undefined) {
  const headers = { "X-Dashboard-Token": session().token, Accept: "application/json", ...(context && { "X-Dashboard-Context": encodeURIComponent(context) }), ...(type && { "Content-Type": type }) };
  const answer = await asked(`/k8s${path}`, { method, headers, body });
  const said = await answer.text();
  if (answer.status === 401) await check();
  if (!answer.ok) throw Object.assign(new Error(messageOf(said)), { status: answer.status });
  return said;
}

/** Go back to the log-in when the session is over, or its user is accepted no more. */
export async function check() {
  if ((await fetch("/session").catch(() => null))?.status === 401) location.reload();
}

// Servers of others say what they like.
function messageOf(text) {
  try {
    return String(JSON.parse(text).message ?? text);
  } catch {
    return text.trim();
  }
}

/** Change some fields of an object. */
export function patch(path, change) {
  return call("PATCH", `${path}?fieldManager=pyb-dashboard`, JSON.stringify(change), "application/merge-patch+json");
}

/** Return a function that asks whether the user may do some things; one that could not be asked is not refused beforehand. */
export function access(stream) {
  return async (asks) => {
    if (!asks.length) return [];
    try {
      return (await stream.ask({ op: "access", asks })).allowed;
    } catch {
      return asks.map(() => true);
    }
  };
}
