//===- ProgramReader.h - reads the JSON text of a program --------*- C++ -*-===//
#ifndef BRAID_LIB_IMPORT_TORCH_PROGRAMREADER_H
#define BRAID_LIB_IMPORT_TORCH_PROGRAMREADER_H

#include "lib/Import/Torch/Program.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

namespace braid::torch {

/// Upper limit of the program's text in bytes.
inline constexpr uint64_t kMaxProgramBytes = uint64_t(1) << 30;

/// Reads the JSON text of a program. The first error wins, and later reads return defaults.
class Reader {
public:
  explicit Reader(const Archive &archive) : archive(archive) {}

  llvm::Expected<Program> read();

private:
  const llvm::json::Object &object(const llvm::json::Value *value, llvm::StringRef what);
  const llvm::json::Array &array(const llvm::json::Value *value, llvm::StringRef what);
  llvm::StringRef text(const llvm::json::Object &object, llvm::StringRef key);
  int64_t integer(const llvm::json::Value &value, llvm::StringRef what);
  TypeOfTensor readType(const llvm::json::Object &meta, llvm::StringRef name);
  Argument readArgument(const llvm::json::Object &argument);
  void readSchema(const llvm::json::Object &root);
  void readGraph(const llvm::json::Object &graph);
  void readCall(const llvm::json::Object &node);
  void readPlace(const llvm::json::Object &metadata, Call &call);
  void readResults(const llvm::json::Array &outputs, Call &call);
  void readInput(const llvm::json::Object &spec);
  void readOutput(const llvm::json::Object &spec);
  StoredTensor readPlaceOfTensor(const llvm::json::Object &meta, llvm::StringRef name, std::string entry);
  void readWeights();
  /// Returns the name of a tensor in the program. Fails if no call has defined it.
  std::string use(llvm::StringRef name);
  void readNames(const llvm::json::Object &module);
  /// Reads a no_grad or autocast region. Returns false for other calls.
  bool readRegion(const llvm::json::Object &node, Call &region);
  void inlineRegion(const llvm::json::Object &graph, const std::vector<std::string> &arguments, Call &region);
  void convertOperands(Call &call);

  void fail(const llvm::Twine &message) {
    if (problem.empty())
      problem = (archive.getPath() + ": " + message).str();
  }

  const Archive &archive;
  Program program;
  llvm::StringSet<> defined;
  /// Names in the region that is read now, and the names of their tensors in the program.
  llvm::StringMap<std::string> renamed;
  /// Prefix of the names that the region defines.
  std::string prefix;
  /// The type of autocast in the region that is read now.
  std::optional<ScalarType> autocast;
  bool isWithoutGradient = false;
  unsigned regions = 0;
  /// Paths of inputs and outputs, and the number of those that were read.
  std::vector<std::string> inputPaths, outputPaths;
  size_t inputsRead = 0, outputsRead = 0;
  /// Names of parameters, buffers and inputs.
  llvm::StringSet<> targets;
  std::string problem;
  const llvm::json::Object noObject;
  const llvm::json::Array noArray;
};

} // namespace braid::torch

#endif // BRAID_LIB_IMPORT_TORCH_PROGRAMREADER_H
