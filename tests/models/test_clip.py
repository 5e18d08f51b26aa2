"""CLIP's image encoder, on small files of random weights in the published layout, against PyTorch's own transformer."""

import hashlib

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from course_lib import metrics
from course_lib.data import DataFileError
from course_lib.data.files import RemoteFile
from course_lib.models import clip
from course_replication.measurements.few_sprites import FewSprites

SHAPE = clip.Shape(width=16, layers=2, heads=4, patch=8, image=32, outputs=6)


def weights(shape=SHAPE, seed=0):
    """Random tensors by the names of the published file, a text encoder's among them."""
    draw = torch.Generator().manual_seed(seed)
    width, tower = shape.width, "vision_model."
    sizes = {
        "text_model.embeddings.token_embedding.weight": (5, 3),
        "logit_scale": (),
        "visual_projection.weight": (shape.outputs, width),
        f"{tower}embeddings.class_embedding": (width,),
        f"{tower}embeddings.patch_embedding.weight": (width, 3, shape.patch, shape.patch),
        f"{tower}embeddings.position_embedding.weight": ((shape.image // shape.patch) ** 2 + 1, width),
    }
    for name in ("pre_layrnorm", "post_layernorm"):
        sizes |= {f"{tower}{name}.weight": (width,), f"{tower}{name}.bias": (width,)}
    for layer in range(shape.layers):
        place = f"{tower}encoder.layers.{layer}."
        parts = {"layer_norm1": (width,), "layer_norm2": (width,), "mlp.fc1": (4 * width, width)}
        parts |= {"mlp.fc2": (width, 4 * width)}
        parts |= {f"self_attn.{name}_proj": (width, width) for name in ("q", "k", "v", "out")}
        sizes |= {f"{place}{name}.weight": size for name, size in parts.items()}
        sizes |= {f"{place}{name}.bias": size[:1] for name, size in parts.items()}
    return {name: 0.3 * torch.randn(size, generator=draw) for name, size in sizes.items()}


def remote(path):
    content = path.read_bytes()
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    return RemoteFile(path.name, "http://nowhere.invalid/clip", digest, len(content))


@pytest.fixture
def published(tmp_path, monkeypatch):
    """A small file in the folder of data files, as if it were the published one."""
    path = tmp_path / "tiny.safetensors"
    save_file(weights(), path)
    monkeypatch.setitem(clip.PUBLISHED, "vit-l-14", (SHAPE, remote(path)))
    return path


class QuickGELU(nn.Module):
    def forward(self, x):
        return x / (1 + torch.exp(-1.702 * x))


def by_pytorch(images, given, shape=SHAPE):
    """The same network made of PyTorch's encoder layers, patches cut out by `unfold`."""
    tower = "vision_model."
    mean, std = (torch.tensor(values).view(1, 3, 1, 1) for values in (clip.PIXEL_MEAN, clip.PIXEL_STD))
    x = (images / 255 - mean) / std
    kernel = given[f"{tower}embeddings.patch_embedding.weight"].flatten(1)
    patches = nn.functional.unfold(x, shape.patch, stride=shape.patch).transpose(1, 2) @ kernel.T
    first = given[f"{tower}embeddings.class_embedding"].repeat(len(x), 1, 1)
    x = torch.cat([first, patches], 1) + given[f"{tower}embeddings.position_embedding.weight"]

    def norm(x, name):
        centred = x - x.mean(-1, keepdim=True)
        scaled = centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
        return scaled * given[f"{name}.weight"] + given[f"{name}.bias"]

    x = norm(x, f"{tower}pre_layrnorm")
    for layer in range(shape.layers):
        place = f"{tower}encoder.layers.{layer}."
        each = nn.TransformerEncoderLayer(
            shape.width, shape.heads, 4 * shape.width, 0.0, QuickGELU(), batch_first=True, norm_first=True
        )
        names = {"linear1": "mlp.fc1", "linear2": "mlp.fc2", "norm1": "layer_norm1", "norm2": "layer_norm2"}
        names["self_attn.out_proj"] = "self_attn.out_proj"
        state = {f"{a}.{kind}": given[f"{place}{b}.{kind}"] for a, b in names.items() for kind in ("weight", "bias")}
        for kind in ("weight", "bias"):
            parts = [given[f"{place}self_attn.{name}_proj.{kind}"] for name in "qkv"]
            state[f"self_attn.in_proj_{kind}"] = torch.cat(parts)
        each.load_state_dict(state)
        x = each(x)
    return norm(x[:, 0], f"{tower}post_layernorm") @ given["visual_projection.weight"].T


def images(size, channels=3):
    return torch.randint(256, (3, channels, size, size), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))


def test_it_is_the_transformer_that_pytorch_builds(published):
    encode = clip.clip_encoder("vit-l-14", published.parent)
    found = encode(images(SHAPE.image))
    assert found.shape == (3, SHAPE.outputs) and not found.requires_grad
    with torch.no_grad():
        torch.testing.assert_close(found, by_pytorch(images(SHAPE.image), weights()), rtol=1e-4, atol=1e-4)


def test_images_of_another_size_and_grey_ones_are_made_to_fit(published):
    encode = clip.clip_encoder(root=published.parent)
    grey = images(64, 1)
    torch.testing.assert_close(encode(grey), encode(grey.repeat(1, 3, 1, 1)))
    flat = torch.full((1, 1, 64, 64), 77, dtype=torch.uint8)
    torch.testing.assert_close(encode(flat), encode(flat[:, :, :32, :32]), rtol=1e-4, atol=1e-4)


def test_a_missing_file_is_asked_for_by_name_hash_and_place(published):
    (_, file), content = clip.PUBLISHED["vit-l-14"], published.read_bytes()
    published.unlink()
    with pytest.raises(DataFileError) as raised:
        clip.clip_encoder(root=published.parent)
    for part in (file.name, file.hash, file.url, f"{len(content):,} bytes", str(published), "COURSE_DATA"):
        assert part in str(raised.value)


@pytest.mark.parametrize("place", [-1, 40, 500])
def test_an_altered_file_is_refused_and_left(published, place):
    content = bytearray(published.read_bytes())
    content[place] ^= 1
    published.write_bytes(content)
    with pytest.raises(DataFileError, match="is not the published file, or is damaged"):
        clip.clip_encoder(root=published.parent)
    assert published.read_bytes() == content


def test_a_file_that_lacks_a_tensor_or_has_another_size_is_named(tmp_path):
    lacking, path = weights(), tmp_path / "lacking.safetensors"
    del lacking["vision_model.encoder.layers.1.mlp.fc2.bias"]
    save_file(lacking, path)
    with pytest.raises(ValueError, match=r"lacking\.safetensors: is not CLIP's .*layers\.1\.mlp\.fc2\.bias"):
        clip.read_clip(path, SHAPE)
    save_file(weights(clip.Shape(16, 2, 4, 8, 32, 7)), path)
    with pytest.raises(ValueError, match="visual_projection"):
        clip.read_clip(path, SHAPE)
    path.write_bytes(b"\x80\x05pickle")  # a pickle is not read, whatever it is called
    with pytest.raises(ValueError, match="is not CLIP's"):
        clip.read_clip(path, SHAPE)


def test_the_untrained_control_has_the_published_layout_and_the_scales_it_says(published):
    model, other = clip.untrained_clip(), clip.untrained_clip(seed=1)
    trained = clip.clip_encoder(root=published.parent)
    shapes = [{name: weight.shape for name, weight in each.state_dict().items()} for each in (model, trained)]
    assert shapes[0] == shapes[1] and not any(weight.requires_grad for weight in model.parameters())
    again, weights_of = clip.untrained_clip(), dict(model.named_parameters())
    assert all(torch.equal(weight, again.get_parameter(name)) for name, weight in weights_of.items())
    assert not torch.equal(weights_of["class_embedding"], other.class_embedding)
    assert weights_of["position_embedding.weight"].std().item() == pytest.approx(SHAPE.width**-0.5, rel=0.1)
    for name, weight in weights_of.items():
        if "norm" in name:
            assert (weight == float(name.endswith("weight"))).all()
        elif "attn" in name and name.endswith("bias"):
            assert not weight.any()
    attention = nn.MultiheadAttention(SHAPE.width, SHAPE.heads)
    bounds = [
        part.abs().max().item() for part in (attention.in_proj_weight, weights_of["layers.0.self_attn.q_proj.weight"])
    ]
    assert bounds == pytest.approx([(6 / (4 * SHAPE.width)) ** 0.5] * 2, rel=0.05)
    linear = nn.Linear(4 * SHAPE.width, SHAPE.width)
    bounds = [part.abs().max().item() for part in (linear.weight, weights_of["layers.1.mlp.fc2.weight"])]
    assert bounds == pytest.approx([(4 * SHAPE.width) ** -0.5] * 2, rel=0.05)


def test_mig_and_sap_are_measured_beside_the_controls(published):
    """As chapter 13 says to do it; of exchanged codes both are near 0."""
    data = FewSprites()
    index = torch.arange(0, len(data), 3)
    pictures, factors = data.images(index), data.space.factors(index)
    codes = {
        "clip": clip.clip_encoder(root=published.parent)(pictures),
        "untrained": clip.untrained_clip()(pictures),
    }
    codes["exchanged"] = codes["clip"][torch.randperm(len(index), generator=torch.Generator().manual_seed(0))]
    found = {
        name: (
            float(metrics.mig.from_samples(each, factors)),
            metrics.sap.from_samples(each, factors).values["continuous"],
        )
        for name, each in codes.items()
    }
    assert len({*found.values()}) == 3 and max(found["exchanged"]) < 0.03
    assert all(0 <= value <= 1 for each in found.values() for value in each)


@pytest.mark.parametrize(("given", "words"), [({"name": "rn50"}, "name: got 'rn50'"), ({"seed": -1}, "seed: got -1")])
def test_what_the_control_refuses(given, words):
    with pytest.raises(ValueError, match=words):
        clip.untrained_clip(**given)


def test_other_names_are_refused():
    with pytest.raises(ValueError, match=r"name: got 'rn50'.*vit-l-14"):
        clip.clip_encoder("rn50")


def test_the_published_encoder_has_the_size_that_is_said_of_it():
    with torch.device("meta"):
        model = clip.VisionTransformer(clip.PUBLISHED["vit-l-14"][0])
    assert round(sum(weight.numel() for weight in model.parameters()) / 1e6, 2) == 303.97
