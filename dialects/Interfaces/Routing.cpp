//===- Routing.cpp - ops that send tokens to destinations -----------------===//

#include "dialects/Interfaces/Routing.h"

using namespace mlir;

#include "dialects/Interfaces/Routing.cpp.inc"
