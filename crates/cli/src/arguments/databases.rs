//! `majordomo db`: the database behind the store.

use clap::Subcommand;

use super::Place;

/// `majordomo db`.
#[derive(Debug, Subcommand)]
pub enum DbCommand {
    /// Create the tables in the database of --store. Once for all machines; again, it changes nothing
    Init {
        #[command(flatten)]
        place: Place,
    },
    /// Show where the store is, its versions, and whether it can be used
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Bring the tables up to date with this version of the program
    Migrate {
        #[command(flatten)]
        place: Place,
    },
    /// Delete conversations that ended long ago, with all their sub-agents
    Prune {
        /// Delete what was last written to before so long, such as 90d or 12h
        #[arg(long, value_name = "AGE")]
        older_than: String,
        /// Only list what would be deleted
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        place: Place,
    },
}
