"""One sentence for each refusal: what happened, and what to do next.

The part of `blocks.words` that is looked up by code; it stands apart only for its length. Placeholders are filled by
`blocks.notices`. It must not know how a refusal came about.
"""

from typing import Final

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
