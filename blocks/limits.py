"""Our budgets, by name, each smaller than the limit of Slack's that it keeps us clear of.

They stand in one place because Slack changes its limits without notice and does not say how it counts. We count UTF-16
code units of the text as it is sent. The module must not know what is being built.
"""

from typing import Final

# One message. Slack refuses somewhere above 11,000 units over all blocks, and chat.update refuses a text above 4,000.
MESSAGE: Final = 9_000
FALLBACK: Final = 3_900
FALLBACK_ARGUMENTS: Final = 600
FALLBACK_CALLS: Final = 20

# One card.
HEADER: Final = 140
TITLE: Final = 90
TOOL: Final = 160
ARGUMENT_NAME: Final = 80
CARD_ARGUMENTS: Final = 1_500
CARD_ROWS: Final = 40
CARD_PREVIEW: Final = 900
CARD_LINES: Final = 10
ROW_LEAST: Final = 120
DESCRIPTION: Final = 300
OUTCOME: Final = 300
TYPED: Final = 400
NOTICE: Final = 300
NOTICES: Final = 5
PEOPLE: Final = 5
STARTED: Final = 80
BUTTON_LABEL: Final = 75
CONFIRM: Final = 280
LINK: Final = 300
CHANGES: Final = 1_200
CHANGED_VALUE: Final = 200
CHANGES_PREVIEW: Final = 500
CHANGED_PREVIEW: Final = 80

# The message above a batch.
ROOT_CALLS: Final = 20
ROOT_PREVIEW: Final = 60
ROOT_TOOL: Final = 60
SHORT_CALLS: Final = 8  # where Slack refused the list
READ_ROOT: Final = 200

# One modal. Slack takes 100 blocks and 250 KB; a title, submit or close has 24 characters.
MODAL_TITLE: Final = 24
PAGE: Final = 5_600
PAGES: Final = 20
PAGE_ROWS: Final = 80
BATCH_CALLS: Final = 5
BATCH_ARGUMENTS: Final = 2_400
SUMMARY_ARGUMENTS: Final = 1_200
TOOL_IN_FULL: Final = 2_000
CONFIRM_ARGUMENTS: Final = 12_000
CONFIRM_ROWS: Final = 120
CONFIRM_CHANGES: Final = 8_000
CONFIRM_VALUE: Final = 400
INPUT: Final = 3_000
OPTION_TEXT: Final = 70
OPTION_VALUE: Final = 145
EDIT_TEXT: Final = 2_900
EDIT_SOURCE: Final = 20_000
NOTICE_MODAL: Final = 2_800

# One rich_text element, for which Slack names no limit: what it allows a section.
ELEMENT: Final = 2_900

# How far arguments are read before "about" is said of their length: on a card, and for pages that lead to Approve.
READ_CARD: Final = 20_000
READ_PAGES: Final = PAGE * PAGES
READ_ALL: Final = 10_000_000  # where two sets of arguments are compared
DEEPEST: Final = 40
ONE_LINE: Final = 60
