A list that is no graph starts nothing: a circle, an index that is not there, itself, nothing at all.
Each refusal says what to change.

user: Go
  . run_started 1
  . turn_started 1
model: call delegate_task {"subtasks":[{"task":"a","depends_on":1},{"task":"b","depends_on":[0]},{"task":"c"}]} as d1
and call delegate_task {"subtasks":[{"task":"a"},{"task":"b","depends_on":2}]} as d2
and call delegate_task {"subtasks":[{"task":"a","depends_on":-1}]} as d3
and call delegate_task {"subtasks":[{"task":"a","depends_on":0}]} as d4
and call delegate_task {"subtasks":[]} as d5
and call delegate_task {"plan":"nothing"} as d6
and call delegate_task {"subtasks":[{"task":""}]} as d7
and call delegate_task {"subtasks":[{"task":"a","depends_on":"first"}]} as d8
  . answered 1, 110 tokens
    | d1 delegate_task is a verb
    | d2 delegate_task is a verb
    | d3 delegate_task is a verb
    | d4 delegate_task is a verb
    | d5 delegate_task is a verb
    | d6 delegate_task is a verb
    | d7 delegate_task is a verb
    | d8 delegate_task is a verb
  . tool_finished d1 error: the subtasks 0, 1 wait for each other in a circle; remove one depends_on
  . tool_finished d2 error: subtask 1 depends on subtask 2, and there is none: indexes go from 0 to 1
  . tool_finished d3 error: 'depends_on' of delegate_task must be the index of a subtask, counted from 0, or a list of such, not -1; for example {"plan": "Understand auth", "subtasks": [{"task": "Find auth files"}, {"task": "Explain them", "depends_on": 0}]}
  . tool_finished d4 error: subtask 0 depends on itself
  . tool_finished d5 error: delegate_task needs 'subtasks', a list with at least one task, for example {"plan": "Understand auth", "subtasks": [{"task": "Find auth files"}, {"task": "Explain them", "depends_on": 0}]}
  . tool_finished d6 error: delegate_task needs 'subtasks', a list with at least one task, for example {"plan": "Understand auth", "subtasks": [{"task": "Find auth files"}, {"task": "Explain them", "depends_on": 0}]}
  . tool_finished d7 error: delegate_task needs 'task', for example {"plan": "Understand auth", "subtasks": [{"task": "Find auth files"}, {"task": "Explain them", "depends_on": 0}]}
  . tool_finished d8 error: 'depends_on' of delegate_task must be the index of a subtask, counted from 0, or a list of such, not "first"; for example {"plan": "Understand auth", "subtasks": [{"task": "Find auth files"}, {"task": "Explain them", "depends_on": 0}]}
  . turn_started 2
model: So be it.
  . answered 2, 110 tokens
  . reported completed: So be it.
    | used 8 calls, 2 turns, 220 tokens
