"""One plain sentence for each stored reason, and for each refusal.

Why a call cannot be decided, waits, or ended: one plain sentence for each code that is stored. A code without a
sentence says nothing rather than something wrong; a test proves that every code has one.

One sentence for each refusal: what happened, and what to do next. Placeholders are filled by `blocks.notices`.
"""

from typing import Final

PROBLEMS: Final = {
    "not_a_tool_call": "This is not a tool call but a question of the agent's own shape, which has no safe answer from here. Answer it in the agent's own interface.",
    "no_action_requests": "The agent server sent no calls to decide in this interrupt. Answer it in the agent's own interface.",
    "configs_do_not_pair": "The agent server did not say for each call what is allowed, so no call can be told apart safely. Answer it in the agent's own interface.",
    "undecidable_position": "Another call in the same interrupt cannot be decided, and they are answered together.",
    "shared_id": "Several questions wait under one id, so an answer could reach the wrong one. Answer them in the agent's own interface.",
    "unusable_id": "The interrupt's id cannot be used to answer it safely. Answer it in the agent's own interface.",
    "not_a_call": "This entry is not a tool call.",
    "no_tool_name": "This entry names no tool.",
    "no_config": "The agent server did not say what is allowed for this call.",
    "config_names_another_tool": "What the agent server allows here names another tool, so nothing is offered.",
    "no_allowed_decisions": "The agent server did not list the allowed decisions of this call.",
    "decisions_unknown": "Neither the agent server nor the policy says which decisions this call allows, and a wrong one breaks the agent's thread for good. Ask an operator to add the line below to the policy: then it is asked anew.",
    "no_usable_decision": "The agent server allows no decision for this call that can be taken here.",
    "arguments_not_an_object": "The arguments are not an object of names and values, so the call can be neither approved nor edited.",
    "surroundings_gone": "The agent server no longer shows the run that asked this. What that run was started with (its context) cannot be sent along, and the tool would act without it, so nothing is sent. Start the agent anew.",
    "surroundings_differ": "Several runs may have asked this, and they were started with different contexts. With the wrong one the tool would act for somebody else, so nothing is sent. Start the agent anew.",
    "surroundings_unsendable": "What the run was started with cannot be sent along on this agent server's route, and the tool would act without it, so nothing is sent. Ask an operator: the policy's resume: runs may help.",
    "nested_too_deeply": "The arguments are nested too deeply to be shown here in full.",
    "nobody_may": "Nobody may decide this tool here. Ask an operator to add a reviewer to the policy.",
    "other_position": "Call {positions} of the same interrupt cannot be decided by anybody, and they are answered together.",
    "no_tenant": "The policy no longer has this tenant.",
}
WHYS: Final = {
    "thread_moved_on": "The agent moved on, or somebody answered it elsewhere.",
    "answered_elsewhere": "Somebody answered this outside Slack.",
    "moved_server": "The policy now points to another agent server or identity, so nothing was sent to either.",
    "allowed_changed": "The policy now says otherwise which decisions this call allows, so nothing was sent. If it still waits, there is a new card.",
    "surroundings_changed": "What the agent's run was started with (its context) is gone or has changed since this was shown, so nothing was sent. If it still waits, there is a new card.",
    "poisoned": "The agent server stored an answer that it cannot use, and no later answer can change that.",
    "unanswerable": "The agent server no longer takes an answer for this call.",
    "raised": "The tool failed while it ran. Whether it had an effect is not known: check the target system before asking again.",
    "cut_off": "The run was stopped before it said what happened. Check the target system before asking again.",
    "stuck": "The agent server says that it is busy and shows no run. Ask an operator to look.",
    "not_resent": "It is not known whether the agent server took the decision, and this tool's decisions are never sent twice. Check the target system.",
    "too_many_attempts": "The decision did not reach the agent server in several attempts. Ask an operator to look.",
    "raced": "Another client answered within a second of ours: it is possible that the tool ran twice. Check the target system now.",
    "possibly_twice": "Two runs carry this decision: it is possible that the tool ran twice. Check the target system now.",
    "agent_unreachable": "Waiting: the agent server cannot be reached. It is sent as soon as it is back.",
    "agent_refused": "Waiting: the agent server refused the decision, so nothing ran. It is kept and sent again, ever less often; if it stays like this, ask an operator to look.",
    "agent_gone": "Waiting: the agent server refused the decision, so nothing ran: the agent (assistant) that asked is not there any more. The decision is kept. Ask an operator to bring the agent back.",
    "agent_forbids": "Waiting: the agent server does not let this bot answer, so nothing ran. The decision is kept. Ask an operator to look at the bot's credentials there.",
    "not_listed": "Waiting: the agent server does not list this call at the moment. It is looked at again before anything is sent or given up.",
    "thread_busy": "Waiting: the agent is busy with something else.",
    "cannot_confirm": "Waiting: Slack cannot be asked just now whether the reviewer may still decide.",
    "after_unknown": "Waiting: nobody can tell whether an earlier call ran, and the policy holds this back until that is known. Ask an operator to look at that call and settle it.",
    "paused": "Sending is paused here. Decisions are kept and sent when an operator resumes.",
    "not_taken": "Waiting: the last attempt did not reach the agent server, so it is sent again.",
    "lease_lost": "Waiting for a worker.",
    "voided_authority": "The decision was taken back because its author may no longer decide this. It needs a new one.",
    "voided_policy": "The decision was taken back because the policy changed. It needs a new one.",
    "voided_unsendable": "The decision could not be sent as it stands and was taken back. It needs a new one.",
    "requester_changed": "The thread names another requester than when this call was proposed. Where the policy has a rule about requesters, the call can only be rejected now.",
    "stopped": "The approval was stopped before it was sent.",
    "taken_back": "The decision was taken back by its author.",
    "not_rejectable": "Time is up, and a call in this interrupt cannot be rejected.",
    "held_by_policy": "Time is up, and the policy says to hold it.",
    "not_in_time": "It was not sent in time.",
    "unknown_outcome": "It was sent, and nobody can tell yet whether it ran.",
    "reopened": "An operator opened it again. Earlier decisions do not count any more.",
    "erased": "Arguments, reasons and results were erased, because the time is over that the policy keeps them.",
    "settled_executed": "An operator looked and says that it was carried out. The agent server itself does not show it.",
    "settled_not_executed": "An operator looked and says that it was not carried out.",
    "settled_twice": "It was possible that it ran twice. An operator has looked, and what they found is in the record.",
    "still_running": "The agent server says that it still runs, much longer than usual. It may have crashed, or the tool waits for something. Ask an operator to look.",
    "voided_restore": "The database was restored from a backup, which may not know the latest decisions. It needs a new one.",
    "restoring": "Sending waits until every call was looked at again after a restore.",
}


def problem_text(code: str, **facts: str) -> str | None:
    """Why a call cannot be decided here."""
    text = PROBLEMS.get(code)
    return text.format(**facts) if text else None


# What came of an answer that was somebody else's: never drawn as an outcome of what was decided here.
THEIRS: Final = {
    "executed": "By that answer the tool ran.",
    "failed": "By that answer the tool ran, and failed.",
    "rejected": "That answer rejected the call.",
    "answered": "That answer stands as the tool's result.",
}


def theirs_text(code: str, outcome: str | None) -> str:
    """Why a review was superseded, and what the agent server shows instead of our decision's outcome."""
    return " ".join(part for part in (why_text(code), THEIRS.get(outcome or "", "")) if part)


def why_text(code: str) -> str:
    """Why a review waits or ended, or nothing for a code without words."""
    return WHYS.get(code, "")


# Above or beside what a modal shows and asks for.
CHOOSE: Final = "Choose a decision for this call."
EMPTY_ANSWER: Final = "Write what the agent should read as the tool's result."
EDIT_FIRST: Final = "Edit the arguments and keep the edit, or choose another decision."
GAP: Final = "A call on this page has no decision yet."
RESULT_READING: Final = "The result is being read from the agent server."
RESULT_AWAY: Final = "The agent server cannot be asked just now, so this is only the beginning that was kept. Close this and open it again later."
RESULT_GONE: Final = "The agent's thread no longer holds this result, so this is only the beginning that was kept."
RESULT_LONG: Final = (
    "*Page {page} of {pages}.* {shown} of {total} characters can be read here. The rest stands in the agent's thread."
)
EDIT_NOT_KEPT: Final = "Nothing is edited yet. Edit the arguments, or choose another decision."
EDIT_NEXT: Final = "The form for the arguments comes next. What you edit is shown to you before it is decided."
KEPT_UNTIL_SENT: Final = "Nothing is decided yet: a kept edit is sent together with the other decisions."


REFUSALS: Final = {
    "not_a_reviewer": "You are not a reviewer of this tool here. Ask someone who is, or ask an operator to add you to the policy.",
    "decision_not_allowed": "The agent does not allow this decision{type} for this call. Choose one of the buttons on the card.",
    "decision_not_permitted": "The policy does not let you take this decision{type} on this tool. Choose another decision, or ask another reviewer.",
    "denied": "The policy says that you may not take this decision{type} on this tool. Choose another decision, or ask another reviewer.",
    "condition_not_met": "The policy lets you decide this tool, but not with these arguments. Ask a reviewer with wider rights.",
    "joined_too_late": "You became a reviewer after this call was made, and the policy wants somebody who already was one. Ask another reviewer.",
    "requester_unknown": "It is not known who started this run, so for this tool a call can only be rejected. Reject it, or ask an operator.",
    "own_request": "You started this run, and the policy wants somebody else to decide this call. Ask another reviewer.",
    "already_decided": "This call was already decided{by}{at}. The card shows what became of it.",
    "already_approved": "You have approved this call already. It needs the approval of somebody else too.",
    "stale_showing": "What you saw has changed since it was drawn, so nothing was decided. Look at the card again and decide on what it shows now.",
    "not_fully_shown": "You have not been shown all of this call yet, so it cannot be approved. Press Review, open every page, and approve there.",
    "expired": "The time to decide this call ran out{at}, and it was not run. If it is still wanted, ask the agent for it again.",
    "last_minute": "Less than a minute is left, too little to approve safely. You can still reject; if it is wanted, ask the agent for it again.",
    "gone": "This call is no longer waiting: the agent has moved on or was answered elsewhere. There is nothing left to decide.",
    "not_decidable": "This call cannot be decided in Slack{problem}. Open it on the agent server, or ask an operator.",
    "paused": "Sending is paused here. Your decision can be taken and is sent when an operator resumes; nothing more is needed from you.",
    "unknown_showing": "This button or window is too old to be traced{elsewhere}, so nothing was decided. Use the newest card in the channel.",
    "other_workspace": "This call belongs to another workspace. Decide it there.",
    "outsider": "You are from outside this workspace, and only its own members decide here. Ask a reviewer of this workspace.",
    "guest": "Guests cannot decide calls. Ask a full member who is a reviewer.",
    "deactivated": "This account is deactivated and cannot decide. Ask another reviewer.",
    "bot_user": "Apps and bots cannot decide calls. A person has to.",
    "cannot_confirm": "Slack could not be asked just now whether you may decide, so nothing was decided. Try again in a minute.",
    "group_unreadable": "Slack does not let this app read a user group that the policy names, so nobody can tell whether you may decide, and trying again does not help. Ask an operator to give the app the scope usergroups:read.",
    "invalid_edit": "The edited arguments cannot be sent{problem}. Correct them and send again.",
    "unchanged_edit_not_allowed": "Nothing was changed, and you may not approve this call as it stands. Change something, or choose another decision.",
    "unsendable_text": "This text cannot be sent to the agent{problem}. Change it and send again.",
    "too_slow": "Slack did not let the window open in time, and nothing was decided. Press the button again.",
    "not_redrawn": "Slack did not let this window change just now, and nothing was decided. What you chose is kept: press again, or close the window and open it anew.",
    "malformed": "What this window sent could not be read, so nothing was decided. Close it, and open it again from the card.",
    "empty_answer": "The answer is empty. Write what the agent should read as the tool's result.",
    "too_late_to_change": "The decision is already on its way to the agent, so it cannot be changed any more. The card shows what becomes of it.",
    "not_author": "Only the person who decided or approved can take that back{by}. If it has not been sent, a reviewer can still reject the call.",
    "busy": "Somebody else's decision on this call is being recorded right now. Look at the card again in a moment.",
    "not_an_operator": "Only operators may have this done, and the policy does not name you as one. Ask an operator.",
    "internal": "Something went wrong on our side, and nothing was decided. Try again; if it stays so, tell an operator.",
}  # fmt: skip
