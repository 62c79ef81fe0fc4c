//! The arguments of `majordomo mcp`.

use clap::Subcommand;

use super::Place;

/// `majordomo mcp`.
#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// List the configured MCP servers; nothing is started
    Ls {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Add an MCP server to your configuration file
    #[command(
        after_help = "Example: majordomo mcp add git -- uvx mcp-server-git\n         majordomo mcp add docs --url https://docs.example/mcp"
    )]
    Add {
        /// Its name: letters, digits, '-' and single '_'
        name: String,
        /// The address of a server that is reached over HTTP
        #[arg(long, conflicts_with_all = ["command", "env", "pass_env", "no_network"])]
        url: Option<String>,
        /// A header of each request to the address
        #[arg(long, value_name = "NAME=VALUE", requires = "url")]
        header: Vec<String>,
        /// A variable of the program, besides PATH, HOME, LANG and TMPDIR
        #[arg(long, value_name = "NAME=VALUE")]
        env: Vec<String>,
        /// A variable of your environment that is passed to the program
        #[arg(long, value_name = "NAME")]
        pass_env: Vec<String>,
        /// Start the program without a network
        #[arg(long)]
        no_network: bool,
        /// The program and its arguments, after --
        #[arg(last = true, value_name = "COMMAND", required_unless_present = "url")]
        command: Vec<String>,
        #[command(flatten)]
        place: Place,
    },
    /// Remove an MCP server from your configuration file
    Rm {
        /// Its name
        name: String,
        #[command(flatten)]
        place: Place,
    },
    /// Start MCP servers and say whether they answer
    Test {
        /// Its name [default: all]
        name: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Log in at an MCP server that is reached over HTTP, in a browser
    #[command(after_help = "The address is printed; where a browser can be started, it is opened, too.")]
    Login {
        /// The server's name
        name: String,
        /// Only print the address, and open no browser
        #[arg(long)]
        no_browser: bool,
        /// How long to wait for the browser, in seconds
        #[arg(long, value_name = "SECONDS", default_value_t = 300)]
        timeout: u64,
        /// Forget the login
        #[arg(long)]
        out: bool,
        #[command(flatten)]
        place: Place,
    },
    /// List the resources of MCP servers, or print one; in a prompt, @server:uri adds one
    Resources {
        /// The server's name [default: all]
        name: Option<String>,
        /// Print the resource of this address
        #[arg(requires = "name")]
        uri: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// List the prompts of MCP servers; /server:prompt at the beginning of a task uses one
    Prompts {
        /// The server's name [default: all]
        name: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Show the tools of MCP servers, and approve those that are new or have changed
    Tools {
        /// The server's name [default: all]
        name: Option<String>,
        /// Approve the tools as they are now
        #[arg(long, requires = "name")]
        approve: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
}
