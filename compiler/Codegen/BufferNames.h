//===- BufferNames.h - contents of the arena, action by action --*- C++ -*-===//
//
// A buffer has one content after another, and several beside each other if actions write parts of it. Each content has
// a name (lib/Memory/ContentNames.h); the first of a buffer has the buffer's. Inputs, results and scratch memory keep
// the names of their buffers.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMPILER_CODEGEN_BUFFERNAMES_H
#define BRAID_COMPILER_CODEGEN_BUFFERNAMES_H

#include "compiler/Codegen/ArenaMap.h"
#include "lib/Memory/ContentNames.h"
#include <map>

namespace braid::codegen {

/// Bytes of a buffer from one write to the next.
struct Content {
  std::string name;
  exec::BufferOp buffer;
  int64_t begin, bytes;     // within the buffer
  int64_t action = -1;      // that writes it
  int overwritten = -1;     // the content that was at `begin` before
  bool isFirst = true;      // in the buffer
  bool isAddressed = false; // a call has its address
  int64_t offset() const { return exec::BufferOp(buffer).getOffset() + begin; }
};

/// The contents of a program's buffers, and which of them are in memory before and after the current action.
class BufferNames {
public:
  BufferNames(exec::ProgramOp program, const ArenaMap &arena);
  /// Advances to the next action.
  void enter(exec::ActionOpInterface action);
  /// Return the name of the contents of a place before and after the current action.
  std::string before(mlir::Value ref) const { return nameOf(ref, contentBefore(ref)); }
  std::string after(mlir::Value ref) const { return nameOf(ref, contentAfter(ref)); }
  /// Returns the content by which a call names a place: the one that it reads there, else the one that it writes.
  /// Returns -1 for tensors.
  int addressed(mlir::Value ref) const;

  llvm::ArrayRef<Content> all() const { return contents; }

private:
  /// Contents by their first byte.
  using Parts = std::map<int64_t, int>;
  int add(mlir::Value out, exec::ActionOpInterface writer, unsigned number);
  void write(mlir::Value out, int content);
  int contentIn(const llvm::DenseMap<mlir::Operation *, Parts> &parts, mlir::Value ref) const;
  int contentBefore(mlir::Value ref) const;
  int contentAfter(mlir::Value ref) const { return contentIn(current, ref); }
  std::string nameOf(mlir::Value ref, int content) const;

  const ArenaMap &arena;
  ContentNames names;
  std::vector<Content> contents;
  int next = 0; // content to be written
  bool isCollecting = true;
  int64_t action = -1;
  llvm::DenseMap<mlir::Operation *, Parts> current, previous; // by buffer; `previous` of those that the action writes
  llvm::DenseSet<std::pair<mlir::Operation *, int64_t>> read; // places that the action reads
};

} // namespace braid::codegen

#endif // BRAID_COMPILER_CODEGEN_BUFFERNAMES_H
