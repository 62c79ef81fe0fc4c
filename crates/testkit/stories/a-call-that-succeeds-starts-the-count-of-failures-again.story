One call that succeeds is enough to start the count of failed answers again, and words alone do not (T70).

policy loop_failed_at 3

user: Go
  . run_started 1
  . turn_started 1
model: call read_file {"path":"a"} as c1
  . answered 1, 110 tokens
    | c1 read_file runs
  . tool_started c1
tool c1: error there is no such file
  . tool_finished c1 error: there is no such file
  . turn_started 2
model: call read_file {"path":"b"} as c2
  . answered 2, 110 tokens
    | c2 read_file runs
  . tool_started c2
tool c2: error there is no such file
  . tool_finished c2 error: there is no such file
  . turn_started 3
model: call read_file {"path":"c"} as c3
and call read_file {"path":"d"} as c4
  . answered 3, 110 tokens
    | c3 read_file runs
    | c4 read_file runs
  . tool_started c3
  . tool_started c4
tool c3: error there is no such file
  . tool_finished c3 error: there is no such file
tool c4: ok here
  . tool_finished c4 ok: here
  . turn_started 4
model: call read_file {"path":"e"} as c5
  . answered 4, 110 tokens
    | c5 read_file runs
  . tool_started c5
tool c5: error there is no such file
  . tool_finished c5 error: there is no such file
  . turn_started 5
model: call read_file {"path":"f"} as c6
  . answered 5, 110 tokens
    | c6 read_file runs
  . tool_started c6
tool c6: error there is no such file
  . tool_finished c6 error: there is no such file
  . turn_started 6
model (cut): I go on
  . answered 6, 110 tokens
  . turn_started 7
model: call read_file {"path":"g"} as c7
  . answered 7, 110 tokens
    | c7 read_file runs
  . tool_started c7
tool c7: error there is no such file
  . tool_finished c7 error: there is no such file
  . turn_started 8, the last: error (loop), in 3 answers in a row every tool call failed or was refused (policy.loop_failed_at), at most 2048 tokens
model: I gave up.
  . answered 8, 110 tokens
  . reported error (loop), in 3 answers in a row every tool call failed or was refused (policy.loop_failed_at): I gave up.
    | used 7 calls, 8 turns, 880 tokens
