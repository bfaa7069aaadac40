//===- ContentNames.h - names of the contents of buffers --------*- C++ -*-===//
//
// The one naming rule for values in buffers. The memory form, plans, reports, traces, profiles and generated code use
// it, so a value has the same name everywhere:
//   - A gathered parameter, before or after the gather, has the name of the parameter or of its working copy.
//   - The gradient of a parameter, reduced or not, has the parameter's name and ".grad".
//   - Any other value has the name of its layer, and the name that the graph or a decomposition gives it:
//     "h.0.ln_2.normed". Without a name of its own it has the layer, or else the action's name, and "#" with the number
//     of the result if there are several: "h.0.attn#1".
// In a program the second value of a name has "@2" appended, the third "@3".
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MEMORY_CONTENTNAMES_H
#define BRAID_LIB_MEMORY_CONTENTNAMES_H

#include "dialects/Exec/Exec.h"
#include "dialects/TG/Facts.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <map>

namespace braid {

/// Returns the layer in a location, or the `tg` op that was decomposed outside of layers; empty without names.
std::string layerOf(mlir::Location location);

class ContentNames {
public:
  /// `program` is an action's function or, in memory form, its `exec.program`. Inputs, results and persistent tensors
  /// keep their names.
  explicit ContentNames(mlir::Operation *program);
  /// Returns the name of a result, or of an out. Several results may have this name.
  std::string nameOf(exec::ActionOpInterface action, unsigned result) const;
  /// Returns the name that the author of the graph or of a decomposition gives the value, or "".
  std::string valueName(exec::ActionOpInterface action, unsigned result) const;
  /// Returns the name with the number that makes it unique in the program. Must be called in the order of actions.
  std::string unique(exec::ActionOpInterface action, unsigned result);
  /// Reserves a name.
  void reserve(llvm::StringRef name) { known.insert(name); }

private:
  void addPersistent(llvm::StringRef name, mlir::Attribute value);
  std::string nameFrom(tg::FactsAttr facts) const;

  /// Names of persistent tensors, by parameter and their kind of relation to it.
  std::map<std::pair<std::string, tg::TensorKind>, std::string> tensors;
  llvm::DenseMap<mlir::StringAttr, exec::KernelDefOp> kernels;
  llvm::StringSet<> known;
  llvm::StringMap<unsigned> counts;
};

} // namespace braid

#endif // BRAID_LIB_MEMORY_CONTENTNAMES_H
