An answer that is cut off before it says anything is asked for once more, with more room, and then the agent is ended (T70).

model test/long

user: Go
  . run_started 1
  . turn_started 1, at most 16384 tokens
model (cut): nothing
and thinking
  . answered 1, 110 tokens
  . turn_started 2
model (cut): nothing
and thinking
  . answered 2, 110 tokens
  . turn_started 3, the last: error (output_limit), the model's answers were cut off at the output limit, the newest at 64000 tokens, before anything was said (models."test/long".max_output_tokens), at most 2048 tokens
model: All of it went into thinking.
  . answered 3, 110 tokens
  . reported error (output_limit), the model's answers were cut off at the output limit, the newest at 64000 tokens, before anything was said (models."test/long".max_output_tokens): All of it went into thinking.
    | used 0 calls, 3 turns, 330 tokens
user: Again
  . run_started 2
  . turn_started 4, at most 16384 tokens
model (cut): nothing
  . answered 4, 110 tokens
  . turn_started 5
model: Shorter.
  . answered 5, 110 tokens
  . reported completed: Shorter.
    | used 0 calls, 2 turns, 220 tokens
show: talk
  user <person>: Go
  user <house>: Your answer was cut off at the output limit of 16384 tokens before anything was said. The next answer may have up to 64000 tokens. Answer again, in smaller steps: for example, write a long file in several calls. If it is cut off again, you are ended.
  user <house>: This is your last turn: the model's answers were cut off at the output limit, the newest at 64000 tokens, before anything was said (models."test/long".max_output_tokens). Tools are off. Say in a few sentences what is done, what you found, and what is left.
  assistant <model>: All of it went into thinking.
  user <person>: Again
  user <house>: Your answer was cut off at the output limit of 16384 tokens before anything was said. The next answer may have up to 64000 tokens. Answer again, in smaller steps: for example, write a long file in several calls. If it is cut off again, you are ended.
  assistant <model>: Shorter.
