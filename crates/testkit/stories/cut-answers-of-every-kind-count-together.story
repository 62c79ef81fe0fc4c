Cut answers of every kind count against the same limit (T70).

user: Go
  . run_started 1
  . turn_started 1
model (cut): a
  . answered 1, 110 tokens
  . turn_started 2
model (cut): b
  . answered 2, 110 tokens
  . turn_started 3
model (cut): c
  . answered 3, 110 tokens
  . turn_started 4
model (cut): d
  . answered 4, 110 tokens
  . turn_started 5
model (cut): nothing
  . answered 5, 110 tokens
  . turn_started 6, the last: error (output_limit), the model's answers were cut off at the output limit, the newest at 4000 tokens, before anything was said (models."test/model".max_output_tokens), at most 2048 tokens
model: Too long.
  . answered 6, 110 tokens
  . reported error (output_limit), the model's answers were cut off at the output limit, the newest at 4000 tokens, before anything was said (models."test/model".max_output_tokens)
    | abcd
    |
    | Too long.
    | used 0 calls, 6 turns, 660 tokens
user: Again
  . run_started 2
  . turn_started 7
model (cut): nothing
  . answered 7, 110 tokens
  . turn_started 8
model (cut): a
  . answered 8, 110 tokens
  . turn_started 9
model (cut): nothing
  . answered 9, 110 tokens
  . turn_started 10, the last: error (output_limit), the model's answers were cut off at the output limit, the newest at 4000 tokens, before anything was said (models."test/model".max_output_tokens), at most 2048 tokens
model: Too long again.
  . answered 10, 110 tokens
  . reported error (output_limit), the model's answers were cut off at the output limit, the newest at 4000 tokens, before anything was said (models."test/model".max_output_tokens)
    | a
    |
    | Too long again.
    | used 0 calls, 4 turns, 440 tokens
