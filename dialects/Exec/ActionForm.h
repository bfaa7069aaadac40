//===- ActionForm.h - on values or in memory -------------------*- C++ -*-===//
#ifndef BRAID_DIALECTS_EXEC_ACTIONFORM_H
#define BRAID_DIALECTS_EXEC_ACTIONFORM_H

#include "dialects/Exec/Exec.h"

namespace braid::exec {

/// Fails with an error at `action` unless it has either results or outs, `written` of
/// them, and the first of type `expected`.
mlir::LogicalResult checkForm(ActionOpInterface action, mlir::RankedTensorType expected, unsigned written = 1);

} // namespace braid::exec

#endif // BRAID_DIALECTS_EXEC_ACTIONFORM_H
