A spawn that cannot be understood starts nothing, and the answer shows the right call (OPTA-14, OPTA-31, OPTA-44, F20, T16).

user: Go
  . run_started 1
  . turn_started 1
model: call spawn_agent {} as c1
and call spawn_agent {"task":"  "} as c2
and call spawn_agent [1,2] as c3
and call spawn_agent {"task":["a"]} as c4
and call spawn_agent {"task":"a","max_tool_calls":0} as c5
and call spawn_agent {"task":"a","max_tool_calls":-3} as c6
and call spawn_agent {"task":"a","max_tokens":0} as c7
and call spawn_agent {"task":"a","timeout_s":0.1} as c8
and call spawn_agent {"task":"a","max_cost":-1} as c9
and call spawn_agent {"task":"a","max_tokens":"NaN"} as c10
and call spawn_agent {"task":"a","max_tool_calls":"many"} as c11
and call spawn_agent {"task":"a","mode":"root"} as c12
and call spawn_agent {"task":"a","agent":"nobody"} as c13
and call spawn_agent {"task":"a","model":"test/none"} as c14
and call spawn_agent {"task":"a","background":"perhaps"} as c15
and call spawn_agent {"task":"a","tools":["launch_rocket"]} as c16
and call spawn_agent {} as c17
and malformed c17 it ends in the middle
  . answered 1, 110 tokens
    | c1 spawn_agent is a verb
    | c2 spawn_agent is a verb
    | c3 spawn_agent is a verb
    | c4 spawn_agent is a verb
    | c5 spawn_agent is a verb
    | c6 spawn_agent is a verb
    | c7 spawn_agent is a verb
    | c8 spawn_agent is a verb
    | c9 spawn_agent is a verb
    | c10 spawn_agent is a verb
    | c11 spawn_agent is a verb
    | c12 spawn_agent is a verb
    | c13 spawn_agent is a verb
    | c14 spawn_agent is a verb
    | c15 spawn_agent is a verb
    | c16 spawn_agent is a verb
    | c17 spawn_agent refused: the arguments of spawn_agent could not be read: it ends in the middle. Call it again with one JSON object
  . tool_finished c1 error: spawn_agent needs 'task', for example {"task": "Read src/auth.rs and list what it exports"}
  . tool_finished c2 error: spawn_agent needs 'task', for example {"task": "Read src/auth.rs and list what it exports"}
  . tool_finished c3 error: spawn_agent takes one JSON object, for example {"task": "Read src/auth.rs and list what it exports"}
  . tool_finished c4 error: 'task' of spawn_agent must be a text, not ["a"]; for example {"task": "Read src/auth.rs and list what it exports"}
  . tool_finished c5 error: maxToolCalls must be positive (max_tool_calls)
  . tool_finished c6 error: maxToolCalls must be positive (max_tool_calls)
  . tool_finished c7 error: maxTokens must be positive (max_tokens)
  . tool_finished c8 error: timeoutMs must be at least 5000 (policy.min_child_timeout_ms)
  . tool_finished c9 error: max_cost must be positive, in dollars
  . tool_finished c10 error: 'max_tokens' of spawn_agent must be a number, not "NaN"; for example {"task": "Read src/auth.rs and list what it exports"}
  . tool_finished c11 error: 'max_tool_calls' of spawn_agent must be a number, not "many"; for example {"task": "Read src/auth.rs and list what it exports"}
  . tool_finished c12 error: unknown mode 'root': plan, ask, auto and dangerous are the modes
  . tool_finished c13 error: there is no agent 'nobody'; there are: explore, general, scribe
  . tool_finished c14 error: there is no model 'test/none'
  . tool_finished c15 error: 'background' of spawn_agent must be true or false, not "perhaps"; for example {"task": "Read src/auth.rs and list what it exports"}
  . tool_finished c16 error: none of the tools can be given; these can: ask_user, edit_file, read_file, run_command, search_files, todo, spawn_agent, delegate_task, message_agent, wait_agents, stop_agent, list_agents
  . turn_started 2

model: I give up.
  . answered 2, 110 tokens
  . reported completed: I give up.
    | used 17 calls, 2 turns, 220 tokens
