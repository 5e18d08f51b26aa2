"""What all frameworks share: a model, named arguments, a sampler of views, and saving."""

import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from course_lib.arguments import as_tensor, check_choice, check_instance
from course_lib.data import standardise
from course_lib.factors import FactorSpace
from course_lib.losses import reconstruction_loss, standard_normal_log_density
from course_lib.models import VAE, DiagonalGaussian
from course_lib.sampling import singles
from course_lib.storage import TRAINING, flaw, read_tensors, write_tensors

REDUCTIONS = ("sum", "mean")
OF_VAE = ("shape", "latent_dim", "encode", "decode")  # a module with these may stand in for a VAE
KERNEL = "kernel"  # stands in the configuration for a kernel, which is saved among the weights


@dataclass(frozen=True)
class Step:
    """Where training stands when a loss is computed.

    `index` (a 0-d integer tensor) counts the steps done before this one, out of `total`; schedules read both. All noise
    comes from `generator`. `player` says whose objective is wanted, in frameworks where several networks compete;
    `turn` counts the turns that it has had in this step.
    """

    index: Tensor
    total: int
    generator: torch.Generator
    player: str = "model"
    turn: int = 0


class Framework(nn.Module, ABC):
    """A model together with the objective that trains it. Subclasses write `loss`.

    Keyword arguments of the subclass go to `super().__init__` or to `keep`, which make each an attribute, from where
    `save` takes it: numbers, text, and lists or pairs of those.

    reconstruction : "mse", "bce", "mse-box", "mse-gaussian", or a kernel; see `losses.reconstruction_loss`.
    reduction : how a term's elements become one number. "sum" adds them for each image (as the papers do), "mean"
        averages them over pixels and over latents (as the thesis does, Appendix A.2.1); either way the batch is
        averaged. Between the two, every weight of a term that sums over latents changes like
        β_mean = β_sum · D / (C·H·W).

    A framework in which several networks compete names them in `players`, and `loss` returns the terms of the player
    that the step names. The first player is the model; one that is named several times takes so many turns in a step.
    """

    network = VAE  # what `load_framework` builds
    players = ("model",)
    learning_rate = 1e-3  # of the model's Adam
    _names: tuple[str, ...] = ()
    _reconstruction: str | None = None

    def __init__(self, model: VAE, *, reconstruction: str | Tensor, reduction: str, **arguments):
        super().__init__()
        if not (isinstance(model, nn.Module) and all(hasattr(model, part) for part in OF_VAE)):
            check_instance(VAE, "a VAE, such as conv_vae(data)", model=model)
        check_choice(REDUCTIONS, reduction=reduction)
        self.model, self.likelihood = model, reconstruction_loss(model, reconstruction)
        self._reconstruction = reconstruction if isinstance(reconstruction, str) else KERNEL
        self._names = ("reconstruction",)
        self.keep(**arguments, reduction=reduction)

    def keep(self, **arguments) -> None:
        """Keep constructor arguments as attributes, and remember that they belong to the configuration."""
        self._names += tuple(arguments)
        for name, value in arguments.items():
            setattr(self, name, value)

    @property
    def reconstruction(self) -> str:
        """The name of the reconstruction loss, "kernel" for one with a kernel of its own; fixed for good."""
        return self._reconstruction

    @property
    def depends_on_total_steps(self) -> bool:
        """Whether a schedule spans the whole training, so that a step means another thing if there are more of them."""
        return False

    @abstractmethod
    def loss(self, views: Tensor, step: Step) -> dict[str, Tensor]:
        """The weighted terms of the objective, in the order of the equation; the objective is their sum.

        views: standardised images (V, B, C, H, W), as many views as `sample` gives. Raises ValueError for others.
        """

    def sample(self, space: FactorSpace, batch_size: int, generator: torch.Generator) -> Tensor:
        """Which images meet in a batch: indices (V, B). One view, drawn uniformly, unless a framework needs more."""
        return singles(space, batch_size, generator).unsqueeze(0)

    def parameters_of(self, player: str):
        """The weights that `player` may change."""
        return self.get_submodule(player).parameters()

    def adam(self, player: str) -> dict:
        """The settings of the Adam that trains `player`: its learning rate `lr` and its `betas`."""
        return {"lr": self.learning_rate, "betas": (0.9, 0.999)}

    def decays(self, name: str) -> bool:
        """Whether a `weight_decay` among the settings of `adam` is for the weight of that name: not for biases."""
        return not name.endswith("bias")

    def log_prior(self, latents: Tensor) -> Tensor:
        """log p(z) of latents (B, D): (B,), in nats. That of N(0, I), unless a framework has a prior of its own."""
        return standard_normal_log_density(latents).sum(1)

    def reduce(self, elements: Tensor) -> Tensor:
        """Elements (B, ...) → one number, by the framework's `reduction`."""
        return elements.sum() / len(elements) if self.reduction == "sum" else elements.mean()

    def reduce_latents(self, values: Tensor) -> Tensor:
        """Values (B,) or () that are already summed over the latents → one number, by the framework's `reduction`."""
        return values.mean() / (1 if self.reduction == "sum" else self.model.latent_dim)

    @torch.no_grad()
    def posterior(self, images) -> DiagonalGaussian:
        """q(z|x) of each image (B, C, H, W), mean and log-variance (B, D), taken as by `encode`, without gradients."""
        return self.model.encode(self.standardise(images))

    def encode(self, images) -> Tensor:
        """The mean representation (B, D) of images (B, C, H, W): uint8 is standardised, float is taken as standardised.

        Images are moved to the model's device. Raises ValueError when they do not have the model's shape.
        """
        return self.posterior(images).mean

    @torch.no_grad()
    def reconstruct(self, images) -> Tensor:
        """Images (B, C, H, W) → their reconstructions through the mean representation, pixels in [0, 1]."""
        return self.generate(self.encode(images))

    @torch.no_grad()
    def generate(self, latents) -> Tensor:
        """Latents (B, D) → the decoder's images, pixels in [0, 1]."""
        self.check_precision()
        latents = as_tensor(latents, "latents")
        if latents.is_complex():
            raise ValueError(f"latents: got dtype {latents.dtype}; allowed are real numbers.")
        latents = finite(latents.to(self.model.pixel_mean.device, torch.float32), "latents")
        if latents.ndim != 2 or latents.shape[1] != self.model.latent_dim:
            raise ValueError(
                f"latents: got shape {tuple(latents.shape)}; expected (B, {self.model.latent_dim}) for this model."
            )
        return self.pixels(latents)

    def pixels(self, latents: Tensor) -> Tensor:
        """The decoder's images of latents (B, D) that are checked already, pixels in [0, 1]."""
        return self.likelihood.pixels(self.model.decode(latents))

    def check_precision(self) -> None:
        """Raise a ValueError unless the weights are float32, as they are made; `fit` knows other precisions."""
        found = {weight.dtype for weight in self.state_dict().values() if weight.is_floating_point()} - {torch.float32}
        if found:
            raise ValueError(f"framework: its weights are {found.pop()}; allowed is float32: framework.float().")

    def save(self, path) -> None:
        """Write weights and configuration to one safetensors file, which `load_framework` reads back."""
        write_tensors(path, self.state_dict(), self.config)

    @property
    def arguments(self) -> dict:
        """The keyword arguments that build this framework, as they are now."""
        return {name: getattr(self, name) for name in self._names}

    @property
    def config(self) -> dict:
        """All that is needed to build the framework again, except its weights."""
        config = {"framework": type(self).__name__, "arguments": self.arguments, "model": self.model.config}
        if self.reconstruction == KERNEL:  # it is among the weights, but no training may exchange it
            content = self.likelihood.kernel.cpu().numpy().tobytes()
            config["kernel"] = hashlib.sha256(content).hexdigest()
        return config

    def standardise(self, images) -> Tensor:
        """The images as `model.encode` takes them, on its device: uint8 standardised, floats taken as standardised.

        Raises ValueError when they do not have the model's shape, or are of another type.
        """
        self.check_precision()
        images = as_tensor(images, "images", "images (B, C, H, W)")
        if images.ndim != 4 or tuple(images.shape[1:]) != self.model.shape:
            expected = ", ".join(map(str, self.model.shape))
            raise ValueError(f"images: got shape {tuple(images.shape)}; expected (B, {expected}) for this model.")
        if images.dtype != torch.uint8 and not images.is_floating_point():
            raise ValueError(f"images: got dtype {images.dtype}; allowed are uint8 (raw) and floats (standardised).")
        images = images.to(self.model.pixel_mean.device)
        if images.dtype == torch.uint8:
            return standardise(images, self.model.pixel_mean, self.model.pixel_std)
        return finite(images.to(torch.float32), "images")


def check_views(views: Tensor, number: int) -> Tensor:
    """`views` (V, B, C, H, W), or a ValueError unless V is `number`."""
    if views.shape[:1] != (number,):
        raise ValueError(f"views: got shape {tuple(views.shape)}; allowed is ({number}, B, C, H, W).")
    return views


def finite(values: Tensor, argument: str) -> Tensor:
    """`values`, or a ValueError naming `argument` unless all are finite in float32; only on the CPU, as elsewhere."""
    if values.device.type == "cpu" and not values.isfinite().all():
        raise ValueError(f"{argument}: got numbers that are NaN or infinite in float32; allowed are finite ones.")
    return values


def load_framework(path: str | Path) -> Framework:
    """The framework that `Framework.save` wrote to `path`, or that a checkpoint of `fit` holds, on the CPU.

    Raises ValueError when the file is not such a framework or a weight is not finite, FileNotFoundError when there is
    none.
    """
    from course_lib import frameworks  # at call time: the package imports this module first

    tensors, config = read_tensors(path)
    kind = getattr(frameworks, str(config.get("framework")), None)
    if not (isinstance(kind, type) and issubclass(kind, Framework)) or not {"arguments", "model"} <= config.keys():
        raise ValueError(f"path: {path} holds no framework of course_lib (its configuration: {config}).")
    weights = {name: tensor for name, tensor in tensors.items() if not name.startswith(TRAINING)}
    if found := flaw(weights):
        raise ValueError(f"path: {path} is damaged, or of a training that diverged: {found}.")
    of_model = {name.removeprefix("model."): tensor for name, tensor in weights.items() if name.startswith("model.")}
    try:
        arguments = dict(config["arguments"])
        if arguments.get("reconstruction") == KERNEL and "likelihood.kernel" in tensors:
            arguments["reconstruction"] = tensors["likelihood.kernel"]
        model = kind.network(**config["model"])
        model.load_state_dict(of_model)  # first: a framework may ask what its model was built for
        framework = kind(model, **arguments)
        framework.load_state_dict(weights)
    except (IndexError, RuntimeError, TypeError, ValueError) as error:
        raise ValueError(
            f"path: {path} is from another edition of course_lib, or its weights do not fit its configuration: {error}"
        ) from error
    return framework
