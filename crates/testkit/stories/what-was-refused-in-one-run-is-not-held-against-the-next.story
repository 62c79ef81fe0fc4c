What was refused in one run is not held against the next: files and unanswered questions belong to a run.

mode ask

user: Go
  . run_started 1
  . turn_started 1
model: call edit_file {"path":"a"} as e1
and call read_file {"path":"a"} as r1
  . answered 1, 110 tokens
    | e1 edit_file refused: edit_file was refused: it needs a person's consent (mode ask: writing needs approval), and nobody can give it here. Go on without it, or say what you would have done (edit_file: allowed by --mode auto)
    | r1 read_file runs
  . tool_started r1
tool r1: ok text
and read a
  . tool_finished r1 ok: text
  . turn_started 2
model: I may not write.
  . answered 2, 110 tokens
  . reported completed: I may not write.
    | used 2 calls, 2 turns, 220 tokens
    | read: a
    | unanswered: edit_file: allowed by --mode auto
user: Only read then
  . run_started 2
  . turn_started 3
model: Read.
  . answered 3, 110 tokens
  . reported completed: Read.
    | used 0 calls, 1 turns, 110 tokens
