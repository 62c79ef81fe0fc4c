One that waits in line can be stopped and not told: it is not started yet, and the call that waits for it is told of its end.

policy max_concurrent 1

user: Go
  . run_started 1
  . turn_started 1
model: call spawn_agent {"task":"Look","name":"scout","background":true} as c1
and call spawn_agent {"task":"Rest","name":"idler","background":true} as c2
  . answered 1, 110 tokens
    | c1 spawn_agent is a verb
    | c2 spawn_agent is a verb
  . child_spawned .1 by c1: scout, auto, 50 calls, 200000 tokens, 1800 s, depth 1, 4 descendants, in the background
  . tool_finished c1 ok: scout (r.1) works in the background; its report reaches you by itself.
  . child_started .1
  . child_spawned .2 by c2: idler, auto, 50 calls, 200000 tokens, 1800 s, depth 1, 5 descendants, in the background, queued
  . tool_finished c2 ok: idler (r.2) works in the background; its report reaches you by itself.
  . turn_started 2
  .1 turn_started 1
model: call message_agent {"agent":"idler","text":"Wake up"} as m1
and call wait_agents {"agents":["idler"]} as w1
and call stop_agent {"agent":"idler"} as s1
  . answered 2, 110 tokens
    | m1 message_agent is a verb
    | w1 wait_agents is a verb
    | s1 stop_agent is a verb
  . tool_finished m1 error: r.2 waits in line and reads nothing yet. Stop it and spawn it with the whole task
  . wait_started w1: .2
  . child_awaited .2 by s1
  . child_reported .2 cancelled
  . tool_finished w1 ok: The wait is over. Reports of those that finished are below, or came before.
  . tool_finished s1 ok
    | [CANCELLED] idler (r.2) · 0 tool calls · 0.0s · 0 tokens
    | never begun: its parent stopped it
    |
    | (no text)
  . turn_started 3
model: I let the scout look.
  . answered 3, 110 tokens
.1 model: Seen.
  .1 answered 1, 110 tokens
  .1 reported completed: Seen.
    | used 0 calls, 1 turns, 110 tokens
  . child_reported .1 completed
  . turn_started 4
model: Seen.
  . answered 4, 110 tokens
  . reported completed: Seen.
    | used 5 calls, 4 turns, 440 tokens; with 1 below 5 calls, 5 turns, 550 tokens
