//! One value changed in the text of a configuration file. All else stays as a person wrote it: order, comments and spaces.

use std::path::Path;

use toml_edit::{DocumentMut, Item, Table, TableLike};

use super::error::Error;
use super::flags::{key_of, setting};
use super::key::Key;
use super::kind::Kind;
use super::layer::checked;
use super::origin::Origin;
use super::suggestion::clause;

/// A text with one value changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The whole text.
    pub text: String,
    /// The key as it is shown, such as `models."ollama/qwen3".context_tokens`.
    pub key: String,
}

/// A configuration in which a key has this value: TOML, or a bare string where text is meant. A path is taken from the folder `here`.
pub fn with_value(text: &str, key: &str, value: &str, here: &Path) -> Result<Edited, Error> {
    let origin = Origin::Command("config set");
    let key = known(key, &origin)?;
    // In a file, a path is taken from the folder of the file.
    let value = match key.kind() {
        Some(Kind::Folder) if !value.starts_with('~') => here.join(value).display().to_string(),
        _ => value.to_owned(),
    };
    let settings = setting(&key.to_string(), &value, &origin)?;
    let mut document = read(text, &origin)?;
    for setting in settings {
        let kept = setting.value.clone();
        let setting = checked(setting)?;
        let value: toml_edit::Value = kept.to_string().parse().map_err(|error| wrong(&origin, &error))?;
        put(&mut document, setting.key.parts(), value).ok_or_else(|| Error::Syntax {
            origin: origin.clone(),
            message: format!("a part of {} is no table in the file; change it there", setting.key),
        })?;
    }
    Ok(Edited { text: document.to_string(), key: key.to_string() })
}

/// A configuration without a key; none where it does not have it.
pub fn without_key(text: &str, key: &str) -> Result<Option<Edited>, Error> {
    let origin = Origin::Command("config unset");
    let key = key_of(key).ok_or_else(|| no_key(key, &origin))?;
    let mut document = read(text, &origin)?;
    let Some((last, above)) = key.parts().split_last() else { return Ok(None) };
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for part in above {
        match table.get_mut(part).and_then(Item::as_table_like_mut) {
            Some(below) => table = below,
            None => return Ok(None),
        }
    }
    Ok(table.remove(last).map(|_| Edited { text: document.to_string(), key: key.to_string() }))
}

fn known(key: &str, origin: &Origin) -> Result<Key, Error> {
    let found = key_of(key).ok_or_else(|| no_key(key, origin))?;
    if found.kind().is_some() || found.is_table() {
        return Ok(found);
    }
    Err(Error::UnknownKey { key: found.to_string(), hint: clause(found.suggestion()) })
}

fn no_key(key: &str, origin: &Origin) -> Error {
    let message = format!("'{key}' is no key; write it as policy.max_depth or models.\"ollama/qwen3\".context_tokens");
    Error::Syntax { origin: origin.clone(), message }
}

fn read(text: &str, origin: &Origin) -> Result<DocumentMut, Error> {
    text.parse().map_err(|error| wrong(origin, &error))
}

fn wrong(origin: &Origin, error: &toml_edit::TomlError) -> Error {
    Error::Syntax { origin: origin.clone(), message: error.message().to_owned() }
}

/// Puts a value in its place; none where something else than a table is on the way.
fn put(document: &mut DocumentMut, parts: &[String], value: toml_edit::Value) -> Option<()> {
    let (last, above) = parts.split_last()?;
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for part in above {
        let new = || {
            let mut new = Table::new();
            // Without a line of its own where it only holds other tables.
            new.set_implicit(true);
            Item::Table(new)
        };
        table = table.entry(part).or_insert_with(new).as_table_like_mut()?;
    }
    match table.get_mut(last).and_then(Item::as_value_mut) {
        Some(old) => {
            // With what is written around it: a comment behind the value stays.
            let around = old.decor().clone();
            *old = value;
            *old.decor_mut() = around;
        }
        None => {
            table.insert(last, Item::Value(value));
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str, key: &str, value: &str) -> String {
        with_value(text, key, value, Path::new("/here")).expect("a value that the key takes").text
    }

    #[test]
    fn a_value_is_changed_in_its_place_and_all_else_stays() {
        let text = "# mine\nmode = \"ask\" # careful\n\n[policy]\nmax_depth = 1\n\n[[rules]]\ntool = \"x\"\naction = \"deny\"\n";
        assert_eq!(set(text, "mode", "auto"), text.replace("\"ask\"", "\"auto\""));
        assert_eq!(set(text, "policy.max_depth", "3"), text.replace("max_depth = 1", "max_depth = 3"));
        let added = set(text, "policy.child.max_tokens", "9000");
        assert!(added.contains("[policy.child]\nmax_tokens = 9000\n") && added.contains("[[rules]]"), "{added}");
        assert!(set(text, "agent", "explore").starts_with("# mine\nmode = \"ask\" # careful\nagent = \"explore\"\n"));
        assert_eq!(
            set("", "models.\"ollama/qwen3\".context_tokens", "8192"),
            "[models.\"ollama/qwen3\"]\ncontext_tokens = 8192\n"
        );
        assert_eq!(set("", "household.folder", "home"), "[household]\nfolder = \"/here/home\"\n");
        assert_eq!(set("", "household.folder", "~/home"), "[household]\nfolder = \"~/home\"\n");
        assert_eq!(set("policy = { max_depth = 1 }\n", "policy.max_depth", "2"), "policy = { max_depth = 2 }\n");
    }

    #[test]
    fn a_value_is_taken_away_alone() {
        let text = "mode = \"ask\"\n\n[policy]\nmax_depth = 1\nmax_children = 2\n";
        let less = without_key(text, "policy.max_depth").unwrap().expect("it is there");
        assert_eq!(less.text, "mode = \"ask\"\n\n[policy]\nmax_children = 2\n");
        assert_eq!(without_key(text, "policy.max_subtasks").unwrap(), None);
        assert_eq!(without_key(text, "mode.deep").unwrap(), None);
    }

    #[test]
    fn what_cannot_be_set_is_an_error_that_says_what_to_write() {
        for (key, value, told) in [
            ("polcy.max_depth", "3", "there is no key polcy.max_depth; did you mean policy.max_depth"),
            ("policy.max_depth", "deep", "config set: policy.max_depth expects a whole number"),
            ("mode", "reckless", "mode expects one of plan, ask, auto, dangerous"),
            ("a b", "1", "'a b' is no key"),
        ] {
            let error = with_value("", key, value, Path::new("/here")).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
        assert!(
            with_value("policy = 3\n", "policy.max_depth", "1", Path::new("/"))
                .unwrap_err()
                .to_string()
                .contains("no table in the file")
        );
        assert!(with_value("mode = ", "mode", "ask", Path::new("/")).is_err());
    }
}
