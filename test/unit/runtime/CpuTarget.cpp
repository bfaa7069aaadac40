//===- CpuTarget.cpp - models of these tests run on the host --------------===//

#include "braid_rt.h"

static const bool isRegistered = (br_use_cpu(), true);
