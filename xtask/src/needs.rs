//! What the tests need besides Rust itself: fetched where that can be done, named where it cannot.

use std::process::{Command, Stdio};

use crate::step::Step;

/// A Debian package and a program by which one sees that it is there.
struct Package {
    name: &'static str,
    program: &'static str,
}

/// The Debian packages without which tests can show less: a machine that cannot have them is still tested for saying so.
const PACKAGES: &[Package] = &[Package { name: "bubblewrap", program: "bwrap" }];

/// Fetches what is missing.
pub(crate) fn fetch() -> anyhow::Result<()> {
    if !runs("cargo", &["nextest", "--version"]) {
        Step::new("test runner", "cargo", "install --locked cargo-nextest").run()?;
    }
    let missing: Vec<&str> =
        PACKAGES.iter().filter(|package| !is_there(package.program)).map(|package| package.name).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let missing = missing.join(" ");
    if !(is_root() && is_there("apt-get") && install(&missing).is_ok()) {
        eprintln!("these packages are missing, and some tests will show less: {missing}");
    }
    Ok(())
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
}
