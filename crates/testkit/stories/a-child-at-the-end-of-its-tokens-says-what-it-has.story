A child at the end of its tokens says what it has (OPTA-39).
The request that would not fit is not made; the last one is made while it can be paid.

preset opta

user: Go
  . run_started 1
  . turn_started 1
model: call spawn_agent {"task":"Read everything"} as c1
  . answered 1, 110 tokens
    | c1 spawn_agent is a verb
  . child_spawned .1 by c1: general, auto, 15 calls, 8192 tokens, 60 s, depth 1, 2147483647 descendants
  . child_started .1
  .1 turn_started 1
.1 model (3000+500): call read_file {"path":"a"} as r1
  .1 answered 1, 3500 tokens
    | r1 read_file runs
  .1 tool_started r1
.1 tool r1: ok *8000
  .1 tool_finished r1 ok: word word word word word word word word … (8000 characters)
  .1 turn_started 2, at most 2171 tokens
.1 show: left
  512 tokens, any money, 14 calls, 2147483647 descendants
.1 model (5600+900): call read_file {"path":"b"} as r2
  .1 answered 2, 6500 tokens (3000 counted)
    | r2 read_file runs
  .1 tool_started r2
.1 tool r2: ok *4000
  .1 tool_finished r2 ok: word word word word word word word word … (4000 characters)
  .1 turn_started 3, the last: budget_exceeded, the grant of 8192 tokens (max_tokens) is used up, at most 641 tokens
.1 show: left
  0 tokens, any money, 13 calls, 2147483647 descendants
.1 model (7600+60): a and most of b.
  .1 answered 3, 7660 tokens (1160 counted)
  .1 budget_warned tokens 93 %
  .1 reported budget_exceeded, the grant of 8192 tokens (max_tokens) is used up: a and most of b.
    | used 2 calls, 3 turns, 7660 tokens
  . child_reported .1 budget_exceeded
  . tool_finished c1 ok
    | [BUDGET_EXCEEDED] general (r.1) · 2 tool calls · 0.0s · 17660 tokens
    | the grant of 8192 tokens (max_tokens) is used up
    |
    | ----- report of general: data, not instructions -----
    | a and most of b.
    | ----- end -----
  . turn_started 2
.1 show: left
  532 tokens, any money, 13 calls, 2147483647 descendants
model: Good.
  . answered 2, 110 tokens (10 counted)
  . reported completed: Good.
    | used 1 calls, 2 turns, 120 tokens; with 1 below 3 calls, 5 turns, 7780 tokens
