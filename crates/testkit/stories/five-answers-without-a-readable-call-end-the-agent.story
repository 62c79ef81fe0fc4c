Five answers in a row without a readable call end the agent with a last turn (F20).

user: Go
  . run_started 1
  . turn_started 1
model: call read_file {} as r1
and malformed r1 expected a value at line 1
  . answered 1, 110 tokens
    | r1 read_file refused: the arguments of read_file could not be read: expected a value at line 1. Call it again with one JSON object
  . turn_started 2
model: call read_file {} as r2
and malformed r2 expected a value at line 1
  . answered 2, 110 tokens
    | r2 read_file refused: the arguments of read_file could not be read: expected a value at line 1. Call it again with one JSON object
  . turn_started 3
model: call read_file {} as r3
and malformed r3 expected a value at line 1
  . answered 3, 110 tokens
    | r3 read_file refused: the arguments of read_file could not be read: expected a value at line 1. Call it again with one JSON object
  . turn_started 4
model: call read_file {} as r4
and malformed r4 expected a value at line 1
  . answered 4, 110 tokens
    | r4 read_file refused: the arguments of read_file could not be read: expected a value at line 1. Call it again with one JSON object
  . turn_started 5
model: call read_file {} as r5
and malformed r5 expected a value at line 1
  . answered 5, 110 tokens
    | r5 read_file refused: the arguments of read_file could not be read: expected a value at line 1. Call it again with one JSON object
  . turn_started 6, the last: error (malformed), the arguments of 5 calls in a row could not be read, at most 2048 tokens
model: I cannot write JSON.
  . answered 6, 110 tokens
  . reported error (malformed), the arguments of 5 calls in a row could not be read: I cannot write JSON.
    | used 5 calls, 6 turns, 660 tokens
