"""Getting one parcel to the app by the transport it is configured for, faults included, and keeping a record of it."""

import asyncio
from dataclasses import replace

from bot.sandbox.slack.faults import Fault
from bot.sandbox.slack.organisation import spelled
from bot.sandbox.slack.parcels import ApiAnswer, Parcel
from bot.sandbox.slack.records import Delivery
from bot.sandbox.slack.world import World


async def deliver(world: World, parcel: Parcel) -> ApiAnswer:
    """Deliver once. A fault may lose the parcel, its answer, or send it twice; the sender sees the first answer."""
    parcel = replace(parcel, payload=spelled(world, parcel.payload))
    fault = world.faults.take(f"deliver.{parcel.kind}", "deliver")
    if fault is None:
        return await _carry(world, parcel)
    return await _carry_badly(world, parcel, fault)


async def _carry_badly(world: World, parcel: Parcel, fault: Fault) -> ApiAnswer:
    ack_seconds = world.rules.ack_seconds
    if fault.delay_s >= ack_seconds:
        # Slack counts from sending: the person sees the failure while the parcel is still on its way.
        world.spawn(_carry_late(world, parcel, fault.delay_s))
        await asyncio.sleep(ack_seconds)
        return ApiAnswer(None)
    await asyncio.sleep(fault.delay_s)
    if fault.drop == "before":
        return _record(world, parcel, ApiAnswer(None))
    if fault.status:
        return _record(world, parcel, ApiAnswer(fault.status))
    copies = 2 if fault.dup else 1
    answers = await asyncio.gather(*(_carry(world, parcel) for _ in range(copies)))
    return ApiAnswer(None) if fault.drop == "after" else answers[0]


async def _carry_late(world: World, parcel: Parcel, delay_s: float) -> None:
    await asyncio.sleep(delay_s)
    await _carry(world, parcel)


async def _carry(world: World, parcel: Parcel) -> ApiAnswer:
    courier = world.couriers.get(world.app.transport)
    answer = ApiAnswer(None) if courier is None else await courier.carry(parcel)
    return _record(world, parcel, answer)


def _record(world: World, parcel: Parcel, answer: ApiAnswer) -> ApiAnswer:
    number = world.deliveries[-1].number + 1 if world.deliveries else 0
    world.deliveries.append(
        Delivery(number, parcel.kind, parcel.payload, answer.status, headers=dict(answer.headers), body=answer.sent)
    )
    world.bell.ring()
    return answer
