//! Makes the guard's program, which is embedded in this library: the build script is that program, and copies itself.
//!
//! So the guard is built by cargo like everything else, with its dependencies and for the toolchain that is there, and without a compiler that is
//! started from here. A build for another machine has no such program, since build scripts are made for this one; its guard is the whole program
//! (`Guard::EmbeddedOrSelf`).

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|argument| argument == guard::WORD) {
        return guard::main(arguments);
    }
    println!("cargo::rerun-if-changed=build.rs");
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo names a folder for what is made"));
    let is_for_here = std::env::var_os("HOST") == std::env::var_os("TARGET");
    let program = std::env::current_exe().and_then(std::fs::read).expect("a build script can read itself");
    std::fs::write(folder.join("guard"), if is_for_here { &*program } else { &[] }).expect("the folder can be written");
    ExitCode::SUCCESS
}
