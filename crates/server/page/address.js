// @ts-check
// Where a link may lead: to http, https and mailto, at an address that says in plain letters whose it is, and out
// into the world. Everything else stays text.
//
// A browser sends its cookies to every port of a machine, and what listens there trusts a browser that comes from it: nothing
// that an agent wrote leads to this machine, to one of this network, or back to this page. A public name may still be
// given to such a machine; a page cannot know.

/** @typedef {{ href: string, whose: string }} Address `whose` is the host, or the one who gets the mail. */

/** The longest address that is one. */
const LONGEST = 2000;

const AMBIGUOUS = /[\s\u0000-\u0020"'<>`\\^{|}\u007f-\u00a0]/;
const UNSEEN = /[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff9-\uffff]/;

/** The address in a text; none where it should not be followed. @param {string} text @returns {Address | null} */
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
      // Letters of other scripts can look like these; the address itself can be read.
      const isPlain = /^([a-z0-9-]+(\.[a-z0-9-]+)*\.?|\[[0-9a-f:.]+\])$/.test(host);
      return isPlain && isOutside(host) ? { href: text, whose: host } : null;
    }
    case "mailto": {
      const who = rest.split("?", 1)[0];
      return /^[a-z0-9._+-]+@[a-z0-9.-]+$/i.test(who) ? { href: text, whose: who.toLowerCase() } : null;
    }
    default:
      return null;
  }
}

/** Whether the text of a link names another address than its own. @param {string} words @param {Address} beneath */
export function lies(words, { href, whose }) {
  if (/^https?:\/\/[^/?#]*@/i.test(href)) return true;
  const own = whose.replace(/^www\./, "");
  const said = words.replace(/\s+/g, " ");
  // A text that long is not read to its end, so it is not compared.
  if (said.length > LONGEST) return true;
  // Only what could be meant as an address: a scheme, an @, or a dot between letters.
  for (const word of said.split(/[\s()[\]<>"',;]+/)) {
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

/** Names that are only known within a local network. */
const INSIDE = /(^|\.)(local|localhost|localdomain|internal|intranet|private|corp|home|lan|arpa)$/;

/** Whether a host is out in the world, and not the one this page comes from. @param {string} host */
function isOutside(host) {
  const name = host.replace(/\.$/, "");
  if (name === globalThis.location?.hostname) return false;
  // Of the addresses of the sixth version only these are anybody's.
  if (name.startsWith("[")) return /^\[[23][0-9a-f]{3}:/.test(name) && !name.includes(".");
  const last = name.slice(name.lastIndexOf(".") + 1);
  // Whatever ends in a number is read as one, in many ways of writing; only the usual one can be judged.
  if (/^(\d+|0x[0-9a-f]*)$/.test(last)) return isPublic(name);
  return name.includes(".") && !INSIDE.test(name);
}

/** @param {string} name */
function isPublic(name) {
  if (!/^(0|[1-9]\d{0,2})(\.(0|[1-9]\d{0,2})){3}$/.test(name)) return false;
  const [first, second, third, fourth] = name.split(".").map(Number);
  if ([first, second, third, fourth].some((part) => part > 255)) return false;
  switch (first) {
    case 0:
    case 10:
    case 127:
      return false;
    case 100:
      return second < 64 || second > 127;
    case 169:
      return second !== 254;
    case 172:
      return second < 16 || second > 31;
    case 192:
      return second !== 168 && !(second === 0 && third === 0);
    case 198:
      return second !== 18 && second !== 19;
    default:
      return first < 224;
  }
}
