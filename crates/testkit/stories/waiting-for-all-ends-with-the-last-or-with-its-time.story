Waiting for all ends with the last, or with its time.

user: Go
  . run_started 1
  . turn_started 1
model: call spawn_agent {"task":"One","name":"one","background":true} as c1
and call spawn_agent {"task":"Two","name":"two","background":true} as c2
  . answered 1, 110 tokens
    | c1 spawn_agent is a verb
    | c2 spawn_agent is a verb
  . child_spawned .1 by c1: one, auto, 50 calls, 200000 tokens, 1800 s, depth 1, 4 descendants, in the background
  . tool_finished c1 ok: one (r.1) works in the background; its report reaches you by itself.
  . child_started .1
  . child_spawned .2 by c2: two, auto, 50 calls, 200000 tokens, 1800 s, depth 1, 5 descendants, in the background
  . tool_finished c2 ok: two (r.2) works in the background; its report reaches you by itself.
  . child_started .2
  . turn_started 2
  .1 turn_started 1
  .2 turn_started 1
model: call wait_agents {"timeout_s":30} as w1
  . answered 2, 110 tokens
    | w1 wait_agents is a verb
  . wait_started w1: .1 and .2 for 30 s
.1 model: One.
  .1 answered 1, 110 tokens
  .1 reported completed: One.
    | used 0 calls, 1 turns, 110 tokens
  . child_reported .1 completed
wait 30s
  . at 30 s, tool_finished w1 ok: The time to wait is over. Still running: two (r.2). Reports of those that finished are below, or came before.
  . at 30 s, turn_started 3
model: call wait_agents {"agents":"two","timeout_s":"60"} as w2
  . answered 3, 110 tokens
    | w2 wait_agents is a verb
  . wait_started w2: .2 for 60 s
.2 model: Two.
  .2 answered 1, 110 tokens
  .2 reported completed: Two.
    | used 0 calls, 1 turns, 110 tokens; in 30 s
  . child_reported .2 completed
  . tool_finished w2 ok: The wait is over. Reports of those that finished are below, or came before.
  . turn_started 4
model: Both.
  . answered 4, 110 tokens
  . reported completed: Both.
    | used 4 calls, 4 turns, 440 tokens; with 2 below 4 calls, 6 turns, 660 tokens; in 30 s
