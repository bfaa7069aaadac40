//===- Indexing.cpp - which operands of an op are indices -----------------===//

#include "dialects/Interfaces/Indexing.h"

using namespace mlir;

#include "dialects/Interfaces/Indexing.cpp.inc"
