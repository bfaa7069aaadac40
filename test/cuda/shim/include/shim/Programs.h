//===- Programs.h - headers of generated programs -------------------------===//
//
// The build compiles these headers once, and shim_build.py uses them for each program.  They are those that all
// programs include, and have no kernels of their own.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_SHIM_PROGRAMS_H
#define BRAID_SHIM_PROGRAMS_H

#include "braid_rt.h"
#include "cuda/Launch.h"
#include "cuda/kernel.h"

#endif // BRAID_SHIM_PROGRAMS_H
