//! A guard as a program of its own, for embedders who want to install it.

fn main() -> std::process::ExitCode {
    majordomo_guard::main(std::env::args_os().skip(2))
}
