//===- Programs.h - headers of generated programs -------------------------===//
//
// The headers that all programs include, without kernels. The build compiles them once, and shim_build.py uses the
// result for each program.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_SHIM_PROGRAMS_H
#define BRAID_SHIM_PROGRAMS_H

#include "braid_rt.h"
#include "cuda/Launch.h"
#include "cuda/kernel.h"

#endif // BRAID_SHIM_PROGRAMS_H
