"""What operators read: alarms, the menu of what they may have done, and what each of it means.

The part of `blocks.words` that only operators need; it stands apart for its length. Texts are mrkdwn unless a name says
plain.
"""

from typing import Final

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
ASKED: Final = "Asked for. You are told here how it went."
