A call under a used name gets a name of its own, and the same call twice in an answer is one (F5).

user: Go
  . run_started 1
  . turn_started 1
model: call read_file {"path":"a"} as c1
and call read_file {"path":"a"} as c1
and call read_file {"path":"b"} as c1
  . answered 1, 110 tokens
    | c1 read_file runs
    | c1-2 read_file runs
  . tool_started c1
  . tool_started c1-2
tool c1: ok a
  . tool_finished c1 ok: a
tool c1-2: ok b
  . tool_finished c1-2 ok: b
  . turn_started 2
model: call read_file {"path":"c"} as c1
  . answered 2, 110 tokens
    | c1-3 read_file runs
  . tool_started c1-3
tool c1-3: ok c
  . tool_finished c1-3 ok: c
  . turn_started 3
model: Done.
  . answered 3, 110 tokens
  . reported completed: Done.
    | used 3 calls, 3 turns, 330 tokens
