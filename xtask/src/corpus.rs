//! The inputs that fuzzing has kept, packed: one file per target, `crates/{crate}/corpus/{target}.jsonl`.
//!
//! Each line is a JSON object. `input` is the input, of which each character is one byte (U+0000 to U+00FF), so that any bytes can
//! be written and a change can be read in a diff; `name` is optional and for people. The lines are sorted by input.
//! libFuzzer reads one file per input: `unpack` writes them to `fuzz/seeds/{target}`. What it finds goes to `fuzz/finds` and is
//! added to a corpus by `add`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::{Value, json};

/// What is fuzzed, and the crate that it belongs to. Each has a file in `fuzz/targets` and a corpus.
pub(crate) const FUZZED: [(&str, &str); 4] =
    [("sse", "provider"), ("anthropic", "provider"), ("openai", "provider"), ("shell", "shell")];

/// Inputs, each with its name if it has one.
type Inputs = BTreeMap<Vec<u8>, Option<String>>;

/// Writes the inputs of every corpus to a new folder of files.
pub(crate) fn unpack(root: &Path) -> anyhow::Result<()> {
    for (target, owner) in FUZZED {
        let folder = root.join("fuzz/seeds").join(target);
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("cannot replace {}", folder.display()))?;
        }
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        for (number, input) in read(&pack(root, target, owner))?.keys().enumerate() {
            fs::write(folder.join(format!("{number:04}")), input)?;
        }
    }
    Ok(())
}

/// Adds the content of a file to the corpus of a target, under the file's name.
pub(crate) fn add(root: &Path, target: &str, file: &Path) -> anyhow::Result<()> {
    let Some((target, owner)) = FUZZED.into_iter().find(|(known, _)| *known == target) else {
        let known = FUZZED.map(|(target, _)| target).join(", ");
        bail!("nothing that is fuzzed is called '{target}': {known}");
    };
    let input = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
    let pack = pack(root, target, owner);
    let mut inputs = read(&pack)?;
    inputs.entry(input).or_insert(name);
    fs::write(&pack, lines(&inputs)).with_context(|| format!("cannot write {}", pack.display()))
}

fn pack(root: &Path, target: &str, owner: &str) -> PathBuf {
    root.join(format!("crates/{owner}/corpus/{target}.jsonl"))
}

fn read(pack: &Path) -> anyhow::Result<Inputs> {
    let text = fs::read_to_string(pack).with_context(|| format!("cannot read {}", pack.display()))?;
    let mut inputs = Inputs::new();
    for (number, line) in text.lines().enumerate() {
        let (input, name) = parse(line).with_context(|| format!("{}:{}", pack.display(), number + 1))?;
        inputs.insert(input, name);
    }
    Ok(inputs)
}

fn parse(line: &str) -> anyhow::Result<(Vec<u8>, Option<String>)> {
    let value: Value = serde_json::from_str(line)?;
    let input = value["input"].as_str().context("there is no input")?;
    let input = input.chars().map(u8::try_from).collect::<Result<_, _>>().context("a character is not one byte")?;
    Ok((input, value["name"].as_str().map(str::to_owned)))
}

fn lines(inputs: &Inputs) -> String {
    let line = |(input, name): (&Vec<u8>, &Option<String>)| {
        let input: String = input.iter().copied().map(char::from).collect();
        let object = match name {
            Some(name) => json!({ "input": input, "name": name }),
            None => json!({ "input": input }),
        };
        ascii(&object.to_string()) + "\n"
    };
    inputs.iter().map(line).collect()
}

/// JSON with every character beyond printable ASCII escaped.
fn ascii(json: &str) -> String {
    let mut ascii = String::new();
    for c in json.chars() {
        match c {
            ' '..='~' => ascii.push(c),
            _ => ascii.push_str(&format!("\\u{:04x}", u32::from(c))),
        }
    }
    ascii
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
    }

    #[test]
    fn any_bytes_are_written_and_read_again() {
        let mut inputs = Inputs::new();
        inputs.insert((0..=255).collect(), Some("all \"bytes\" é".to_owned()));
        inputs.insert(Vec::new(), None);
        let text = lines(&inputs);
        assert!(text.bytes().all(|byte| byte == b'\n' || (b' '..=b'~').contains(&byte)), "{text}");
        let read: Inputs = text.lines().map(|line| parse(line).expect("an input")).collect();
        assert_eq!(read, inputs);
    }

    #[test]
    fn a_line_that_is_no_input_is_refused() {
        for line in ["", "{}", r#"{"input":7}"#, r#"{"input":"\u0100"}"#] {
            assert!(parse(line).is_err(), "{line}");
        }
    }

    /// Otherwise the next `add` would change lines that it has nothing to do with.
    #[test]
    fn each_pack_is_written_as_add_would_write_it() {
        for (target, owner) in FUZZED {
            let pack = pack(&root(), target, owner);
            let text = fs::read_to_string(&pack).expect("a pack");
            assert!(text == lines(&read(&pack).expect("inputs")), "{}: run `cargo xtask fuzz-add`", pack.display());
        }
    }

    #[test]
    fn what_is_added_is_unpacked() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = folder.path();
        for (target, owner) in FUZZED {
            fs::create_dir_all(root.join(format!("crates/{owner}/corpus"))).expect("a folder");
            fs::write(pack(root, target, owner), "").expect("a pack");
        }
        let find = root.join("crash-1");
        fs::write(&find, b"\xff\n").expect("a find");
        add(root, "sse", &find).expect("added");
        add(root, "sse", &find).expect("added once");
        assert!(add(root, "no-such-target", &find).is_err());
        unpack(root).expect("unpacked");
        unpack(root).expect("unpacked again");
        let files: Vec<_> = fs::read_dir(root.join("fuzz/seeds/sse")).expect("a folder").flatten().collect();
        assert_eq!(files.len(), 1);
        assert_eq!(fs::read(files[0].path()).expect("a file"), b"\xff\n");
        assert_eq!(
            fs::read_to_string(pack(root, "sse", "provider")).unwrap(),
            "{\"input\":\"\\u00ff\\n\",\"name\":\"crash-1\"}\n"
        );
    }
}
