"""A strict local Slack workspace: Web API, interactions, events and both transports, in memory, on the loopback.

It exists so that tests and the demo meet a Slack that refuses what the real one refuses. It must know nothing of the bot:
its figures and shapes are its own. Where Slack documents nothing it takes the stricter reading.

What it does not model:

==========================  ===========================================================================================
real Slack                  here
==========================  ===========================================================================================
other blocks and elements   refused as unsupported: markdown, table, data_table, card, carousel, container, alert, video,
                            file, task_card, plan, context_actions, multi-selects, external, channel and conversation
                            selects, rich_text_input, file_input, workflow buttons
attachments, markdown_text  refused (`invalid_arguments`)
files, reactions, search    no such methods (`unknown_method`)
messages by people          nobody writes messages; people click, fill in, close and type commands
message events              only `message_deleted` through `/sandbox/delete-message`, and only if subscribed to
text                        kept as sent: `&`, `<`, `>` are counted as escaped but not rewritten, links are not unfurled
shortcuts                   none, neither global nor on messages
org-wide installs           every installation has one workspace; payloads always carry a `team`
OAuth, token rotation       tokens are given; they can be revoked, not exchanged
views.open over a modal     the open stack gives way to the new view; what Slack does is not documented
message inputs              state of a message is that of its initial values; only views remember what was entered
dispatch on enter           text inputs are sent while filling in only for `on_character_entered`
late events                 retried in memory at the documented delays; none survive a restart, none are sent hourly
who may click               a deactivated person still can: their click may have been under way
time                        triggers, hooks and rates follow the world's clock; acks and waits real time
==========================  ===========================================================================================
"""
