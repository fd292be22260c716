"""Slack's limits, from its Block Kit reference and its SDKs' type definitions; all are maxima unless the name says else.

The sandbox's own copy: the bot's budgets live elsewhere and must not be read from here.
"""

MESSAGE_BLOCKS = 50
VIEW_BLOCKS = 100
VIEW_BYTES = 250_000  # "250 KB"; the smaller reading
MESSAGE_TOTAL_TEXT = 12_000  # over all blocks; Slack documents it for markdown blocks, and refuses others near it
MESSAGE_TEXT = 40_000  # cut, not refused
UPDATE_TEXT = 4_000
EPHEMERAL_TEXT = 4_000  # `msg_too_long` exists, its figure is not documented; the update's is the safe one
RESPONSE_TEXT = 40_000

BLOCK_ID = 255
ACTION_ID = 255
TEXT_OBJECT = 3_000
SECTION_TEXT = 3_000
SECTION_FIELDS = 10
SECTION_FIELD = 2_000
HEADER_TEXT = 150
CONTEXT_ELEMENTS = 10
ACTIONS_ELEMENTS = 25
INPUT_LABEL = 2_000
INPUT_HINT = 2_000
IMAGE_URL = 3_000
ALT_TEXT = 2_000
IMAGE_TITLE = 2_000

BUTTON_TEXT = 75
BUTTON_VALUE = 2_000
BUTTON_URL = 3_000
ACCESSIBILITY_LABEL = 75
CONFIRM_TITLE = 100
CONFIRM_TEXT = 300
CONFIRM_BUTTON = 30
PLACEHOLDER = 150
SELECT_OPTIONS = 100
SELECT_GROUPS = 100
CHOICE_OPTIONS = 10
OVERFLOW_OPTIONS = 5
OPTION_TEXT = 75
OPTION_VALUE = 150
OPTION_DESCRIPTION = 75
INPUT_LENGTH = 3_000

VIEW_TITLE = 24
VIEW_SUBMIT = 24
VIEW_CLOSE = 24
PRIVATE_METADATA = 3_000
CALLBACK_ID = 255
EXTERNAL_ID = 255

METADATA_BYTES = 8_000  # Slack documents none; ours is a guess that a few short ids never meet
