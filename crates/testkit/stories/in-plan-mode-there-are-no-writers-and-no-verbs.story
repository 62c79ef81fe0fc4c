In plan mode there are no verbs under the preset opta, and no writer runs (OPTA-22, OPTA-36).

preset opta
mode plan

show: tools
  ask_user, edit_file, read_file, run_command, search_files, todo
user: Go
  . run_started 1
  . turn_started 1
model: call spawn_agent {"task":"Go"} as c1
and call edit_file {"path":"a"} as e1
and call run_command {"command":"ls"} as x1
and call todo {"add":"x"} as t1
and call read_file {"path":"a"} as r1
  . answered 1, 110 tokens
    | c1 spawn_agent refused: spawn_agent is not permitted to you. Your tools: ask_user, edit_file, read_file, run_command, search_files, todo
    | e1 edit_file refused: edit_file is not permitted: mode plan: read only
    | x1 run_command refused: run_command is not permitted: mode plan: read only
    | t1 todo refused: todo is not permitted: mode plan: read only
    | r1 read_file runs
  . tool_started r1
tool r1: ok text
  . tool_finished r1 ok: text
  . turn_started 2
model: I may only read.
  . answered 2, 110 tokens (10 counted)
  . reported completed: I may only read.
    | used 5 calls, 2 turns, 120 tokens
