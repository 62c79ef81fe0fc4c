A question to a person survives a crash, and its answer is the result of the call. Meanwhile the clock of the thread stands still, and
what stands behind the question waits; the tool `ask_user` itself never runs.

consent asked
grant time=60s

user: Build it
  . run_started 1
  . turn_started 1
model: call ask_user {"question":"Which database?","choices":["SQLite","PostgreSQL"]} as a1
and call read_file {"path":"a"} as c1
  . answered 1, 110 tokens
    | a1 ask_user is asked about
    | c1 read_file runs
  . approval_requested 1 for a1: Which database? (low risk; the agent needs an answer to go on)
wait 3600s
crash 10s
  . reopened after 3610 s
answer 1: SQLite
  . approval_resolved 1 answered: SQLite
  . tool_finished a1 ok: SQLite
  . tool_started c1
tool c1: ok text
  . tool_finished c1 ok: text
  . turn_started 2
model: It will be SQLite.
  . answered 2, 110 tokens
  . reported completed: It will be SQLite.
    | used 2 calls, 2 turns, 220 tokens; in 3610 s
show: talk
  user <person>: Build it
  assistant calls ask_user {"question":"Which database?","choices":["SQLite","PostgreSQL"]} as a1
  assistant calls read_file {"path":"a"} as c1
  user <result of a1>: SQLite
  user <result of c1>: text
  assistant <model>: It will be SQLite.
