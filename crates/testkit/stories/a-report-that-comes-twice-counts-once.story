A report that comes twice counts once (INV-1, promise 1).

grant tokens=500000

user: Go
  . run_started 1
  . turn_started 1
model: call spawn_agent {"task":"One","background":true} as c1
  . answered 1, 110 tokens
    | c1 spawn_agent is a verb
  . child_spawned .1 by c1: general, auto, 50 calls, 200000 tokens, 1800 s, depth 1, 7 descendants, in the background
  . tool_finished c1 ok: general (r.1) works in the background; its report reaches you by itself.
  . child_started .1
  . turn_started 2
  .1 turn_started 1
.1 model: One.
  .1 answered 1, 110 tokens
  .1 reported completed: One.
    | used 0 calls, 1 turns, 110 tokens
  . child_reported .1 completed
show: left
  495643 tokens, any money, any number of calls, 15 descendants
.1 reports again
show: left
  495643 tokens, any money, any number of calls, 15 descendants
model: One.
  . answered 2, 110 tokens
  . turn_started 3
model: One, as I said.
  . answered 3, 110 tokens
  . reported completed: One, as I said.
    | used 1 calls, 3 turns, 330 tokens; with 1 below 1 calls, 4 turns, 440 tokens
