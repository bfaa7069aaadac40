//===- SourceDiagnostics.h - errors beside the text they are about -*- C++ -*-===//
#ifndef BRAID_LIB_INPUT_SOURCEDIAGNOSTICS_H
#define BRAID_LIB_INPUT_SOURCEDIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"

namespace braid {

/// Prints diagnostics as mlir::SourceMgrDiagnosticHandler does, with two differences.  A diagnostic without a place has
/// the name of the tool in front.  A source line that is too long to read is left out, such as a model's configuration.
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
