"""response_url: answering an interaction without a token, five times within thirty minutes."""

from dataclasses import replace

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from bot.sandbox.slack.blockkit.messages import problems_in_blocks
from bot.sandbox.slack.dress import dressed
from bot.sandbox.slack.errors import ApiError, refuse
from bot.sandbox.slack.posting import PostRequest, erase, rewrite, show
from bot.sandbox.slack.records import Ephemeral, Hook, Json, PostedMessage, RecordedCall
from bot.sandbox.slack.wire import AsciiJson, json_object, world_of
from bot.sandbox.slack.world import World


async def respond(request: Request) -> Response:
    """Take a post to a response_url. Its blocks meet no limit on total text; everything else is a message's."""
    world = world_of(request)
    args: Json = {}
    try:
        hook = _spend(world, request.url.path)
        args = json_object(await request.body())
        _obey(world, hook, args)
    except ApiError as error:
        world.calls.append(RecordedCall(world.clock(), "response_url", None, args, error.error))
        return AsciiJson(error.body, error.status if error.status != 200 else 400)
    world.calls.append(RecordedCall(world.clock(), "response_url", hook.team_id, args, None))
    return PlainTextResponse("ok")


def _spend(world: World, path: str) -> Hook:
    hook = world.hooks.get(path)
    if hook is None:
        raise ApiError("no_such_url", status=404)
    if hook.uses >= world.rules.hook_uses:
        raise ApiError("used_url", status=404)
    if world.clock() - hook.made > world.rules.hook_seconds:
        raise ApiError("expired_url", status=404)
    world.hooks[path] = replace(hook, uses=hook.uses + 1)
    return hook


def _obey(world: World, hook: Hook, args: Json) -> None:
    original = _original(world, hook)
    if args.get("delete_original") is True:
        _delete(world, original)
        return
    blocks = args.get("blocks") or []
    refuse(problems_in_blocks(blocks))
    post = PostRequest(str(args.get("text") or ""), tuple(blocks), args.get("thread_ts"))
    if not post.text and not post.blocks:
        raise ApiError("no_text")
    # Left out, it counts as true: whoever forgets it overwrites the shared message.
    if hook.ts is not None and args.get("replace_original", True):
        _replace(world, original, post)
    else:
        show(world, hook, post, in_channel=args.get("response_type") == "in_channel")


def _original(world: World, hook: Hook) -> PostedMessage | Ephemeral | None:
    if hook.ts is None:
        return None
    if not hook.ephemeral:
        return world.message(hook.channel, hook.ts)
    return next((e for e in world.ephemerals if e.ts == hook.ts and e.user == hook.user), None)


def _delete(world: World, original: PostedMessage | Ephemeral | None) -> None:
    if isinstance(original, Ephemeral):
        world.ephemerals.remove(original)
    elif original is not None:
        erase(world, original)


def _replace(world: World, original: PostedMessage | Ephemeral | None, post: PostRequest) -> None:
    if original is None:
        raise ApiError("message_not_found", status=404)
    if isinstance(original, Ephemeral):
        blocks = tuple(dressed(list(post.blocks), world.next_id))
        index = world.ephemerals.index(original)
        world.ephemerals[index] = replace(original, text=post.text, blocks=blocks)
        world.bell.ring()
    else:
        rewrite(world, original, replace(post, metadata=original.metadata))
