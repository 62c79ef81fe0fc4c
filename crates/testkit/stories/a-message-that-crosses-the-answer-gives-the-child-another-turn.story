A message that reaches a child while its answer is on the way gives it another turn: what was said is read.

user: Go
  . run_started 1
  . turn_started 1
model: call spawn_agent {"task":"Look","background":true} as c1
  . answered 1, 110 tokens
    | c1 spawn_agent is a verb
  . child_spawned .1 by c1: general, auto, 50 calls, 200000 tokens, 1800 s, depth 1, 7 descendants, in the background
  . tool_finished c1 ok: general (r.1) works in the background; its report reaches you by itself.
  . child_started .1
  . turn_started 2
  .1 turn_started 1
.1 steer: And the roof?
  .1 steered i2 from person: And the roof?
.1 model: The house is fine.
  .1 answered 1, 110 tokens
  .1 turn_started 2
.1 show: talk
  user <brief>: Look
  assistant <model>: The house is fine.
  user <steer>
    | Message from person while you work:
    | And the roof?
.1 model: House and roof are fine.
  .1 answered 2, 110 tokens
  .1 reported completed: House and roof are fine.
    | used 0 calls, 2 turns, 220 tokens
  . child_reported .1 completed
model: Fine.
  . answered 2, 110 tokens
  . turn_started 3
model: All fine.
  . answered 3, 110 tokens
  . reported completed: All fine.
    | used 1 calls, 3 turns, 330 tokens; with 1 below 1 calls, 5 turns, 550 tokens
