//===- BufferNames.cpp - contents of the arena, action by action ----------===//

#include "compiler/Codegen/BufferNames.h"
#include "dialects/Comm/Comm.h"
#include "lib/Memory/Persistent.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

BufferNames::BufferNames(exec::ProgramOp program, const ArenaMap &arena) : arena(arena), names(program) {
  for (auto buffer : program.getOps<exec::BufferOp>()) {
    names.reserve(buffer.getName());
    if (buffer.getIo() || buffer.getScratch()) {
      current[buffer][0] = contents.size();
      contents.push_back({buffer.getName().str(), buffer, 0, buffer.getSize()});
    }
  }
  next = contents.size();
  auto fixed = current;
  for (auto action : program.getOps<exec::ActionOpInterface>())
    enter(action);
  // Buffers that no action writes.
  for (auto buffer : program.getOps<exec::BufferOp>())
    if (!current.contains(buffer)) {
      fixed[buffer][0] = contents.size();
      contents.push_back({buffer.getName().str(), buffer, 0, buffer.getSize()});
    }
  isCollecting = false;
  current = std::move(fixed);
  previous.clear();
  action = -1;
}

//===----------------------------------------------------------------------===//
// Contents
//===----------------------------------------------------------------------===//

static int64_t beginOf(Value ref) { return ref.getDefiningOp<exec::RefOp>().getOffset(); }
static exec::RefType typeOf(Value ref) { return cast<exec::RefType>(ref.getType()); }

static exec::BufferOp bufferOf(Value ref, const ArenaMap &arena) {
  return dyn_cast<exec::BufferOp>(arena.storageOf(ref));
}

int BufferNames::contentIn(const llvm::DenseMap<Operation *, Parts> &parts, Value ref) const {
  auto found = parts.find(arena.storageOf(ref));
  if (found == parts.end())
    return -1;
  for (auto part = found->second.upper_bound(beginOf(ref)); part != found->second.begin();)
    if (const Content &content = contents[(--part)->second]; beginOf(ref) < content.begin + content.bytes)
      return part->second;
  return -1;
}

/// Adds what an action writes to an out. Returns its index.
int BufferNames::add(Value out, exec::ActionOpInterface writer, unsigned number) {
  exec::BufferOp buffer = bufferOf(out, arena);
  bool isFirst = !current.contains(buffer);
  int64_t begin = beginOf(out), bytes = typeOf(out).getSpanBytes();
  int old = isFirst ? -1 : contentIn(current, out);
  contents.push_back({isFirst ? buffer.getName().str() : names.unique(writer, number), buffer, begin, bytes, action,
                      old >= 0 && contents[old].begin == begin ? old : -1, isFirst});
  return contents.size() - 1;
}

void BufferNames::write(Value out, int content) {
  Parts &parts = current[arena.storageOf(out)];
  int64_t begin = beginOf(out), end = begin + contents[content].bytes;
  // Strided parts lie between each other, but begin at different bytes.
  if (typeOf(out).isContiguous())
    parts.erase(parts.lower_bound(begin), parts.lower_bound(end));
  parts[begin] = content;
}

void BufferNames::enter(exec::ActionOpInterface entered) {
  ++action;
  previous.clear();
  read.clear();
  for (Value in : entered.getActionIns())
    read.insert({arena.storageOf(in), beginOf(in)});
  for (Value out : entered.getActionOuts())
    if (auto parts = current.find(arena.storageOf(out)); parts != current.end())
      previous.insert(*parts);
  for (auto [index, out] : llvm::enumerate(entered.getActionOuts()))
    if (exec::BufferOp buffer = bufferOf(out, arena); buffer && !buffer.getIo() && !buffer.getScratch())
      write(out, isCollecting ? add(out, entered, index) : next++);
  // Collectives and copies have descriptors instead of addresses.
  if (isCollecting && !entered.isOrdered() && !comm::copyOf(entered))
    for (Value ref : llvm::concat<Value>(llvm::to_vector_of<Value>(entered.getActionIns()),
                                         llvm::to_vector_of<Value>(entered.getActionOuts())))
      if (int content = addressed(ref); content >= 0)
        contents[content].isAddressed = true;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

int BufferNames::contentBefore(Value ref) const {
  int content = contentIn(previous, ref);
  return content >= 0 ? content : contentIn(current, ref);
}

int BufferNames::addressed(Value ref) const {
  return read.contains({arena.storageOf(ref), beginOf(ref)}) ? contentBefore(ref) : contentAfter(ref);
}

std::string BufferNames::nameOf(Value ref, int content) const {
  Operation *storage = arena.storageOf(ref);
  if (auto tensor = dyn_cast<exec::TensorOp>(storage))
    return braid::nameOf(tensor).str();
  if (content < 0)
    return arena.nameOf(ref).str();
  int64_t offset = beginOf(ref) - contents[content].begin;
  return contents[content].name + (offset ? " + " + std::to_string(offset) : "");
}
