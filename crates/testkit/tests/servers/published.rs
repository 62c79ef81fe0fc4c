//! The official libraries of model providers, for the types of requests that they publish.

use std::path::Path;
use std::process::Command;

use super::program::environment;

#[test]
#[ignore = "needs the official libraries: cargo xtask test --with-servers"]
fn what_the_schemas_of_requests_allow_is_published_by_the_official_libraries() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut compare = Command::new(environment().join("libraries/bin/python"));
    compare.arg(here.join("tests/servers/published_types.py")).arg(here.join("src/model_server/types"));
    let compared = compare.output().expect("python runs");
    let told = format!("{}{}", String::from_utf8_lossy(&compared.stdout), String::from_utf8_lossy(&compared.stderr));
    assert!(compared.status.success() && told.trim() == "no difference", "{told}");
}
