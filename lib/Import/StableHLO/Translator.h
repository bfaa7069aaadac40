//===- Translator.h - ops of StableHLO become ops of tg ---------*- C++ -*-===//
//
// A row of a table translates one op. It reads operands and attributes through SourceOp, which has checked that they
// are there and have the kinds that the row states, and builds ops at the op's place in the user's source. Functions
// are inlined and loops unrolled (Control.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_IMPORT_STABLEHLO_TRANSLATOR_H
#define BRAID_LIB_IMPORT_STABLEHLO_TRANSLATOR_H

#include "dialects/TG/TGBuilder.h"
#include "lib/Import/Imported.h"
#include "lib/Import/Operand.h"
#include "lib/Import/Parts.h"
#include "lib/Import/StableHLO/Attributes.h"
#include "lib/Import/StableHLO/Reader.h"
#include "lib/Import/StableHLO/States.h"

namespace braid::stablehlo {

class Translator;
class SourceOp;
using Values = llvm::SmallVector<mlir::Value>;

/// How an op is translated.
struct OpRow {
  /// Name with the dialect, such as stablehlo.add.
  llvm::StringLiteral name;
  /// Number of operands; -n stands for any number of at least n.
  int operands;
  /// Attributes that the row reads: name, colon, kind. Kinds are L (list of integers), I (integer), E (word of an
  /// enumeration), A (any attribute); a question mark allows a missing one. An op with another attribute is refused;
  /// `ignored` lists exceptions.
  llvm::StringLiteral attributes;
  /// Returns the results, or nothing after an error.
  Values (*build)(SourceOp &op);
  /// Returns the result if it follows from known operands.
  MaybeKnown (*evaluate)(SourceOp &op) = nullptr;
  /// Ops of the result, for the documentation.
  llvm::StringLiteral becomes = "";
  llvm::StringLiteral ignored = "";
  /// Whether the op is defined on bits, and so computes the same of unsigned integers, which are i32 here.
  bool keepsBits = false;
};

/// Rows of a family of ops. Rows of control have no functions: the translator knows these ops.
llvm::ArrayRef<OpRow> sourceRows();
llvm::ArrayRef<OpRow> elementwiseRows();
llvm::ArrayRef<OpRow> movementRows();
llvm::ArrayRef<OpRow> indexingRows();
llvm::ArrayRef<OpRow> functionRows();
llvm::ArrayRef<OpRow> reductionRows();
llvm::ArrayRef<OpRow> windowRows();
llvm::ArrayRef<OpRow> contractionRows();
llvm::ArrayRef<OpRow> convolutionRows();
llvm::ArrayRef<OpRow> randomRows();
llvm::ArrayRef<OpRow> controlRows();

/// A family of ops, and the title of its table in the documentation.
struct OpFamily {
  llvm::StringLiteral title;
  llvm::ArrayRef<OpRow> (*rows)();
};
llvm::ArrayRef<OpFamily> allFamilies();

/// An op of the program, and the builder of its translation.
class SourceOp : public tg::TensorBuilder {
public:
  SourceOp(Translator &translator, mlir::Operation *op, mlir::OpBuilder &builder, mlir::Location loc)
      : TensorBuilder(builder, loc), op(op), translator(translator) {}

  // Operands.
  unsigned numOperands() const { return op->getNumOperands(); }
  mlir::Value tensor(unsigned number);
  const MaybeKnown &known(unsigned number);
  /// Type of an operand or a result here, where integers have 32 bits. Types have been checked.
  mlir::RankedTensorType operandType(unsigned number) const;
  mlir::RankedTensorType resultType(unsigned number = 0) const;
  llvm::ArrayRef<int64_t> shape(unsigned number) const { return operandType(number).getShape(); }
  llvm::ArrayRef<int64_t> resultShape() const { return resultType().getShape(); }
  mlir::Type element() const { return resultType().getElementType(); }
  bool isFloatResult() const { return mlir::isa<mlir::FloatType>(element()); }
  /// Returns the op of the program that defines an operand, if it has this name, or null.
  mlir::Operation *definition(unsigned number, llvm::StringRef name) const;
  const MaybeKnown &knownOf(mlir::Value source) const;
  mlir::Value tensorOf(mlir::Value source);

  // Attributes.
  mlir::Attribute attribute(llvm::StringRef name) const;
  Integers integers(llvm::StringRef name) const;
  int64_t integer(llvm::StringRef name, int64_t fallback = 0) const;
  llvm::StringRef word(llvm::StringRef name) const;

  /// Repeats a tensor without changing its order: dim i becomes dim `dims[i]` of `shape`.
  mlir::Value expand(mlir::Value a, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> dims);
  mlir::Value transposed(mlir::Value a, llvm::ArrayRef<int64_t> permutation);
  /// Returns the elements of a dim from behind, or null after an error.
  mlir::Value reversed(mlir::Value a, int64_t dim);

  /// Whether the program is a whole step, which has its own gradients.
  bool isStep() const;
  /// Reports an error at the op and returns null.
  mlir::Value fail(const llvm::Twine &message);

  mlir::Operation *op;

private:
  Translator &translator;
};

/// Attribute of an op that is supported only as a part of a pattern; its value is the message if no pattern replaces
/// it.
inline constexpr llvm::StringLiteral kPartOfPattern = "part_of_pattern";
/// Attribute of 1 - erf(x) where the program has erfc(x), which no cancellation makes less exact.
inline constexpr llvm::StringLiteral kErfComplement = "erf_complement";

/// Notes that a table of numbers, which no input changes, is supported only as a mask or as the table of a rotation.
void requirePattern(mlir::Value table, int64_t elements);

/// Reports an error if an op lacks an operand or attribute that its row reads, or has another that is not ignored.
mlir::LogicalResult checkOp(mlir::Operation *op, const OpRow &row, mlir::Location loc);

/// Returns the attributes of an op that MLIR does not know.
llvm::SmallVector<mlir::NamedAttribute> attributesOf(mlir::Operation *op);

/// Whether a tensor has unsigned integers.
bool isUnsigned(mlir::Type type);

/// Returns the type of a tensor here, or null if tg has no such tensor.
mlir::RankedTensorType typeHere(mlir::Type type);

struct ImportOptions : braid::ImportOptions {
  /// Arguments that are states of a whole step; if empty, the donated arguments are.
  std::vector<StateRequest> states;
};

/// Translates a program. Returns a null module after errors were reported to the context.
Imported translate(Program &program, const ImportOptions &options);

} // namespace braid::stablehlo

#endif // BRAID_LIB_IMPORT_STABLEHLO_TRANSLATOR_H
