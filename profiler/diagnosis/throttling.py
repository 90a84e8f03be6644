"""The machine is held down while it trains: a device's clock by heat or power, the host by its CPU quota."""

from __future__ import annotations

from ..observation import Observation
from ..report import DeviceTelemetry, Fact, Finding, HostTelemetry
from ..vocabulary import Kind
from .finding import percent, timed_finding

_THERMAL = ("hw-thermal", "sw-thermal")
_POWER = ("sw-power-cap", "hw-power-brake")
_WORDS = {
    "thermal": "it is too hot",
    "power-limit": "it draws as much power as it may",
    "hardware-slowdown": "the hardware asked for it",
}


def find(observation: Observation) -> Finding | None:
    """The device or host that loses most; None where none loses enough, or the system does not tell."""
    telemetry = observation.telemetry
    if telemetry is None:
        return None
    found = [_device(observation, device) for device in telemetry.devices]
    found.append(None if telemetry.host is None else _quota(observation, telemetry.host))
    return max((one for one in found if one is not None), key=lambda one: one.share, default=None)


def _device(observation: Observation, device: DeviceTelemetry) -> Finding | None:
    """Time lost by a lower clock: while it is held down, work of a busy device takes longer by the ratio of the clocks.

    The clock to compare with is what the device ran at while busy and free in this run, else its highest.
    """
    free = device.clock_free_mhz or device.clock_max_mhz
    held, held_share = device.clock_held_mhz, device.held_share
    if free is None or held is None or held_share is None or held >= free:
        return None
    lost = held_share * (1 - held / free)
    cause = _cause(device)
    name = device.name or f"device {device.index}"
    return timed_finding(
        observation,
        Kind.THROTTLING,
        lost * observation.step_s,
        cause=cause,
        summary=(
            f"The clock of {name} is held down {percent(held_share)} of its busy time, to {held:.0f} MHz from "
            f"{free:.0f} MHz, because {_WORDS[cause]}: up to {percent(lost)} of every step."
        ),
        evidence=(
            Fact(name="clock while held down", value=held, unit="MHz"),
            Fact(name="clock to compare with", value=free, unit="MHz"),
            *(Fact(name=f"share: {reason}", value=share) for reason, share in device.reason_shares.items()),
            *(
                [Fact(name="temperature", value=device.temperature_c, unit="°C")]
                if device.temperature_c
                else []
            ),
            *([Fact(name="power", value=device.power_w, unit="W")] if device.power_w else []),
        ),
    )


def _cause(device: DeviceTelemetry) -> str:
    """The group of reasons that was seen most."""
    shares = {
        "thermal": _most(device, _THERMAL),
        "power-limit": _most(device, _POWER),
        "hardware-slowdown": _most(device, ("hw-slowdown",)),
    }
    return max(shares, key=lambda cause: shares[cause])


def _most(device: DeviceTelemetry, reasons: tuple[str, ...]) -> float:
    return max(device.reason_shares.get(reason, 0.0) for reason in reasons)


def _quota(observation: Observation, host: HostTelemetry) -> Finding | None:
    """Time of the usable cores that the container's quota took away."""
    lost, periods = host.quota_lost_share, host.quota_throttled_share
    if lost is None or periods is None:
        return None
    return timed_finding(
        observation,
        Kind.THROTTLING,
        lost * observation.step_s,
        cause="cpu-quota",
        summary=(
            f"The container used its CPU quota up in {percent(periods)} of the scheduling periods and was stopped for "
            f"{percent(lost)} of its cores' time: raise the quota, or run fewer threads and workers."
        ),
        evidence=(
            Fact(name="periods with the quota used up", value=periods),
            Fact(name="share of core time taken away", value=lost, basis="derived"),
        ),
    )
