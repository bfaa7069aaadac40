//===- Indexing.cpp - operands that an op uses as indices -----------------===//

#include "dialects/Interfaces/Indexing.h"

using namespace mlir;

#include "dialects/Interfaces/Indexing.cpp.inc"
