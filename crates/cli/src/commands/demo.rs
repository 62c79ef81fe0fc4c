//! `majordomo demo init`: a household to try things on, in a folder of one's own.

use std::path::Path;

use majordomo::household::demo;

use crate::error::Failure;
use crate::out;

/// `majordomo demo init`.
pub fn init(folder: &Path) -> Result<u8, Failure> {
    let shown = folder.display();
    if std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Failure::usage(format!("{shown} is not empty: name a folder that is not there yet")));
    }
    demo::write(folder).map_err(|error| Failure::failed(error.to_string()))?;
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let shown = folder.display();
    let mut result = out::Result::Stdout;
    for line in [
        format!("The sample household lies in {shown}."),
        "It plays on Thursday, 15 January 2026; `majordomo run --demo` keeps its clock there, with files of its own."
            .to_owned(),
        String::new(),
        "Ask about this one:".to_owned(),
        format!("  majordomo run -a butler --set household.folder={shown} \"Find my notes about the contract\""),
        "Or name your own folders, in the configuration:".to_owned(),
        "  [household]".to_owned(),
        format!("  folder = \"{shown}\""),
    ] {
        if !result.line(&line)? {
            break;
        }
    }
    Ok(0)
}
