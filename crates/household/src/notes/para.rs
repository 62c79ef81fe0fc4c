//! The four folders of the PARA method, however they are written.

/// Where a note lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Para {
    Projects,
    Areas,
    Resources,
    Archives,
    Other,
}

impl Para {
    /// By the outermost folder that is one of the four: `Projects`, `1 Projects`, `01-projects`, `Projekte`.
    pub(super) fn of(path: &str) -> Self {
        let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
        folders.split('/').find_map(Self::named).unwrap_or(Self::Other)
    }

    fn named(folder: &str) -> Option<Self> {
        let name = folder.trim_start_matches(|c: char| !c.is_alphabetic()).to_lowercase();
        match name.trim_end() {
            "projects" | "project" | "projekte" | "projets" => Some(Self::Projects),
            "areas" | "area" | "bereiche" | "domaines" => Some(Self::Areas),
            "resources" | "resource" | "ressourcen" | "ressources" => Some(Self::Resources),
            "archives" | "archive" | "archiv" => Some(Self::Archives),
            _ => None,
        }
    }

    /// How much nearer than others its notes are: what is worked on first, what was put away last.
    pub(super) fn weight(self) -> f64 {
        match self {
            Self::Projects => 1.3,
            Self::Areas => 1.15,
            Self::Resources | Self::Other => 1.0,
            Self::Archives => 0.6,
        }
    }

    /// The word in results.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Projects => "projects",
            Self::Areas => "areas",
            Self::Resources => "resources",
            Self::Archives => "archives",
            Self::Other => "other",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folders_are_known_with_numbers_in_any_case_and_below_others() {
        for path in
            ["Projects/a.md", "1 Projects/a.md", "01-PROJECTS/x/a.md", "vault/projects/a.md", "1. Projekte/a.md"]
        {
            assert_eq!(Para::of(path), Para::Projects, "{path}");
        }
        assert_eq!(Para::of("4_Archive/Projects/a.md"), Para::Archives, "what lies in an archive is put away");
        assert_eq!(Para::of("projects.md"), Para::Other);
        assert_eq!(Para::of("Journal/a.md"), Para::Other);
    }
}
