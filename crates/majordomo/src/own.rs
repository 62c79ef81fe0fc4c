//! What is the person's own on this machine, and so is not an agent's to read or to change: our state and configuration are secret, and
//! the agents, skills and instructions that are read as the person's own, without any trust, are protected.
//!
//! The places are asked of the readers of such files, so that none is read from where an agent may write.

use std::path::{Path, PathBuf};

use crate::config::{Config, Surroundings};
use crate::staff::NOWHERE;
use crate::{agents, instructions, skills};

/// From now on no tool of this process reads or changes our state and configuration, and what else is read as the person's own and lies
/// in the folder at work is changed only with consent.
pub(crate) fn keep(surroundings: &Surroundings, config: &Config) {
    let state = Some(config.data.clone()).filter(|data| data != Path::new(NOWHERE));
    tool::keep_secret(state.into_iter().chain(surroundings.data_folder()).chain(surroundings.user_folder()));
    let Ok(root) = surroundings.cwd.canonicalize() else { return };
    let places = places(surroundings).into_iter().flat_map(|place| [place.canonicalize().ok(), Some(place)]).flatten();
    // Most are protected by their names in any workspace. The others lie where a variable or a link has moved them.
    let below = places.filter_map(|place| place.strip_prefix(&root).ok().map(Path::to_owned));
    tool::protect(&root, below.filter(|place| !place.as_os_str().is_empty() && !tool::is_protected(place)));
}

/// The files and folders that are read as the person's own.
fn places(surroundings: &Surroundings) -> Vec<PathBuf> {
    let ours = surroundings.user_folder().into_iter().chain(agents::settings_of_user(surroundings));
    let agents = agents::folders_of_user(surroundings);
    let skills = skills::folders_of_user(surroundings);
    ours.chain(agents).chain(skills).chain(instructions::files_of_user(surroundings)).collect()
}

#[cfg(test)]
mod tests {
    use agent::Json;
    use tool::{CommandHost, Registry};

    use super::*;

    // T19
    #[test]
    fn whatever_is_read_as_the_persons_own_is_protected_where_the_home_folder_is_the_workspace() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().canonicalize().expect("a folder");
        let mut surroundings = Surroundings { cwd: home.clone(), home: Some(home.clone()), ..Surroundings::default() };
        let tools = Registry::standard(CommandHost::default());
        let is_protected = |place: &Path| {
            let path = place.join("x.md");
            let input = serde_json::json!({ "path": path, "content": "x" }).to_string();
            let said = tools.get("write_file").expect("a tool").assess(&Json::parse(&input).expect("JSON"), &home);
            !said.protected.is_empty()
        };
        let usual = places(&surroundings);
        assert!(usual.len() > 20 && !is_protected(&home.join("notes")), "{usual:?}");
        for place in &usual {
            assert!(tool::is_protected(place) && is_protected(place), "by its name: {}", place.display());
        }
        // Moved by a variable, and by a link.
        surroundings.env.insert("XDG_CONFIG_HOME".into(), home.join("settings").display().to_string());
        std::fs::create_dir_all(home.join("dotfiles/agents")).expect("a folder");
        std::fs::create_dir_all(home.join(".claude")).expect("a folder");
        std::os::unix::fs::symlink(home.join("dotfiles/agents"), home.join(".claude/agents")).expect("a link");
        assert!(!is_protected(&home.join("settings/opencode")));
        let flags = crate::config::Flags { data: Some(home.join("data").display().to_string()), ..Default::default() };
        let config = Config::load(&surroundings, &flags).expect("a configuration");
        keep(&surroundings, &config);
        for place in places(&surroundings).iter().filter(|place| !place.ends_with("majordomo")) {
            let is_ours = place.starts_with(home.join("settings/majordomo"));
            assert!(is_ours || is_protected(place), "{}", place.display());
        }
        assert!(is_protected(&home.join("dotfiles/agents")));
    }
}
