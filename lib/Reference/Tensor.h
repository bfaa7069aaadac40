//===- Tensor.h - values of the reference interpreter -----------*- C++ -*-===//
//
// A tensor is a shape, an element type and its elements in row-major order. Floats of
// any type are held as doubles and ints as int64. Arithmetic uses the wide type, and
// `roundTo` rounds a float result to its element type.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_REFERENCE_TENSOR_H
#define BRAID_LIB_REFERENCE_TENSOR_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace braid::reference {

/// A float or an int; the tensor's element type tells which.
union Element {
  double f;
  int64_t i;
};

inline Element ofFloat(double value) { return {.f = value}; }
inline Element ofInt(int64_t value) { return {.i = value}; }

/// Rounding of results. `Native` rounds the float result of every op to its element
/// type; `F64` rounds nothing: every float type computes as f64.
enum class Arithmetic { Native, F64 };

/// Returns the nearest value of a float type (f64, f32 or bf16), ties to even.
double roundTo(mlir::Type type, double value);
/// Rounding to a float type, as a function of the value; null for f64.
using Rounding = double (*)(double);
Rounding roundingOf(mlir::Type type);
/// Returns the value of an int type with the same low bits: i1 is 0 or 1, wider ints are signed.
int64_t wrapTo(mlir::Type type, int64_t value);

/// Returns the number without its fraction as a signed or unsigned int. Numbers out of the type's range become the
/// nearest int, and NaN becomes 0.
int64_t saturateTo(mlir::Type type, double value, bool isSigned = true);
bool isFloat(mlir::Type type);

using Index = llvm::SmallVector<int64_t, 6>;

int64_t elementCount(llvm::ArrayRef<int64_t> shape);
/// Returns the strides of a contiguous row-major tensor, in elements.
Index rowMajorStrides(llvm::ArrayRef<int64_t> shape);
/// Calls `visit` with every index of a shape in row-major order.
void forEachIndex(llvm::ArrayRef<int64_t> shape, llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit);
/// Returns the index of the element at a place of the row-major order.
Index indexOfPlace(llvm::ArrayRef<int64_t> shape, int64_t place);
/// Returns `[1, 2]`, for messages.
std::string indexText(llvm::ArrayRef<int64_t> index);

class Tensor {
public:
  Tensor() = default;
  Tensor(llvm::ArrayRef<int64_t> shape, mlir::Type elementType)
      : shape(shape), elementType(elementType), elements(elementCount(shape), Element{.i = 0}) {}
  /// Makes a tensor of zeros.
  explicit Tensor(mlir::RankedTensorType type) : Tensor(type.getShape(), type.getElementType()) {}

  /// Returns the values of a `dense` attribute, or of a float or int attribute (rank
  /// 0). No value for other attributes.
  static std::optional<Tensor> ofAttribute(mlir::TypedAttr attribute);

  int64_t rank() const { return shape.size(); }
  int64_t size() const { return elements.size(); }
  bool hasFloats() const { return isFloat(elementType); }

  Element &operator[](int64_t i) { return elements[i]; }
  const Element &operator[](int64_t i) const { return elements[i]; }
  double &f(int64_t i) { return elements[i].f; }
  double f(int64_t i) const { return elements[i].f; }
  int64_t &n(int64_t i) { return elements[i].i; }
  int64_t n(int64_t i) const { return elements[i].i; }

  /// Returns the place of an index in `elements`.
  int64_t at(llvm::ArrayRef<int64_t> index) const;
  /// Returns the same elements in another shape.
  Tensor reshaped(llvm::ArrayRef<int64_t> newShape) const;
  Tensor transposed(llvm::ArrayRef<int64_t> permutation) const;
  /// Rounds floats to the element type.
  void round();

  Index shape;
  mlir::Type elementType;
  std::vector<Element> elements;
};

/// Prints `loss: tensor<f32> = 1.2345`, or nested lists. For more than `limit`
/// elements, prints the size, norm and sum.
void printTensor(llvm::raw_ostream &os, llvm::StringRef name, const Tensor &tensor, int64_t limit);

/// Formats one element: six digits for floats, `true` or `false` for i1.
std::string elementText(const Tensor &tensor, int64_t i);
/// Formats one element with all digits of a float.
std::string exactText(const Tensor &tensor, int64_t i);

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_TENSOR_H
