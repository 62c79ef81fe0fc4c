//! The arguments of `majordomo trust` and `majordomo explain`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Place;

/// `majordomo trust`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Trust {
    /// The project's folder [default: the project that the current folder belongs to]
    pub folder: Option<PathBuf>,
    /// Only show what trusting would put into effect
    #[arg(long, conflicts_with_all = ["revoke", "yes"])]
    pub show: bool,
    /// Forget the earlier answer
    #[arg(long, conflicts_with = "yes")]
    pub revoke: bool,
    /// Do not ask for confirmation
    #[arg(short, long)]
    pub yes: bool,
    #[command(flatten)]
    pub place: Place,
    /// Other things to do with trust.
    #[command(subcommand)]
    pub command: Option<TrustCommand>,
}

/// `majordomo trust ls`.
#[derive(Debug, Subcommand)]
pub enum TrustCommand {
    /// List the folders that you trusted or declined
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
    /// The thread id, or the beginning of it
    pub thread: String,
    /// The tool
    pub tool: String,
    /// Its arguments as JSON; for run_command the command alone, for a file tool the path alone
    #[arg(allow_hyphen_values = true)]
    pub arguments: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub place: Place,
}
