"""The private view of what a tool answered.

It exists because a result may hold more than a channel should see. It must not decide who may open it: that was checked.
"""

from blocks import ids, kit, limits, rows, words
from blocks.models import CallState, CallView, RenderedView


def result_modal(call: CallView, text: str) -> RenderedView:
    """What is kept of the result, literally, as far as a view holds it."""
    start, _ = rows.tool_line(call.tool, limits.TOOL)
    label = words.ERROR if call.state is CallState.FAILED else words.RESULT
    blocks = [kit.rich(rows.row_elements((), start=start)), rows.quote(label, text, limits.CONFIRM_ARGUMENTS)]
    return RenderedView(
        kit.modal(words.TITLE_RESULT, blocks, callback_id=ids.CALLBACK_NOTICE, showing=call.showing, close=words.CLOSE)
    )
