Steering is read at the next turn, also when the agent believed to be done.

user: Go
  . run_started 1
  . turn_started 1
model: call read_file {"path":"a"} as r1
  . answered 1, 110 tokens
    | r1 read_file runs
  . tool_started r1
steer: Look at b too
  . steered i2 from person: Look at b too
tool r1: ok a
  . tool_finished r1 ok: a
  . turn_started 2
show: talk
  user <person>: Go
  assistant calls read_file {"path":"a"} as r1
  user <result of r1>: a
  user <steer>
    | Message from person while you work:
    | Look at b too
steer: And c
  . steered i3 from person: And c
model: a and b.
  . answered 2, 110 tokens
  . turn_started 3
model: a, b and c.
  . answered 3, 110 tokens
  . reported completed: a, b and c.
    | used 1 calls, 3 turns, 330 tokens
steer: And d
  . input_dropped i4: nothing runs in this thread; send it a message instead
