// Who is logged in. The session itself is a cookie that scripts cannot see; what pages prove themselves with is kept here, in
// memory, and never in the browser's storage.

let current = null;

export const session = () => current;

/** The context of the kubeconfig that this page is for; empty for the one that was chosen at the start. */
export const context = new URLSearchParams(location.search).get("context") || "";

/** Ask the server. Reads that the browser gave up, because a network of the machine came or went, are asked once more. */
export async function asked(path, options = {}) {
  try {
    return await fetch(path, options);
  } catch (error) {
    if ((options.method || "GET") !== "GET") throw error;
    return fetch(path, options);
  }
}

/** Ask whether somebody is logged in. */
export async function resume() {
  const answer = await asked(context ? `/session?context=${encodeURIComponent(context)}` : "/session");
  current = answer.ok ? await answer.json() : null;
  return current;
}

/** Return how somebody can log in: with the link, at a provider. */
export async function waysIn() {
  const answer = await asked("/log-in").catch(() => null);
  return answer?.ok ? answer.json() : {};
}

/** Go to the provider to log in. */
export async function beginAtProvider() {
  const answer = await fetch("/log-in", { method: "POST" });
  if (!answer.ok) throw new Error((await answer.text()).trim());
  location.assign((await answer.json()).address);
}

/** Return what a provider sent back with the browser, if it did; that leaves the address and the history at once. */
export function sentBack() {
  if (location.pathname !== "/oidc") return null;
  const answer = new URLSearchParams(location.search);
  history.replaceState(null, "", "/#/");
  return answer.has("code") ? { state: answer.get("state") || "", authorization: answer.get("code") } : { refused: answer.get("error_description") || answer.get("error") || "" };
}

/** Log in with a one-time code, a token, or what a provider sent back; throws what the server says against it. */
export async function logIn(proof) {
  const answer = await fetch("/session", { method: "POST", body: JSON.stringify(proof) });
  if (!answer.ok) throw new Error((await answer.text()).trim());
  current = await answer.json();
  if (context) await resume();
}

export async function logOut() {
  await fetch("/session", { method: "DELETE", headers: { "X-Dashboard-Token": current.token } });
  current = null;
}
