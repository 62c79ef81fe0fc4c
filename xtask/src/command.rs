//! The commands of `cargo xtask`.

/// Printed for a command that does not exist.
pub(crate) const HELP: &str = "\
cargo xtask test            everything that must hold: format, lints, docs, tests
cargo xtask test --with-servers  only the tests against servers of other makers, which it installs with Python (not part of test)
cargo xtask lint            format, lints, docs
cargo xtask story-update    rewrite stories and golden files, then show what changed
cargo xtask sim --seeds N   run the simulation with N seeds
cargo xtask eval            how often the household's rules are right, compared with what is promised
cargo xtask eval --held     the same, naming also the wrong held-back cases, for which no rule may be changed
cargo xtask eval --show development [WORD]  only development conversations (with this word in their name), showing those that did not go right
cargo xtask bench           what the runtime costs, compared with the same work without it (many minutes)
cargo xtask bench --quick   the same without the largest cases
cargo xtask bench --only NAME[,NAME]  only these figures (docs/benchmarks.md has the names); --quick can be added
cargo xtask storm           every generated attack on the permission layer, and a thousand tasks under workers that are killed (an hour or more)
cargo xtask oracle          read the recorded answers of providers with rig, another library, and write down what it reads (after a recording was added or changed)
cargo xtask fuzz            random bytes against the decoders and the analysis of commands, a minute each
cargo xtask fuzz --seconds N  the same for N seconds each
cargo xtask fuzz-add TARGET FILE  add a file to the inputs that fuzzing of a target begins with
";

/// A command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Everything that must hold.
    Test,
    /// The tests against servers of other makers, which are no part of that.
    TestServers,
    /// All of that but the tests.
    Lint,
    /// Rewrite what tests compare with.
    StoryUpdate,
    /// The simulation.
    Sim {
        /// How many seeds.
        seeds: u64,
    },
    /// The gold sets.
    Eval {
        /// Whether wrong held-back cases are named, too.
        held: bool,
        /// A part of the names of development conversations: those are run alone, and shown if they did not go right. Held-back ones are
        /// never shown.
        show: Option<String>,
    },
    /// The benchmarks.
    Bench {
        /// Whether the largest cases are left out.
        quick: bool,
        /// The names of the figures, separated by commas; all where none are named. The benchmark checks them.
        only: Option<String>,
    },
    /// Every generated attack.
    Storm,
    /// What another library reads in the recorded answers of providers.
    Oracle,
    /// The decoders and the analysis of commands against any bytes.
    Fuzz {
        /// How long for each of them.
        seconds: u64,
    },
    /// One more input for the corpus of a target.
    FuzzAdd {
        /// What is fuzzed.
        target: String,
        /// The file that holds the input.
        file: String,
    },
}

impl Command {
    /// Reads the arguments, or says what is wrong with them in a line of its own; without arguments the line is empty.
    pub(crate) fn parse(args: impl Iterator<Item = String>) -> Result<Self, String> {
        let args: Vec<String> = args.collect();
        let words: Vec<&str> = args.iter().map(String::as_str).collect();
        match words[..] {
            ["test"] => Ok(Self::Test),
            ["test", "--with-servers"] => Ok(Self::TestServers),
            ["lint"] => Ok(Self::Lint),
            ["story-update"] => Ok(Self::StoryUpdate),
            ["sim", "--seeds", seeds] => Ok(Self::Sim { seeds: at_least_one("--seeds", seeds)? }),
            ["eval"] => Ok(Self::Eval { held: false, show: None }),
            ["eval", "--held"] => Ok(Self::Eval { held: true, show: None }),
            ["eval", "--show", "development"] => Ok(Self::Eval { held: false, show: Some(String::new()) }),
            ["eval", "--show", "development", word] => Ok(Self::Eval { held: false, show: Some(word.to_owned()) }),
            ["bench", ref flags @ ..] => bench(flags),
            ["storm"] => Ok(Self::Storm),
            ["oracle"] => Ok(Self::Oracle),
            ["fuzz"] => Ok(Self::Fuzz { seconds: 60 }),
            ["fuzz", "--seconds", seconds] => Ok(Self::Fuzz { seconds: at_least_one("--seconds", seconds)? }),
            ["fuzz-add", target, file] => Ok(Self::FuzzAdd { target: target.to_owned(), file: file.to_owned() }),
            [] => Err(String::new()),
            _ => Err(format!("there is no command '{}'\n\n", words.join(" "))),
        }
    }

    /// Whether it needs more than Rust itself.
    pub(crate) fn needs_tools(&self) -> bool {
        !matches!(self, Self::Lint | Self::Bench { .. } | Self::Oracle | Self::Fuzz { .. } | Self::FuzzAdd { .. })
    }
}

fn bench(flags: &[&str]) -> Result<Command, String> {
    let (mut quick, mut only) = (false, None);
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        match *flag {
            "--quick" => quick = true,
            "--only" => match flags.next() {
                Some(names) if !names.starts_with('-') => only = Some((*names).to_owned()),
                _ => return Err("--only expects names of figures, separated by commas\n\n".to_owned()),
            },
            other => return Err(format!("bench has no flag '{other}'\n\n")),
        }
    }
    Ok(Command::Bench { quick, only })
}

fn at_least_one(flag: &str, number: &str) -> Result<u64, String> {
    match number.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!("{flag} expects a whole number of at least 1, not {number}\n\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Command, String> {
        Command::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn every_command_of_the_help_is_one() {
        for line in HELP.lines() {
            let words = line.strip_prefix("cargo xtask ").expect("a command");
            let command = words.split("  ").next().expect("a command").replace(" N", " 7").replace(" [WORD]", "");
            assert!(parse(&command).is_ok(), "{command}");
        }
        assert_eq!(parse("sim --seeds 7"), Ok(Command::Sim { seeds: 7 }));
        assert_eq!(parse("fuzz --seconds 7"), Ok(Command::Fuzz { seconds: 7 }));
        let mail = Some("mail".to_owned());
        assert_eq!(parse("eval --show development mail"), Ok(Command::Eval { held: false, show: mail }));
        let only = Some("cpu,start".to_owned());
        assert_eq!(parse("bench --only cpu,start --quick"), Ok(Command::Bench { quick: true, only }));
    }

    #[test]
    fn anything_else_is_wrong_and_nothing_is_only_a_wish_for_help() {
        assert_eq!(parse(""), Err(String::new()));
        for line in [
            "tests",
            "test --fast",
            "sim",
            "sim --seeds 0",
            "sim --seeds many",
            "fuzz --seconds 0",
            "fuzz sse",
            "eval --show held_back",
        ]
        .into_iter()
        .chain(["bench --only", "bench --only --quick", "bench cpu"])
        {
            assert!(parse(line).expect_err("wrong").ends_with("\n\n"), "{line}");
        }
    }
}
