//===- ArenaText.cpp - what lies where, as comments -----------------------===//

#include "lib/Codegen/ArenaText.h"
#include "lib/Codegen/CppText.h"
#include "lib/Memory/Persistent.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

std::string codegen::sectionText(StringRef title) {
  std::string rule = "//===" + std::string(70, '-') + "===//\n";
  return rule + "// " + commentText(title) + "\n" + rule + "\n";
}

static long long number(uint64_t value) { return static_cast<long long>(value); }

/// The buffers of one of the memories, in the order of their lives.
static void printBuffers(exec::ProgramOp program, const BufferNames &names, bool onHost, llvm::raw_ostream &os) {
  SmallVector<exec::BufferOp> buffers(program.getOps<exec::BufferOp>());
  llvm::erase_if(buffers, [&](exec::BufferOp buffer) { return buffer.getHost() != onHost; });
  llvm::stable_sort(buffers, [](exec::BufferOp a, exec::BufferOp b) {
    return std::tuple(number(a.getFirst()), a.getOffset()) < std::tuple(number(b.getFirst()), b.getOffset());
  });
  if (onHost && !buffers.empty())
    os << "//\n// in pinned memory of the host\n//\n";
  for (exec::BufferOp buffer : buffers)
    os << llvm::format("//  %12lld %12lld %8lld %8lld  %-16s ", number(buffer.getOffset()), number(buffer.getBytes()),
                       number(buffer.getFirst()), number(buffer.getLast()),
                       exec::stringifyCategory(buffer.getCategory()).str().c_str())
       << commentText(names.history(buffer)) << "\n";
}

std::string codegen::arenaText(exec::ProgramOp program, const BufferNames &names) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "// " << commentText(program.getSymName()) << ": an arena of " << program.getArenaBytes()
     << " bytes; transient buffers and the actions they live for\n"
     << "// name: the parameter, or the layer, @ the action that writes it, # which of its outs\n//\n"
     << "//        offset        bytes    first     last  category         name\n";
  printBuffers(program, names, /*onHost=*/false, os);
  printBuffers(program, names, /*onHost=*/true, os);
  return text;
}

static void printTensors(ModuleOp module, bool onHost, llvm::raw_ostream &os) {
  os << "//\n//        offset        bytes  category         name\n";
  for (auto tensor : module.getOps<exec::TensorOp>())
    if (tensor.getHost() == onHost)
      os << llvm::format("//  %12lld %12lld  %-16s ", number(tensor.getOffset()), number(tensor.getBytes()),
                         exec::stringifyCategory(tensor.getCategory()).str().c_str())
         << commentText(nameOf(tensor)) << "\n";
}

std::string codegen::tensorsText(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "// tensors that live across programs and steps\n";
  printTensors(module, /*onHost=*/false, os);
  if (llvm::any_of(module.getOps<exec::TensorOp>(), [](exec::TensorOp tensor) { return tensor.getHost(); })) {
    os << "//\n// in pinned memory of the host\n";
    printTensors(module, /*onHost=*/true, os);
  }
  return text;
}
