//! Whether a prompt is plainly about the household, where any other work can be asked for as well.
//!
//! [`classify`] assumes that a request is meant for the household, so "move the event loop into its own thread" is an
//! appointment to it. Here the opposite is assumed, and everything must speak for the household: a clear intent, words that name the
//! user's own mail, calendar or notes or a person that the household knows, no word of software work, and the form of a short sentence.
//! In doubt the answer is no.

use household::Household;
use household::time::words::{Word, fold, words};

use crate::intent::{Classification, Context, Intent, classify};
use crate::lexicon::{Concept, lexicon};

/// A longer prompt is a task with material.
const MOST_CHARS: usize = 300;
/// The least margin of the intent, in points: twice what is enough in a household.
const MARGIN: f64 = 1.5;

/// Marks of code, paths and commands.
const MARKS: [char; 14] = ['`', '{', '}', '[', ']', '(', ')', '<', '>', '=', ';', '_', '/', '\\'];

/// The user's own: "my", "I", in six languages. This and the lists below are in lower case and without accents.
const OWN: &str = "\
    i im my me mine ich mein meine meinem meinen meiner meines mir mich je j mon ma mes moi ai suis yo mi mis \
    tengo estoy io mio mia miei mie ho ik mijn mij";

/// Mail, and nothing that programs call so: no "messages", no "threads".
const MAIL: &str = "\
    mail mails email emails inbox mailbox posteingang postfach courriel courriels courrier courriers correo \
    correos posta postvak";

/// Appointments and where they are.
const CALENDAR: &str = "\
    calendar agenda diary appointment appointments meeting meetings kalender termin termine terminen besprechung \
    besprechungen calendrier rendez reunion reunions calendario cita citas reuniones appuntamento appuntamenti \
    riunione riunioni afspraak afspraken vergadering";

/// The owner's notes.
const NOTES: &str = "notes notizen aufzeichnungen apuntes notas appunti notities aantekeningen";

/// Words of work on software and files, in any of the languages: one is enough for a no.
const SOFTWARE: &str = "\
    allocator api app application apps architecture argument array async auth benchmark bot branch branches browser bug \
    bugs build builds button cache changelog ci class classes cli code codebase column command commands commit \
    commits compile compiler component components config configuration cpu crash crate cron css csv database debug \
    dependencies dependency deploy deployment diff directory disk docker docs documentation endpoint enum error \
    errors exception feature field file files fix fixme fixture fixtures flow folder folders form function \
    functions git gpu handler html http imap implement implementation import interface java javascript job json \
    kubernetes library lint log logging logs loop mailer memory merge method migrate migration module modules \
    optimise optimize package parse parser parses parsing patch path performance pipeline plugin port ports postgres pr \
    process program protocol pull python query queue react readme rebase refactor refactoring regex release repo \
    repository request rest rust schema script scripts server service shell smtp space sql sqlite src stack string \
    struct suite syntax table template templates terminal test tests thesis todo todos token toml trait type \
    types typescript unit user users validate validates validation validator variable version webhook website \
    widget worker workspace xml yaml anwendung datei dateien datenbank fehler funktion funktionen implementiere \
    klasse komponente modul ordner programm quelltext schnittstelle skript verzeichnis vorlage bogue classe \
    composant corrige dossier dossiers erreur fichier fichiers fonction implemente logiciel archivo archivos \
    carpeta clase codigo funcion modulo prueba pruebas cartella codice errore funzione bestand bestanden fout \
    functie";

/// A question how something is done wants an explanation, and nothing looked up.
const HOW_TO: [[&str; 2]; 8] = [
    ["how", "do"],
    ["how", "to"],
    ["how", "can"],
    ["how", "does"],
    ["how", "would"],
    ["wie", "kann"],
    ["comment", "faire"],
    ["como", "puedo"],
];

/// Whether a prompt is plainly about the user's mail, calendar, notes or people. In doubt it is not.
pub fn is_household_request(text: &str, context: &Context) -> bool {
    let text = text.trim();
    let has_form = text.chars().count() <= MOST_CHARS && !text.contains('\n') && !text.contains(MARKS);
    if !has_form {
        return false;
    }
    let words = words(text);
    if says(&words, SOFTWARE) || asks_how(&words) {
        return false;
    }
    let meant = classify(text, context);
    if meant.intents.is_empty() || meant.question.is_some() || meant.margin < MARGIN {
        return false;
    }
    Evidence { words: &words, meant: &meant, context }.is_there()
}

/// What a request with a clear intent says besides.
struct Evidence<'a> {
    words: &'a [Word],
    meant: &'a Classification,
    context: &'a Context,
}

impl Evidence<'_> {
    fn is_there(&self) -> bool {
        let (own, mail) = (says(self.words, OWN), says(self.words, MAIL));
        let is_timed = !self.meant.times.said.is_empty();
        let names_a_person = self.names_a_known_person() || !self.meant.entities.addresses.is_empty();
        let is_pressing = self.has(&[Concept::Urgent, Concept::Unread]);
        let is_about_free_time = self.has(&[Concept::Free, Concept::Busy, Concept::Day]);
        self.meant.intents.iter().any(|meant| match meant.intent {
            Intent::Triage => (mail && (own || is_pressing)) || names_a_person,
            Intent::Schedule => {
                (own && says(self.words, CALENDAR)) || (is_timed && ((own && is_about_free_time) || names_a_person))
            }
            Intent::Draft => names_a_person || (own && mail),
            Intent::Search => {
                (own && says(self.words, NOTES))
                    || (self.has(&[Concept::Person]) && (names_a_person || self.names_a_relation()))
            }
            // What the user likes may be about anything.
            Intent::Learn => false,
        })
    }

    fn names_a_known_person(&self) -> bool {
        let known = |name: &String| {
            let name = fold(name);
            self.context.people.iter().any(|person| format!(" {} ", fold(person)).contains(&format!(" {name} ")))
        };
        self.meant.entities.people.iter().any(known)
    }

    /// "My landlord": a person that the user calls their own.
    fn names_a_relation(&self) -> bool {
        let people = &self.meant.entities.people;
        says(self.words, OWN) && people.iter().any(|person| Household::is_relation(&fold(person)))
    }

    fn has(&self, concepts: &[Concept]) -> bool {
        lexicon().hits(self.words).iter().any(|hit| concepts.contains(&hit.concept))
    }
}

/// Whether one of the words is among these.
fn says(words: &[Word], among: &str) -> bool {
    words.iter().any(|word| among.split_whitespace().any(|known| known == word.folded))
}

fn asks_how(words: &[Word]) -> bool {
    words.windows(2).any(|pair| HOW_TO.iter().any(|how| pair.iter().zip(how).all(|(word, how)| word.folded == **how)))
}

#[cfg(test)]
mod tests {
    use jiff::Zoned;

    use super::*;

    fn context() -> Context {
        let now: Zoned = "2026-01-15T11:00+01:00[Europe/Berlin]".parse().expect("a time");
        let people = ["Sarah Chen", "Dana Fields", "Emma Morgan", "Paul Nguyen", "Lena Vogt"].map(str::to_owned);
        Context::new(now, people.to_vec())
    }

    fn prompts(kind: &str) -> Vec<String> {
        let gold = include_str!("../../household/gold/routes.toml").parse::<toml::Table>().expect("the gold set");
        let prompts = gold[kind].as_array().expect("a list");
        prompts.iter().map(|prompt| prompt.as_str().expect("a prompt").to_owned()).collect()
    }

    #[test]
    fn a_prompt_that_is_plainly_about_the_household_is_recognised() {
        let missed: Vec<String> =
            prompts("butler").into_iter().filter(|prompt| !is_household_request(prompt, &context())).collect();
        assert!(missed.is_empty(), "{missed:#?}");
    }

    #[test]
    fn no_other_prompt_is_taken_for_one_about_the_household() {
        let taken: Vec<String> =
            prompts("general").into_iter().filter(|prompt| is_household_request(prompt, &context())).collect();
        assert!(taken.is_empty(), "{taken:#?}");
    }

    #[test]
    fn a_prompt_with_material_is_a_task() {
        assert!(is_household_request("Summarise my unread mail", &context()));
        assert!(!is_household_request("Summarise my unread mail\nFrom: a@b.example", &context()));
        assert!(!is_household_request(&format!("Summarise my unread mail {}", "please ".repeat(50)), &context()));
    }

    #[test]
    fn a_name_counts_only_if_the_household_knows_it() {
        assert!(is_household_request("Tell Emma that I will be late", &context()));
        assert!(!is_household_request("Tell Emma that I will be late", &Context { people: Vec::new(), ..context() }));
    }
}
