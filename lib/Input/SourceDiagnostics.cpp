//===- SourceDiagnostics.cpp - errors with their source lines -------------===//

#include "lib/Input/SourceDiagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace braid;

/// Longest source line that is shown, in columns. A line of a graph has one op with its types.
static constexpr size_t kMaxLineLength = 240;

SourceDiagnostics::SourceDiagnostics(StringRef tool, llvm::SourceMgr &sources, MLIRContext *context)
    : SourceMgrDiagnosticHandler(sources, context), tool(tool) {
  setHandler([this](Diagnostic &diagnostic) {
    print(diagnostic, /*showsLine=*/true);
    Location shown = diagnostic.getLocation();
    for (const Diagnostic &note : diagnostic.getNotes()) {
      print(note, /*showsLine=*/note.getLocation() != shown);
      shown = note.getLocation();
    }
  });
}

void SourceDiagnostics::print(const Diagnostic &diagnostic, bool showsLine) {
  Location loc = diagnostic.getLocation();
  if (auto place = loc->findInstanceOf<FileLineColLoc>())
    return emitDiagnostic(loc, diagnostic.str(), diagnostic.getSeverity(), showsLine && !hasLongLine(place));
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Note:
    llvm::WithColor::note(os, tool);
    break;
  case DiagnosticSeverity::Warning:
    llvm::WithColor::warning(os, tool);
    break;
  case DiagnosticSeverity::Error:
    llvm::WithColor::error(os, tool);
    break;
  case DiagnosticSeverity::Remark:
    llvm::WithColor::remark(os, tool);
    break;
  }
  os << diagnostic.str() << "\n";
}

bool SourceDiagnostics::hasLongLine(FileLineColLoc place) {
  llvm::SMLoc line = mgr.FindLocForLineAndColumn(mgr.getMainFileID(), place.getLine(), 1);
  if (!line.isValid() || getBufferForFile(place.getFilename()) != mgr.getMemoryBuffer(mgr.getMainFileID()))
    return false;
  StringRef text = mgr.getMemoryBuffer(mgr.getMainFileID())->getBuffer();
  StringRef rest = text.drop_front(line.getPointer() - text.begin());
  return !rest.take_front(kMaxLineLength + 1).contains('\n') && rest.size() > kMaxLineLength;
}
