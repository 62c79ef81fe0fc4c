//! `majordomo demo init`: writes the sample household into a folder.

use std::path::Path;

use majordomo::household::demo;

use crate::error::Failure;
use crate::out;

/// `majordomo demo init`.
pub fn init(folder: &Path) -> Result<u8, Failure> {
    let shown = folder.display();
    if std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Failure::usage(format!("{shown} is not empty: name a folder that does not exist yet")));
    }
    demo::write(folder).map_err(|error| Failure::failed(error.to_string()))?;
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let shown = folder.display();
    let mut result = out::Result::Stdout;
    for line in [
        format!("The sample household is in {shown}."),
        "Its dates are around Thursday, 15 January 2026; `majordomo run --demo` uses a copy of its own, with the clock on that day."
            .to_owned(),
        String::new(),
        "To ask about it:".to_owned(),
        format!("  majordomo run -a butler --set household.folder={shown} \"Find my notes about the contract\""),
        "To use it, or your own folder, always, write in the configuration:".to_owned(),
        "  [household]".to_owned(),
        format!("  folder = \"{shown}\""),
    ] {
        if !result.line(&line)? {
            break;
        }
    }
    Ok(0)
}
