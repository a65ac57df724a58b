// How something is, from what the server says of it in a word. Pure.

/** Return the class of a value in a column that tells how something is. */
export function state(column, text) {
  if (!/^(Status|Ready|Phase|Type)$/.test(column)) return "";
  if (/^(Running|Active|Bound|Ready|True|Succeeded|Completed|Complete|Available)$/.test(text)) return "good";
  if (/(Error|Err[A-Z]|BackOff|Failed|Evicted|NotReady|Warning|OOMKilled|Lost|Unknown|Invalid)/.test(text)) return "bad";
  if (/^(Pending|ContainerCreating|Terminating|PodInitializing|Init|Ready,SchedulingDisabled|False)/.test(text)) return "wait";
  const parts = /^(\d+)\/(\d+)$/.exec(text);
  return parts ? (parts[1] === parts[2] ? "good" : "wait") : "";
}
