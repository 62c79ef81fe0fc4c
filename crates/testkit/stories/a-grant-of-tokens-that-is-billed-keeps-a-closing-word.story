A grant of tokens that is billed keeps a closing word: the whole prompt is paid for with every request.

grant tokens=30000

user: Go
  . run_started 1
  . turn_started 1
model (4000+500): call read_file {"path":"a"} as r1
  . answered 1, 4500 tokens
    | r1 read_file runs
  . tool_started r1
tool r1: ok *4000
  . tool_finished r1 ok: word word word word word word word word … (4000 characters)
  . turn_started 2
show: left
  15991 tokens, any money, any number of calls, 16 descendants
model (5600+300): call read_file {"path":"b"} as r2
  . answered 2, 5900 tokens
    | r2 read_file runs
  . tool_started r2
tool r2: ok *4000
  . tool_finished r2 ok: word word word word word word word word … (4000 characters)
  . turn_started 3, at most 2635 tokens
show: left
  10056 tokens, any money, any number of calls, 16 descendants
model (7000+200): call read_file {"path":"c"} as r3
  . answered 3, 7200 tokens
    | r3 read_file runs
  . tool_started r3
tool r3: ok *4000
  . tool_finished r3 ok: word word word word word word word word … (4000 characters)
  . turn_started 4, the last: budget_exceeded, the grant of 30000 tokens (max_tokens) is used up, at most 2048 tokens
show: left
  2101 tokens, any money, any number of calls, 16 descendants
model (8300+200): a, b and c.
  . answered 4, 8500 tokens
  . budget_warned tokens 87 %
  . reported budget_exceeded, the grant of 30000 tokens (max_tokens) is used up: a, b and c.
    | used 3 calls, 4 turns, 26100 tokens
show: left
  3900 tokens, any money, any number of calls, 16 descendants
