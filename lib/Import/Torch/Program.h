//===- Program.h - an exported program, as it was written -------*- C++ -*-===//
//
// The program that torch.export wrote, of schema 8 (torch 2.10 and later): tensors with their types, calls of ATen ops,
// and what inputs and outputs are. Every name that is used is defined, and every shape is static.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_IMPORT_TORCH_PROGRAM_H
#define BRAID_LIB_IMPORT_TORCH_PROGRAM_H

#include "lib/Import/Torch/Archive.h"
#include "llvm/ADT/SmallVector.h"
#include <variant>
#include <vector>

namespace braid::torch {

/// Element types, numbered as in the schema of torch.export.
enum class ScalarType { U8 = 1, I8, I16, I32, I64, F16, F32, F64, C32, C64, C128, Bool, BF16 };
/// Returns PyTorch's name of a type, such as float32.
llvm::StringRef nameOf(ScalarType type);

struct TypeOfTensor {
  ScalarType element;
  llvm::SmallVector<int64_t> shape;
  bool requiresGrad = false;
};

/// Name of a tensor of the graph; empty for None.
struct TensorName {
  std::string name;
};
using TensorNames = std::vector<TensorName>;
using Integers = std::vector<int64_t>;
using Numbers = std::vector<double>;
/// An argument that has no effect here: a device, a layout or a memory format.
struct WithoutEffect {};
using Argument = std::variant<std::monostate, TensorName, TensorNames, int64_t, double, bool, std::string, Integers,
                              Numbers, ScalarType, WithoutEffect>;

/// A call of an op.
struct Call {
  /// Name of the op, such as aten.linear.default.
  std::string op;
  std::vector<std::pair<std::string, Argument>> arguments;
  /// Names of the results; an op that returns a list has as many as the list.
  std::vector<std::string> results;
  /// Path of the module that makes the call, such as h.0.attn.
  std::string module;
  /// The user's source: the innermost frame outside of PyTorch.
  std::string file;
  int64_t line = 0;
};

struct Input {
  enum class Kind { Parameter, Buffer, Constant, User } kind;
  /// Name in the graph.
  std::string name;
  /// Name in the module's state_dict, or of the input.
  std::string target;
};

struct Output {
  enum class Kind { Loss, User, BufferMutation } kind;
  std::string name;
  /// The buffer that the output replaces, or the output's path in the result of forward, if it is known.
  std::string target;
};

/// Where the archive has the values of a tensor of the state_dict. Tensors that share memory share an entry.
struct StoredTensor {
  std::string entry;
  TypeOfTensor type;
  /// Distance of neighbors along each dim, and of the first element from the entry's beginning, in elements.
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;

  /// Whether the elements begin the entry, in row-major order.
  bool isRowMajor() const;
};

struct Program {
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::vector<Call> calls;
  llvm::StringMap<TypeOfTensor> tensors;
  llvm::StringMap<StoredTensor> weights;
  std::string torchVersion;

  const TypeOfTensor &typeOf(llvm::StringRef name) const { return tensors.find(name)->second; }
};

llvm::Expected<Program> readProgram(const Archive &archive);

} // namespace braid::torch

#endif // BRAID_LIB_IMPORT_TORCH_PROGRAM_H
