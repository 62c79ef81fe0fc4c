//! A guard as a program of its own, for embedders whose own program cannot be one.

fn main() -> std::process::ExitCode {
    majordomo_tool::guard::main(std::env::args_os().skip(2))
}
