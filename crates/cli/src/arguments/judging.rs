//! The words of `majordomo trust` and `majordomo explain`: what may be done, by whom, and why.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Place;

/// `majordomo trust`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Trust {
    /// The project's folder [default: the one around the current folder]
    pub folder: Option<PathBuf>,
    /// Only show what it would let in
    #[arg(long, conflicts_with_all = ["revoke", "yes"])]
    pub show: bool,
    /// Forget the answer that was given
    #[arg(long, conflicts_with = "yes")]
    pub revoke: bool,
    /// Without asking
    #[arg(short, long)]
    pub yes: bool,
    #[command(flatten)]
    pub place: Place,
    /// What else there is to do.
    #[command(subcommand)]
    pub command: Option<TrustCommand>,
}

/// `majordomo trust ls`.
#[derive(Debug, Subcommand)]
pub enum TrustCommand {
    /// List the folders that you were asked about
    Ls {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
}

/// `majordomo explain`.
#[derive(Debug, Args)]
pub struct Explain {
    /// The thread, or a beginning of its name
    pub thread: String,
    /// The tool
    pub tool: String,
    /// Its arguments as JSON; for a tool that takes a command or a path, that alone will do
    #[arg(allow_hyphen_values = true)]
    pub arguments: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub place: Place,
}
