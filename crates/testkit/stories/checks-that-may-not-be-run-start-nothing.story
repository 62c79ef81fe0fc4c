A sub-agent's checks are judged before it is started, as if it had called them: where no person can allow them nothing is started, and the
reason names the rule that would. A wrong list is shown the right form.

mode auto

user: Fix it
  . run_started 1
  . turn_started 1
model: call spawn_agent {"task":"Fix the parser","checks":["make test"]} as c1
and call delegate_task {"subtasks":[{"task":"Fix the lexer","checks":"make test"}]} as c2
and call spawn_agent {"task":"Fix the parser","checks":[7]} as c3
  . answered 1, 110 tokens
    | c1 spawn_agent refused: spawn_agent was refused: it needs a person's consent (the check `make test`: mode auto: actions outside the workspace need approval (agent general)), and nobody can give it here. Go on without it, or say what you would have done (run_command: allowed by --mode dangerous)
    | c2 delegate_task refused: delegate_task was refused: it needs a person's consent (the check `make test`: mode auto: actions outside the workspace need approval (agent general)), and nobody can give it here. Go on without it, or say what you would have done (run_command: allowed by --mode dangerous)
    | c3 spawn_agent is a verb
  . tool_finished c3 error: 'checks' of spawn_agent must be a list of commands, or a JSON Schema, not [7]; for example {"task": "Read src/auth.rs and list what it exports"}
  . turn_started 2
model: Nothing was begun.
  . answered 2, 110 tokens
  . reported completed: Nothing was begun.
    | used 3 calls, 2 turns, 220 tokens
    | unanswered: run_command: allowed by --mode dangerous
