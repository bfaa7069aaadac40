//===- Translator.h - calls of ATen ops become ops of tg --------*- C++ -*-===//
//
// A row of a table translates the calls of one op. It reads the call's arguments through CallBuilder, which has checked
// that they are there and have the kinds that the row states, and builds ops at the call's location.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_IMPORT_TORCH_TRANSLATOR_H
#define BRAID_LIB_IMPORT_TORCH_TRANSLATOR_H

#include "dialects/TG/TGBuilder.h"
#include "lib/Import/Imported.h"
#include "lib/Import/Operand.h"
#include "lib/Import/Parts.h"
#include "lib/Import/Torch/Losses.h"
#include "lib/Import/Torch/Program.h"
#include "lib/Import/Torch/SharedMemory.h"

namespace braid::torch {

class Translator;
class CallBuilder;
using Values = llvm::SmallVector<mlir::Value>;

/// How an op is translated.
struct OpRow {
  /// Name with overload, such as aten.add.Tensor.
  llvm::StringLiteral name;
  /// Arguments that the row reads: name, colon, kind. Kinds are T (tensor), TL (list of tensors), OL (list of tensors
  /// and None), I (integer), N (number), IL (list of integers), NL (list of numbers), B (boolean), S (string), D
  /// (element type); a question mark allows a missing one. A call with another argument that differs from its default
  /// is refused; `ignored` lists exceptions.
  llvm::StringLiteral arguments;
  /// Returns the results, or nothing after an error.
  Values (*build)(CallBuilder &call);
  /// Returns the result if it follows from known operands.
  MaybeKnown (*evaluate)(CallBuilder &call) = nullptr;
  /// Name of what the op becomes, for the documentation.
  llvm::StringLiteral becomes = "";
  llvm::StringLiteral ignored = "";
  /// Whether results share memory with the first operand in PyTorch.
  bool isView = false;
  /// Whether the op asserts that its operand is true.
  bool isAssertion = false;
};

/// Rows of a family of ops.
llvm::ArrayRef<OpRow> elementwiseRows();
llvm::ArrayRef<OpRow> formulaRows();
llvm::ArrayRef<OpRow> movementRows();
llvm::ArrayRef<OpRow> indexingRows();
llvm::ArrayRef<OpRow> randomRows();
llvm::ArrayRef<OpRow> composedRows();
llvm::ArrayRef<OpRow> creationRows();
llvm::ArrayRef<OpRow> reductionRows();
llvm::ArrayRef<OpRow> contractionRows();
llvm::ArrayRef<OpRow> convolutionRows();
llvm::ArrayRef<OpRow> poolingRows();
llvm::ArrayRef<OpRow> layerRows();
llvm::ArrayRef<OpRow> lossRows();

/// A family of ops, and the title of its table in the documentation.
struct OpFamily {
  llvm::StringLiteral title;
  llvm::ArrayRef<OpRow> (*rows)();
};
llvm::ArrayRef<OpFamily> allFamilies();
/// Returns the rows of all families, in their order.
std::vector<const OpRow *> allRows();

/// Reports an error if a call lacks an argument that its row reads, or has another one that is not ignored.
mlir::LogicalResult checkArguments(const Call &call, const OpRow &row, mlir::Location loc);

/// A call, and the builder of its ops.
class CallBuilder : public tg::TensorBuilder {
public:
  CallBuilder(Translator &translator, const Call &call, mlir::OpBuilder &builder, mlir::Location loc)
      : TensorBuilder(builder, loc), call(call), translator(translator) {}

  // Arguments.
  bool has(llvm::StringRef name) const;
  mlir::Value tensor(llvm::StringRef name);
  mlir::Value tensorOrNull(llvm::StringRef name) { return has(name) ? tensor(name) : mlir::Value(); }
  const MaybeKnown &known(llvm::StringRef name);
  const TypeOfTensor &typeOfArgument(llvm::StringRef name) const;
  const TensorNames &tensors(llvm::StringRef name) const;
  mlir::Value tensorNamed(llvm::StringRef tensor);
  const MaybeKnown &knownNamed(llvm::StringRef tensor);
  int64_t integer(llvm::StringRef name, int64_t fallback = 0) const;
  double number(llvm::StringRef name, double fallback = 0) const;
  bool boolean(llvm::StringRef name, bool fallback = false) const;
  llvm::StringRef string(llvm::StringRef name) const;
  Integers integers(llvm::StringRef name) const;
  Numbers numbers(llvm::StringRef name) const;
  std::optional<ScalarType> element(llvm::StringRef name) const;
  /// Returns an argument with a number for each of `dims` dims; one number stands for all. Nothing after an error.
  std::optional<Integers> perDim(llvm::StringRef name, size_t dims, int64_t fallback);
  /// Whether an argument is a number and not a tensor.
  bool isNumber(llvm::StringRef name) const;
  /// Returns an argument that names a dim of a tensor of `rank`, counted from 0, or -1 after an error.
  int64_t dim(llvm::StringRef name, int64_t rank, int64_t fallback = 0);

  // Results.
  const TypeOfTensor &resultType(unsigned number = 0) const;
  mlir::RankedTensorType resultTensor(unsigned number = 0) const;
  mlir::Type resultElement() const { return resultTensor().getElementType(); }
  bool isFloatResult() const { return llvm::isa<mlir::FloatType>(resultElement()); }
  unsigned numResults() const { return call.results.size(); }

  // Ops with PyTorch's rules.
  /// Converts to another element type. No gradient flows through integers and booleans.
  mlir::Value convert(mlir::Value a, mlir::Type element);
  /// Whether elements differ from 0.
  mlir::Value asCondition(mlir::Value a);
  /// Repeats `a` to `shape`, with dims aligned from the last one.
  mlir::Value expand(mlir::Value a, llvm::ArrayRef<int64_t> shape);
  /// The operand as a tensor of the result's shape and of `element`, whether it is a tensor or a number. After an
  /// error it is zeros, and the call fails when its row returns.
  mlir::Value operand(llvm::StringRef name, mlir::Type element);
  mlir::Value scalar(double value, mlir::RankedTensorType type) { return constant(type, value); }
  /// A tensor whose elements are a number. Reports an error if these are integers and the number is none of 32 bits.
  mlir::Value filled(mlir::RankedTensorType type, double number);
  /// The Philox key, an argument of the graph that is added when first needed, and the next stream of random numbers.
  mlir::Value key();
  int64_t nextStream();
  /// Gives the buffer that an argument names a new value. Reports an error if it is no buffer of the model.
  bool updateBuffer(llvm::StringRef name, mlir::Value value);

  /// Reports an error at the call and returns null.
  mlir::Value fail(const llvm::Twine &message);

  const Call &call;
  /// Whether fail() was called.
  bool hasReported = false;

private:
  const Argument *find(llvm::StringRef name) const;

  Translator &translator;
};

/// Returns the range of a call of slice or select, or nothing after an error.
std::optional<SliceRange> sliceRangeOf(CallBuilder &call);

/// Returns the operand as floats in which a sum of its elements is exact, or null after an error.
mlir::Value countable(CallBuilder &call);
/// Returns the dims that a call reduces, sorted; all of them if it names none. Nothing after an error.
std::optional<llvm::SmallVector<int64_t>> reducedDims(CallBuilder &call);

struct ImportOptions : braid::ImportOptions {
  /// A loss for a program that returns none.
  std::optional<LossRequest> loss;
};

/// Returns a null module after errors were reported to the context.
Imported translate(const Program &program, const Archive &archive, const ImportOptions &options,
                   mlir::MLIRContext &context);

} // namespace braid::torch

#endif // BRAID_LIB_IMPORT_TORCH_TRANSLATOR_H
