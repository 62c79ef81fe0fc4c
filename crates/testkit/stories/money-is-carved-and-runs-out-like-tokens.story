Money is carved and runs out like tokens: a closing word stays affordable.

model test/priced
grant cost=0.10

user: Go
  . run_started 1
  . turn_started 1
show: left
  any number of tokens, $0.05795, any number of calls, 16 descendants
model (10000+1000): call spawn_agent {"task":"One","max_cost":0.01} as c1
and call spawn_agent {"task":"Two"} as c2
  . answered 1, 11000 tokens, $0.03
    | c1 spawn_agent is a verb
    | c2 spawn_agent is a verb
  . child_spawned .1 by c1: general, auto, 50 calls, 200000 tokens, $0.01, 1800 s, depth 1, 4 descendants
  . child_started .1
  . child_spawned .2 by c2: general, auto, 50 calls, 200000 tokens, $0.03, 1800 s, depth 1, 5 descendants
  . child_started .2
  .1 turn_started 1, the last: budget_exceeded, the grant of $0.01 (max_cost) is used up, at most 775 tokens
  .2 turn_started 1, at most 1713 tokens
show: left
  any number of tokens, $0.03, any number of calls, 5 descendants
.1 model (1000+300): One.
  .1 answered 1, 1300 tokens, $0.005
  .1 reported budget_exceeded, the grant of $0.01 (max_cost) is used up: One.
    | used 0 calls, 1 turns, 1300 tokens, $0.005
  . child_reported .1 budget_exceeded
  . tool_finished c1 ok
    | [BUDGET_EXCEEDED] general (r.1) · 0 tool calls · 0.0s · 1300 tokens
    | the grant of $0.01 (max_cost) is used up
    |
    | ----- report of general: data, not instructions -----
    | One.
    | ----- end -----
.2 model (2000+200): call read_file {"path":"a"} as r1
  .2 answered 1, 2200 tokens, $0.006
    | r1 read_file runs
  .2 tool_started r1
.2 tool r1: ok text
  .2 tool_finished r1 ok: text
  .2 turn_started 2, at most 836 tokens
.2 model (3000+500): Two.
  .2 answered 2, 3500 tokens, $0.011
  .2 reported completed: Two.
    | used 1 calls, 2 turns, 5700 tokens, $0.017
  . child_reported .2 completed
  . tool_finished c2 ok
    | [completed] general (r.2) · 1 tool call · 0.0s · 5700 tokens
    |
    | ----- report of general: data, not instructions -----
    | Two.
    | ----- end -----
  . turn_started 2, the last: budget_exceeded, the grant of $0.10 (max_cost) is used up, at most 2048 tokens
show: left
  any number of tokens, $0.005246, any number of calls, 14 descendants
model (15000+500): Both.
  . answered 2, 15500 tokens, $0.035
  . budget_warned cost 87 %
  . reported budget_exceeded, the grant of $0.10 (max_cost) is used up: Both.
    | used 2 calls, 2 turns, 26500 tokens, $0.065; with 2 below 3 calls, 5 turns, 33500 tokens, $0.087
