//! How a server begins: what a browser is started with, what is said of the surroundings, and how many files may be open.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use testkit::world::{World, until};

use crate::{Served, world};

/// The link, once it is printed.
fn link(running: &testkit::world::Running) -> String {
    until("a link", || running.said().lines().find_map(|line| line.strip_prefix("open ").map(str::to_owned)))
}

// T3: everybody on a machine can read what a program was started with
#[test]
fn a_browser_is_opened_at_a_private_file_that_leads_to_the_link() {
    let world = world(&[]);
    let (bin, opened) = (world.path("../bin"), world.path("../opened"));
    std::fs::create_dir(&bin).expect("a folder");
    let browser = format!("#!/bin/sh\necho \"$*\" > {0}.part && mv {0}.part {0}\n", opened.display());
    std::fs::write(bin.join("xdg-open"), browser).expect("a browser");
    std::fs::set_permissions(bin.join("xdg-open"), PermissionsExt::from_mode(0o755)).expect("it can be started");
    let mut command = world.command(&["serve", "--addr", "127.0.0.1:0", "--open"]);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", bin.display()));
    let mut running = world.launch(command);
    let link = link(&running);
    let arguments = until("a browser", || std::fs::read_to_string(&opened).ok());
    let code = link.rsplit('=').next().expect("a code");
    assert!(code.len() >= 32 && !arguments.contains(code), "{arguments}");
    let file = std::path::Path::new(arguments.trim_end());
    let mode = std::fs::metadata(file).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(std::fs::read_to_string(file).expect("a page").contains(&format!("url={link}\"")));
    running.signal(rustix::process::Signal::TERM);
    until("the end", || running.has_ended().then_some(()));
    assert!(!file.exists(), "it is gone with the server");
}

// F10
#[test]
fn a_second_window_on_the_same_folder_is_refused_until_the_first_is_gone_however_it_goes() {
    let world = world(&[]);
    let mut first = Served::open(&world, None);
    let second = world.call(&["serve", "--addr", "127.0.0.1:0"]);
    second.answer(1);
    let told = format!("is already running for {}, at http://{}", world.path("../state").display(), first.addr);
    assert!(second.err.contains("already running for") && second.err.contains("stop it first"), "{}", second.err);
    assert!(second.err.replace("work/../", "").contains(&told.replace("work/../", "")), "{told}: {}", second.err);
    assert!(first.ask("GET", "/threads", "").is_some(), "the first goes on, and its token with it");
    first.running.kill();
    let mut third = Served::open(&world, None);
    assert!(third.ask("GET", "/threads", "").is_some(), "what a dead process held is nobody's");
    third.running.kill();
}

#[test]
fn the_variable_with_the_password_is_known() {
    let world = world(&[]);
    let mut command = world.command(&["serve", "--addr", "127.0.0.1:0"]);
    command.env("MAJORDOMO_PASSWORD", "sesame");
    let mut running = world.launch(command);
    link(&running);
    assert!(!running.said().contains("unknown variable"), "{}", running.said());
    running.kill();
}

// F39
#[cfg(target_os = "linux")]
#[test]
fn as_many_files_may_be_open_as_a_full_window_needs() {
    let world = world(&[]);
    let mut running = world.launch(with_few_files(&world));
    link(&running);
    let installation = store::installation_at(&world.location()).expect("what holds");
    let process = installation.server.expect("a server").process.to_string();
    let pid = process.rsplit('-').nth(1).expect("its number");
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).expect("its limits");
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).expect("that of files");
    let mut numbers = line.split_whitespace().map(|number| number.parse().unwrap_or(u64::MAX));
    let (soft, hard) = (numbers.next().expect("a limit"), numbers.next().expect("a limit"));
    assert_eq!(soft, hard.min(server::OPEN_FILES), "{line}");
    running.kill();
}

/// The program with a low soft limit of open files.
fn with_few_files(world: &World) -> Command {
    let serve = world.command(&["serve", "--addr", "127.0.0.1:0"]);
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -Sn 200 && exec \"$0\" \"$@\""]).arg(serve.get_program()).args(serve.get_args());
    command.env_clear().envs(serve.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(serve.get_current_dir().expect("a folder"));
    command
}
