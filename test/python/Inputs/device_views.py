"""What a view of a GPU's memory describes is the tensor: NumPy reads the same description for memory of the host."""

import sys

import numpy

import braid
from braid.views import _DeviceArray, array_of


class HostArray:
    """The description of a device array, under the name by which NumPy reads it."""

    def __init__(self, device_array):
        self.__array_interface__ = device_array.__cuda_array_interface__


def main():
    step = braid.compile_graph(sys.argv[1], precision="bf16")
    compared = 0
    for tensor in step._tensors:
        if not tensor.is_whole:
            continue
        seen, wanted = numpy.asarray(HostArray(_DeviceArray(step._rank, tensor))), array_of(step._rank, tensor)
        assert seen.shape == wanted.shape and seen.strides == wanted.strides, tensor
        assert numpy.array_equal(seen.view(wanted.dtype), wanted), tensor
        seen.flat[0] = 1
        assert wanted.flat[0] == numpy.asarray(1, seen.dtype).view(wanted.dtype), tensor
        compared += 1
    print(f"{compared} tensors agree")


main()
