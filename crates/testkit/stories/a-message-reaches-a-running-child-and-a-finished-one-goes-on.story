A message reaches a running child at its next turn, and a finished one goes on with it.

user: Go
  . run_started 1
  . turn_started 1
model: call spawn_agent {"task":"Look","name":"scout","background":true} as c1
  . answered 1, 110 tokens
    | c1 spawn_agent is a verb
  . child_spawned .1 by c1: scout, auto, 50 calls, 200000 tokens, 1800 s, depth 1, 7 descendants, in the background
  . tool_finished c1 ok: scout (r.1) works in the background; its report reaches you by itself.
  . child_started .1
  . turn_started 2
  .1 turn_started 1
model: call message_agent {"agent":"scout","text":"Look under the bed too"} as m1
and call message_agent {"agent":".7","text":"Hello"} as m2
  . answered 2, 110 tokens
    | m1 message_agent is a verb
    | m2 message_agent is a verb
  . message_sent m1 to .1: Look under the bed too
  . tool_finished m2 error: there is no running sub-agent '.7'; running: scout (r.1)
  .1 steered m1 from general: Look under the bed too
  . tool_finished m1 ok: r.1 reads it at its next step.
  . turn_started 3
.1 model: call read_file {"path":"a"} as r1
  .1 answered 1, 110 tokens
    | r1 read_file runs
  .1 tool_started r1
.1 tool r1: ok text
  .1 tool_finished r1 ok: text
  .1 turn_started 2
.1 show: talk
  user <brief>: Look
  assistant calls read_file {"path":"a"} as r1
  user <result of r1>: text
  user <steer>
    | Message from general while you work:
    | Look under the bed too
.1 model: Under the bed: dust.
  .1 answered 2, 110 tokens
  .1 reported completed: Under the bed: dust.
    | used 1 calls, 2 turns, 220 tokens
  . child_reported .1 completed
model: Dust.
  . answered 3, 110 tokens
  . turn_started 4
model: call message_agent {"agent":"scout","text":"More?"} as m3
.1 show: talk
.1 model: Nothing but dust.
model: Dust it is.
  . answered 5, 110 tokens
  . reported completed: Dust it is.
    | used 4 calls, 5 turns, 550 tokens; with 1 below 5 calls, 7 turns, 770 tokens
