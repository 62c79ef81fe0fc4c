//! Our side of one connection: what a server may ask of us, and what it tells us on its own account.
//!
//! A server may ask for the folders that it works on, and gets the workspace. It may not ask a model anything, nor a person: neither is
//! offered to it, and a request all the same is refused.

#![expect(deprecated, reason = "servers of earlier revisions ask for roots")]

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, ListRootsResult, ProgressNotificationParam, ProgressToken,
    ProtocolVersion, Root,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use rmcp::{ClientHandler, ErrorData};
use tokio::sync::Notify;
use tool::Progress;

/// The longest progress message that is shown.
const LONGEST_PROGRESS: usize = 200;

/// Our side of one connection.
#[derive(Clone)]
pub(crate) struct Client(Arc<Inner>);

struct Inner {
    workspace: PathBuf,
    /// Told when the server says that its tools have changed.
    changed: Arc<Notify>,
    /// Where the progress of each call goes.
    progress: Mutex<HashMap<ProgressToken, Progress>>,
}

impl Client {
    pub fn new(workspace: PathBuf, changed: Arc<Notify>) -> Self {
        Self(Arc::new(Inner { workspace, changed, progress: Mutex::default() }))
    }

    /// Passes the progress of a call on until the guard is dropped.
    pub fn follow(&self, token: ProgressToken, progress: Progress) -> Following {
        self.lock().insert(token.clone(), progress);
        Following { client: self.clone(), token }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<ProgressToken, Progress>> {
        self.0.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends with the call.
pub(crate) struct Following {
    client: Client,
    token: ProgressToken,
}

impl Drop for Following {
    fn drop(&mut self) {
        self.client.lock().remove(&self.token);
    }
}

/// What we say about ourselves.
fn config() -> ClientConfig {
    let mut capabilities = ClientCapabilities::default();
    capabilities.roots = Some(Default::default());
    let us = Implementation::new("majordomo", env!("CARGO_PKG_VERSION"));
    ClientConfig::new(capabilities, us).with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        config()
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        let path = &self.0.workspace;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(ListRootsResult::new(vec![Root::new(file_address(&path.to_string_lossy())).with_name(name)]))
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let receiver = self.lock().get(&params.progress_token).cloned();
        let Some(progress) = receiver else { return };
        let share = match params.total {
            Some(total) => format!("{} of {total}", params.progress),
            None => params.progress.to_string(),
        };
        let message = params.message.unwrap_or_default();
        let words: String =
            [share.as_str(), message.as_str()].join(" ").trim_end().chars().take(LONGEST_PROGRESS).collect();
        progress(&words);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.changed.notify_one();
    }
}

/// The address of a folder, with everything but plain characters written by its code.
fn file_address(path: &str) -> String {
    let coded = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    format!("file://{}", path.bytes().map(coded).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_an_address() {
        assert_eq!(file_address("/home/a b/ü"), "file:///home/a%20b/%C3%BC");
    }

    // T54
    #[test]
    fn neither_a_model_nor_a_person_is_offered_to_servers() {
        let offered = serde_json::to_value(config().capabilities).unwrap();
        assert_eq!(offered, serde_json::json!({"roots": {}}));
    }
}
