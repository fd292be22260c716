"""Putting messages and ephemerals into channels; who may post, and whether it is well formed, was settled before."""

from dataclasses import dataclass, replace

from bot.sandbox.slack.dress import dressed
from bot.sandbox.slack.records import AppInstallation, Channel, Ephemeral, Hook, Json, PostedMessage
from bot.sandbox.slack.world import World


@dataclass(frozen=True, slots=True)
class PostRequest:
    """What is to be shown; `thread_ts` is the parent's ts."""

    text: str
    blocks: tuple[Json, ...] = ()
    thread_ts: str | None = None
    metadata: Json | None = None
    broadcast: bool = False


def post_message(world: World, installation: AppInstallation, channel: str, post: PostRequest) -> PostedMessage:
    """Post as the app's bot."""
    message = PostedMessage(
        channel=channel,
        ts=world.next_ts(),
        user=installation.bot_user,
        bot_id=installation.bot_id,
        app_id=world.app.id,
        team_id=installation.team_id,
        text=post.text,
        blocks=tuple(dressed(list(post.blocks), world.next_id)),
        thread_ts=post.thread_ts,
        metadata=post.metadata,
        broadcast=post.broadcast,
    )
    world.put(message)
    return message


def rewrite(world: World, message: PostedMessage, post: PostRequest) -> PostedMessage:
    """Replace a message's text and blocks; only a change of text alone is marked as edited."""
    blocks = tuple(dressed(list(post.blocks), world.next_id))
    edited = message.edited_ts if blocks else world.next_ts()
    message = replace(message, text=post.text, blocks=blocks, metadata=post.metadata, edited_ts=edited)
    world.put(message)
    return message


def erase(world: World, message: PostedMessage) -> None:
    """Delete a message; the parent of a living thread leaves a tombstone."""
    if world.replies(message.channel, message.ts):
        world.put(replace(message, tombstone=True, text="", blocks=(), metadata=None))
    else:
        del world.messages[message.channel][message.ts]
        world.bell.ring()


def whisper(world: World, team_id: str, channel: str, *, user: str, post: PostRequest) -> Ephemeral:
    """Show something to one person; in a thread that has no replies yet nobody sees it."""
    blocks = tuple(dressed(list(post.blocks), world.next_id))
    ephemeral = Ephemeral(channel, world.next_ts(), user, team_id, post.text, blocks, post.thread_ts)
    if post.thread_ts is None or world.replies(channel, post.thread_ts):
        world.ephemerals.append(ephemeral)
        world.bell.ring()
    return ephemeral


def show(world: World, hook: Hook, post: PostRequest, *, in_channel: bool) -> None:
    """Show an answer to an interaction: to everybody there, or to the one who acted."""
    if in_channel:
        post_message(world, world.installations[hook.team_id], hook.channel, post)
    else:
        whisper(world, hook.team_id, hook.channel, user=hook.user, post=post)


def direct_channel(world: World, installation: AppInstallation, user: str) -> Channel:
    """Return the bot's direct conversation with somebody, opened if there was none."""
    for channel in world.channels.values():
        if channel.kind == "im" and channel.members == {user, installation.bot_user}:
            return channel
    members = frozenset({user, installation.bot_user})
    channel = Channel(world.next_id("D"), "", installation.team_id, members, "im")
    world.add(channel)
    return channel
