//===- PlaceNames.cpp - constants that name bytes of the arena ----------------===//

#include "compiler/Codegen/PlaceNames.h"
#include "compiler/Codegen/CppText.h"
#include "compiler/Codegen/StepPrinter.h"
#include "lib/Memory/Persistent.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

//===----------------------------------------------------------------------===//
// Identifiers
//===----------------------------------------------------------------------===//

/// Returns whether generated code or the language uses the identifier. Names that the code calls end in `_kernel`,
/// begin like a function of the runtime, or are listed here.
static bool isReserved(StringRef name) {
  static const llvm::StringSet<> used = {"m",     "ctx",    "run",         "braid",    "bf16",   "Memory",
                                         "Tuple", "gather", "scatter_add", "uint64_t", "int64_t"};
  bool isMacro = name.size() > 1 && !llvm::any_of(name, llvm::isLower); // the C library writes macros in upper case
  return isWordOfCpp(name) || used.contains(name) || isMacro || name.ends_with("_kernel") || name.starts_with("br_") ||
         name.starts_with("launch") || name.starts_with("run_") || name.starts_with("copy_") ||
         name.starts_with("take_") || name.starts_with("attention") || name.starts_with("finish_") ||
         name.starts_with("_") || name.contains("__") || name.contains("_table");
}

std::string PlaceNames::add(StringRef name, llvm::StringSet<> &names) {
  constexpr size_t most = 100; // characters
  std::string text;
  for (char c : name.take_front(most))
    if (llvm::isAlnum(c))
      text += c;
    else if (!text.empty() && text.back() != '_')
      text += '_';
  while (!text.empty() && text.back() == '_')
    text.pop_back();
  if (text.empty() || llvm::isDigit(text.front()))
    text = "_" + text;
  if (isReserved(text))
    text = "place_" + StringRef(text).ltrim('_').str();
  std::string unique = text;
  for (unsigned number = 2; !names.insert(unique).second; ++number)
    unique = text + "_" + std::to_string(number);
  return unique;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

PlaceNames::PlaceNames(ModuleOp module, const ArenaMap &arena) : module(module), arena(arena) {
  for (auto program : module.getOps<exec::ProgramOp>()) // programs have namespaces there
    tensorNames.insert(programFunction(program.getSymName()));
  for (auto tensor : module.getOps<exec::TensorOp>())
    tensors[tensor] = add(nameOf(tensor), tensorNames);
}

void PlaceNames::enter(exec::ProgramOp entered, const BufferNames &names) {
  program = entered;
  buffers.clear();
  scratchName.clear();
  taken = tensorNames;
  for (auto buffer : program.getOps<exec::BufferOp>()) {
    std::string name = add(names.first(buffer), taken);
    if (buffer.getScratch())
      scratchName = name;
    buffers[buffer] = std::move(name);
  }
}

std::string PlaceNames::of(Value ref, int64_t extraBytes) const {
  Operation *storage = arena.storageOf(ref);
  auto buffer = buffers.find(storage);
  auto tensor = tensors.find(storage);
  int64_t offset = static_cast<int64_t>(arena.offsetOf(ref)) + extraBytes;
  if (buffer == buffers.end() && tensor == tensors.end()) // a pack
    return std::to_string(offset);
  int64_t begin = cast<exec::ArenaRangeOpInterface>(storage).getBegin();
  const std::string &name = buffer == buffers.end() ? tensor->second : buffer->second;
  return offset == begin ? name : name + " + " + std::to_string(offset - begin);
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

std::string PlaceNames::declare(ArrayRef<Operation *> storages,
                                llvm::function_ref<std::string(Operation *)> describe) const {
  SmallVector<std::string> heads;
  size_t width = 0;
  for (Operation *storage : storages) {
    auto buffer = buffers.find(storage);
    const std::string &name = buffer == buffers.end() ? tensors.at(storage) : buffer->second;
    heads.push_back("inline constexpr uint64_t " + name + " = " +
                    std::to_string(cast<exec::ArenaRangeOpInterface>(storage).getBegin()) + ";");
    width = std::min<size_t>(80, std::max(width, heads.back().size()));
  }
  std::string text;
  for (auto [storage, head] : llvm::zip(storages, heads))
    text += head + std::string(width > head.size() ? width - head.size() : 0, ' ') + " // " +
            std::to_string(cast<exec::ArenaRangeOpInterface>(storage).getSize()) + " bytes, " +
            commentText(describe(storage)) + "\n";
  return text;
}

static std::string onHostText(StringRef declarations) {
  return declarations.empty() ? "" : "\n// In pinned memory of the host.\n" + declarations.str();
}

std::string PlaceNames::tensorsText() const {
  SmallVector<Operation *> device, host;
  for (auto tensor : ModuleOp(module).getOps<exec::TensorOp>())
    (tensor.getHost() ? host : device).push_back(tensor);
  auto category = [](Operation *tensor) {
    return exec::stringifyCategory(cast<exec::TensorOp>(tensor).getCategory()).str();
  };
  return "// Where tensors lie that live across programs and steps: bytes of the arena.\nnamespace at {\n" +
         declare(device, category) + onHostText(declare(host, category)) + "} // namespace at\n";
}

std::string PlaceNames::buffersText(const BufferNames &names) const {
  SmallVector<exec::BufferOp> sorted(exec::ProgramOp(program).getOps<exec::BufferOp>());
  llvm::stable_sort(sorted, [](exec::BufferOp a, exec::BufferOp b) {
    auto first = [](exec::BufferOp buffer) { return static_cast<int64_t>(buffer.getFirst()); };
    return std::tuple(first(a), a.getOffset()) < std::tuple(first(b), b.getOffset());
  });
  SmallVector<Operation *> device, host;
  for (exec::BufferOp buffer : sorted)
    (buffer.getHost() ? host : device).push_back(buffer);
  auto describe = [&](Operation *op) {
    auto buffer = cast<exec::BufferOp>(op);
    std::string first = names.first(buffer), history = names.history(buffer);
    return exec::stringifyCategory(buffer.getCategory()).str() + ", actions " +
           std::to_string(static_cast<int64_t>(buffer.getFirst())) + " to " +
           std::to_string(static_cast<int64_t>(buffer.getLast())) +
           (history == first ? "" : ", " + history.substr(first.size() + 2));
  };
  return declare(device, describe) + onHostText(declare(host, describe));
}
