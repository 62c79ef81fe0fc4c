Sub-agents that are switched off are not there (OPTA-12, OPTA-36).

preset opta
policy enabled false

show: tools
  ask_user, edit_file, read_file, run_command, search_files, todo
user: Go
  . run_started 1
  . turn_started 1
model: call spawn_agent {"task":"Go"} as c1
  . answered 1, 110 tokens
    | c1 spawn_agent refused: spawn_agent is not permitted to you. Your tools: ask_user, edit_file, read_file, run_command, search_files, todo
  . turn_started 2
model: Alone then.
  . answered 2, 110 tokens (10 counted)
  . reported completed: Alone then.
    | used 1 calls, 2 turns, 120 tokens
