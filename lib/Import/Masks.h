//===- Masks.h - known tensors as masks of attention ------------*- C++ -*-===//
#ifndef BRAID_LIB_IMPORT_MASKS_H
#define BRAID_LIB_IMPORT_MASKS_H

#include "dialects/TG/TG.h"
#include "lib/Import/Known.h"

namespace braid {

/// Returns the mask whose pairs of a query and a key (the last two dims) are those where `allowed` is true, or null if
/// tg.attention has no such mask.
tg::MaskAttr recognizeMask(const Known &allowed, mlir::MLIRContext *context);

} // namespace braid

#endif // BRAID_LIB_IMPORT_MASKS_H
