A model that declines is an error with its words (F21).

user: Go
  . run_started 1
  . turn_started 1
model (declined): I cannot help with that.
  . answered 1, 110 tokens
  . reported error (model_refusal), the model declined to answer: I cannot help with that.
    | used 0 calls, 1 turns, 110 tokens
