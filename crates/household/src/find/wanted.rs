//! What kind of thing a question asks for, told by its words in three languages, and whether a sentence holds such a thing.

use crate::passages::words_of;
use crate::text::fold;

/// The kind of thing that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// When: a day or an hour.
    Time,
    /// How much: a sum of money.
    Sum,
    /// How many, how long, how big, which number.
    Number,
    /// How long something takes.
    Span,
    /// A number to call.
    Phone,
    /// How old a person or a thing is, or when a person was born.
    Age,
    /// Who: a person.
    Person,
    /// What something is known by: a number of a policy, a code, a password.
    Code,
    Anything,
}

/// Words of a question that ask, besides those that stand in every sentence. They are not looked for.
const ASKING: &str = " actually again also already exactly eigentlich nochmal genau mal bitte please hey hi hello hallo bonjour salut \
    know knew remember remind recall weiss weisst erinnere sais savoir rappelle tell give gimme need want wanna would could \
    much many long big far often viel viele lange gross oft combien much wieviel wie quel quelle quels quelles quoi quand ou comment \
    when where who whom whose which why how wann wo wer wem wen welche welcher welches warum \
    thing things something anything everything nothing etwas nichts alles rien quelque chose \
    say says said tell told mention mentioned steht sagt gesagt dit dire \
    got get gets getting going go goes went gone come comes came supposed should must may might shall will \
    minuten stunde stunden heure heures \
    time date day today now currently there here still yet ever just really quite some any more most \
    year years week weeks month months hour hours minute minutes \
    ist sind war hat habe habt haben soll muss kann wird werden wurde est sont ete avait avons avez peut doit faut \
    think thought believe guess glaube denke crois pense mine ours meins kind sort way lot bit whats wheres whos hows d ll s re ve m j l n c qu t y ne pas point va vais vas \
    our ours mine yours dein deine deinen euer ihr ihre ihren ton ta tes nos vos leur leurs \
    look looks looking check checking find search show list see \
    note noted wrote next nachste nachster nachsten prochain prochaine mutch hot heiss hoch lang amount betrag montant long far weit alt old come comes came coming kommt kommen kommst kam gehort gehen geht gibt faut falloir commence \
    commencer coutera couterait cost happen happens happened begin begins start starts starten beginnt fangt arrive lot together altogether \
    alltogether ensemble insgesamt zusammen total place put kept keep liegt lie lies stehen called heisst name named appelle name again \
    demande elle il on nous wir uns us them they he she him her their his hat habt gerade moment currently exactement \
    mail mails email emails message messages note notes calendar kalender agenda courriel courriels notiz notizen nachricht nachrichten ";

/// Whether a folded word only asks.
pub(super) fn asks(word: &str) -> bool {
    ASKING.contains(&format!(" {word} "))
}

/// Whether a folded word says what kind of number is asked for.
pub(super) fn names_kind(word: &str) -> bool {
    " number nummer numero code codes size sizes grosse taille reference amount sum price preis prix "
        .contains(&format!(" {word} "))
}

/// Whether a question asks what a person wrote, said, asked or wants.
pub(super) fn asks_for_author(question: &str) -> bool {
    const VERBS: &str = " wrote write writes written say says said tell told ask asks asked want wants wanted need needs propose proposes proposed \
        mention mentioned schrieb schreibt geschrieben sagt sagte gesagt fragt fragte gefragt will wollte braucht schlagt vorgeschlagen ecrit dit \
        demande demandait veut voulait propose ";
    words_of(question).iter().any(|word| VERBS.contains(&format!(" {word} ")))
}

/// Whether a question asks who wrote, asks or wants something.
pub(super) fn asks_who_wrote(question: &str) -> bool {
    let words = words_of(question);
    matches!(words.first().map(String::as_str), Some("who" | "wer" | "qui"))
        && asks_for_author(question)
        && !words.iter().any(|word| ["i", "ich", "je", "j"].contains(&word.as_str()))
}

impl Wanted {
    /// The kinds of things that a question asks for; none where it may be anything.
    pub fn all(question: &str) -> Vec<Self> {
        let words = words_of(question);
        let has = |list: &str| words.iter().any(|word| list.split(' ').any(|one| one == word));
        let asks = |first: &str, second: &str| {
            words
                .windows(2)
                .any(|pair| first.split(' ').any(|one| one == pair[0]) && second.split(' ').any(|one| one == pair[1]))
        };
        let mut all = Vec::new();
        let is_phone = has("phone telephone tel telefon telefonnummer handynummer handy mobile telephonenumber");
        let mut add = |is_asked: bool, wanted: Self| all.extend(is_asked.then_some(wanted));
        add(is_phone, Self::Phone);
        let is_code = asks_for_code(&words) && !is_phone;
        add(is_code, Self::Code);
        let is_age = asks("how wie", "old alt") || asks("quel", "age") || has("birthday geburtstag anniversaire bday");
        add(is_age, Self::Age);
        add(asks_who(&words), Self::Person);
        // One number is asked for, and no other kind of number answers.
        if is_phone || is_code || is_age {
            return all;
        }
        // "How much is the rent?" asks for a sum, "how much sugar" for a number.
        let is_price = words.windows(3).any(|three| {
            ["much", "viel"].contains(&three[1].as_str())
                && ["is", "are", "was", "were", "do", "does", "did", "will", "ist", "sind", "war"]
                    .contains(&three[2].as_str())
        });
        let is_sum = is_price
            || has(
                "owe owed amount betrag montant schulde schulden dois cost costs price kostet kosten preis coute prix rate rates fee tarif satz \
                 honorar charge charged factured facture verlangt",
            )
            || asks("wie", "hoch")
            || has("pay payer bezahlen zahlen") && has("much what wieviel viel was combien");
        add(is_sum, Self::Sum);
        add(
            has(
                "next nachste nachster nachsten prochain prochaine deadline frist due until bis echeance birthday geburtstag \
                 anniversaire till date jusqu",
            ) || asks_when(&words)
                || asks("what which wie quelle um", "time day date spat heure jour uhr datum")
                || asks("at um a", "what wieviel quelle")
                || asks("how wie", "late spat"),
            Self::Time,
        );
        add(
            asks("how wie combien de", "long lang lange temps soon schnell bald quickly fast")
                || has("duration dauer dauert duree dure minutes minuten hours stunden"),
            Self::Span,
        );
        add(
            !is_sum
                && (asks(
                    "how wie",
                    "many much viel long big far often viele lange gross weit oft hot heiss tall thick",
                ) || has("wieviel combien size grosse taille number nummer numero")),
            Self::Number,
        );
        all
    }

    /// Whether a word of the question only names the kind of thing that is asked for.
    pub fn is_named_by(self, word: &str) -> bool {
        self == Self::Phone
            && [
                "phone",
                "telephone",
                "number",
                "numbers",
                "tel",
                "telefon",
                "telefonnummer",
                "nummer",
                "handynummer",
                "handy",
                "mobile",
                "cell",
                "numero",
            ]
            .contains(&word)
    }

    /// Whether a sentence holds it.
    pub fn is_in(self, sentence: &str, is_dated: bool) -> bool {
        let digits = sentence.chars().filter(char::is_ascii_digit).count();
        match self {
            Self::Anything => true,
            Self::Time => is_dated || has_time(sentence),
            Self::Sum => digits > 0 && has_sum(sentence),
            Self::Number => {
                digits > 0 || words_of(sentence).iter().any(|word| NUMBER_WORDS.contains(&format!(" {word} ")))
            }
            // An event says when it begins and ends.
            Self::Span => is_dated || has_span(sentence),
            Self::Phone => digits >= 6 && longest_number(sentence) >= 6,
            Self::Code => has_code(sentence),
            Self::Age => has_age(sentence, is_dated),
            // Whether it names one is seen where people are known.
            Self::Person => false,
        }
    }
}

/// Whether a question asks who: at its beginning, or behind a word that joins.
fn asks_who(words: &[String]) -> bool {
    let is_who =
        |word: &String| ["who", "whose", "whom", "wer", "wem", "wen", "wessen", "qui"].contains(&word.as_str());
    let joins = |word: &String| ["and", "und", "et", "with", "mit", "avec", "to", "a", "an"].contains(&word.as_str());
    words.iter().enumerate().any(|(at, word)| is_who(word) && (at == 0 || joins(&words[at - 1])))
}

/// Whether a sentence says how old, or when born.
fn has_age(sentence: &str, is_dated: bool) -> bool {
    const AGES: &str = " born birthday turns turn turned age aged years old geboren geburtstag wird jahre alt ne nee anniversaire ans age bday ";
    let words = words_of(sentence);
    let has_number = sentence.chars().any(|letter| letter.is_ascii_digit());
    let says = words.iter().any(|word| AGES.contains(&format!(" {word} ")));
    // A card says a birthday as a date alone.
    let is_bare_date = is_dated && words.iter().all(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
    says && (has_number || is_dated) || is_bare_date
}

/// The unit behind "per": what something costs, or how often it happens, in an hour, a day or a month.
pub(super) fn unit(text: &str) -> Option<usize> {
    const UNITS: [&str; 5] = [
        " hour hours stunde stunden heure h hourly ",
        " day days tag tage jour daily ",
        " week weeks woche wochen semaine weekly ",
        " month months monat monate mois monthly ",
        " year years jahr jahre an annee yearly annual ",
    ];
    const PER: &str = " per pro par a an je each every jede jeden jedes im ";
    let words = words_of(text);
    words.windows(2).find_map(|pair| {
        let unit = UNITS.iter().position(|unit| unit.contains(&format!(" {} ", pair[1])))?;
        PER.contains(&format!(" {} ", pair[0])).then_some(unit)
    })
}

/// Whether a sentence holds what may be a sum without its currency: three digits or more, or a fraction, that are no year, hour, day or telephone number.
pub(super) fn has_bare_sum(sentence: &str) -> bool {
    let is_sum = |word: &str| {
        let word = word.trim_matches(|letter: char| !letter.is_ascii_digit());
        let digits = word.chars().filter(char::is_ascii_digit).count();
        let is_plain = word.chars().all(|letter| letter.is_ascii_digit() || matches!(letter, '.' | ',' | '\''));
        let is_year = digits == 4 && word.len() == 4 && word.starts_with("20");
        is_plain && digits >= 3 && !is_year && word.matches('.').count() < 2
    };
    let whole = |word: &str| word.chars().filter(|letter| letter.is_alphabetic()).count() == 0;
    longest_number(sentence) < 7 && sentence.split_whitespace().any(|word| whole(word) && is_sum(word))
}

/// Words for what something is known or opened by.
const CODES: &str = " code codes password passwords passwort kennwort passe mdp pin iban bic plate kennzeichen plaque serial chip booking buchung reservation \
    reservierung policy police licence license passport reisepass passeport ";

/// Whether a question asks for a number by which something is known, or a code or a password: "passport number", "number of the policy", "door code".
fn asks_for_code(words: &[String]) -> bool {
    const SECRETS: &str = " code password passwort kennwort passe mdp pin iban ";
    const NUMBERS: &str = " number nummer numero no nr reference referenz ";
    const LINKS: &str = " of of the for my our der des von vom meiner meines de du la ma mon notre l d ";
    let is_in = |list: &str, word: &String| list.contains(&format!(" {word} "));
    let beside = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        let behind = words[at + 1..].iter().find(|word| !is_in(LINKS, word));
        before.into_iter().chain(behind).any(|word| is_in(CODES, word))
    };
    words.iter().enumerate().any(|(at, word)| {
        is_in(SECRETS, word)
            || is_in(NUMBERS, word) && beside(at)
            || word.len() > 9 && word.ends_with("nummer") && !word.contains("telefon")
    })
}

/// Whether a sentence holds something that may be a code: a word with digits that is no small number, no year and no hour, or what a word for a
/// code announces.
fn has_code(sentence: &str) -> bool {
    let is_code = |word: &str| {
        let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        let digits = word.chars().filter(char::is_ascii_digit).count();
        digits >= 3 && !word.contains([':', '/']) && !(digits == 4 && word.len() == 4 && word.starts_with("20"))
            || digits > 0
                && word.chars().any(char::is_alphabetic)
                && digits + 1 < word.chars().count()
                && word.contains('-')
    };
    sentence.split_whitespace().any(is_code)
        || words_of(sentence).windows(2).any(|pair| CODES.contains(&format!(" {} ", pair[0])) && pair[1].len() > 2)
            && sentence.contains(':')
}

/// Whether "when" asks for a time: at the beginning, at the end, behind a word that joins, or before a verb. "I wrote it down when I moved" does not.
fn asks_when(words: &[String]) -> bool {
    const JOINS: &str = " and und et by since till until bis seit or but so tell know says also from von to ";
    const VERBS: &str = " is are was were am do does did will would can could should must have has had ist sind war waren kommt hat habe haben wird \
        werden muss kann soll darf geht fahrt beginnt findet est sont etait sera seront dois doit faut peut a ont commence arrive part rentre ";
    let has = |list: &str, at: Option<usize>| {
        at.and_then(|at| words.get(at)).is_some_and(|word| list.contains(&format!(" {word} ")))
    };
    words.iter().enumerate().any(|(at, word)| {
        let is_when = ["when", "wann", "quand"].contains(&word.as_str());
        is_when && (at <= 1 || at + 1 == words.len() || has(JOINS, at.checked_sub(1)) || has(VERBS, Some(at + 1)))
    })
}

/// Small numbers in words.
const NUMBER_WORDS: &str = " two three four five six seven eight nine ten twelve half twice once zwei drei vier funf sechs sieben acht neun zehn \
    zwolf halbe dritter zweiter erster deux trois quatre cinq sept huit neuf dix douze quarante trente vingt demi third second first fourth ";

/// Whether a sentence says how long: a unit of time in it, beside a number.
fn has_span(sentence: &str) -> bool {
    const UNITS: &str = " min mins minute minutes minuten h hr hrs hour hours stunde stunden heure heures day days tag tage tagen jour jours week \
        weeks woche wochen semaine semaines month months monat monate monaten mois year years jahr jahre ans annees ";
    let words = words_of(sentence);
    let is_number =
        |word: &String| word.bytes().all(|byte| byte.is_ascii_digit()) || NUMBER_WORDS.contains(&format!(" {word} "));
    words.windows(2).any(|pair| is_number(&pair[0]) && UNITS.contains(&format!(" {} ", pair[1])))
        || words.iter().any(|word| word.ends_with("min") && word.starts_with(|first: char| first.is_ascii_digit()))
        || words.windows(3).any(|three| is_number(&three[0]) && UNITS.contains(&format!(" {} ", three[2])))
}

/// Digits that stand together but for spaces and the marks of telephone numbers.
fn longest_number(sentence: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for character in sentence.chars() {
        match character {
            '0'..='9' => run += 1,
            ' ' | '-' | '/' | '(' | ')' | '+' => {}
            _ => run = 0,
        }
        longest = longest.max(run);
    }
    longest
}

fn has_sum(sentence: &str) -> bool {
    let folded = fold(sentence);
    let units = ["eur", "euro", "usd", "gbp", "chf", "pound", "dollar", "franc", "cent", "pfund"];
    sentence.contains(['€', '$', '£', '%'])
        || words_of(&folded).iter().any(|word| units.iter().any(|unit| word.starts_with(unit)))
}

fn has_time(sentence: &str) -> bool {
    const NAMES: &str = " january february march april may june july august september october november december januar februar marz mai \
        juni juli oktober dezember janvier fevrier mars avril juin juillet aout septembre octobre novembre decembre monday tuesday \
        wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag samstag sonntag lundi mardi mercredi \
        jeudi vendredi samedi dimanche mondays tuesdays wednesdays thursdays fridays saturdays sundays montags dienstags mittwochs \
        donnerstags freitags samstags sonntags tomorrow morgen demain today heute noon midnight uhr weekly daily monthly week month ";
    let has_digit = |word: &str| word.bytes().any(|byte| byte.is_ascii_digit());
    let words = words_of(sentence);
    words.iter().any(|word| NAMES.contains(&format!(" {word} ")))
        || sentence
            .split_whitespace()
            .any(|word| has_digit(word) && word.contains([':', '.', '-', '/']) || is_hour(word))
}

fn is_hour(word: &str) -> bool {
    let word = word.trim_matches([',', '.', ';', ')', '(']);
    ["am", "pm", "h"].iter().any(|ending| word.strip_suffix(ending).is_some_and(|hour| hour.parse::<u8>().is_ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_asks_for_a_kind_of_thing() {
        let asks = |question: &str, wanted: Wanted| Wanted::all(question).contains(&wanted);
        assert!(asks("what's my passport number", Wanted::Code) && asks("number of the policy", Wanted::Code));
        assert!(asks("phone number of Ben", Wanted::Phone) && !asks("phone number of Ben", Wanted::Number));
        assert!(asks("how much is my rent", Wanted::Sum) && !asks("how much sugar", Wanted::Sum));
        assert!(asks("how old is Rose", Wanted::Age) && asks("Wer kommt mit?", Wanted::Person));
        assert!(
            asks("how soon do they have to pay", Wanted::Span) && !asks("how soon do they have to pay", Wanted::Sum)
        );
    }

    #[test]
    fn a_sentence_holds_a_code_an_age_or_a_sum_or_not() {
        let holds = |wanted: Wanted, sentence: &str| wanted.is_in(sentence, false);
        assert!(holds(Wanted::Code, "Home: policy HB-20938.") && holds(Wanted::Code, "password marmotte-bleue-42"));
        assert!(
            !holds(Wanted::Code, "Passport, chargers, one book too many.") && !holds(Wanted::Code, "at 14:30 in 2026")
        );
        assert!(holds(Wanted::Age, "Mum turns 65 on 13 June.") && !holds(Wanted::Age, "the four of us plus Aunt Rose"));
        assert!(has_bare_sum("14,500 for the design") && !has_bare_sum("am 22. Januar zwischen 8 und 10 Uhr"));
        assert!(!has_bare_sum("+1 514 555 0174"));
        assert_eq!(
            (unit("how much per month"), unit("110 dollars per hour"), unit("one book")),
            (Some(3), Some(0), None)
        );
    }
}
