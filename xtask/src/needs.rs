//! What the tests need besides Rust itself: installed where possible, otherwise named.

use std::process::{Command, Stdio};

use anyhow::bail;

use crate::step::Step;

/// A Debian package, the programs by one of which one sees that it is there, and what is so without it.
struct Package {
    name: &'static str,
    programs: &'static [&'static str],
    without: &'static str,
}

/// The Debian packages that tests use. Without a sandbox a machine is still tested for saying so; without a browser nothing can be said of
/// the page.
const PACKAGES: &[Package] = &[
    Package { name: "bubblewrap", programs: &["bwrap"], without: "some tests will show less" },
    Package {
        name: "chromium",
        programs: &["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"],
        without: "the tests of the page will fail",
    },
    Package {
        name: "postgresql",
        programs: &["pg_ctlcluster", "postgres"],
        without: "the tests of the store of many machines will fail",
    },
];

/// Fetches what is missing.
pub(crate) fn fetch() -> anyhow::Result<()> {
    if !runs("cargo", &["nextest", "--version"]) {
        Step::new("test runner", "cargo", "install --locked cargo-nextest").run()?;
    }
    let missing: Vec<&Package> = PACKAGES.iter().filter(|package| !package.is_there()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = missing.iter().map(|package| package.name).collect();
    if !(is_root() && is_there("apt-get") && install(&names.join(" ")).is_ok()) {
        for Package { name, without, .. } in missing {
            eprintln!("the package {name} is missing: {without}");
        }
    }
    Ok(())
}

/// Says what is missing for servers of other makers. It is not installed: Python is a large thing to bring onto a machine unasked.
pub(crate) fn python() -> anyhow::Result<()> {
    if !runs("python3", &["-c", "import venv, ensurepip"]) {
        bail!(
            "the tests against servers of other makers were not run: they need Python 3 with venv and pip, which is not here"
        );
    }
    Ok(())
}

/// Whether npm is on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Npm {
    Here,
    Missing,
}

/// Looks for npm.
pub(crate) fn npm() -> Npm {
    if runs("npm", &["--version"]) { Npm::Here } else { Npm::Missing }
}

impl Package {
    fn is_there(&self) -> bool {
        self.programs.iter().any(|program| is_there(program))
    }
}

fn install(packages: &str) -> anyhow::Result<()> {
    Step::new("package lists", "apt-get", "update -q").run()?;
    Step::new("packages", "apt-get", &format!("install -q -y --no-install-recommends {packages}"))
        .with("DEBIAN_FRONTEND", "noninteractive")
        .run()
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

fn is_there(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}

fn runs(program: &str, args: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(args).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_there_or_it_is_not() {
        assert!(is_there("cargo") && runs("cargo", &["--version"]));
        assert!(!is_there("no-such-program-at-all") && !runs("no-such-program-at-all", &[]));
        assert!(!runs("cargo", &["no-such-command-of-cargo"]));
    }

    #[test]
    fn a_package_is_there_under_any_of_its_names() {
        let package = |programs| Package { name: "x", programs, without: "" };
        assert!(package(&["no-such-program-at-all", "cargo"]).is_there());
        assert!(!package(&["no-such-program-at-all"]).is_there());
    }
}
