// @ts-check
// What only our own page knows, and sends with everything it asks for: browsers show the cookie to other ports of the
// same host, too, and this is sent nowhere.
//
// It comes once, behind the # of the address to which the link or the password leads, and is kept for this host and
// port. It is read anew for each request: another tab may have come in by another link.

const KEPT = "majordomo-page";
const HEADER = "x-majordomo-page";

/** The headers of a request. @returns {Record<string, string>} */
export function own() {
  const secret = localStorage.getItem(KEPT);
  return secret ? { [HEADER]: secret } : {};
}

const given = /^#enter=([0-9a-f]{64})$/.exec(location.hash)?.[1];
if (given) {
  history.replaceState(null, "", location.pathname + location.search);
  // Anybody can make up a link to here: one that does not open anything must not take the place of what does.
  const isKept = localStorage.getItem(KEPT) === null || (await opens(given));
  if (isKept) localStorage.setItem(KEPT, given);
}

/** @param {string} secret */
async function opens(secret) {
  const answer = await fetch("/api/v1/healthz", { headers: { [HEADER]: secret } }).catch(() => null);
  return answer?.ok ?? false;
}
