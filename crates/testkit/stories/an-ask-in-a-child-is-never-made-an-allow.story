An ask in a child is never made an allow (T12; OPTA-21 as far as that promise allows).
Nobody is there to ask, so policy refuses at once and names the rule that would have allowed it, up to the root's report.

mode ask

user: Go
  . run_started 1
  . turn_started 1
model: call spawn_agent {"task":"Write","mode":"auto"} as c1
  . answered 1, 110 tokens
    | c1 spawn_agent is a verb
  . child_spawned .1 by c1: general, ask, 50 calls, 200000 tokens, 1800 s, depth 1, 7 descendants
    | narrowed: mode auto was cut to ask, the parent's own
  . child_started .1
  .1 turn_started 1
.1 model: call edit_file {"path":"a"} as e1
and call run_command {"command":"ls"} as x1
and call todo {"add":"x"} as t1
  .1 answered 1, 110 tokens
    | e1 edit_file refused: edit_file was refused: it needs a person's consent (mode ask: writing needs approval (agent general)), and nobody can give it here. Go on without it, or say what you would have done (edit_file: allowed by --mode auto)
    | x1 run_command refused: run_command was refused: it needs a person's consent (mode ask: actions outside the workspace need approval (agent general)), and nobody can give it here. Go on without it, or say what you would have done (run_command: allowed by --mode dangerous)
    | t1 todo runs
  .1 tool_started t1
.1 tool t1: ok
  .1 tool_finished t1 ok
  .1 turn_started 2
.1 model: nothing
  .1 answered 2, 110 tokens
  .1 reported refused, a call was refused, and the agent said nothing more
    | used 3 calls, 2 turns, 220 tokens
    | unanswered: edit_file: allowed by --mode auto, run_command: allowed by --mode dangerous
  . child_reported .1 refused
  . tool_finished c1 error
    | [REFUSED] general (r.1) · 3 tool calls · 0.0s · 220 tokens
    | a call was refused, and the agent said nothing more
    |
    | (no text)
    | (mode auto was cut to ask, the parent's own)
  . turn_started 2
model: It was refused.
  . answered 2, 110 tokens
  . reported completed: It was refused.
    | used 1 calls, 2 turns, 220 tokens; with 1 below 4 calls, 4 turns, 440 tokens
    | unanswered: edit_file: allowed by --mode auto, run_command: allowed by --mode dangerous
