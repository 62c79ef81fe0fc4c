Readers run side by side, and a writer alone, in the place that the model gave it.

user: Go
  . run_started 1
  . turn_started 1
model: call read_file {"path":"a"} as r1
and call read_file {"path":"b"} as r2
and call edit_file {"path":"a"} as e1
and call read_file {"path":"a"} as r3
  . answered 1, 110 tokens
    | r1 read_file runs
    | r2 read_file runs
    | e1 edit_file runs
    | r3 read_file runs
  . tool_started r1
  . tool_started r2
tool r2: ok b
  . tool_finished r2 ok: b
tool r1: ok a
  . tool_finished r1 ok: a
  . tool_started e1
tool e1: ok changed
  . tool_finished e1 ok: changed
  . tool_started r3
tool r3: ok new a
  . tool_finished r3 ok: new a
  . turn_started 2
show: talk
  user <person>: Go
  assistant calls read_file {"path":"a"} as r1
  assistant calls read_file {"path":"b"} as r2
  assistant calls edit_file {"path":"a"} as e1
  assistant calls read_file {"path":"a"} as r3
  user <result of r1>: a
  user <result of r2>: b
  user <result of e1>: changed
  user <result of r3>: new a
model: Done.
  . answered 2, 110 tokens
  . reported completed: Done.
    | used 4 calls, 2 turns, 220 tokens
