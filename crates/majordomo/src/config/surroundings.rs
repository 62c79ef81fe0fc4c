//! The environment that configuration is read from: variables, the current folder, the home folder, and the files found from there.
//!
//! Everything that depends on the process enters here and nowhere else. A `.env` file is deliberately not read:
//! a repository could set addresses and keys with it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::{env, fmt};

/// No configuration or agent file is read beyond this many bytes.
const MOST_BYTES: u64 = 1 << 20;

/// Where a process stands: its variables, its folder, its home.
#[derive(Clone, Default)]
pub struct Surroundings {
    /// The environment variables, keys of providers among them. They are never printed.
    pub env: BTreeMap<String, String>,
    /// The current folder, absolute.
    pub cwd: PathBuf,
    /// The home folder.
    pub home: Option<PathBuf>,
    /// Whether the files of the user and of the project are read.
    pub files: Files,
}

/// Whether configuration, rules and agents are read from the files of the user and of the project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Files {
    /// They are read.
    #[default]
    Read,
    /// They are not even looked for.
    Ignored,
}

impl Surroundings {
    /// The surroundings of this process.
    pub fn of_process() -> io::Result<Self> {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let env = env::vars_os().filter_map(text).collect();
        Ok(Self { env, cwd: env::current_dir()?, home: env::home_dir(), files: Files::Read })
    }

    /// A variable's value; an empty one counts as not set.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.env.get(name).map(String::as_str).filter(|value| !value.trim().is_empty())
    }

    /// The folder of the user's own configuration and agents.
    pub fn user_folder(&self) -> Option<PathBuf> {
        self.xdg("XDG_CONFIG_HOME", ".config").filter(|_| self.files == Files::Read)
    }

    /// The person's home folder, where the files of other products are looked for; none where no file is read.
    pub(crate) fn own_home(&self) -> Option<PathBuf> {
        self.home.clone().filter(|_| self.files == Files::Read)
    }

    /// The folder below which programs keep their configuration; none where no file is read.
    pub(crate) fn config_home(&self) -> Option<PathBuf> {
        self.base("XDG_CONFIG_HOME", ".config").filter(|_| self.files == Files::Read)
    }

    /// The folder for state where nothing else is configured.
    pub fn data_folder(&self) -> Option<PathBuf> {
        self.xdg("XDG_DATA_HOME", ".local/share")
    }

    /// The root of the project: the nearest folder with a `.majordomo`, no further up than the repository that holds the
    /// current folder. Outside a repository only the current folder counts, so that nobody can plant one in a shared parent.
    pub fn project(&self) -> PathBuf {
        let repository = self.cwd.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&self.cwd);
        let inside = self.cwd.ancestors().take_while(|folder| folder.starts_with(repository));
        let mut with_ours = inside.filter(|folder| folder.join(".majordomo").is_dir());
        with_ours.next().unwrap_or(repository).to_owned()
    }

    fn xdg(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        self.base(variable, below_home).map(|base| base.join("majordomo"))
    }

    fn base(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        // A relative path in these variables is invalid by their specification and must be ignored.
        let named = self.variable(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        named.or_else(|| self.home.as_ref().map(|home| home.join(below_home)))
    }
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings")
            .field("cwd", &self.cwd)
            .field("home", &self.home)
            .field("env", &self.env.keys())
            .finish()
    }
}

/// Whether a file does not exist. A path below something that is not a folder does not exist either; the code that needs the folder reports it.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The text of a file of a project; none when it is not there.
/// A link that leads out of the project is refused: it could carry a secret of the user's into a prompt.
pub(crate) fn read_within(project: &Path, path: &Path) -> io::Result<Option<String>> {
    let real = match path.canonicalize() {
        Err(error) if is_absent(&error) => return Ok(None),
        real => real?,
    };
    if !real.starts_with(project.canonicalize()?) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it lies outside the project"));
    }
    read_own(&real)
}

/// The text of one of the user's own files; none when it is not there.
pub(crate) fn read_own(path: &Path) -> io::Result<Option<String>> {
    // Asked before opening, for opening a pipe would wait for its other end.
    match path.metadata() {
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error),
        Ok(about) if !about.is_file() => return Err(io::Error::other("it is not a file")),
        Ok(_) => {}
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(io::Error::other(format!("it is larger than {MOST_BYTES} bytes")));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| io::Error::other("it is not UTF-8 text"))
}
