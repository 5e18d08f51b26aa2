"""What is laid over dSprites: against slow drawings in NumPy, for purity, limits, moments and files."""

import hashlib
import io
import subprocess
import sys
from zipfile import ZipFile

import numpy as np
import pytest
import torch
from PIL import Image
from sklearn.datasets import load_sample_image

from course_lib.data import ColorDSprites, DSprites, DSpritesImageNet, NoisyDSprites, ScreamDSprites, overlays
from course_lib.data.files import DataFileError, RemoteFile
from course_lib.data.noise import uniform_bytes, uniform_integers
from course_lib.data.overlays import fade_levels
from course_lib.data.photographs import patches, shipped_photographs
from course_lib.sampling import singles

OVERLAYS = {
    "Color": ColorDSprites,
    "Noisy": NoisyDSprites,
    "Scream": ScreamDSprites,
    "foreground": lambda seed=42: DSpritesImageNet("foreground", 0.5, seed),
    "background": lambda seed=42: DSpritesImageNet("background", 0.75, seed),
}
each = pytest.mark.parametrize("overlay", OVERLAYS.values(), ids=OVERLAYS)


def generator(seed):
    return torch.Generator().manual_seed(seed)


@pytest.fixture(scope="module")
def index():
    return singles(DSprites.space, 40, generator(0))


@pytest.fixture(scope="module")
def sprites(index):
    """True where the sprite is, (40, 64, 64)."""
    return DSprites().images(index)[:, 0].numpy() == 255


@pytest.fixture(scope="module")
def photographs():
    """Both of scikit-learn's photographs at a third of their size, (142, 213, 3) each, averaged block by block."""
    reduced = []
    for name in ("china.jpg", "flower.jpg"):
        whole = load_sample_image(name)[:426, :639].astype(int)
        total = sum(whole[down::3, right::3] for down in range(3) for right in range(3))
        reduced.append((total * 2 + 9) // 18)  # to the nearest; a ninth part is never half way
    return reduced


def crop(photographs, photo, row, column):
    return photographs[photo][row : row + 64, column : column + 64].transpose(2, 0, 1)


def test_shipped_photographs_are_reduced_by_averaging(photographs):
    assert shipped_photographs().shape == (2, 3, 142, 213)
    np.testing.assert_array_equal(shipped_photographs().permute(0, 2, 3, 1).numpy(), photographs)


def test_patches_are_where_their_corners_are():
    numbers = torch.arange(2 * 3 * 70 * 80).view(2, 3, 70, 80)
    got = patches(numbers, torch.tensor([[1, 5, 15], [0, 0, 0]]))
    assert torch.equal(got[0], numbers[1, :, 5:69, 15:79]) and torch.equal(got[1], numbers[0, :, :64, :64])


def test_color_equals_a_slow_drawing(index, sprites):
    colours = uniform_integers(3, index, (128, 128, 128)).numpy() + 128
    for image, sprite, colour in zip(ColorDSprites(3).images(index).numpy(), sprites, colours, strict=True):
        np.testing.assert_array_equal(image, np.where(sprite, colour[:, None, None], 0))


def test_colours_are_uniform_from_one_half_to_one():
    inside = DSprites().images(torch.arange(0, 737_280, 320))[:, 0] == 255
    images = ColorDSprites().images(torch.arange(0, 737_280, 320))
    colours = torch.stack([image[:, where][:, 0] for image, where in zip(images, inside, strict=True)]).double() / 255
    assert colours.min() >= 0.5 and colours.max() == 1
    deciles = torch.quantile(colours, torch.arange(1, 10).double() / 10)
    torch.testing.assert_close(deciles, 0.5 + torch.arange(1, 10).double() / 20, rtol=0, atol=0.015)
    assert torch.corrcoef(colours.T).triu(1).abs().max() < 0.1


def test_noisy_equals_a_slow_drawing(index, sprites):
    noise = uniform_bytes(3, index, 12_288).numpy().reshape(-1, 3, 64, 64)
    for image, sprite, bytes_ in zip(NoisyDSprites(3).images(index).numpy(), sprites, noise, strict=True):
        np.testing.assert_array_equal(image, np.minimum(255 * sprite.astype(int) + bytes_, 255))


def test_scream_equals_a_slow_drawing(index, sprites, photographs):
    drawn = uniform_integers(3, index, (2, 142 - 64, 213 - 64, 256, 256, 256)).tolist()
    for image, sprite, (*corner, r, g, b) in zip(ScreamDSprites(3).images(index).numpy(), sprites, drawn, strict=True):
        background = (crop(photographs, *corner) + np.array([r, g, b])[:, None, None]) // 2
        np.testing.assert_array_equal(image, np.where(sprite, 255 - background, background))


@pytest.mark.parametrize("kind", ["foreground", "background"])
@pytest.mark.parametrize("visibility", [0.25, 0.5, 0.75, 1.0, 0.3])
def test_imagenet_equals_a_slow_drawing(index, sprites, photographs, kind, visibility):
    corners = uniform_integers(42, index, (2, 142 - 64, 213 - 64)).tolist()
    images = DSpritesImageNet(kind, visibility).images(index).numpy()
    for image, sprite, corner in zip(images, sprites, corners, strict=True):
        r, photo = visibility, crop(photographs, *corner)
        if kind == "foreground":
            exact = np.where(sprite, r * photo + (1 - r) * 255, 0)
        else:
            exact = np.where(sprite, 255, r * photo)
        np.testing.assert_array_equal(image, np.floor(exact + 1e-9))


def test_fading_cuts_off_as_the_authors_do():
    levels = np.arange(256, dtype=np.uint8)
    for percent in (0, 25, 50, 75, 100):
        r = percent / 100
        np.testing.assert_array_equal(fade_levels("foreground", r), (r * levels + (1 - r) * 255).astype("uint8"))
        np.testing.assert_array_equal(fade_levels("background", r), (r * levels).astype("uint8"))
    for percent in range(101):  # white stays white and black black at any visibility
        assert fade_levels("foreground", percent / 100)[255] == 255 and fade_levels("background", percent / 100)[0] == 0


@pytest.mark.parametrize("kind", ["foreground", "background"])
def test_invisible_photographs_leave_dsprites(index, kind):
    images = DSpritesImageNet(kind, visibility=0).images(index)
    assert torch.equal(images, DSprites().images(index).expand(-1, 3, -1, -1))


@pytest.mark.slow
def test_moments_without_photographs_are_those_of_dsprites():
    data = DSpritesImageNet("background", visibility=0)
    np.testing.assert_allclose(data.mean, DSprites.mean * 3, rtol=0, atol=3e-4)
    np.testing.assert_allclose(data.std, DSprites.std * 3, rtol=0, atol=3e-4)


def test_fully_visible_photographs_make_up_one_picture(index, sprites):
    """Foreground and background of one index show the same photograph."""
    front, back = (DSpritesImageNet(kind, 1).images(index).numpy() for kind in ("foreground", "background"))
    inside = sprites[:, None]
    assert (front[~inside.repeat(3, 1)] == 0).all() and (back[inside.repeat(3, 1)] == 255).all()
    corners = uniform_integers(42, index, (2, 142 - 64, 213 - 64))
    assert (np.where(inside, front, back) == patches(shipped_photographs(), corners).numpy()).all()


@each
def test_grid_is_that_of_dsprites(overlay):
    data = overlay()
    assert data.space == DSprites.space and data.shape == (3, 64, 64) and len(data) == 737_280
    assert data.images([0]).dtype == torch.uint8 and data.images([0]).shape == (1, 3, 64, 64)


@each
def test_bytes_do_not_depend_on_the_batch(overlay, index):
    data = overlay()
    images = data.images(index)
    order = torch.randperm(40, generator=generator(1))
    assert torch.equal(data.images(index[order]), images[order])
    assert torch.equal(data.images(index.view(5, 8))[3, 2], images[26])
    assert torch.equal(overlay().images(index[7]), images[7])
    assert data.images([]).shape == (0, 3, 64, 64)


def digests():
    """A fingerprint of 300 images of each overlay, for comparison between processes."""
    parts = torch.arange(0, 737_280, 2_500).split(50)
    made = (ColorDSprites(), NoisyDSprites(), ScreamDSprites(), DSpritesImageNet("foreground"), DSpritesImageNet())
    return [hashlib.sha256(b"".join(data.images(p).numpy().tobytes() for p in parts)).hexdigest() for data in made]


@pytest.mark.slow
def test_bytes_do_not_depend_on_the_process_or_on_the_threads():
    script = (
        "import hashlib, torch; torch.set_num_threads(2); torch.manual_seed(5); index = torch.arange(0, 737280, 2500)\n"
        "from course_lib.data import ColorDSprites, DSpritesImageNet, NoisyDSprites, ScreamDSprites\n"
        "for data in (ColorDSprites(), NoisyDSprites(), ScreamDSprites(), DSpritesImageNet('foreground'),"
        " DSpritesImageNet()):\n"
        "    print(hashlib.sha256(data.images(index).numpy().tobytes()).hexdigest())"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.split() == digests()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@each
def test_bytes_do_not_depend_on_the_device(overlay):
    data, index = overlay(), singles(DSprites.space, 3000, generator(2))
    assert torch.equal(data.images(index.cuda()).cpu(), data.images(index))


@each
def test_neither_the_global_state_nor_earlier_draws_matter(overlay, index):
    state = torch.get_rng_state()
    data = overlay()
    first, second = data.images(index), data.images(index)
    assert torch.equal(first, second) and torch.equal(torch.get_rng_state(), state)


@each
def test_another_seed_gives_other_images(overlay, index):
    differ = (overlay(0).images(index) != overlay(1).images(index)).flatten(1).any(1)
    assert differ.all()
    again = (overlay(0).images(index) != overlay(0).images(index)).any()
    assert not again


@each
def test_neighbouring_indices_get_other_draws(overlay):
    """Orientation 0 and 39 are the same sprite, so only what is drawn by index can differ."""
    index = DSprites.space.index([[1, 5, orientation, 16, 16] for orientation in (0, 39)])
    first, last = overlay().images(index)
    assert not torch.equal(first, last)


@pytest.mark.slow
@each
def test_moments_are_those_of_the_images(overlay):
    """On other images than they were measured on: the means of some 1,900 photographs vary by .004."""
    data = overlay()
    parts = torch.arange(50, 737_280, 397).split(256)
    pixels = [(data.images(part).double() / 255).flatten(2) for part in parts]
    mean = torch.cat([part.mean(2) for part in pixels]).mean(0)
    std = torch.cat([part.std(2) for part in pixels]).mean(0)
    tolerance = 0.015 if "photographs" in data.source else 0.002
    np.testing.assert_allclose(mean, data.mean, rtol=0, atol=tolerance)
    np.testing.assert_allclose(std, data.std, rtol=0, atol=tolerance)
    mean, std = (torch.tensor(values, dtype=torch.float64).view(3, 1, 1) for values in (data.mean, data.std))
    expected = (data.images(parts[0]).double() / 255 - mean) / std
    torch.testing.assert_close(data.observations(parts[0]).double(), expected, rtol=1e-5, atol=1e-5)


@each
def test_sources_say_what_is_in_the_picture(overlay):
    data = overlay()
    assert "re-rendered" in data.source and data.licence and "Matthey" in data.citation
    if isinstance(data, (ScreamDSprites, DSpritesImageNet)):
        assert "china.jpg" in data.source and "CC BY 2.0" in data.licence


def test_options_tell_variants_apart():
    assert repr(ColorDSprites(5)) == "ColorDSprites(seed=5)" and repr(NoisyDSprites()) == "NoisyDSprites(seed=0)"
    assert ScreamDSprites().options == dict(seed=0, painting=None)
    assert DSpritesImageNet("foreground", 0.5).options == dict(
        kind="foreground", visibility=0.5, seed=42, source="shipped"
    )


def test_a_painting_is_reduced_and_cropped(index, sprites, tmp_path):
    pixels = np.random.default_rng(0).integers(256, size=(548, 500, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "scream.png")
    small = Image.fromarray(pixels)
    small.thumbnail((350, 274))
    assert small.size == (250, 274)
    data = ScreamDSprites(painting=tmp_path / "scream.png")
    drawn = uniform_integers(0, index, (1, 274 - 64, 250 - 64, 256, 256, 256)).tolist()
    for image, sprite, (*corner, r, g, b) in zip(data.images(index).numpy(), sprites, drawn, strict=True):
        background = (crop([np.array(small).astype(int)], *corner) + np.array([r, g, b])[:, None, None]) // 2
        np.testing.assert_array_equal(image, np.where(sprite, 255 - background, background))
    assert "scream.png" in data.source and "china.jpg" not in data.source


def test_a_painting_that_cannot_be_used_is_an_error(tmp_path):
    Image.new("RGB", (64, 200)).save(tmp_path / "narrow.png")
    with pytest.raises(ValueError, match="painting: .*narrow.png is 64×200.*more than 64 pixels"):
        ScreamDSprites(painting=tmp_path / "narrow.png")
    (tmp_path / "text.jpg").write_text("no picture")
    (tmp_path / "half.png").write_bytes((tmp_path / "narrow.png").read_bytes()[:60])
    for name in ("text.jpg", "half.png"):
        with pytest.raises(ValueError, match=f"painting: .*{name} is no picture that can be read"):
            ScreamDSprites(painting=tmp_path / name)
    with pytest.raises(FileNotFoundError, match="painting: .*missing.jpg is not there"):
        ScreamDSprites(painting=tmp_path / "missing.jpg")
    with pytest.raises(FileNotFoundError, match="painting: .* is not a file"):
        ScreamDSprites(painting=tmp_path)
    for wrong in (5, "", ["a"]):
        with pytest.raises(ValueError, match="painting: got "):
            ScreamDSprites(painting=wrong)


def jpeg(pixels):
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG")
    return buffer.getvalue()


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """An archive laid out like Tiny ImageNet, its entries in no order: the folder it is in and its images by name."""
    rng = np.random.default_rng(1)
    stored = {f"n{c}/images/n{c}_{k}.JPEG": rng.integers(256, size=(64, 64, 3), dtype=np.uint8) for c, k in NAMES}
    stored["n02/images/n02_1.JPEG"] = stored["n02/images/n02_1.JPEG"][..., 0]  # some of the originals are grey
    encoded = {name: jpeg(pixels) for name, pixels in stored.items()}
    with ZipFile(tmp_path / "tiny-imagenet-200.zip", "w") as file:
        file.writestr("tiny-imagenet-200/wnids.txt", "n02\nn01\n")
        file.writestr("tiny-imagenet-200/val/images/val_0.JPEG", jpeg(rng.integers(256, size=(64, 64, 3)).astype("u1")))
        file.writestr("tiny-imagenet-200/train/n01/n01_boxes.txt", "n01_0.JPEG\t0\t0\t63\t63\n")
        for name, content in encoded.items():
            file.writestr(f"tiny-imagenet-200/train/{name}", content)
    digest = hashlib.md5((tmp_path / "tiny-imagenet-200.zip").read_bytes()).hexdigest()
    monkeypatch.setattr(
        overlays, "TINY_IMAGENET", RemoteFile("tiny-imagenet-200.zip", "http://127.0.0.1:9/", f"md5:{digest}")
    )
    return tmp_path, {name: np.array(Image.open(io.BytesIO(data)).convert("RGB")) for name, data in encoded.items()}


NAMES = [("02", 1), ("01", 2), ("02", 0), ("01", 10), ("01", 0), ("01", 1)]
ORDER = ["n01/images/n01_0.JPEG", "n01/images/n01_1.JPEG", "n01/images/n01_10.JPEG", "n01/images/n01_2.JPEG"]
ORDER += ["n02/images/n02_0.JPEG", "n02/images/n02_1.JPEG"]


def test_tiny_imagenet_is_read_in_the_order_of_its_paths(tiny, index, sprites):
    root, photographs = tiny
    choice = np.random.Generator(np.random.PCG64(42)).choice(6, 737_280, replace=True)
    for _ in range(2):  # the second time from the array that the first has unpacked
        data = DSpritesImageNet("background", source="real", root=root)
        for image, sprite, i in zip(data.images(index).numpy(), sprites, index.tolist(), strict=True):
            photo = photographs[ORDER[choice[i]]].transpose(2, 0, 1)
            np.testing.assert_array_equal(image, np.where(sprite, 255, photo))
    assert "Tiny ImageNet" in data.source and data.options["source"] == "real"
    assert (root / "tiny-imagenet-200.train.npy").exists()


def test_tiny_imagenet_fades_like_the_crops(tiny, index, sprites):
    root, photographs = tiny
    choice = np.random.Generator(np.random.PCG64(7)).choice(6, 737_280, replace=True)
    data = DSpritesImageNet("foreground", 0.25, seed=7, source="real", root=root)
    for image, sprite, i in zip(data.images(index).numpy(), sprites, index.tolist(), strict=True):
        photo = photographs[ORDER[choice[i]]].transpose(2, 0, 1)
        np.testing.assert_array_equal(image, np.where(sprite, (0.25 * photo + 0.75 * 255).astype("uint8"), 0))


def test_an_archive_without_training_images_is_an_error(tmp_path, monkeypatch):
    with ZipFile(tmp_path / "other.zip", "w") as file:
        file.writestr("tiny-imagenet-200/val/images/val_0.JPEG", b"")
    digest = hashlib.md5((tmp_path / "other.zip").read_bytes()).hexdigest()
    monkeypatch.setattr(overlays, "TINY_IMAGENET", RemoteFile("other.zip", "http://127.0.0.1:9/", f"md5:{digest}"))
    with pytest.raises(ValueError, match="archive: .*other.zip has no images tiny-imagenet-200/train"):
        DSpritesImageNet(source="real", root=tmp_path)


def test_a_missing_archive_is_one_error_with_url_hash_and_place(tmp_path, monkeypatch):
    monkeypatch.setattr("course_lib.data.files.download", lambda file, path: (_ for _ in ()).throw(OSError("offline")))
    with pytest.raises(DataFileError) as error:
        DSpritesImageNet(source="real", root=tmp_path)
    for words in ("cs231n.stanford.edu/tiny-imagenet-200.zip", "90528d7ca1a48142e341f4ef8d21d0de", str(tmp_path)):
        assert words in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (dict(kind="middle"), "kind: got 'middle'; allowed are 'foreground', 'background'"),
        (dict(visibility=50), "visibility: got 50; allowed are fractions from 0 to 1"),
        (dict(visibility=-0.1), "visibility: got -0.1"),
        (dict(visibility=True), "visibility: got True"),
        (dict(visibility="1"), "visibility: got '1'"),
        (dict(visibility=float("nan")), "visibility: got nan"),
        (dict(source="drawn"), "source: got 'drawn'; allowed are 'shipped', 'real'"),
        (dict(seed=-1), "seed: got -1; allowed are integers from 0"),
    ],
)
def test_errors_name_the_argument_and_what_is_allowed(arguments, words):
    with pytest.raises(ValueError, match=words):
        DSpritesImageNet(**arguments)


@pytest.mark.parametrize("dataset", [ColorDSprites, NoisyDSprites, ScreamDSprites])
@pytest.mark.parametrize("seed", [-1, 2**32, 1.0, None])
def test_a_wrong_seed_is_an_error(dataset, seed):
    with pytest.raises(ValueError, match=f"seed: got {seed}; allowed are integers from 0"):
        dataset(seed=seed)
