//! Folders that are made, renamed, replaced and removed between two looks, with notices from the kernel and without.

use super::*;

/// A workspace that is looked at with notices and without.
fn workspaces() -> Vec<(tempfile::TempDir, Folders)> {
    [true, false]
        .map(|has_notices| {
            let folder = tempfile::tempdir().unwrap();
            let mut folders = Folders::new(folder.path());
            if !has_notices {
                folders.notices = None;
            }
            (folder, folders)
        })
        .into()
}

/// The protected paths that are found.
fn found(folders: &mut Folders) -> Vec<String> {
    folders.look(Repair::Never).unwrap();
    let of = |folder: &PathBuf| {
        let content = &folders.known[folder].content;
        content.protected.iter().map(|(name, ..)| folder.join(name).display().to_string()).collect::<Vec<_>>()
    };
    let mut found: Vec<String> = folders.telling.iter().flat_map(of).collect();
    found.sort();
    found
}

#[test]
fn what_is_made_renamed_and_removed_is_found_at_every_depth() {
    for (folder, mut folders) in workspaces() {
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("a/b/c")).unwrap();
        assert!(found(&mut folders).is_empty());
        fs::write(at("a/b/c/.envrc"), "").unwrap();
        assert_eq!(found(&mut folders), ["a/b/c/.envrc"], "also right after it was read");
        fs::rename(at("a/b"), at("moved")).unwrap();
        assert_eq!(found(&mut folders), ["moved/c/.envrc"]);
        fs::create_dir_all(at("new/deep")).unwrap();
        fs::write(at("new/deep/.envrc"), "").unwrap();
        assert_eq!(found(&mut folders), ["moved/c/.envrc", "new/deep/.envrc"]);
        fs::write(at("moved/.envrc"), "").unwrap();
        fs::remove_file(at("moved/c/.envrc")).unwrap();
        assert_eq!(found(&mut folders), ["moved/.envrc", "new/deep/.envrc"]);
        fs::remove_dir_all(at("new")).unwrap();
        fs::remove_dir_all(at("moved")).unwrap();
        assert!(found(&mut folders).is_empty());
        assert_eq!(folders.known.len(), 2, "the workspace and a");
    }
}

#[test]
fn a_folder_that_takes_the_name_of_another_is_read_with_what_is_below_it() {
    for (folder, mut folders) in workspaces() {
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("a/b")).unwrap();
        fs::create_dir_all(at("other/b")).unwrap();
        fs::write(at("other/b/.envrc"), "").unwrap();
        assert_eq!(found(&mut folders), ["other/b/.envrc"]);
        fs::rename(at("a"), at("before")).unwrap();
        fs::rename(at("other"), at("a")).unwrap();
        assert_eq!(found(&mut folders), ["a/b/.envrc"]);
        fs::write(at("before/b/.envrc"), "").unwrap();
        fs::remove_file(at("a/b/.envrc")).unwrap();
        assert_eq!(found(&mut folders), ["before/b/.envrc"], "each is watched under its new name");
        fs::rename(at("before/b"), at("outside")).unwrap();
        fs::create_dir(at("before/b")).unwrap();
        assert_eq!(found(&mut folders), ["outside/.envrc"]);
    }
}

#[test]
fn more_notices_than_are_kept_lead_to_a_new_look_at_everything() {
    for (folder, mut folders) in workspaces() {
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("a")).unwrap();
        assert!(found(&mut folders).is_empty());
        let most = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap_or_default();
        for _ in 0..most.trim().parse::<u32>().unwrap_or(16_384).min(100_000) / 2 + 1 {
            fs::write(at("file"), "").unwrap();
            fs::remove_file(at("file")).unwrap();
        }
        fs::write(at("a/.envrc"), "").unwrap();
        assert_eq!(found(&mut folders), ["a/.envrc"]);
    }
}

#[test]
fn a_folder_from_which_no_notice_came_is_not_read_again() {
    for (folder, mut folders) in workspaces().into_iter().take(1) {
        fs::create_dir_all(folder.path().join("a/b")).unwrap();
        fs::create_dir_all(folder.path().join("c")).unwrap();
        found(&mut folders);
        if !folders.unwatched.is_empty() {
            return println!("skipped: no notices can be had here");
        }
        let before = folders.known[Path::new("a")].content.clone();
        fs::write(folder.path().join("c/file"), "").unwrap();
        let changed = folders.known[Path::new("c")].content.clone();
        found(&mut folders);
        assert!(Arc::ptr_eq(&before, &folders.known[Path::new("a")].content));
        assert!(!Arc::ptr_eq(&changed, &folders.known[Path::new("c")].content));
    }
}

#[test]
fn a_folder_that_has_not_changed_for_long_is_not_read_again_without_notices() {
    let Ok(root) = Path::new("/usr/share").canonicalize() else { return };
    let mut folders = Folders::new(&root);
    folders.notices = None;
    folders.look(Repair::Never).unwrap();
    let first = folders.known[Path::new("")].content.clone();
    folders.look(Repair::Never).unwrap();
    let second = folders.known[Path::new("")].content.clone();
    assert!(folders.device.is_none() || Arc::ptr_eq(&first, &second), "it was read twice");
}
