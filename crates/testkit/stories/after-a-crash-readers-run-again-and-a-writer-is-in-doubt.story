After a crash readers run again, and a writer that had begun is in doubt (F3, F4, INV-10).
One that had not begun runs in its turn.

user: Go
  . run_started 1
  . turn_started 1
model: call read_file {"path":"a"} as r1
and call edit_file {"path":"a"} as e1
and call read_file {"path":"a"} as r2
  . answered 1, 110 tokens
    | r1 read_file runs
    | e1 edit_file runs
    | r2 read_file runs
  . tool_started r1
crash 10s
  . reopened after 10 s
tool r1: ok a
  . tool_finished r1 ok after 10 s: a
  . tool_started e1
crash 10s
  . reopened after 10 s
  . tool_finished e1 error: interrupted, outcome unknown: the process ended while edit_file was running. It was not run again. Look at what is there before you decide.
  . tool_started r2
tool r2: ok new a
  . tool_finished r2 ok: new a
  . turn_started 2
model: e1 is in doubt.
  . answered 2, 110 tokens
  . reported completed: e1 is in doubt.
    | used 3 calls, 2 turns, 220 tokens; in 20 s
