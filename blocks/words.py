"""Every text for people: labels, headings, status lines, notices, operators' words.

Sentences looked up by a code stand in `blocks.reasons`. The product speaks with one voice and can be read through in
one place. Texts go into mrkdwn unless a name says plain; what others wrote is put in only by ``quoted``, escaped and
cut.

What operators read: alarms, the menu of what they may have done, and what each of it means. Texts are mrkdwn unless a
name says plain.
"""

import re
from datetime import UTC, datetime
from typing import Final

from blocks import limits
from blocks.ids import is_user
from blocks.text import cut_marked, escape_mrkdwn, is_plain, on_one_line

_GROUP: Final = re.compile(r"S[A-Z0-9]{1,30}")
BUTTONS: Final = {"approve": "Approve", "edit": "Edit", "reject": "Reject", "respond": "Respond"}
CHOICES: Final = {"approve": "Approve", "edit": "Edit…", "reject": "Reject", "respond": "Respond"}
DONE: Final = {
    "approve": "Approved",
    "edit": "Approved with an edit",
    "reject": "Rejected",
    "respond": "Answered",
}
REVIEW: Final = "Review"
REVIEW_ALL: Final = "Review all"
TAKE_BACK: Final = "Take back"
REVEAL: Final = "Show hidden values"
OPEN_RESULT: Final = "Open result"
READ_ALL: Final = "Read all of call {number}"
NEXT_PAGE: Final = "Next page"
LAST_PAGE: Final = "Previous page"

# Above a call.
UNTITLED: Final = "Call waiting"
UNTITLED_SETTLED: Final = "Tool call"
HIGH_RISK: Final = "High risk: {title}"
NUMBERED: Final = "{title} ({number} of {total})"
TOOL: Final = "Tool"
NO_ARGUMENTS: Final = "No arguments"
MISSING: Final = "No arguments: the agent sent none, or they were erased"
SAID: Final = "The agent says"
REASON: Final = "Reason"
ANSWER: Final = "Answer"
RESULT: Final = "Result"
ERROR: Final = "Error"
AS_TEXT: Final = "text"
GOES_ON: Final = " … goes on"
GOES_ON_FROM: Final = "… "
EDITED: Final = "Edited"
EDITED_MARK: Final = "edited:"
EDITED_COUNT: Final = "Edited: {changes}"
BEFORE_EDIT: Final = "Before the edit"
RAN_WITH: Final = "Arguments after the edit"
QUESTION: Final = "A question of the agent"
ASKS: Final = "The agent asks"
UNCHANGED_LABEL: Final = "Unchanged"
ARROW: Final = "becomes"
LEFT_OUT: Final = "left out"
ADDED: Final = "nothing"

# Below a call.
SHOWN: Final = "*{shown} of {total} characters shown.* Read all of it to approve."
SHOWN_ONLY: Final = "*{shown} of {total} characters shown.* Press Review to read all of it."
CHARACTERS: Final = "{shown} of {total} characters shown"
ABOUT: Final = "about {count}"
CHANGES_SHOWN: Final = "*{shown} of {total} changes shown in full.*"
CHANGES_CUT: Final = f"{CHANGES_SHOWN} Press Review to see all of the edit and approve it."
CHANGES_BELOW: Final = f"{CHANGES_SHOWN} All that was there before stands after the arguments."
TOOL_CUT: Final = "*The tool's name is too long to show here.* Press Review to read all of it."
TEXT_CUT: Final = "*Too long to be read out in full.* Press Review to read all of it and approve."
REVEALED: Final = "*Hidden values are shown*, and the record says that you saw them."
HIDDEN_VALUES: Final = "{count} hidden as secret by the policy."
SUSPECTED_VALUES: Final = "*{count} hidden: may be a secret.* Press Review to see it before you approve."
ESCAPES: Final = "⚠️ *{count} written out* like `\\u202e`, because such characters cannot be seen or may deceive."
RIGHT_TO_LEFT: Final = "⚠️ *Contains right-to-left letters*, so the order on screen may differ from the order sent."
LOOKALIKE: Final = "⚠️ *Contains characters that look like others.* Check names, numbers and addresses one by one."
LONG_BLANKS: Final = "⚠️ *Contains long runs of blanks*, after which more may stand. Read to the end of each value."
NOT_FINITE: Final = "⚠️ *{count}* (NaN, Infinity or too large, like 1e400): the tool may take it for something else."
NOT_AN_OBJECT: Final = (
    "⚠️ *These arguments are not an object of names and values*, so the call can be neither approved nor edited."
)
NOT_EDITABLE: Final = "Too long to edit here."
NOT_EDITABLE_HIDDEN: Final = "Not offered for editing here, because some of it is hidden."
FOR: Final = "For {who}"
ASKED_BY: Final = "Asked by {who}"
NOBODY_KNOWN: Final = "an unknown person"
IN_TENANT: Final = "in {tenant}"
STARTED_WITH: Final = "Whoever started the run says"
NOT_GIVEN: Final = "nothing given"
POLICY_LINE: Final = "Missing in the policy (list exactly what the agent allows for this tool)"
DECIDE_BY: Final = "Decide by {when}"
OPEN_THREAD: Final = "Open the thread"
EDIT_STANDS: Final = "*{who} edited this.* What is shown runs once enough people approve it."
QUORUM: Final = "Needs {needed} approvals, has {has}"
AND_MORE: Final = "and {count} more"
DOT: Final = "  ·  "

# A state: an emoji with its word, and what it means.
STATES: Final = {
    "waiting": "🕓 *Waiting* for a decision",
    "decided": "🕓 *Decided*, not sent yet",
    "sending": "📤 *Sending* to the agent server",
    "sent": "📨 *Sent*, the outcome is not known yet",
    "executed": "✅ *Ran*",
    "failed": "❌ *Failed*: the tool answered with an error",
    "rejected": "🚫 *Rejected*: the tool did not run",
    "answered": "💬 *Answered*: the tool did not run, the agent has the answer",
    "taken": "📬 *Taken*: the agent server took the decision and shows no result",
    "superseded": "↪️ *Superseded*: this call is no longer the one that waits. Nothing was run from here",
    "expired": "⌛ *Expired*: nobody decided in time, so it was rejected and did not run",
    "broken": "⚠️ *Broken*: the agent server cannot go on from here. Ask an operator to repair it",
    "unknown": "❓ *Unknown*: it was sent, and nobody can tell yet whether it ran. Check before you ask for it again",
    "held": "⏸️ *Held*: time is up and it cannot be rejected automatically. Ask an operator to reopen it",
    "read_only": "🔒 *Cannot be decided here*",
}
STATE_WORDS: Final = {
    "waiting": "🕓 waiting", "decided": "🕓 decided", "sending": "📤 sending", "sent": "📨 sent", "executed": "✅ ran",
    "failed": "❌ failed", "rejected": "🚫 rejected", "answered": "💬 answered", "taken": "📬 taken",
    "superseded": "↪️ superseded", "expired": "⌛ expired", "broken": "⚠️ broken", "unknown": "❓ unknown",
    "held": "⏸️ held", "read_only": "🔒 cannot be decided here",
}  # fmt: skip
BY: Final = "by"
BY_WHOM: Final = "*{done}* by {who}"
BY_PLACET: Final = "Placet"
AFTER: Final = "after {span}"

# The message above a batch.
TOGETHER: Final = "{count} calls wait together"
NO_CALLS: Final = "No calls"
TOGETHER_DONE: Final = "{count} calls, all decided"
PROGRESS: Final = "{done} of {total} decided: the agent goes on when all are"
PROGRESS_ALL: Final = "All {total} decided"
MORE_CALLS: Final = "*And {count} more.* Press Review all to see every call."
MORE_CALLS_SETTLED: Final = "*And {count} more.*"

# Confirm dialog of a high-risk approval; plain text.
CONFIRM_TITLE: Final = "Approve this high-risk call?"
CONFIRM: Final = "It runs as soon as the agent server takes it, and Placet cannot undo it."
CONFIRM_TOOL: Final = "Tool: {tool}."
CONFIRM_TARGET: Final = "{name}: {value}."
CONFIRM_SEE: Final = "{name}: see the {place}."
CONFIRM_FIRST: Final = "First argument"
CONFIRM_CARD: Final = "card"
CONFIRM_WINDOW: Final = "window"
CONFIRM_IN_WINDOW: Final = "⚠️ *If you approve this high-risk call:* {text}"
CONFIRM_YES: Final = "Approve"
CONFIRM_NO: Final = "Go back"
LABEL_THIS: Final = "{verb} this call"
LABEL_TOOL: Final = "{verb} {tool}"

# The text that is read out instead of the blocks.
FALLBACK_WAITING: Final = "{title}: a call waits for a decision."
FALLBACK_TOOL: Final = "Tool: {tool}."
FALLBACK_STARTED: Final = "Whoever started the run says: {values}."
FALLBACK_ARGUMENTS: Final = "Arguments: {arguments}"
FALLBACK_EDITED: Final = "Edited arguments: {arguments}"
FALLBACK_QUESTION: Final = "The agent asks: {arguments}"
FALLBACK_CUT: Final = "Not all of it is in this text ({shown} of {total} characters): open Review to read the rest."
FALLBACK_HIDDEN: Final = "Some values are hidden: open Review to see them."

# Modals; plain text.
TITLE_REJECT: Final = "Reject this call"
TITLE_RESPOND: Final = "Answer for the tool"
TITLE_EDIT: Final = "Edit the arguments"
TITLE_REVIEW: Final = "Review the call"
TITLE_RESULT: Final = "Result of the call"
TITLE_BATCH: Final = "Review {calls}"
TITLE_CONFIRM: Final = "Approve this?"
TITLE_KEEP: Final = "Keep this edit?"
SUBMIT_REJECT: Final = "Reject"
SUBMIT_RESPOND: Final = "Send answer"
SUBMIT_EDIT: Final = "See changes"
SUBMIT_REVIEW: Final = "Send decision"
SUBMIT_NEXT: Final = "Next"
SUBMIT_BATCH: Final = "Send decisions"
SUBMIT_CONFIRM: Final = "Approve this"
SUBMIT_TO_EDIT: Final = "Edit the arguments"
SUBMIT_KEEP: Final = "Keep this edit"
CANCEL: Final = "Cancel"
CLOSE: Final = "Close"
EDIT_FORM: Final = "Edit the arguments"
EDIT_FORM_AGAIN: Final = "Edit again"
LATER: Final = "Later"
BACK_TO_EDIT: Final = "Back to editing"
WHY: Final = "Reason. The agent reads this."
YOUR_ANSWER: Final = "Your answer. The agent reads it as the tool's result."
EDITED_JSON: Final = "Arguments as JSON"
EDIT_HINT: Final = (
    "Numbers stay as you write them. Use straight quotes. Names and values can be changed, the tool cannot."
)
FIELD_TEXT: Final = "Left empty, it is sent as an empty text."
FIELD_NUMBER: Final = "A number, kept as you write it."
FIELD_JSON: Final = 'JSON: texts in double quotes, an empty text is "", nothing at all is null.'
FIELD_HIDDEN: Final = "Hidden by the policy. Leave this empty to keep what is there."
FIELD_FIXED: Final = "  is hidden in part, so it stays as it is."
FIELD_LONG: Final = "  has {count} characters, too many to edit here, so it stays as it is."
FIELD_STATE: Final = "{name}: value or none"
FIELD_STATES: Final = {"set": "As it stands above", "null": "No value (null)", "missing": "Left out"}
YES: Final = "Yes"
NO: Final = "No"
AS_JSON: Final = "Edit as JSON"
AS_FIELDS: Final = "Start again with single fields"
AS_FIELDS_TITLE: Final = "Start again?"
AS_FIELDS_YES: Final = "Start again"
AS_FIELDS_SURE: Final = "What you changed in the JSON text is dropped."
STRAIGHTENED: Final = "Curly quotes were read as straight ones. Check the values below."
HIDDEN_CHANGED: Final = "{count} changed by the edit."
EDIT_UNCHECKED: Final = "⚠️ *Nobody can check this edit before the tool gets it:* neither the agent server nor the policy (`schema`) says what arguments the tool takes."
EDIT_LOST: Final = "If you close this window, what you typed since you last pressed a button is lost."
CANNOT_EDIT_LONG: Final = "These arguments have {count} characters and cannot be edited here: the form holds {most}. You can reject the call and tell the agent what to change."
CANNOT_EDIT_HIDDEN: Final = "Some values are hidden, so the arguments cannot be edited as JSON here. You can reject the call and tell the agent what to change."
CANNOT_EDIT_SHAPE: Final = "These arguments are not an object of names and values, so they cannot be edited. You can reject the call and tell the agent what to change."
CALL_NUMBER: Final = "Call {number}"
DECISION: Final = "Decision"
DECISION_FOR: Final = "Decision for call {number}"
CALL_OF: Final = "{number} of {total}"
PAGE_OF: Final = "Page {page} of {pages}"
READ_FIRST: Final = "*Page {page} of {pages}.* Approve is on the last page, once every page was shown."
PAGES_LEFT: Final = "*Page {page} of {pages}.* To approve, open every page first: {missing} not shown yet."
TOO_MANY_PAGES: Final = "*Page {page} of {pages}.* This is too long to be approved here, even page by page. You can reject it, and ask for it in smaller parts."
BATCH_CUT: Final = (
    "*{shown} of {total} characters shown*, so Approve is not offered in this list. Open the call to read all of it."
)
RISK: Final = "⚠️ *High risk*"
CONFIRM_CUT: Final = (
    "*{shown} of {total} characters shown*, so this edit cannot be approved. Go back and make it shorter."
)
NOT_DRAWN: Final = "Slack did not take this message in full. Press the button below to see all of it."
NOT_DRAWN_SETTLED: Final = (
    "Slack did not take this message in full, so arguments and words are left out here. The record holds all of it."
)
NOTHING_OFFERED: Final = "You cannot decide this call."
APPROVED_BEFORE: Final = "You have approved this. It waits for others, and you need not choose again."
BATCH_PART: Final = "You decide {mine} of the {total} calls that wait. Your decisions are stored; the agent goes on once the others are decided too."
NOTHING_CHANGED: Final = "Nothing was changed."
WILL_RUN: Final = "Will run with"
EXACTLY_THIS: Final = "Digest of exactly this: {digest}"

# One person's own queue: the Home tab and the command.
AWAITS: Final = "Awaiting you: {calls}"
NOTHING_AWAITS: Final = "Nothing awaits you"
NOTHING_MORE: Final = "Every call that you may decide is decided."
AWAITS_MORE: Final = (
    "There are more: only the {count} oldest of each tenant are looked through. Decide some of these first."
)
LATELY: Final = "What you decided lately"
APPROVED_OF: Final = "Approved by you, {has} of {needed}"
QUEUE_MORE: Final = "and {count} more. The Home tab of this app shows all of them."
QUEUE_WHERE: Final = "Decide them in the channel or in the Home tab of this app."
NO_RIGHTS: Final = "You may decide nothing here, because no rule of the policy makes you a reviewer. {ask}"
ASK_OPERATOR: Final = "Ask an operator: {people}."
ASK_SOMEBODY: Final = "Ask whoever runs Placet here."
NOT_SURE: Final = "Slack could not be asked just now what you may decide. Come back in a minute."
ELSEWHERE: Final = (
    ", or another deployment of Placet on this Slack app made it (each needs an app of its own: tell an operator)"
)
NEVER_SURE: Final = "Slack does not let this app read a user group that the policy names, so it is not known what you may decide. Ask an operator to give the app the scope usergroups:read."
NO_TENANT_HERE: Final = "Placet serves no tenant in this workspace. Ask whoever runs it."
WHO_DECIDES: Final = "Who may decide"
WHO_NOBODY: Final = "Nobody may decide this tool here."
WHO_IN: Final = "In {tenant}:"
WHO_QUORUM: Final = "{number} people must approve."
HELP: Final = (
    "`/approvals` lists the calls that await you.\n"
    "`/approvals who TOOL` says who may decide a tool, and by which rule.\n"
    "`/approvals help` shows this."
)
NOT_A_COMMAND: Final = "This is no command of mine."
WHO_USAGE: Final = "Name a tool: `/approvals who TOOL`."
GROUP_CHANGED: Final = (
    "👥 The reviewers' group {group} has changed: {changes}. Who may decide here has changed with it."
)
GROUP_ADDED: Final = "added {people}"
GROUP_REMOVED: Final = "removed {people}"


def count(number: int) -> str:
    """A number with commas between thousands."""
    return f"{number:,}"


def several(number: int, one: str, many: str) -> str:
    """``1 value`` or ``3 values``."""
    return f"{count(number)} {one if number == 1 else many}"


def utc(at: int) -> str:
    """A moment in words that need no reader's zone: ``2026-01-02 03:04 UTC``."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")


def moment(at: int) -> str:
    """A moment in the reader's own zone (Slack's date syntax), with UTC where that cannot be drawn."""
    return f"<!date^{at}^{{date_short_pretty}} {{time}}|{utc(at)}>"


def span(seconds: int) -> str:
    """A length of time in its largest fitting unit: ``2 min``, ``3 h``, ``5 d``."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{max(0, seconds)} s"


def mention(user: str | None, otherwise: str = NOBODY_KNOWN) -> str:
    """A person as a mention; never anything that only looks like one."""
    return f"<@{user}>" if user is not None and is_user(user) else otherwise


def group_mention(group: str) -> str:
    """A user group as a mention, or nothing."""
    return f"<!subteam^{group}>" if _GROUP.fullmatch(group) else ""


def quoted(text: str, limit: int = limits.NOTICE) -> str:
    """Words of others inside a line of ours: literal, on one line, cut, escaped."""
    return cut_marked(escape_mrkdwn(on_one_line(text)), limit)


def named(text: str) -> str:
    """A name from the policy, as it is if it is a plain identifier, else quoted."""
    return text if is_plain(text) else f"“{quoted(text, limits.TITLE)}”"


# Alarms, in the thread of the card and to each operator.
UNKNOWN: Final = (
    "❓ *Nobody can tell whether this ran.* It is never sent again by itself. Check the target system; "
    "an operator then says how it was, here on the card or with `placet settle {review} --as executed` or "
    "`--as not-executed`."
)
TWICE: Final = (
    "⚠️ *It is possible that this ran twice.* {cause} Nothing is sent again. Check the target system now; "
    "an operator then notes what was found, here on the card or with `placet settle {review} --as executed --note …`."
)
RACED: Final = (
    "⚠️ *Another client answered within a second of ours* (run {runs}). This agent server lets one answer at a time through, "
    "so it ran once at most. The card shows whose answer counted."
)
RAISED: Final = (
    "⚠️ *The tool failed while it ran, and may have had its effect.* It is never run again by itself. Check the target "
    "system before anybody asks for it again (review `{review}`)."
)
RACED_BY: Final = "Another client answered within a second of ours (run {runs})."
TWICE_MARKED: Final = "Two runs carry this decision."
UNREADABLE: Final = (
    "⚠️ Tenant {tenant}: *thread {thread} cannot be read*, under the identity {identity} ({fault}). Whatever it waits for has no "
    "card, or one that may be out of date. It is tried again by itself, ever less often; `placet doctor` names all such threads. "
    "Look at the agent server's log: some graphs have no state that the server can print."
)
TO_OPERATOR: Final = "Tenant {tenant}{place}, review `{review}`: {alarm}"

# On the card.
FOR_OPERATORS: Final = "For operators"
MENU_PLAIN: Final = {
    "repair": "Repair…",
    "settle": "Settle…",
    "cancel": "Stop the run…",
    "reopen": "Open it again…",
}

# In the window that asks whether it is meant.
TITLE_PLAIN: Final = {
    "repair": "Repair the thread",
    "settle": "Settle the outcome",
    "cancel": "Stop the run",
    "reopen": "Open it again",
}
SUBMIT_PLAIN: Final = {"repair": "Repair", "settle": "Settle", "cancel": "Stop the run", "reopen": "Open it again"}
EXPLAINED: Final = {
    "repair": "The agent server goes on from the thread's last checkpoint, so the agent asks again and a fresh card opens. "
    "It is done only where *nothing can have run since that checkpoint*. Anywhere else nothing is done, and you are told why.",
    "settle": "Placet never sends this again by itself. *Look at the target system first*: what you say here becomes the "
    "outcome, under your name.",
    "cancel": "The run is interrupted on the agent server. *What it has done by then is not known*: the tool may have had "
    "its effect already, all of it or a part, and stopping takes nothing back. Afterwards look at the target system and "
    "settle the outcome.",
    "reopen": "It gets new time to be decided. What was decided before counts no more.",
}
EXPLAINED_TWICE: Final = (
    "The outcome on the card is what the agent server shows. Whether it happened once or twice, *only the target system "
    "can tell*. Look there, and note what you found: it ends the alarm, under your name."
)
CONCERNS: Final = "Concerns"
FOUND_PLAIN: Final = "What you found"
FOUND_OPTIONS_PLAIN: Final = (
    ("executed", "It was carried out"),
    ("not-executed", "It was not carried out: where it still waits, it is sent again"),
)
NOTE_PLAIN: Final = "How you know. It stays in the record."
SAY_WHAT_PLAIN: Final = "Choose what you found."
SAY_HOW_PLAIN: Final = "Say how you know."
