The fifth identical call in a row is refused, and the eighth ends the agent with a last turn (F5).

user: Go
  . run_started 1
  . turn_started 1
model: call read_file {"path":"a"} as r1
  . answered 1, 110 tokens
    | r1 read_file runs
  . tool_started r1
tool r1: ok same
  . tool_finished r1 ok: same
  . turn_started 2
model: call read_file {"path":"a"} as r2
  . answered 2, 110 tokens
    | r2 read_file runs
  . tool_started r2
tool r2: ok same
  . tool_finished r2 ok: same
  . turn_started 3
model: call read_file {"path":"a"} as r3
and call read_file {"path":"a"} as r4
  . answered 3, 110 tokens
    | r3 read_file runs
    | r4 read_file runs
  . tool_started r3
  . tool_started r4
tool r3: ok same
  . tool_finished r3 ok: same
tool r4: ok same
  . tool_finished r4 ok: same
  . turn_started 4
model: call read_file {"path":"a"} as r5
  . answered 4, 110 tokens
    | r5 read_file refused: not run: read_file was called 5 times in a row with the same arguments. Do something else, or answer
  . turn_started 5
model: call read_file {"path":"a"} as r6
  . answered 5, 110 tokens
    | r6 read_file refused: not run: read_file was called 6 times in a row with the same arguments. Do something else, or answer
  . turn_started 6
model: call read_file {"path":"a"} as r7
and call read_file {"path":"a"} as r8
  . answered 6, 110 tokens
    | r7 read_file refused: not run: read_file was called 7 times in a row with the same arguments. Do something else, or answer
    | r8 read_file refused: not run: read_file was called 8 times in a row with the same arguments. Do something else, or answer
  . turn_started 7, the last: error (loop), read_file was called 8 times in a row with the same arguments, at most 2048 tokens
model: It never changes.
  . answered 7, 110 tokens
  . reported error (loop), read_file was called 8 times in a row with the same arguments: It never changes.
    | used 8 calls, 7 turns, 770 tokens
