"""Tables stay where they are when they are asked for elsewhere: a captured CUDA graph reads them in place."""

import torch

from course_lib.data import XYSquares
from course_lib.data.on_devices import OnDevices

CPU, ELSEWHERE = torch.device("cpu"), torch.device("meta")  # "meta" is a device of which every computer has one


def test_a_copy_for_each_device_is_made_once_and_kept():
    first, second = torch.arange(3), torch.zeros(2)
    tables = OnDevices(first, second)
    assert tables(CPU)[0] is first and tables(CPU)[1] is second
    copies = tables(ELSEWHERE)
    assert {copy.device for copy in copies} == {ELSEWHERE} and [*map(len, copies)] == [3, 2]
    assert tables(CPU)[0] is first, "what was there first is neither moved nor copied"
    assert all(again is copy for again, copy in zip(tables(ELSEWHERE), copies, strict=True))


def test_a_dataset_draws_the_same_after_it_has_drawn_elsewhere():
    data, index = XYSquares(2, 2, squares=1, image_size=16), torch.arange(64)
    before = data.images(index)
    (place,) = (table.data_ptr() for table in data._tables(CPU))
    data._tables(ELSEWHERE)
    assert torch.equal(data.images(index), before) and data._tables(CPU)[0].data_ptr() == place
