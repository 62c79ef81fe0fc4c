//! Texts that nobody thought of: whatever is put behind a command that looks takes the verdict away, and no text breaks
//! the reader.

use agent::tools::{Reach, Risk};
use proptest::prelude::*;
use shell::assess;

const LOOKS: &str = include_str!("looks.txt");

fn looking() -> impl Strategy<Value = &'static str> {
    let lines: Vec<&str> = LOOKS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    prop::sample::select(lines)
}

fn joint() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        ";", "&&", "||", "|", "&", "\n", " ; ", " && ", " || ", " | ", " & ", "|&", ";\n", "\n\n", " &&\n",
    ])
}

/// What fuzzing has kept (see `xtask/src/corpus.rs`). A leading `#` means that the input is the text of a command.
#[test]
fn every_command_that_fuzzing_kept_is_read() {
    let pack = include_str!("../corpus/shell.jsonl");
    let mut commands = 0;
    for line in pack.lines() {
        let value: serde_json::Value = serde_json::from_str(line).expect("a line is JSON");
        let input = value["input"].as_str().expect("an input");
        let bytes: Vec<u8> = input.chars().map(|c| u8::try_from(c).expect("a character is one byte")).collect();
        let Some((b'#', text)) = bytes.split_first() else { continue };
        let command = String::from_utf8_lossy(text);
        assert!(!assess(&command).why.is_empty(), "{command}");
        commands += 1;
    }
    assert!(commands >= 15, "{commands} commands");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    // T29
    #[test]
    fn a_stranger_behind_a_looker_is_always_seen(
        looks in looking(), joint in joint(), stranger in "[a-z]{1,3}zq[a-z]{0,3}", space in " {0,2}",
    ) {
        for command in [
            format!("{looks}{joint}{space}{stranger}"),
            format!("{stranger}{joint}{space}{looks}"),
            format!("{looks} $({stranger})"),
            format!("{looks} \"`{stranger}`\""),
            format!("{looks} <({stranger})"),
        ] {
            prop_assert_ne!(assess(&command).reach, Reach::ReadOnly, "{}", command);
        }
    }

    // T29, T30
    #[test]
    fn a_file_behind_a_looker_is_always_seen(
        looks in looking(),
        arrow in prop::sample::select(vec![">", ">>", ">|", "&>", "<>", "2>", "&>>", ">&"]),
        space in " {0,2}",
    ) {
        let command = format!("{looks} {arrow}{space}stolen");
        prop_assert_ne!(assess(&command).reach, Reach::ReadOnly, "{}", command);
        prop_assert!(!assess(&command).is_plain, "{}", command);
    }

    // T31
    #[test]
    fn no_text_breaks_the_reader(text in any::<String>()) {
        let seen = assess(&text);
        prop_assert!(!seen.why.is_empty());
    }

    // T31
    #[test]
    fn no_text_made_of_the_shells_own_signs_breaks_the_reader(
        pieces in prop::collection::vec(prop::sample::select(SIGNS.to_vec()), 0..60),
    ) {
        let text = pieces.concat();
        let seen = assess(&text);
        prop_assert!(seen.reach != Reach::ReadOnly || seen.risk == Risk::Low, "{}", text);
    }
}

// T31: without its limit the parser tries two readings of each pair, and does not come to an end.
#[test]
fn brackets_that_the_parser_would_read_in_two_ways_each_are_refused() {
    let nested =
        ["(", "( ", "case x in *) ", "a | ( ", "x=$( "].map(|opening| format!("cat | {} x", opening.repeat(42)));
    for command in nested.into_iter().chain([format!("{}ls{}", "(".repeat(60), ")".repeat(60))]) {
        let seen = assess(&command);
        assert!(!seen.is_plain && seen.reach != Reach::ReadOnly, "{command}");
    }
}

// T31
#[test]
fn a_document_that_the_parser_would_read_for_ever_is_refused() {
    let in_sum =
        "bash -c $((bash -c x[$(touch made)]bash -c system(\"touch made\")print > \"made\"    <<     declare tar ";
    for command in [
        "$(<< ;$(",
        "<<$( &o ",
        "$(<(>${x:-$(*<< ;;((;;))@P}#;# ]];$(&&",
        in_sum,
        "$( \")\" << a b",
        "a \\<<<$(   }\\<<<-C ",
        "sed <<-''  2>rm ",
        "a.tx\n\n\n\n\n\n<<-Ae$(   }<-5 ",
        "cat <\\\n<E$( ",
        "x[1<<E]=5\ntouch made\nE\n",
        "cat <<E\na\\\nE\nls '\nE\ntouch made\n#'",
        "cat <<E\nE)\ntouch made\nE\n",
    ] {
        let seen = assess(command);
        assert!(!seen.is_plain && seen.reach != Reach::ReadOnly, "{command}");
    }
    let seen = assess(&format!("ls {}>>x", "3".repeat(40)));
    assert!(!seen.is_plain && seen.reach != Reach::ReadOnly, "no shell has so many files open");
    let seen = assess("x=$(pwd); cat > notes <<END\nhello\nEND\n");
    assert!(!seen.parts.is_empty(), "a document after a substitution that is over is read: {}", seen.why);
}

// T31: the document of a commit message, as agents write it, is read.
#[test]
fn a_document_in_a_substitution_that_ends_on_a_line_of_its_own_is_read() {
    let seen = assess("git commit -m \"$(cat <<'EOF'\nTopic: it's done (1 << 2)\n\nWhy \"so\"\nEOF\n)\"");
    assert!(seen.acts.iter().any(|act| act.starts_with("git commit")), "{}", seen.why);
    let seen = assess("cat <<A <<'B' | sort\nx\nA\n$(touch made)\nB\nls '<<' \"<<E\"\n");
    assert_eq!(seen.reach, Reach::ReadOnly, "{}", seen.why);
    let seen = assess("cat <<A\n$(touch made)\nA\n");
    assert_ne!(seen.reach, Reach::ReadOnly, "what a document computes is not known");
}

const SIGNS: [&str; 56] = [
    "(",
    ")",
    "((",
    "))",
    "{",
    "}",
    "[",
    "]",
    "[[ ",
    " ]]",
    "$",
    "${",
    "$(",
    "$((",
    "`",
    "\"",
    "'",
    "\\",
    "\n",
    " ",
    ";",
    ";;",
    "&",
    "&&",
    "|",
    "||",
    "<",
    ">",
    "<<",
    "<<<",
    "<(",
    ">(",
    "<<E\n",
    "\nE\n",
    "#",
    "!",
    "~",
    "*",
    "?",
    "=",
    "+=",
    "if ",
    "then ",
    "fi",
    "for x in ",
    "do ",
    "done",
    "case ",
    "esac",
    "a",
    "ls ",
    "{1..9}",
    "{a,b}",
    "${x:-",
    "@P}",
    "9999999999",
];

#[test]
fn nesting_without_end_is_refused_before_it_is_read() {
    // T31
    let brackets = [
        "(",
        "{ ",
        "[",
        "$(",
        "${a:-",
        "`",
        "((",
        "\"$(",
        "<(",
        "if ",
        "while ",
        "case a in a) ",
        "! ",
        "[[ ! ",
        "f() { ",
        "a=(",
        "{a,",
        "$((",
        "\\",
    ];
    for bracket in brackets {
        for length in [100, 1_000, 16_000, 100_000] {
            let open = bracket.repeat(length / bracket.len());
            // As arguments some of them are text, and it is enough that they are judged.
            assert!(!assess(&format!("ls {open}")).why.is_empty());
            assert_ne!(assess(&format!("{open}zzq")).reach, Reach::ReadOnly, "{bracket:?} × {length}");
        }
    }
}

#[test]
fn as_deep_as_is_read_the_stack_of_a_thread_is_enough() {
    // T31: the limit on nesting holds for a thread with half of the usual stack.
    let forms = [
        ("(", ")"),
        ("( ", " )"),
        ("{ ", "; }"),
        ("echo $(", ")"),
        ("echo \"$(", ")\""),
        ("echo \"a $(", ")\""),
        ("echo \"a ${b:-", "}\""),
        ("echo \"a $((", "))\""),
        ("echo $(( ", " ))"),
        ("echo ${a:-", "}"),
        ("if ", "; then ls; fi"),
        ("while ", "; do ls; done"),
        ("case a in a) ", ";; esac"),
        ("f() { ", "; }"),
        ("cat <(", ")"),
        ("! ", ""),
        ("echo $((", "))"),
        ("[[ ! ", " ]]"),
        ("ls | ", ""),
        ("ls && ", ""),
        ("time ", ""),
    ];
    let read = move || {
        for (open, close) in forms {
            for depth in [4, 7, 14, 60] {
                let command = format!("{}zzq{}", open.repeat(depth), close.repeat(depth));
                assert_ne!(assess(&command).reach, Reach::ReadOnly, "{open:?} × {depth}");
            }
        }
    };
    let thread = std::thread::Builder::new().stack_size(1024 * 1024).spawn(read).expect("a thread can be started");
    thread.join().expect("nothing breaks");
}
