//===- Programs.h - headers of generated programs -------------------------===//
//
// The build compiles these headers once, and shim_build.py uses them for each program.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_SHIM_PROGRAMS_H
#define BRAID_SHIM_PROGRAMS_H

#include "braid_rt.h"
#include "cuda/AttentionTiles.h"
#include "cuda/Blocks.h"
#include "cuda/Gather.h"
#include "cuda/Launch.h"
#include "cuda/MatmulRest.h"
#include "cuda/kernel.h"

#endif // BRAID_SHIM_PROGRAMS_H
