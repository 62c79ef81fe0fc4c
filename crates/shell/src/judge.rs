//! The verdict on a whole command: the worst of all that is in it.
//!
//! What holds for any program is here: what is computed, assigned, redirected, wrapped, and what names a secret. What a
//! program does with its own words is `program`'s.

use agent::tools::Reach;

use crate::program;
use crate::script::{Assigned, Call, Oddity, Redirect, Script, Word, is_trusted};
use crate::secret;
use crate::touched::Touched;
use crate::verdict::Verdict;

/// How many shells in one command may be given theirs in line.
const MAX_INLINE: usize = 3;

/// What was found out about a command.
pub(crate) struct Judged {
    pub verdict: Verdict,
    /// Whether the text alone says what would run; a tricky verdict says otherwise too.
    pub is_plain: bool,
    pub found: Found,
}

/// What was found on the way.
#[derive(Default)]
pub(crate) struct Found {
    pub parts: Vec<String>,
    pub touched: Touched,
}

/// Judges everything in a command.
pub(crate) fn script(script: &Script) -> Judged {
    let mut found = Found::default();
    let mut verdicts: Vec<Verdict> = script.calls.iter().map(|one| call(one, &mut found)).collect();
    script.redirects.iter().filter(|one| one.writes).for_each(|one| found.touched.name(&one.target));
    verdicts.extend(script.oddities.iter().filter_map(|one| oddity(*one)));
    verdicts.extend(script.assigned.iter().map(|one| assigned(one, script)));
    verdicts.extend(script.looped.iter().map(|name| loop_variable(name)));
    verdicts.extend(script.redirects.iter().map(redirect));
    verdicts.extend(script.loose.iter().map(loose));
    let is_plain = script.oddities.is_empty()
        && script.assigned.is_empty()
        && !script.redirects.iter().any(|one| one.writes && !is_harmless_sink(&one.target))
        && words(script).all(|word| {
            !word.is_computed && !word.is_substituted && word.variables.iter().all(|name| is_trusted(name))
        })
        && script.calls.iter().all(|call| is_name(&call.words[0]));
    let verdict =
        verdicts.into_iter().reduce(Verdict::and).unwrap_or_else(|| Verdict::unsure("it runs nothing that is known"));
    Judged { verdict, is_plain, found }
}

fn words(script: &Script) -> impl Iterator<Item = &Word> {
    let called = script.calls.iter().flat_map(|call| &call.words);
    called.chain(&script.loose).chain(script.redirects.iter().map(|redirect| &redirect.target))
}

fn call(call: &Call, found: &mut Found) -> Verdict {
    let mut words = call.words.as_slice();
    loop {
        found.parts.push(words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "));
        // A variable that is not set leaves the next word as the program.
        if !is_name(&words[0]) || words[0].is_substituted {
            return Verdict::tricky("the name of the program it runs is put together at run time");
        }
        match program::unwrapped(words) {
            None => break,
            Some(Ok(inner)) => words = inner,
            Some(Err(verdict)) => return verdict,
        }
    }
    let Some(name) = program::known_name(&words[0].text) else {
        let unknown = || format!("it runs `{}`, a program named by its path, which could be anything", words[0].text);
        let verdict = program::of_workspace(&words[0]).unwrap_or_else(|| Verdict::unsure(unknown()));
        words.iter().for_each(|word| found.touched.name(word));
        return words[1..].iter().map(|word| argument(word, false, false)).fold(verdict, Verdict::and);
    };
    let (is_teller, args) = (matches!(name, "echo" | "printf"), &words[1..]);
    if let Some(inner) = program::inline_script(name, args) {
        return inline(inner, found);
    }
    let told = args.iter().enumerate().map(|(at, word)| {
        let is_text = is_teller || program::is_search_text(name, args, at);
        argument(word, is_teller, is_text)
    });
    let verdict = program::verdict(name, args);
    if verdict.reach > Reach::ReadOnly && !is_teller {
        found.touched.call(name, args);
    }
    told.fold(verdict, Verdict::and)
}

/// A command that is given to another shell in line is judged as if it stood there itself.
fn inline(text: &str, found: &mut Found) -> Verdict {
    let read = crate::read::script(text);
    // One in another in another is not worth the trouble.
    let is_deep = found.parts.iter().filter(|part| part.contains(" -c ")).count() > MAX_INLINE;
    match read {
        Ok(inner) if !is_deep => {
            let judged = script(&inner);
            found.parts.extend(judged.found.parts);
            found.touched.add(judged.found.touched);
            // It is not plain that it needs a network, so that consent to it is no consent to a network.
            Verdict { is_tricky: true, network: false, ..judged.verdict }
        }
        Ok(_) => Verdict::unsure("it gives shells commands within commands"),
        Err(why) => Verdict::unsure(why),
    }
}

/// Whether a word can be nothing but the name of one program.
fn is_name(word: &Word) -> bool {
    let is_usual = |c: char| c.is_ascii_alphanumeric() || "._+-/[:".contains(c);
    word.is_literal() && !word.text.is_empty() && word.text.chars().all(is_usual) && !word.text.contains('=')
}

fn argument(word: &Word, is_teller: bool, is_text: bool) -> Verdict {
    if !is_text && secret::is_named_by(word) {
        return names_secret();
    }
    if word.is_opaque || (word.is_computed && !is_teller) {
        return Verdict::unsure("what it works on is computed at run time");
    }
    inserted(word, is_teller)
}

/// What is said of the variables in a word whose values are not known. A name put together from pieces could be any name.
fn inserted(word: &Word, is_teller: bool) -> Verdict {
    if let Some(name) = word.variables.iter().find(|name| !is_trusted(name)) {
        return Verdict::unsure(format!("it uses the variable `{name}`, whose value the command does not say"));
    }
    if word.is_pieced && !is_teller {
        return Verdict::unsure("it puts names together from pieces at run time");
    }
    Verdict::looks()
}

fn loose(word: &Word) -> Verdict {
    if secret::is_named_by(word) {
        return names_secret();
    }
    if word.is_computed {
        return Verdict::unsure("what it works on is computed at run time");
    }
    inserted(word, false)
}

fn names_secret() -> Verdict {
    Verdict::tricky("it names a place where keys, passwords or tokens are kept")
}

fn oddity(oddity: Oddity) -> Option<Verdict> {
    match oddity {
        Oddity::Function => Some(Verdict::unsure("it defines a function, so that names in it may mean something else")),
        Oddity::Arithmetic => Some(Verdict::unsure("it computes with names, which can run commands")),
        Oddity::EvaluatingTest => {
            Some(Verdict::unsure("it tests something that the shell evaluates first, which can run commands"))
        }
        // The commands in it are judged as calls, and what they give as a computed word.
        Oddity::Substitution => None,
    }
}

/// A variable that is set on its own, to a known text and under a name that no program reads, is only a name for it.
fn assigned(one: &Assigned, script: &Script) -> Verdict {
    if one.is_alone && is_small(&one.name) && script.values.contains_key(&one.name) {
        return Verdict::looks();
    }
    assignment(&one.name)
}

fn assignment(name: &str) -> Verdict {
    if HARMLESS_TO_SET.contains(&name) {
        return Verdict::looks();
    }
    Verdict::unsure(format!("it sets the variable `{name}`, which may change what programs do"))
}

/// Variables that change how much a program says, and nothing else.
const HARMLESS_TO_SET: [&str; 14] = [
    "RUST_BACKTRACE",
    "RUST_LOG",
    "CARGO_TERM_COLOR",
    "CI",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "TZ",
    "LANG",
    "LC_ALL",
    "COLUMNS",
    "NODE_ENV",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
];

/// A loop sets its variable too.
fn loop_variable(name: &str) -> Verdict {
    if is_small(name) { Verdict::looks() } else { assignment(name) }
}

/// Variables that change programs have capitals, but for the proxies.
fn is_small(name: &str) -> bool {
    let is_small = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    is_small && !name.ends_with("proxy")
}

fn redirect(redirect: &Redirect) -> Verdict {
    let target = &redirect.target;
    let path = target.text.as_str();
    if path.contains("/dev/tcp") || path.contains("/dev/udp") {
        return Verdict::grave("it opens a connection to another machine").with_network();
    }
    if is_harmless_sink(target) {
        return Verdict::looks();
    }
    if secret::is_named_by(target) {
        return names_secret();
    }
    if !target.is_literal() {
        return Verdict::unsure("it opens a file whose name is computed at run time").and(inserted(target, false));
    }
    if !redirect.writes {
        return Verdict::looks();
    }
    if program::is_outside(target) {
        return Verdict::unsure(format!("it writes to `{path}`, which may lie outside the workspace"));
    }
    Verdict::works(format!("it writes to the file `{path}`"))
}

fn is_harmless_sink(target: &Word) -> bool {
    target.is_literal() && matches!(target.text.as_str(), "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin")
}
