//===- GraphWriter.h - a tg graph as readable text --------------*- C++ -*-===//
//
// Writes one `func.func @model` with names as a person would choose them: arguments
// have the names of their parameters, and the location of every op is its place in the
// model.  The text is parsed and verified before it leaves the importer.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MODEL_GRAPHWRITER_H
#define BRAID_LIB_MODEL_GRAPHWRITER_H

#include "lib/Input/SsaNames.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace braid {

/// A value of the graph: its name with the %, and its type.
struct GraphValue {
  std::string name;
  llvm::SmallVector<int64_t, 4> shape;
  std::string element = "f32";

  std::string type() const;
};

/// One parameter, for lists.
struct GraphParam {
  std::string name;
  llvm::SmallVector<int64_t, 4> shape;
  int64_t elements() const;
};

class GraphWriter {
public:
  using Shape = llvm::ArrayRef<int64_t>;

  /// Adds an argument.  `init` is the text of a #tg.init without the number sign.
  GraphValue param(llvm::StringRef name, Shape shape, llvm::StringRef init, llvm::StringRef unit);
  GraphValue input(llvm::StringRef name, llvm::StringRef role, Shape shape, llvm::StringRef element);

  /// Sets the place in the model of the next ops, and writes a comment line.
  void enter(llvm::StringRef place, llvm::StringRef comment = "");

  /// Adds any op with one result: `%name = text : signature loc(place)`.  `text` has
  /// the operands; `functional` chooses `(a, b) -> r` instead of `a -> r`.
  GraphValue op(llvm::StringRef hint, const std::string &text, llvm::ArrayRef<GraphValue> operands, Shape shape,
                llvm::StringRef element = "f32", bool functional = true);
  /// Adds an op with several results; returns all of them.
  std::vector<GraphValue> ops(llvm::ArrayRef<llvm::StringRef> hints, const std::string &text,
                              llvm::ArrayRef<GraphValue> operands, llvm::ArrayRef<GraphValue> results);
  /// Adds an op whose operands and result have one type.
  GraphValue addOpLike(llvm::StringRef hint, const std::string &text, const GraphValue &like);
  /// Adds a tensor filled with one number in MLIR's syntax.
  GraphValue constant(llvm::StringRef hint, llvm::StringRef number, Shape shape, llvm::StringRef element = "f32");

  // The most frequent ops of models.
  GraphValue contract(llvm::StringRef hint, llvm::StringRef spec, const GraphValue &a, const GraphValue &b,
                      Shape shape);
  GraphValue broadcast(llvm::StringRef hint, const GraphValue &a, llvm::ArrayRef<int64_t> dims, Shape shape);
  GraphValue reshape(llvm::StringRef hint, const GraphValue &a, Shape shape);
  GraphValue slice(llvm::StringRef hint, const GraphValue &a, int64_t dim, int64_t offset, int64_t size);
  GraphValue add(llvm::StringRef hint, const GraphValue &a, const GraphValue &b);
  GraphValue select(llvm::StringRef hint, const GraphValue &condition, const GraphValue &onTrue,
                    const GraphValue &onFalse);
  GraphValue mul(llvm::StringRef hint, const GraphValue &a, const GraphValue &b);
  /// Adds x w (+ bias): `spec` has the input first; the bias is along the last dim.
  GraphValue linear(llvm::StringRef hint, llvm::StringRef spec, const GraphValue &x, const GraphValue &weight,
                    const GraphValue *bias, Shape shape);

  /// Returns the finished module; `header` lines become comments at its top.  Each
  /// result comes with its attribute.
  std::string finish(llvm::StringRef header, llvm::ArrayRef<std::pair<GraphValue, std::string>> results) const;

  const std::vector<GraphParam> &params() const { return parameters; }

private:
  /// Returns the hint with a percent sign before and a number after it.
  std::string unique(llvm::StringRef hint);

  std::vector<std::string> arguments;
  std::vector<GraphParam> parameters;
  std::string body, place;
  SsaNames names;
  unsigned counter = 0;
};

} // namespace braid

#endif // BRAID_LIB_MODEL_GRAPHWRITER_H
