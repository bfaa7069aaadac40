//===- ActionForm.h - on values or in memory -------------------*- C++ -*-===//
#ifndef BRAID_DIALECTS_EXEC_ACTIONFORM_H
#define BRAID_DIALECTS_EXEC_ACTIONFORM_H

#include "dialects/Exec/Exec.h"

namespace braid::exec {

/// Whether `action` has exactly one of outs and results, one or two of them, the first of
/// the given type; else an error at it.
mlir::LogicalResult checkForm(ActionOpInterface action, mlir::RankedTensorType expected, unsigned written = 1);

} // namespace braid::exec

#endif // BRAID_DIALECTS_EXEC_ACTIONFORM_H
