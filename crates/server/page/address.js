// @ts-check
// Where a link may lead: to http, https and mailto, at an address that says in plain letters whose it is. Everything
// else stays text.

/** @typedef {{ href: string, whose: string }} Address `whose` is the host, or the one who gets the mail. */

/** The longest address that is one. */
const LONGEST = 2000;

const AMBIGUOUS = /[\s\u0000-\u0020"'<>`\\^{|}\u007f-\u00a0]/;
const UNSEEN = /[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff9-\uffff]/;

/** The address in a text; none where nobody should follow it. @param {string} text @returns {Address | null} */
export function address(text) {
  // No blanks, controls, quotes, marks or backslashes, which readers of addresses take each in their own way, and
  // nothing unseen.
  if (text.length > LONGEST || AMBIGUOUS.test(text) || UNSEEN.test(text)) return null;
  const [, scheme, rest] = /^([a-z]+):(.*)$/i.exec(text) ?? [];
  switch (scheme?.toLowerCase()) {
    case "http":
    case "https": {
      const authority = rest.startsWith("//") ? rest.slice(2).split(/[/?#]/, 1)[0] : "";
      // Whatever stands before an @ is no host, however much it looks like one.
      const host = authority
        .slice(authority.lastIndexOf("@") + 1)
        .replace(/:\d*$/, "")
        .toLowerCase();
      // Letters of other scripts can look like these; whoever wants to go there can read the address.
      return /^([a-z0-9-]+(\.[a-z0-9-]+)*\.?|\[[0-9a-f:.]+\])$/.test(host) ? { href: text, whose: host } : null;
    }
    case "mailto": {
      const who = rest.split("?", 1)[0];
      return /^[a-z0-9._+-]+@[a-z0-9.-]+$/i.test(who) ? { href: text, whose: who.toLowerCase() } : null;
    }
    default:
      return null;
  }
}

/** Whether words name somebody else than the address beneath them. @param {string} words @param {Address} beneath */
export function lies(words, { href, whose }) {
  if (/^https?:\/\/[^/?#]*@/i.test(href)) return true;
  const own = whose.replace(/^www\./, "");
  // Only what could be meant as an address: a scheme, an @, or a dot between letters.
  for (const word of words.slice(0, LONGEST).split(/[\s()[\]<>"',;]+/)) {
    if (!/:\/\/|@|[^.\d]\.[^.\d]/.test(word)) continue;
    const named = word
      .replace(/^[a-z]+:(\/\/)?/i, "")
      .split(/[/?#]/, 1)[0]
      .toLowerCase();
    const host = whose.includes("@") ? named : named.slice(named.lastIndexOf("@") + 1).replace(/:\d*$/, "");
    if (host.replace(/^www\./, "").replace(/[.:!]+$/, "") !== own) return true;
  }
  return false;
}
