//===- Routing.h - ops that send tokens to destinations ---------*- C++ -*-===//
#ifndef BRAID_DIALECTS_INTERFACES_ROUTING_H
#define BRAID_DIALECTS_INTERFACES_ROUTING_H

#include "mlir/IR/OpDefinition.h"

#include "dialects/Interfaces/Routing.h.inc"

#endif // BRAID_DIALECTS_INTERFACES_ROUTING_H
