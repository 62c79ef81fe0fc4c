A wait and its time survive a crash.

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
model: call wait_agents {"timeout_s":60} as w1
  . answered 2, 110 tokens
    | w1 wait_agents is a verb
  . wait_started w1: .1 for 60 s
crash 10s
  . reopened after 10 s
  .1 reopened after 10 s
  .1 call_repeated 1; books its claim
wait 60s
  . at 60 s, tool_finished w1 ok: The time to wait is over. Still running: general (r.1). Reports of those that finished are below, or came before.
  . at 60 s, turn_started 3
.1 model: Seen.
  .1 answered 1, 110 tokens
  .1 reported completed: Seen.
    | used 0 calls, 1 turns, 5190 tokens, 2 requests; in 70 s
  . child_reported .1 completed
model: Still waiting.
  . answered 3, 110 tokens
  . turn_started 4
model: Seen.
  . answered 4, 110 tokens
  . reported completed: Seen.
    | used 2 calls, 4 turns, 440 tokens; with 1 below 2 calls, 5 turns, 5630 tokens, 6 requests; in 70 s
