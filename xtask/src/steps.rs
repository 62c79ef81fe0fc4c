//! The steps of each command, as data.

use crate::command::Command;
use crate::corpus::FUZZED;
use crate::needs::{self, Npm};
use crate::skipped;
use crate::step::Step;

/// The steps of a command, in order.
pub(crate) fn of(command: &Command) -> Vec<Step> {
    match command {
        Command::Test => lint().into_iter().chain(test()).collect(),
        Command::TestServers => servers(needs::npm()),
        Command::Lint => lint(),
        Command::StoryUpdate => vec![
            cargo("stories", "nextest run --locked --package majordomo-testkit --test stories")
                .with("UPDATE_STORIES", "1"),
            cargo("golden files", "nextest run --locked --package majordomo-view --package majordomo-server")
                .with("UPDATE_GOLDEN", "1"),
            Step::new("what changed", "git", "diff --stat"),
        ],
        Command::Sim { seeds } => {
            let run = "nextest run --locked --package majordomo-testkit --test sim --no-capture";
            vec![cargo("simulation", run).with("SIM_SEEDS", &seeds.to_string())]
        }
        Command::Eval { held, show } => {
            let run = "nextest run --locked --package majordomo --test eval --no-capture --no-fail-fast";
            vec![match (show, held) {
                (Some(word), _) => cargo("development conversations", &format!("{run} conversations_with_the_butler"))
                    .with("EVAL_SHOW", word),
                (None, true) => cargo("gold sets", &format!("{run} as_is_promised")).with("EVAL_HELD", "1"),
                (None, false) => cargo("gold sets", &format!("{run} as_is_promised")),
            }]
        }
        Command::Bench { quick, only } => {
            let quick = if *quick { " --quick" } else { "" };
            let only = only.as_ref().map_or_else(String::new, |names| format!(" --only {names}"));
            let run = format!("run --locked --release --package majordomo-bench --{quick}{only}");
            vec![
                cargo("the program", "build --locked --release --package majordomo-cli --package majordomo-bench"),
                cargo("benchmarks", &run),
            ]
        }
        Command::Storm => {
            let run = "nextest run --locked --package majordomo-cli --test storm --no-fail-fast";
            let shared = "nextest run --locked --package majordomo-cli --test crash --test cluster --no-fail-fast -- \
                          on_postgres a_database_that_is_away";
            vec![cargo("attacks", run), cargo("faults of a shared database", shared)]
                .into_iter()
                .map(|step| step.with("STORM_EVERY", "1"))
                .collect()
        }
        Command::Oracle => vec![
            cargo("recorded answers", "run --locked --quiet --manifest-path oracle/Cargo.toml"),
            Step::new("what changed", "git", "diff --stat"),
        ],
        Command::Fuzz { seconds } => FUZZED.iter().flat_map(|(target, _)| fuzz(target, *seconds)).collect(),
        Command::FuzzAdd { .. } => Vec::new(),
    }
}

/// New inputs go to `fuzz/finds`; the unpacked corpus is only read. An input that breaks a property ends the step and is named.
fn fuzz(target: &str, seconds: u64) -> [Step; 2] {
    let place = format!("-p fuzz/finds/{target}");
    let is_wire = matches!(target, "anthropic" | "openai");
    let recorded = if is_wire { format!(" crates/provider/fixtures/{target}") } else { String::new() };
    let run = format!(
        "--config fuzz/config.toml run --locked --release --manifest-path fuzz/Cargo.toml --bin {target} -- \
         -max_total_time={seconds} -max_len=4096 -dict=fuzz/wires.dict -artifact_prefix=fuzz/finds/{target}- \
         fuzz/finds/{target} fuzz/seeds/{target}{recorded}"
    );
    [Step::new("place for finds", "mkdir", &place), cargo("fuzzing", &run)]
}

/// Servers of other makers go into a virtual environment below `target`. One of them is built there, with one processor and what nothing else
/// wants.
///
/// Without npm the one server that it installs is left out, and its test says that it was skipped.
fn servers(npm: Npm) -> Vec<Step> {
    let install = |name: &'static str, packages: &str| {
        Step::new(name, "nice", &format!("-n 19 {SERVERS}/bin/pip install --quiet {packages}"))
    };
    // One after another: each of them takes a minute to start, and has a limit for that.
    let run = "nextest run --locked --workspace --test servers --run-ignored only --no-fail-fast --test-threads 1";
    let run = cargo("tests against other servers", run)
        .with("MAJORDOMO_SERVERS", SERVERS)
        .with(skipped::VARIABLE, skipped::FILE);
    let (reference, run) = match npm {
        Npm::Here => {
            let install =
                format!("install --silent --prefix {SERVERS}/node @modelcontextprotocol/server-everything@2026.8.31");
            (Some(Step::new("MCP reference server", "npm", &install)), run)
        }
        Npm::Missing => (None, run.with("MAJORDOMO_WITHOUT_NPM", "1")),
    };
    let python = vec![
        Step::new("virtual environment", "python3", &format!("-m venv {SERVERS}")),
        install("LiteLLM", "litellm[proxy]==1.106.2"),
        install("llama-cpp-python", "gguf==0.19.0 llama-cpp-python[server]==0.3.36")
            .with("CMAKE_BUILD_PARALLEL_LEVEL", "1")
            .with("CMAKE_ARGS", QUICK_BUILD),
        install("MCP servers", "mcp-server-git==2026.10.19 mcp-server-time==2026.10.19 mcp-server-fetch==2026.10.24"),
        // In an environment of their own: the proxy wants another version of one of them.
        Step::new("environment of the libraries", "python3", &format!("-m venv {SERVERS}/libraries")),
        Step::new(
            "official libraries",
            "nice",
            &format!("-n 19 {SERVERS}/libraries/bin/pip install --quiet {LIBRARIES}"),
        ),
    ];
    python.into_iter().chain(reference).chain([run]).collect()
}

/// How llama.cpp is built: for a model of a few thousand numbers, so without what only makes it fast. This takes 8 minutes instead of an hour.
const QUICK_BUILD: &str = "-DCMAKE_C_FLAGS_RELEASE=-O1 -DCMAKE_CXX_FLAGS_RELEASE=-O0 -DLLAVA_BUILD=OFF -DMTMD_BUILD=OFF \
    -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_SERVER=OFF -DLLAMA_CURL=OFF \
    -DGGML_NATIVE=OFF -DGGML_OPENMP=OFF -DGGML_LLAMAFILE=OFF -DGGML_AVX=OFF -DGGML_AVX2=OFF -DGGML_BMI2=OFF -DGGML_FMA=OFF \
    -DGGML_F16C=OFF -DGGML_SSE42=OFF";

/// The libraries of model providers whose types of requests are compared with ours, in the versions from which those were written
/// (`crates/testkit/src/model_server/types`).
const LIBRARIES: &str = "anthropic==2.10.0 openai==3.51.0 google-genai==3.3.0";

/// The virtual environment, which no other command needs.
const SERVERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/servers");

fn lint() -> Vec<Step> {
    vec![
        cargo("format", "fmt --all --check"),
        cargo("lints", "clippy --locked --workspace --all-targets -- -D warnings"),
        // The binary carries the library's name, and its documentation would take the library's place.
        cargo("docs", "doc --locked --workspace --lib --no-deps").with("RUSTDOCFLAGS", "-D warnings"),
    ]
}

fn test() -> Vec<Step> {
    vec![
        cargo("tests", "nextest run --locked --workspace --no-fail-fast").with(skipped::VARIABLE, skipped::FILE),
        cargo("doc tests", "test --locked --workspace --doc"),
    ]
}

fn cargo(name: &'static str, args: &str) -> Step {
    Step::new(name, "cargo", args)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(command: &Command) -> Vec<String> {
        of(command).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_test_checks_format_lints_docs_tests_and_doc_tests_in_this_order() {
        let lines = lines(&Command::Test);
        let tools = ["cargo fmt", "cargo clippy", "cargo doc", "cargo nextest", "cargo test"];
        assert_eq!(lines.len(), tools.len());
        for (line, tool) in lines.iter().zip(tools) {
            assert!(line.contains(tool), "{line}");
        }
    }

    #[test]
    fn servers_of_other_makers_are_installed_below_target_and_their_tests_are_no_part_of_the_ordinary_ones() {
        let lines = lines(&Command::TestServers);
        assert!(lines.iter().all(|line| line.contains("/target/servers")), "{lines:?}");
        assert!(lines.last().expect("a step").contains("--run-ignored only"), "{lines:?}");
        assert!(self::lines(&Command::Test).iter().all(|line| !line.contains("ignored")));
        let shown = |npm| servers(npm).iter().map(ToString::to_string).collect::<Vec<_>>();
        let (with, without) = (shown(Npm::Here), shown(Npm::Missing));
        assert_eq!(with.len(), without.len() + 1);
        assert!(
            with.iter().any(|line| line.starts_with("npm install"))
                && !without.iter().any(|line| line.starts_with("npm"))
        );
        assert!(without.last().expect("a step").contains("MAJORDOMO_WITHOUT_NPM='1'"), "its test is told why");
    }

    #[test]
    fn nothing_is_built_with_other_versions_than_the_locked_ones() {
        let eval = Command::Eval { held: false, show: None };
        for command in [
            Command::Test,
            Command::TestServers,
            Command::StoryUpdate,
            eval,
            Command::Sim { seeds: 1 },
            Command::Oracle,
            Command::Fuzz { seconds: 1 },
        ] {
            for line in lines(&command).iter().filter(|line| line.contains("cargo ") && !line.contains("cargo fmt")) {
                assert!(line.contains(" --locked"), "{line}");
            }
        }
    }

    #[test]
    fn a_line_can_be_pasted_into_a_shell() {
        assert_eq!(
            lines(&Command::Lint)[2],
            "RUSTDOCFLAGS='-D warnings' cargo doc --locked --workspace --lib --no-deps"
        );
        let eval = |held, show| lines(&Command::Eval { held, show })[0].clone();
        assert!(eval(true, None).starts_with("EVAL_HELD='1' cargo nextest run"));
        assert!(eval(false, Some("mail".to_owned())).starts_with("EVAL_SHOW='mail' cargo nextest run"));
        let bench = Command::Bench { quick: true, only: Some("cpu,start".to_owned()) };
        assert!(lines(&bench)[1].ends_with(" --package majordomo-bench -- --quick --only cpu,start"));
        assert!(lines(&Command::Sim { seeds: 9 })[0].starts_with("SIM_SEEDS='9' cargo nextest run"));
    }

    /// Fuzzing has a lock file of its own, and a new dependency of what is fuzzed must be added there, too.
    #[test]
    fn what_is_fuzzed_can_be_built_with_the_locked_versions() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let read = |path: &str| std::fs::read_to_string(root.join(path)).expect("a file");
        let lock = read("fuzz/Cargo.lock");
        for name in ["agent", "provider", "shell"] {
            let locked =
                lock.split("[[package]]").find(|package| package.contains(&format!("\"majordomo-{name}\"\nversion")));
            let locked = locked.expect("it is locked");
            let manifest = read(&format!("crates/{name}/Cargo.toml"));
            let (_, wanted) = manifest.split_once("[dependencies]").expect("it has dependencies");
            for wanted in wanted.lines().take_while(|line| !line.starts_with('[')).filter(|line| !line.is_empty()) {
                let wanted = wanted.split(['.', ' ']).next().expect("a name");
                let is_locked =
                    [format!("\"{wanted}\""), format!("\"majordomo-{wanted}\"")].iter().any(|it| locked.contains(it));
                assert!(
                    is_locked,
                    "{wanted} of majordomo-{name}: cargo update --workspace --manifest-path fuzz/Cargo.toml"
                );
            }
        }
    }

    #[test]
    fn whatever_is_fuzzed_has_a_target_and_a_corpus_and_the_other_way_round() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let names = |folder: &str| -> Vec<String> {
            let entries = std::fs::read_dir(root.join(folder)).expect("a folder");
            let name =
                |entry: std::fs::DirEntry| entry.path().file_stem().expect("a name").to_string_lossy().into_owned();
            let mut names: Vec<String> = entries.map(|entry| name(entry.expect("an entry"))).collect();
            names.sort();
            names
        };
        let mut fuzzed = FUZZED.map(|(target, _)| target);
        fuzzed.sort_unstable();
        assert_eq!(names("fuzz/targets"), fuzzed);
        let mut seeded = [names("crates/provider/corpus"), names("crates/shell/corpus")].concat();
        seeded.sort_unstable();
        assert_eq!(seeded, fuzzed);
    }
}
