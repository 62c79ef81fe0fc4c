Answers in a row in which every call failed or was refused end the agent as a loop, however they failed (T70).

mode plan
policy loop_failed_at 6

user: Go
  . run_started 1
  . turn_started 1
model: call fly {"to":"moon"} as c1
  . answered 1, 110 tokens
    | c1 fly refused: fly is no tool. Your tools: ask_user, edit_file, read_file, run_command, search_files, todo, spawn_agent, delegate_task, message_agent, wait_agents, stop_agent, list_agents
  . turn_started 2
model: call edit_file {"path":"a"} as c2
  . answered 2, 110 tokens
    | c2 edit_file refused: edit_file is not permitted: mode plan: read only
  . turn_started 3
model: call read_file {"path":"b"} as c3
  . answered 3, 110 tokens
    | c3 read_file runs
  . tool_started c3
tool c3: error there is no such file
  . tool_finished c3 error: there is no such file
  . turn_started 4
model: call read_file {} as c4
and call search_files {"for":"x"} as c5
and malformed c4 expected a value
  . answered 4, 110 tokens
    | c4 read_file refused: the arguments of read_file could not be read: expected a value. Call it again with one JSON object
    | c5 search_files runs
  . tool_started c5
tool c5: error there is no such folder
  . tool_finished c5 error: there is no such folder
  . turn_started 5
model: call spawn_agent {} as c6
  . answered 5, 110 tokens
    | c6 spawn_agent is a verb
  . tool_finished c6 error: spawn_agent needs 'task', for example {"task": "Read src/auth.rs and list what it exports"}
  . turn_started 6
model: call read_file {"path":"c"} as c7
  . answered 6, 110 tokens
    | c7 read_file runs
  . tool_started c7
tool c7: error there is no such file
  . tool_finished c7 error: there is no such file
  . turn_started 7, the last: error (loop), in 6 answers in a row every tool call failed or was refused (policy.loop_failed_at), at most 2048 tokens
model: I found nothing.
  . answered 7, 110 tokens
  . reported error (loop), in 6 answers in a row every tool call failed or was refused (policy.loop_failed_at): I found nothing.
    | used 7 calls, 7 turns, 770 tokens
