"""Which floating-point format the networks run in."""

import torch
from torch import nn

from course_lib.arguments import check_choice

PRECISIONS = ("auto", "float32", "bfloat16")


def resolve_precision(network: nn.Module, device: torch.device, precision: str) -> str:
    """ "float32" or "bfloat16": what `precision` means for this network on this device.

    "auto" takes bfloat16 for convolutional networks where the device multiplies in it; small fully connected networks
    gain nothing from it on a CPU. Losses stay in float32 either way, since models return float32.
    """
    check_choice(PRECISIONS, precision=precision)
    if precision == "auto":
        precision = "bfloat16" if is_convolutional(network) and multiplies_bfloat16(device) else "float32"
    return precision


def autocast(device: torch.device, precision: str) -> torch.autocast:
    """A context for the forward pass in "float32" or "bfloat16", whatever context surrounds it."""
    # Without a cache: that of a surrounding autocast would outlive the step, and serve weights from before it.
    return torch.autocast(device.type, torch.bfloat16, enabled=precision == "bfloat16", cache_enabled=False)


def is_convolutional(network: nn.Module) -> bool:
    return any(isinstance(layer, nn.Conv2d) for layer in network.modules())


def multiplies_bfloat16(device: torch.device) -> bool:
    """Whether the device has bfloat16 units: GPUs since Ampere, CPUs with AVX512-BF16 or AMX."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    if device.type != "cpu":
        return False
    probes = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")  # private, so absent in some releases of PyTorch
    return any(getattr(torch.cpu, probe, bool)() for probe in probes)
