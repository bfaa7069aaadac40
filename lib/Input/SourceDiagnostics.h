//===- SourceDiagnostics.h - errors with their source lines -----*- C++ -*-===//
#ifndef BRAID_LIB_INPUT_SOURCEDIAGNOSTICS_H
#define BRAID_LIB_INPUT_SOURCEDIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"

namespace braid {

/// Prints diagnostics as mlir::SourceMgrDiagnosticHandler does, with two differences. A diagnostic without a location
/// begins with the name of the tool. Source lines that are too long to read, such as a model's configuration, are left
/// out.
class SourceDiagnostics : public mlir::SourceMgrDiagnosticHandler {
public:
  SourceDiagnostics(llvm::StringRef tool, llvm::SourceMgr &sources, mlir::MLIRContext *context);

private:
  void print(const mlir::Diagnostic &diagnostic, bool showsLine);
  bool hasLongLine(mlir::FileLineColLoc place);

  llvm::StringRef tool;
};

} // namespace braid

#endif // BRAID_LIB_INPUT_SOURCEDIAGNOSTICS_H
