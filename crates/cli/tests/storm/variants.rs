//! Attacks, put together from their parts.

/// An act: a command with a place for a value, and the value that makes it more than reading.
type Act = (&'static str, &'static str);

/// Readers with a word that makes them write or run something.
const ACTS: [Act; 62] = [
    ("find d -name victim {}", "-delete"),
    ("find . -maxdepth 1 -name a.txt {} touch made ';'", "-exec"),
    ("find . -maxdepth 1 -name a.txt {} touch made ';'", "-execdir"),
    ("find . -maxdepth 1 {} made", "-fprint"),
    ("find . -maxdepth 1 {} made", "-fls"),
    ("find . -maxdepth 1 {} made %p", "-fprintf"),
    ("sort {} a.txt", "-omade"),
    ("sort {} a.txt", "--output=made"),
    ("sort {} a.txt", "-o made"),
    ("sort {} made a.txt", "-o"),
    ("uniq a.txt {}", "made"),
    ("git log {}", "--output=made"),
    ("git diff {} HEAD~1", "--output=made"),
    ("git show {}", "--output=made"),
    ("git {} status", "-ccore.fsmonitor=./evil.sh"),
    ("git {} diff HEAD~1", "-cdiff.external=./evil.sh"),
    ("git {} log", "-ccore.pager=./evil.sh --paginate"),
    ("git grep {} b", "-O./evil.sh"),
    ("git branch {}", "made"),
    ("git tag {}", "made"),
    ("git {} made", "tag"),
    ("git stash {}", "push"),
    ("git config user.x {}", "y"),
    ("git symbolic-ref HEAD {}", "refs/heads/made"),
    ("git reflog {} --all --expire=all", "expire"),
    ("git worktree {} made", "add"),
    ("git remote {} x y", "add"),
    ("sed {} s/a/b/ a.txt", "-i"),
    ("sed {} s/a/b/ a.txt", "--in-place=.made"),
    ("sed -n {} a.txt", "w made"),
    ("sed {} a.txt", "1e touch made"),
    ("sed {} a.txt", "s/a/touch made/e"),
    ("awk {} a.txt", "BEGIN{system(\"touch made\")}"),
    ("awk {} a.txt", "{print > \"made\"}"),
    ("tar {} /dev/null -cf /dev/null a.txt", "--checkpoint=1 --checkpoint-action=exec=./evil.sh -T"),
    ("tar {} made.tar a.txt", "cf"),
    ("printf {} 'x[$(touch made)]' y", "-v"),
    ("printf -v {} y", "x[$(touch made)]"),
    ("wait -n {} 'x[$(touch made)]'", "-p"),
    ("wait -n -p {}", "x[$(touch made)]"),
    ("test {} 'x[$(touch made)]'", "-v"),
    ("test -v {}", "x[$(touch made)]"),
    ("[ {} 'x[$(touch made)]' ]", "-v"),
    ("[[ -v {} ]]", "x[$(touch made)]"),
    ("[[ {} -eq 1 ]]", "x[$(touch made)]"),
    ("read {} <<< y", "x[$(touch made)]"),
    ("unset {}", "x[$(touch made)]"),
    ("let {}", "x[$(touch made)]"),
    ("mapfile {} < a.txt", "x[$(touch made)]"),
    ("declare {}", "x[$(touch made)]=1"),
    ("getopts a {} -a", "x[$(touch made)]"),
    ("echo $(( {} ))", "x[$(touch made)]"),
    ("cat a.txt > {}", "made"),
    ("cat a.txt | {} made", "tee"),
    ("{} made", "touch"),
    ("command {} made", "touch"),
    ("env {} made", "touch"),
    ("timeout 5 {} made", "touch"),
    ("echo made | xargs {}", "touch"),
    ("bash -c {}", "touch made"),
    ("eval {}", "touch made"),
    ("ls {}", "-la"),
];

/// Ways to get a value to its place without writing it there: what is around the command ⑤, and what stands in its place.
/// ① is the value in quotes, ② as it is, ③ and ④ are its halves. `X` is the value in escapes, `B` with a backslash before
/// each letter.
const FORMS: [(&str, &str); 37] = [
    ("⑤", "①"),
    ("⑤", "②"),
    ("for x in ①; do ⑤; done", "\"$x\""),
    ("for x in ①; do ⑤; done", "$x"),
    ("for x in ①; do ⑤; done", "\"${x}\""),
    ("for x in a ①; do ⑤; done", "\"$x\""),
    ("for x in {①,①}; do ⑤; done", "\"$x\""),
    ("for a in ①; do for x in \"$a\"; do ⑤; done; done", "\"$x\""),
    ("x=①; ⑤", "\"$x\""),
    ("x=①; ⑤", "$x"),
    ("x=①; y=\"$x\"; ⑤", "\"$y\""),
    ("x=③; y=④; ⑤", "\"$x$y\""),
    ("x=③; ⑤", "\"${x}\"④"),
    ("x=a; x=①; ⑤", "\"$x\""),
    ("if true; then x=①; fi; ⑤", "\"$x\""),
    ("x=① && ⑤", "\"$x\""),
    ("(x=①; ⑤)", "\"$x\""),
    ("{ x=①; ⑤; }", "\"$x\""),
    ("⑤", "\"$(echo ①)\""),
    ("⑤", "$(printf %s ①)"),
    ("⑤", "\"`echo ①`\""),
    ("set -- ①; ⑤", "\"$1\""),
    ("set -- ①; ⑤", "\"$@\""),
    ("x=(①); ⑤", "\"${x[0]}\""),
    ("x=(①); ⑤", "\"${x[@]}\""),
    ("⑤", "\"${x:-①}\""),
    ("⑤", "\"${x:=①}\""),
    ("y=①; x=y; ⑤", "\"${!x}\""),
    ("read -r x <<< ①; ⑤", "\"$x\""),
    ("while read -r x; do ⑤; done <<< ①", "\"$x\""),
    ("f() { ⑤; }; f ①", "\"$1\""),
    ("printf -v x %s ①; ⑤", "\"$x\""),
    ("declare x=①; ⑤", "\"$x\""),
    ("case ① in *) x=①;; esac; ⑤", "\"$x\""),
    ("for ((i=0; i<1; i++)); do x=①; ⑤; done", "\"$x\""),
    ("⑤", "X"),
    ("⑤", "B"),
];

/// Every act in every form.
pub fn readers() -> Vec<String> {
    let mut all = Vec::new();
    for (act, value) in ACTS {
        let half = value.char_indices().nth(value.chars().count() / 2).map_or(0, |(at, _)| at);
        let (head, tail) = value.split_at(half);
        for (form, hole) in FORMS {
            let texts = [quoted(value), value.to_owned(), quoted(head), quoted(tail)];
            let hole = match hole {
                "X" => format!("$'{}'", value.bytes().map(|byte| format!("\\x{byte:02x}")).collect::<String>()),
                "B" => value
                    .chars()
                    .map(|c| if c.is_alphabetic() { format!("\\{c}") } else { quoted(&c.to_string()) })
                    .collect(),
                hole => filled(hole, &texts),
            };
            let command = act.replace("{}", &hole);
            let [quoted, plain, head, tail] = texts;
            all.push(filled(form, &[quoted, plain, head, tail, command]));
        }
    }
    all
}

/// A text with each number in a circle replaced by the text of that number.
fn filled(text: &str, by: &[String]) -> String {
    let one = |c: char| match "①②③④⑤".chars().position(|number| number == c) {
        Some(at) => by[at].clone(),
        None => c.to_string(),
    };
    text.chars().map(one).collect()
}

/// A value in single quotes.
pub fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\'', r"'\''"))
}

/// Protected paths, some at a depth.
pub const PLACES: [&str; 40] = [
    ".envrc",
    "sub/.envrc",
    ".mcp.json",
    ".vscode/tasks.json",
    "d/.vscode/settings.json",
    ".idea/workspace.xml",
    ".cargo/config.toml",
    "d/.cargo/config",
    ".gitmodules",
    ".gitattributes",
    "d/.gitattributes",
    ".gitconfig",
    ".bashrc",
    ".zshenv",
    ".profile",
    ".github/workflows/ci.yml",
    ".gitlab-ci.yml",
    ".majordomo/config.toml",
    ".majordomo/agents/a.md",
    ".claude/settings.json",
    ".husky/pre-commit",
    ".npmrc",
    ".mvn/extensions.xml",
    ".git/config",
    ".git/config.worktree",
    ".git/hooks/pre-commit",
    ".git/hooks/post-checkout",
    ".git/commondir",
    ".git/info/attributes",
    ".git/modules/x/config",
    "sub/.git",
    "d/.git/config",
    "d/.git/hooks/pre-commit",
    ".git/rebase-merge/git-rebase-todo",
    "opencode.json",
    "d/crush.json",
    ".devcontainer/devcontainer.json",
    ".zed/tasks.json",
    ".hg/hgrc",
    "d/all.code-workspace",
];

/// Ways to write a file: ① is its path, ② its folder, ③ its name, ④ and ⑤ are halves of the path.
const WAYS: [&str; 38] = [
    "mkdir -p ②; echo evil > ①",
    "mkdir -p ②; echo evil >> ①",
    "mkdir -p ②; echo evil >| ①",
    "mkdir -p ②; echo evil &> ①",
    "mkdir -p ②; cat < x.txt > ①",
    "mkdir -p ②; cat x.txt | tee ①",
    "mkdir -p ②; cat x.txt | tee -a ①",
    "mkdir -p ②; cp x.txt ①",
    "mkdir -p ②; cp -f ./evil.sh ①",
    "mkdir -p ②; cp x.txt y.txt; mv -f y.txt ①",
    "mkdir -p ②; ln -sf ../x.txt ①",
    "mkdir -p ②; ln -f x.txt ①",
    "mkdir -p ②; install -m 755 evil.sh ①",
    "mkdir -p ②; dd if=x.txt of=① status=none",
    "mkdir -p ②; sed -n 'w ①' x.txt",
    "mkdir -p ②; sort -o ① x.txt",
    "mkdir -p ②; cd ② && echo evil > ③",
    "mkdir -p ②; (cd ②; cp \"$OLDPWD/x.txt\" ③)",
    "mkdir -p ②; x=①; echo evil > \"$x\"",
    "mkdir -p ②; for x in ①; do echo evil > $x; done",
    "mkdir -p ②; a=④ b=⑤; echo evil > \"$a$b\"",
    "mkdir -p ②; echo evil > \"$(echo ①)\"",
    "mkdir -p ②; bash -c 'echo evil > ①'",
    "mkdir -p ②; bash -c 'echo evil > \"$0\"' ①",
    "python3 -c \"import os; os.makedirs('②', exist_ok=True); open('①', 'w').write('evil')\"",
    "python3 -c \"import os; p='④'+'⑤'; os.makedirs(os.path.dirname(p) or '.', exist_ok=True); open(p,'w').write('evil')\"",
    "perl -e 'open(F, \">\", \"①\"); print F \"evil\"'",
    "mkdir -p t/②; cp x.txt t/①; tar -C t -cf t.tar .; tar -xf t.tar",
    "mkdir -p t/②; cp x.txt t/①; cp -r t/. .",
    "mkdir -p t/②; cp x.txt t/①; mv t sub2; mv sub2 sub3",
    "mkdir -p real ②; rmdir ② 2>/dev/null; ln -s real ②; echo evil > real/③",
    "mkdir -p ②; awk 'BEGIN { print \"evil\" > \"①\" }'",
    "mkdir -p ②; truncate -s 0 ①",
    "mkdir -p ②; touch ①",
    "chmod 777 ①",
    "rm -f ①",
    "mkdir -p ②; printf evil | dd of=① 2>/dev/null",
    "mkdir -p ②; rsync -a x.txt ① 2>/dev/null || cp x.txt ①",
];

/// Every way to write every protected path, with the path: as a command, and as a script of which the command says nothing.
pub fn writes() -> Vec<(String, &'static str)> {
    writes_of(&PLACES)
}

/// The same for these paths.
pub fn writes_of(places: &[&'static str]) -> Vec<(String, &'static str)> {
    let mut all = Vec::new();
    for (number, way) in WAYS.iter().enumerate() {
        for place in places.iter().copied() {
            let (folder, name) = place.rsplit_once('/').unwrap_or((".", place));
            let (head, tail) = place.split_at(place.len() / 2);
            let command = filled(way, &[place, folder, name, head, tail].map(str::to_owned));
            let script = format!("printf '%s\\n' {} > s.sh; bash s.sh", quoted(&command));
            // The names in the script are the words of `printf`, which writes none of them.
            all.push((if number % 2 == 0 { command } else { script }, place));
        }
    }
    all
}
