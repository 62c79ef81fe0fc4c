//! `majordomo completion`.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::arguments::Cli;
use crate::error::Failure;
use crate::out;

/// `majordomo completion`.
pub fn completion(shell: Shell) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "majordomo", &mut script);
    out::Result::Stdout.line(String::from_utf8_lossy(&script).trim_end())?;
    Ok(0)
}
