//===- driver_types.h - a part of cuda_runtime.h ---===//
#include <cuda_runtime.h>
