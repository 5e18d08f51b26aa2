"""The loaders of published files, on small files in the same formats that are written here, with known content.

Every image written is a flat one or has a distinct pattern, so that a wrong order, camera or byte order shows.
"""

import gzip
import hashlib
import io
import struct
import sys
import tarfile

import numpy as np
import pytest
import scipy.io
import torch
from PIL import Image

from course_lib.data import (
    MNIST,
    MPI3D,
    Cars3D,
    DSprites,
    Shapes3D,
    SmallNORB,
    arrays,
    cars3d,
    mnist,
    mpi3d,
    published,
    smallnorb,
)
from course_lib.data.files import DataFileError, RemoteFile
from course_lib.data.stored import MappedTable, PackedTable, Table, grid_order, moments, resize
from course_lib.factors import FactorSpace

h5py = pytest.importorskip("h5py")


def remote(folder, name):
    """A RemoteFile that describes the small file `name` in `folder`."""
    content = (folder / name).read_bytes()
    return RemoteFile(name, "http://nowhere.invalid", f"md5:{hashlib.md5(content).hexdigest()}", len(content))


def noise(*shape, seed=0):
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def channels_first(images):
    return torch.from_numpy(np.moveaxis(images, -1, 1).copy())


# --- Cars3D ---


def write_cars(path, names, views, listed=None):
    """The published layout: an archive whose members are in the order of `names`; list.txt has that of `listed`."""
    with tarfile.open(path, "w:gz") as archive:
        members = {"data/sprites/list.txt": b"not a car\n", "data/shapes48.mat": b"nor this"}
        for name in names:
            content = io.BytesIO()
            scipy.io.savemat(content, {"im": views[name], "mask": views[name][:, :, 0] > 9}, do_compression=True)
            members[f"data/cars/{name}.mat"] = content.getvalue()
        members["data/cars/list.txt"] = "".join(f"{name}\n" for name in listed or names).encode()
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


@pytest.fixture
def cars():
    """Three types, 4 elevations and 5 azimuths, each view of one colour: (1 + elevation, 10 · azimuth, 50 · type)."""
    views = {}
    for kind, name in enumerate(["car_010_mesh", "car_002_mesh", "car_001_mesh"]):
        im = np.empty((128, 128, 3, 5, 4), np.uint8)
        im[:, :, 0], im[:, :, 1], im[:, :, 2] = np.arange(1, 5), 10 * np.arange(5)[:, None], 50 * kind
        views[name] = im
    return views


def test_cars_are_in_the_order_of_the_list(cars, tmp_path, monkeypatch):
    listed = list(cars)
    write_cars(tmp_path / "cars.tar.gz", sorted(cars), cars, listed)
    monkeypatch.setattr(cars3d, "FILE", remote(tmp_path, "cars.tar.gz"))
    data = Cars3D(root=tmp_path)
    assert data.space == FactorSpace(("elevation", "azimuth", "type"), (4, 5, 3))
    images = data.images(torch.arange(len(data)))
    assert images.shape == (60, 3, 64, 64) and images.dtype == torch.uint8
    elevation, azimuth, kind = data.space.factors(torch.arange(len(data))).unbind(1)
    colours = torch.stack([1 + elevation, 10 * azimuth, 50 * kind], 1)
    assert (images == colours.view(60, 3, 1, 1)).all()


def test_cars_keep_rows_and_columns(tmp_path):
    views = {"car_001_mesh": noise(128, 128, 3, 2, 1)}
    write_cars(tmp_path / "cars.tar.gz", views, views)
    (image,) = cars3d.read_cars3d(tmp_path / "cars.tar.gz")[0, 1]
    expected = Image.fromarray(views["car_001_mesh"][:, :, :, 1, 0]).resize((64, 64), Image.Resampling.BILINEAR)
    np.testing.assert_array_equal(image.permute(1, 2, 0), expected)


def test_an_archive_that_is_not_of_cars_is_an_error(cars, tmp_path):
    path = tmp_path / "cars.tar.gz"
    write_cars(path, sorted(cars)[1:], cars, sorted(cars))
    with pytest.raises(ValueError, match=r"cars\.tar\.gz: list.txt.*names car_001_mesh.mat; the archive does not"):
        cars3d.read_cars3d(path)
    write_cars(path, [], cars)
    with pytest.raises(ValueError, match="names nothing"):
        cars3d.read_cars3d(path)
    write_cars(path, ["car"], {"car": noise(128, 128, 3, 2)})
    with pytest.raises(ValueError, match=r"data/cars/car\.mat: holds no uint8 array `im`"):
        cars3d.read_cars3d(path)


# --- SmallNORB ---


def write_matrix(path, values, magic, order="<"):
    """The binary format: magic, number of axes, at least three sizes, all int32 little-endian, then the data."""
    sizes = [*values.shape, 1, 1][: max(3, values.ndim)]
    header = struct.pack(f"{order}{2 + len(sizes)}i", magic, values.ndim, *sizes)
    path.write_bytes(gzip.compress(header + values.astype(values.dtype.newbyteorder(order)).tobytes(), 1))


def write_norb(folder, name, instances, seed, order="<"):
    """A part of 2 categories × instances × 2 elevations × 3 azimuths × 2 lights, its rows shuffled.

    Camera 0 shows noise and 1 shows white. Returns the factors and the images of camera 0, row by row.
    """
    values = [range(2), instances, range(2), (0, 2, 34), range(2)]
    factors = np.stack(np.meshgrid(*values, indexing="ij"), -1).reshape(-1, 5).astype(np.int32)
    factors = np.random.default_rng(seed).permutation(factors)
    images = noise(len(factors), 96, 96, seed=seed)
    pairs = np.stack([images, np.full_like(images, 255)], 1)
    write_matrix(folder / f"{name}-dat.mat.gz", pairs, 0x1E3D4C55, order)
    write_matrix(folder / f"{name}-cat.mat.gz", factors[:, 0], 0x1E3D4C54, order)
    write_matrix(folder / f"{name}-info.mat.gz", factors[:, 1:], 0x1E3D4C54, order)
    return factors, images


def norb_names(name):
    return [f"{name}-{kind}.mat.gz" for kind in ("dat", "cat", "info")]


@pytest.fixture
def norb(tmp_path, monkeypatch):
    """The factors and images of both splits, whose files are where SmallNORB looks for them."""
    splits = {"train": write_norb(tmp_path, "train", (4, 6), 1), "test": write_norb(tmp_path, "test", (0, 5, 9), 2)}
    files = {split: tuple(remote(tmp_path, name) for name in norb_names(split)) for split in splits}
    monkeypatch.setattr(smallnorb, "FILES", files)
    monkeypatch.setattr(smallnorb, "BLOCK", 10)  # so that the images come in several blocks
    return splits


@pytest.mark.parametrize(("split", "instances"), [("both", (0, 4, 5, 6, 9)), ("train", (4, 6)), ("test", (0, 5, 9))])
def test_norb_is_sorted_by_factor_and_shows_the_first_camera(norb, split, instances, tmp_path):
    data = SmallNORB(split, root=tmp_path)
    names = ("category", "instance", "elevation", "azimuth", "lighting")
    assert data.space == FactorSpace(names, (2, len(instances), 2, 3, 2))
    count = 0
    for factors, images in norb.values() if split == "both" else [norb[split]]:
        factors = factors.copy()
        factors[:, 1] = np.searchsorted(instances, factors[:, 1])
        factors[:, 3] = np.searchsorted((0, 2, 34), factors[:, 3])
        expected = resize(torch.from_numpy(images).unsqueeze(1))
        assert torch.equal(data.images(data.space.index(factors)), expected)
        count += len(factors)
    assert count == len(data)


def test_norb_factors_are_read_as_they_are_written(tmp_path):
    factors, _ = write_norb(tmp_path, "part", (0, 1), 0)
    cat, info = (smallnorb.read_matrix(tmp_path / name) for name in norb_names("part")[1:])
    np.testing.assert_array_equal(np.column_stack([cat, info]), factors)


def test_norb_has_the_published_moments_only_where_they_are_of_its_images(norb, tmp_path):
    assert SmallNORB("train", root=tmp_path).mean == (0.752091840108860,)
    data = SmallNORB(root=tmp_path)
    pixels = data.images(torch.arange(len(data))).double().flatten(1) / 255
    assert data.mean[0] == pytest.approx(pixels.mean().item(), rel=1e-12)
    assert data.std[0] == pytest.approx(pixels.std(1).mean().item(), rel=1e-12)


def test_norb_files_that_are_not_in_the_format_are_errors(tmp_path):
    paths = [tmp_path / name for name in norb_names("part")]
    write_norb(tmp_path, "part", (0, 1), 0, order=">")
    with pytest.raises(ValueError, match="cat.mat.gz: begins with 0x544c3d1e .* begins with 0x1e3d4c55 or 0x1e3d4c54"):
        smallnorb.read_smallnorb([paths])
    factors, images = write_norb(tmp_path, "part", (0, 1), 0)
    write_matrix(paths[0], images, 0x1E3D4C55)
    with pytest.raises(ValueError, match="dat.mat.gz: begins with 0x1e3d4c55 and 3 axes.* and 4 axes"):
        smallnorb.read_smallnorb([paths])
    write_matrix(paths[0], np.stack([images[1:]] * 2, 1), 0x1E3D4C55)
    with pytest.raises(ValueError, match="dat.mat.gz: 47 images for 48 rows"):
        smallnorb.read_smallnorb([paths])
    factors[0] = factors[1]
    write_matrix(paths[2], factors[:, 1:], 0x1E3D4C54)
    with pytest.raises(ValueError, match="cat.mat.gz: 48 rows .* exactly once"):
        smallnorb.read_smallnorb([paths])


# --- MPI3D ---

SMALL = (2, 1, 2, 1, 1, 3, 2)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("leading", [(24,), SMALL])
def test_mpi3d_is_in_grid_order_and_stays_in_the_file(save, leading, tmp_path, monkeypatch):
    images = noise(24, 64, 64, 3)
    save(tmp_path / "mpi3d_toy.npz", other=np.arange(5), images=images.reshape(*leading, 64, 64, 3))
    monkeypatch.setattr(arrays, "BLOCK", 7)
    monkeypatch.setitem(mpi3d.FILES, "toy", remote(tmp_path, "mpi3d_toy.npz"))
    monkeypatch.setattr(MPI3D, "space", FactorSpace(MPI3D.space.names, SMALL))
    for _ in range(2):  # the second time, a compressed file is unpacked already
        data = MPI3D("toy", root=tmp_path)
        assert torch.equal(data.images(torch.arange(24)), channels_first(images))
        assert torch.equal(data.images(torch.tensor([[5, 5], [0, 23]]))[0, 1], channels_first(images)[5])
    pixels = channels_first(images).double().flatten(2) / 255
    assert data.mean == pytest.approx(pixels.mean((0, 2)).tolist(), rel=1e-12)
    assert data.std == pytest.approx(pixels.std(2).mean(0).tolist(), rel=1e-12)
    assert isinstance(mpi3d.read_mpi3d(tmp_path / "mpi3d_toy.npz").base, np.memmap)


def test_mpi3d_grid_and_errors(tmp_path, monkeypatch):
    assert len(MPI3D.space) == 1_036_800
    with pytest.raises(ValueError, match="kind: got 'complex'; allowed are 'toy', 'realistic', 'real'"):
        MPI3D("complex")
    path = tmp_path / "mpi3d_real.npz"
    np.savez(path, images=noise(3, 64, 64, 3))
    monkeypatch.setitem(mpi3d.FILES, "real", remote(tmp_path, path.name))
    with pytest.raises(ValueError, match="mpi3d_real.npz: holds 3 images; the grid has 1,036,800"):
        MPI3D("real", root=tmp_path)
    np.savez(path, images=noise(3, 32, 32, 3))
    with pytest.raises(ValueError, match=r"`images` is uint8 \(3, 32, 32, 3\)"):
        mpi3d.read_mpi3d(path)
    np.savez(path, pictures=noise(3, 64, 64, 3))
    with pytest.raises(ValueError, match="mpi3d_real.npz: there is no array 'images', only pictures.npy"):
        mpi3d.read_mpi3d(path)
    np.savez(path, images=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="'images' is not an array of numbers"):
        mpi3d.read_mpi3d(path)


# --- unpacking ---


def test_unpacking_leaves_no_half_file_and_keeps_another_one(tmp_path):
    target = tmp_path / "images.npy"

    def interrupted():
        yield noise(1, 2)
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match=r"unpacking 6 bytes of images: cannot write .*images\.npy: No space left"):
        arrays.unpack(target, (3, 2), interrupted())
    assert list(tmp_path.iterdir()) == []
    np.save(target, noise(4, 2))
    with pytest.raises(ValueError, match=r"images\.npy: holds uint8 \(4, 2\), not uint8 \(3, 2\).* delete it"):
        arrays.unpack(target, (3, 2), [noise(3, 2)])
    assert np.load(target).shape == (4, 2)


# --- dSprites ---

SPRITES = (2, 1, 2, 3, 2)


def grid(sizes):
    """The factors of a grid in C order (N, F)."""
    return np.stack(np.unravel_index(np.arange(np.prod(sizes)), sizes), 1)


class Trap:
    """Raises when it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("the pickle was loaded",))


def write_sprites(path, factors):
    """The published keys; `metadata` is a pickle, which must not be loaded."""
    images = noise(len(factors), 64, 64) & 1
    colour = np.zeros((len(factors), 1), np.int64)
    np.savez_compressed(
        path,
        metadata=np.array(Trap(), dtype=object),
        imgs=images,
        latents_classes=np.hstack([colour, factors]),
        latents_values=np.hstack([colour + 1.0, factors / 7]),
    )
    return images


def test_real_dsprites_are_the_images_of_the_file(tmp_path, monkeypatch):
    images = write_sprites(tmp_path / "dsprites.npz", grid(SPRITES))
    monkeypatch.setattr(arrays, "BLOCK", 7)
    monkeypatch.setattr(published, "DSPRITES", remote(tmp_path, "dsprites.npz"))
    monkeypatch.setattr(DSprites, "space", FactorSpace(DSprites.space.names, SPRITES))
    data = DSprites("real", root=tmp_path)
    expected = torch.from_numpy(255 * images).unsqueeze(1)
    assert torch.equal(data.images(torch.arange(24)), expected)
    assert torch.equal(data.images([[3], [1]]), expected[[3, 1]].unsqueeze(1)) and data.images([]).shape[0] == 0
    assert data.mean == (0.042494423521890,) and data.std == (0.195166458806261,)
    assert "published file" in data.source and "Apache" in data.licence and repr(data) == "DSprites(source='real')"
    assert DSprites().source != data.source and DSprites().mean != data.mean


def test_dsprites_in_another_order_or_shape_are_an_error(tmp_path):
    path = tmp_path / "dsprites.npz"
    write_sprites(path, grid(SPRITES)[::-1])
    with pytest.raises(ValueError, match="dsprites.npz: .* in another order than that of the grid"):
        published.read_dsprites(path, SPRITES)
    write_sprites(path, grid(SPRITES))
    with pytest.raises(ValueError, match="take 2 × 1 × 2 × 3 × 2 values; expected 2 × 1 × 2 × 2 × 3"):
        published.read_dsprites(path, (2, 1, 2, 2, 3))
    with pytest.raises(ValueError, match="source: got 'file'; allowed are 'rendered', 'real'"):
        DSprites("file")


# --- 3D Shapes ---

SHAPES = (2, 2, 1, 2, 1, 3)


def write_shapes(path, factors, **options):
    """The published fields: images, and labels as values of the factors."""
    images = noise(len(factors), 64, 64, 3)
    with h5py.File(path, "w") as file:
        file.create_dataset("images", data=images, **options)
        file.create_dataset("labels", data=factors * [0.1, 0.1, 0.1, 0.07, 1.0, 4.3] - [0, 0, 0, 0, 0, 30.0])
    return images


@pytest.mark.parametrize("options", [{}, {"chunks": (5, 4, 8, 1), "compression": "gzip"}])
def test_real_3d_shapes_are_the_images_of_the_file(options, tmp_path, monkeypatch):
    images = write_shapes(tmp_path / "3dshapes.h5", grid(SHAPES), **options)
    monkeypatch.setattr(published, "BLOCK", 7)
    monkeypatch.setattr(published, "SHAPES3D", remote(tmp_path, "3dshapes.h5"))
    monkeypatch.setattr(Shapes3D, "space", FactorSpace(Shapes3D.space.names, SHAPES))
    for _ in range(2):
        data = Shapes3D("real", root=tmp_path)
        assert torch.equal(data.images(torch.arange(24)), channels_first(images))
    assert data.mean[0] == 0.502584966788819 and data.std[2] == 0.366168598152475
    assert "3dshapes.h5" in data.source and repr(data) == "Shapes3D(source='real')"
    assert Shapes3D().source != data.source and Shapes3D().mean != data.mean


def test_3d_shapes_in_another_order_or_without_h5py_are_an_error(tmp_path, monkeypatch):
    path = tmp_path / "3dshapes.h5"
    write_shapes(path, grid(SHAPES)[::-1])
    with pytest.raises(ValueError, match="3dshapes.h5: .* in another order than that of the grid"):
        published.read_shapes3d(path, SHAPES)
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ImportError, match=r"3dshapes.h5 needs the package h5py: install h5py, or course_lib\[data\]"):
        published.read_shapes3d(path, SHAPES)


# --- MNIST ---


def write_idx(path, values, order=">"):
    """The idx format: 0, 0, 8 for bytes, number of axes, big-endian sizes, data."""
    header = struct.pack(f">4B{values.ndim}I".replace(">", order), 0, 0, 8, values.ndim, *values.shape)
    path.write_bytes(gzip.compress(header + values.tobytes(), 1))


def test_mnist_is_padded_and_labelled(tmp_path, monkeypatch):
    digits, labels = noise(300, 28, 28), np.arange(300, dtype=np.uint16).astype(np.uint8) % 10
    write_idx(tmp_path / "images.gz", digits)
    write_idx(tmp_path / "labels.gz", labels)
    monkeypatch.setitem(mnist.FILES, "test", (remote(tmp_path, "images.gz"), remote(tmp_path, "labels.gz")))
    data = MNIST("test", root=tmp_path)
    assert data.space == FactorSpace(("example",), (300,)) and data.shape == (1, 32, 32)
    assert data.labels.dtype == torch.int64 and data.labels.tolist() == labels.tolist()
    images = data.images(torch.arange(300))
    assert torch.equal(images[:, 0, 2:-2, 2:-2], torch.from_numpy(digits))
    assert images.sum(dtype=torch.int64) == digits.sum(dtype=np.int64)  # black all around
    pixels = images.double().flatten(1) / 255
    assert data.mean[0] == pytest.approx(pixels.mean().item(), rel=1e-12)
    assert data.std[0] == pytest.approx(pixels.std(1).mean().item(), rel=1e-12)
    assert data.observations(0).mean().abs() < 0.5


def test_mnist_files_that_are_not_in_the_format_are_errors(tmp_path):
    images, labels = tmp_path / "images.gz", tmp_path / "labels.gz"
    write_idx(labels, noise(6))
    write_idx(images, noise(6, 28, 28), order="<")
    with pytest.raises(ValueError, match="images.gz: holds 4,704 bytes of data; .* are announced"):
        mnist.read_mnist(images, labels)
    write_idx(images, noise(5, 28, 28))
    with pytest.raises(ValueError, match=r"images.gz: holds \(5, 28, 28\), expected \(6, 28, 28\)"):
        mnist.read_mnist(images, labels)
    with pytest.raises(ValueError, match="labels.gz: begins with 00000801; an idx file of bytes begins with 00000803"):
        mnist.read_mnist(labels, images)
    with pytest.raises(ValueError, match="split: got 'valid'; allowed are 'train', 'test'"):
        MNIST("valid")


# --- what they share ---


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_look_ups_give_the_same_bytes_on_every_device():
    images, index = noise(50, 8, 8, 3), torch.randint(50, (200,), generator=torch.Generator().manual_seed(0))
    packed = torch.from_numpy(np.packbits(noise(50, 64) & 1, axis=1))
    for look_up in (Table(channels_first(images)), PackedTable(packed, (1, 8, 8)), MappedTable(images)):
        on_gpu = look_up(index.cuda())
        assert on_gpu.is_cuda and torch.equal(on_gpu.cpu(), look_up(index))


def test_resizing_gives_the_bytes_of_pillow():
    for side in (96, 128):
        images = noise(4, side, side, 3)
        expected = [Image.fromarray(image).resize((64, 64), Image.Resampling.BILINEAR) for image in images]
        np.testing.assert_array_equal(resize(channels_first(images)).permute(0, 2, 3, 1), np.stack(expected))


def test_moments_count_images_beyond_one_block():
    images = torch.from_numpy(noise(2300, 2, 3, 4))
    mean, std = moments(lambda index: images[index], 2300)
    pixels = images.double().flatten(2) / 255
    assert mean == pytest.approx(pixels.mean((0, 2)).tolist(), rel=1e-12)
    assert std == pytest.approx(pixels.std(2).mean(0).tolist(), rel=1e-12)


def test_grid_order_sorts_what_is_a_grid_and_refuses_the_rest():
    rows = np.array([[4, 30], [2, 10], [4, 10], [2, 30]])
    sizes, order = grid_order(rows, "file")
    assert sizes == (2, 2) and rows[order].tolist() == [[2, 10], [2, 30], [4, 10], [4, 30]]
    for wrong in (rows[:3], rows[[0, 1, 2, 2]], np.vstack([rows, rows])):
        with pytest.raises(ValueError, match="file: .* every combination has to be there exactly once"):
            grid_order(wrong, "file")


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (Cars3D, "4e866a7919c1beedf53964e6f7a23686"),
        (SmallNORB, "5ffd6272a07d32695ee1082a26a41a93a37aab8c28da047f8c34ed348d214873"),
        (lambda root: MPI3D("real", root), "0f33f609918fb5c97996692f91129802"),
        (lambda root: MNIST(root=root), "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
        (lambda root: DSprites("real", root), "7da33b31b13a06f4b04a70402ce90c2e"),
        (
            lambda root: published.shapes3d((1,), root),
            "0a0f6ed98baff276a50f3a081a7434d788da63cb135a98189b2a5b5769be1785",
        ),
    ],
)
def test_without_a_file_the_error_says_where_to_get_it_and_where_to_put_it(make, part, tmp_path):
    (tmp_path / "file").touch()  # a file in place of the folder: nothing can be downloaded into it
    with pytest.raises(DataFileError) as raised:
        make(root=tmp_path / "file")
    assert part in str(raised.value) and "http" in str(raised.value) and str(tmp_path / "file") in str(raised.value)


def test_every_dataset_says_where_it_comes_from():
    for dataset in (Cars3D, SmallNORB, MPI3D, MNIST, DSprites):
        assert dataset.licence and dataset.citation
