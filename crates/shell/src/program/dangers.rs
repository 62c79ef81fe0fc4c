//! Programs that are known for what they can do, with the words for the person who is asked. The list only makes a
//! verdict clearer and graver: what is not on it is unknown, and not harmless.

use crate::script::Word;
use crate::verdict::Verdict;

use super::builders::is_python;

/// What a dangerous program does; nothing if it is not known as one.
pub(super) fn verdict(name: &str, args: &[Word]) -> Option<Verdict> {
    if is_python(name) {
        return Some(Verdict::unsure(CODE));
    }
    if name.starts_with("mkfs") {
        return Some(Verdict::grave("it makes a new file system where there may be one"));
    }
    if let Some((_, why)) = NETWORK.iter().find(|(names, _)| names.contains(&name)) {
        return Some(Verdict::grave(*why).with_network());
    }
    if let Some((_, why)) = GRAVE.iter().find(|(names, _)| names.contains(&name)) {
        let network = args.iter().any(|word| NETWORK.iter().any(|(names, _)| names.contains(&word.text.as_str())));
        let verdict = Verdict::grave(*why);
        return Some(if network { verdict.with_network() } else { verdict });
    }
    let (_, why) = HIGH.iter().find(|(names, _)| names.contains(&name))?;
    Some(Verdict::unsure(*why))
}

const CODE: &str = "it runs code that is given to an interpreter";

const NETWORK: [(&[&str], &str); 5] = [
    (
        &["curl", "wget", "aria2c", "http", "https", "xh", "lynx", "w3m", "links"],
        "it talks to another machine and can send anything there",
    ),
    (&["ssh", "scp", "sftp", "mosh", "telnet", "ftp", "lftp", "rclone", "autossh"], "it reaches into another machine"),
    (
        &["nc", "ncat", "netcat", "socat", "openssl", "ngrok", "cloudflared"],
        "it opens connections for anything to pass",
    ),
    (
        &["ping", "dig", "nslookup", "host", "whois", "traceroute", "nmap", "mtr", "arp"],
        "it asks other machines, and what it asks can carry data",
    ),
    (
        &[
            "gh",
            "glab",
            "hub",
            "aws",
            "gcloud",
            "az",
            "kubectl",
            "helm",
            "terraform",
            "heroku",
            "vercel",
            "fly",
            "mail",
            "sendmail",
            "mutt",
        ],
        "it acts on a service elsewhere in your name",
    ),
];

const GRAVE: [(&[&str], &str); 6] = [
    (&["sudo", "doas", "su", "pkexec", "runuser", "gosu"], "it takes the rights of another user"),
    (
        &[
            "chroot", "nsenter", "unshare", "bwrap", "mount", "umount", "losetup", "insmod", "modprobe", "rmmod",
            "sysctl",
        ],
        "it changes what the machine is made of",
    ),
    (
        &["fdisk", "parted", "sfdisk", "wipefs", "shred", "blkdiscard", "mkswap", "cryptsetup", "lvremove"],
        "it destroys what is on a disk",
    ),
    (&["shutdown", "reboot", "halt", "poweroff", "init", "telinit"], "it stops the machine"),
    (
        &["crontab", "at", "batch", "launchctl", "service", "systemd-run", "update-rc.d", "chkconfig"],
        "it leaves something behind that runs later",
    ),
    (
        &[
            "useradd", "usermod", "userdel", "groupadd", "passwd", "chpasswd", "visudo", "iptables", "nft", "ufw",
            "setfacl", "setcap",
        ],
        "it changes who may do what on the machine",
    ),
];

const HIGH: [(&[&str], &str); 8] = [
    (
        &[
            "bash",
            "sh",
            "zsh",
            "dash",
            "ksh",
            "fish",
            "csh",
            "tcsh",
            "pwsh",
            "busybox",
            "node",
            "deno",
            "tsx",
            "ts-node",
            "ruby",
            "perl",
            "php",
            "lua",
            "luajit",
            "Rscript",
            "R",
            "julia",
            "osascript",
            "tclsh",
            "expect",
            "java",
            "ghci",
            "elixir",
            "erl",
            "groovy",
            "scala",
            "kotlin",
            "guile",
            "racket",
            "sqlite3",
            "psql",
            "mysql",
            "gdb",
            "lldb",
            "irb",
            "ipython",
            "bc",
            "dc",
        ],
        CODE,
    ),
    (&["eval", "source", ".", "trap", "fc", "history", "mapfile", "readarray"], "it runs text as a command"),
    (
        &[
            "set", "alias", "unalias", "hash", "enable", "shopt", "unset", "export", "declare", "typeset", "local",
            "readonly", "read", "let", "getopts", "ulimit", "umask", "pushd", "popd",
        ],
        "it changes what names mean to the shell",
    ),
    (&["env", "printenv"], "it shows or changes the environment, where keys are kept"),
    (
        &[
            "xargs", "parallel", "watch", "entr", "script", "strace", "ltrace", "perf", "coproc", "npx", "pnpx",
            "bunx", "uvx", "pipx", "tmux", "screen", "flock", "sg", "faketime", "unbuffer",
        ],
        "it runs whatever it is given",
    ),
    (
        &["less", "more", "most", "vi", "vim", "nvim", "view", "nano", "emacs", "ed", "ex", "pico", "top", "htop"],
        "it is made for a terminal and can run other programs",
    ),
    (&["kill", "pkill", "killall", "skill", "renice"], "it ends or changes running programs"),
    (&["chown", "chgrp", "chattr"], "it changes whom files belong to"),
];
