//! The hosts that links lead to, and whether their words show another one.
//!
//! A target is read by the URL standard that browsers follow, so that user names, escapes, backslashes, missing slashes and a
//! `base` lead to the same host here.

use html5ever::tendril::StrTendril;
use url::{Host, Url};

use super::Link;
use crate::mail::address::registered;

/// Links that are kept of one mail.
const LINKS: usize = 30;
/// Links without a scheme of their own that are kept until the whole page was read.
const RELATIVE: usize = 200;
/// Words of a link that are looked at.
const WORDS: usize = 50;

/// The links of a page.
#[derive(Default)]
pub(super) struct Links {
    found: Vec<Link>,
    base: Option<Url>,
    /// Targets that depend on the base, which may come later on the page, with the words that show them.
    relative: Vec<(String, String)>,
}

impl Links {
    /// The address that targets are relative to. The first one on a page counts.
    pub fn base(&mut self, target: Option<&StrTendril>) {
        if self.base.is_none() {
            self.base = target.and_then(|target| resolve(None, target));
        }
    }

    /// A link to a target, with the words that are seen of it.
    pub fn add(&mut self, target: Option<&StrTendril>, words: &str) {
        let Some(target) = target else { return };
        if !is_relative(target) {
            self.judge(target, words);
        } else if self.relative.len() < RELATIVE {
            self.relative.push((target.to_string(), words.to_owned()));
        }
    }

    pub fn finish(mut self) -> Vec<Link> {
        for (target, words) in std::mem::take(&mut self.relative) {
            self.judge(&target, &words);
        }
        self.found
    }

    fn judge(&mut self, target: &str, words: &str) {
        let Some(host) = resolve(self.base.as_ref(), target).as_ref().and_then(host_of) else { return };
        let disguised = shown_hosts(words).iter().any(|shown| registered(shown) != registered(&host));
        if let Some(known) = self.found.iter_mut().find(|link| link.host == host) {
            known.disguised |= disguised;
            return;
        }
        let link = Link { host, disguised };
        if self.found.len() < LINKS {
            self.found.push(link);
        } else if disguised && let Some(place) = self.found.iter().rposition(|other| !other.disguised) {
            // Many harmless links do not push a disguised one out.
            self.found[place] = link;
        }
    }
}

/// The hosts of links in plain text.
pub(crate) fn plain_links(text: &str) -> Vec<Link> {
    let mut links: Vec<Link> = Vec::new();
    for (at, _) in text.match_indices("://").take(4 * LINKS) {
        let Some(host) = written_host(&text[at + 3..]) else { continue };
        let link = Link { host, disguised: false };
        if links.len() < LINKS && !links.contains(&link) {
            links.push(link);
        }
    }
    links
}

/// Whether a base may change where a target leads: it has no scheme, or no slashes behind it.
fn is_relative(target: &str) -> bool {
    let target: String = target
        .trim_start_matches(|character: char| character <= ' ')
        .chars()
        .filter(|character| *character >= ' ')
        .take(100)
        .collect();
    let Some((scheme, rest)) = target.split_once(':') else { return true };
    let is_scheme =
        scheme.chars().all(|character| character.is_ascii_alphanumeric() || matches!(character, '+' | '-' | '.'));
    !is_scheme || !rest.starts_with(['/', '\\'])
}

fn resolve(base: Option<&Url>, target: &str) -> Option<Url> {
    let base = base.filter(|base| !base.cannot_be_a_base());
    match Url::options().base_url(base).parse(target) {
        Ok(url) => Some(url),
        // Programs take `//host` for a page of the web where there is no base.
        Err(_) => {
            let target = target.trim_start_matches(|character: char| character <= ' ');
            let is_host = target.starts_with(['/', '\\']) && target[1..].starts_with(['/', '\\']);
            is_host.then(|| Url::parse(&format!("https:{target}")).ok()).flatten()
        }
    }
}

fn host_of(url: &Url) -> Option<String> {
    match url.host()? {
        Host::Domain(host) => Some(readable(host)).filter(|host| !host.is_empty()),
        Host::Ipv4(host) => Some(host.to_string()),
        Host::Ipv6(host) => Some(format!("[{host}]")),
    }
}

/// A host as people read it: in Unicode and lower case.
fn readable(host: &str) -> String {
    idna::domain_to_unicode(host.trim_matches('.')).0.to_lowercase()
}

/// The hosts that the words of a link show: the only word where it looks like one, and every word that is an address for sure.
fn shown_hosts(words: &str) -> Vec<String> {
    let words: String = words.chars().filter(|character| !is_invisible(*character)).collect();
    let mut split = words.split_whitespace();
    let is_only = split.clone().nth(1).is_none();
    let address = |word: &str| {
        let word = word.trim_start_matches(|character: char| !character.is_alphanumeric());
        match word.split_once("://") {
            Some((_, rest)) => written_host(rest),
            None if is_only || word.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("www.")) => {
                written_host(word)
            }
            None => None,
        }
    };
    split.by_ref().take(WORDS).filter_map(address).collect()
}

/// Characters that take no room: with them a word looks as it does without.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180e}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// The host that a written address begins with, where it looks like one.
fn written_host(text: &str) -> Option<String> {
    let is_part =
        |character: char| character.is_alphanumeric() || matches!(character, '.' | '-' | '@' | '_' | '。' | '．' | '｡');
    let host = &text[..text.find(|character| !is_part(character)).unwrap_or(text.len())];
    // What stands before an `@` is a user name, and often used to disguise a host.
    let host = readable(host.rsplit('@').next().unwrap_or(host));
    let top = host.rsplit_once('.').map_or("", |(_, top)| top);
    (top.len() >= 2 && !top.contains(|character: char| character.is_ascii_digit()) && host.len() < 254).then_some(host)
}
