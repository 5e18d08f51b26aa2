"""CLIP's image encoder, a vision transformer, with the published weights that a reader puts in place.

Nothing is unpickled: the file holds tensors and their names (safetensors), and its hash is checked before it is read.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn
from torch.nn.functional import interpolate, scaled_dot_product_attention

from course_lib.arguments import check_choice, check_seed
from course_lib.data.files import RemoteFile, fetch

# Of an image's three channels, from the code that OpenAI published with the weights.
PIXEL_MEAN, PIXEL_STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
TOWER = "vision_model."  # what the names of the image encoder's tensors begin with in the file
PROJECTION = "visual_projection.weight"


@dataclass(frozen=True)
class Shape:
    """Of a vision transformer: channels inside, blocks, heads, sides of patch and image in pixels, numbers out."""

    width: int
    layers: int
    heads: int
    patch: int
    image: int
    outputs: int


PUBLISHED = {
    "vit-l-14": (
        Shape(width=1024, layers=24, heads=16, patch=14, image=224, outputs=768),
        RemoteFile(
            name="clip-vit-large-patch14/model.safetensors",
            url="https://huggingface.co/openai/clip-vit-large-patch14/resolve/"
            "32bd64288804d66eefd0ccbe215aa642df71cc41/model.safetensors",
            hash="sha256:a2bf730a0c7debf160f7a6b50b3aaf3703e7e88ac73de7a314903141db026dcb",
            size=1_710_540_580,
        ),
    )
}


class Block(nn.Module):
    """Attention among patches and two fully connected layers, each added to what came in and normalised before.

    Tensors (B, patches, width) → the same shape. Names are those of the published file.
    """

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.layer_norm1, self.layer_norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.self_attn = nn.ModuleDict({f"{name}_proj": nn.Linear(width, width) for name in ("q", "k", "v", "out")})
        self.mlp = nn.ModuleDict({"fc1": nn.Linear(width, 4 * width), "fc2": nn.Linear(4 * width, width)})

    def forward(self, x: Tensor) -> Tensor:
        normed = self.layer_norm1(x)
        query, key, value = (
            self.self_attn[f"{name}_proj"](normed).unflatten(2, (self.heads, -1)).transpose(1, 2) for name in "qkv"
        )
        mixed = scaled_dot_product_attention(query, key, value).transpose(1, 2).flatten(2)
        x = x + self.self_attn["out_proj"](mixed)
        inner = self.mlp["fc1"](self.layer_norm2(x))
        return x + self.mlp["fc2"](inner * torch.sigmoid(1.702 * inner))  # CLIP's approximation of GELU


class VisionTransformer(nn.Module):
    """Images uint8 (B, 1 or 3, H, W) → CLIP's embedding (B, outputs), before it is brought to length 1.

    Images are resized to the side that the network was trained with (bicubic), and grey ones get three equal channels.
    Source: Radford et al., Learning transferable visual models from natural language supervision, 2021, Section 2.4.
    """

    def __init__(self, shape: Shape):
        super().__init__()
        self.shape = shape
        patches = (shape.image // shape.patch) ** 2
        self.class_embedding = nn.Parameter(torch.empty(shape.width))
        self.patch_embedding = nn.Conv2d(3, shape.width, shape.patch, stride=shape.patch, bias=False)
        self.position_embedding = nn.Embedding(patches + 1, shape.width)
        self.pre_layrnorm, self.post_layernorm = nn.LayerNorm(shape.width), nn.LayerNorm(shape.width)
        self.layers = nn.ModuleList(Block(shape.width, shape.heads) for _ in range(shape.layers))
        self.visual_projection = nn.Linear(shape.width, shape.outputs, bias=False)

    @torch.no_grad()
    def forward(self, images: Tensor) -> Tensor:
        pixels = images.expand(-1, 3, -1, -1).to(self.class_embedding.device).float() / 255
        pixels = interpolate(pixels, (self.shape.image,) * 2, mode="bicubic", antialias=True).clamp(0, 1)
        mean, std = (pixels.new_tensor(values).view(3, 1, 1) for values in (PIXEL_MEAN, PIXEL_STD))
        patches = self.patch_embedding((pixels - mean) / std).flatten(2).transpose(1, 2)
        first = self.class_embedding.expand(len(images), 1, -1)
        x = self.pre_layrnorm(torch.cat([first, patches], dim=1) + self.position_embedding.weight)
        for block in self.layers:
            x = block(x)
        return self.visual_projection(self.post_layernorm(x[:, 0]))


def clip_encoder(name: str = "vit-l-14", root: str | Path | None = None) -> Callable[[Tensor], Tensor]:
    """CLIP's image encoder with its published weights, for scores to use as `encode`: images uint8 → (B, outputs).

    name : of `PUBLISHED`, whose entries say which file with which hash is asked for.
    root : the folder of data files; see `course_lib.data.files.fetch`, which also says what is raised when the file is
        not there and cannot be downloaded, or is another one.

    Raises ValueError for another name, or when the file lacks a tensor or has one of another shape. Chapter 13.
    """
    check_choice(tuple(PUBLISHED), name=name)
    shape, file = PUBLISHED[name]
    return read_clip(fetch(file, root), shape)


@torch.no_grad()
def untrained_clip(name: str = "vit-l-14", seed: int = 0) -> VisionTransformer:
    """The network of `clip_encoder` before any training, its control: it needs no file.

    name : of `PUBLISHED`. seed : of its weights, which are drawn as the code published with the weights draws them: of
    embeddings and projection normal, with the standard deviation width^−½; of attention uniform within √(6/(4·width)),
    and biases 0; the others uniform within the root of one over the numbers that enter.

    Raises ValueError for another name or an unusable seed. Source: openai/CLIP, model.py. Chapter 13.
    """
    check_choice(tuple(PUBLISHED), name=name)
    draw = torch.Generator().manual_seed(check_seed(seed))
    shape, _ = PUBLISHED[name]
    with torch.device("meta"):
        model = VisionTransformer(shape)
    model.to_empty(device="cpu")
    for place, weight in model.named_parameters():
        _begin(place, weight, model, draw)
    return model.eval().requires_grad_(False)


def _begin(place: str, weight: Tensor, model: VisionTransformer, draw: torch.Generator) -> None:
    """Draw the weights of that name."""
    width = model.shape.width
    if "norm" in place:
        weight.fill_(float(place.endswith("weight")))
    elif place.startswith(("class_", "position_", "visual_")):
        weight.normal_(0, width**-0.5, generator=draw)
    elif "self_attn" in place and place.endswith("bias"):
        weight.zero_()
    else:
        entering = model.get_parameter(place.replace("bias", "weight"))[0].numel()
        mixed = place.endswith(("q_proj.weight", "k_proj.weight", "v_proj.weight"))
        bound = (6 / (4 * width) if mixed else 1 / entering) ** 0.5
        weight.uniform_(-bound, bound, generator=draw)


def read_clip(path: str | Path, shape: Shape) -> VisionTransformer:
    """The image encoder in a safetensors file; the text encoder beside it is not read. See `clip_encoder`."""
    with torch.device("meta"):
        model = VisionTransformer(shape)
    try:
        with safe_open(path, framework="pt") as file:
            weights = {ours: file.get_tensor(_published(ours)).float() for ours in model.state_dict()}
        model.load_state_dict(weights, assign=True)
    except (SafetensorError, RuntimeError) as error:
        raise ValueError(f"{path}: is not CLIP's {shape}: {error}") from error
    return model.eval().requires_grad_(False)


def _published(name: str) -> str:
    """What the file calls a tensor of `VisionTransformer`."""
    if name == PROJECTION:
        return name
    if "embedding" in name.partition(".")[0]:
        return f"{TOWER}embeddings.{name}"
    return f"{TOWER}encoder.{name}" if name.startswith("layers.") else TOWER + name
