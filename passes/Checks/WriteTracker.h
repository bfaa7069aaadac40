//===- WriteTracker.h - track writes and reads of all bytes -----*- C++ -*-===//
//
// Runs over a program in memory form. Keeps, for every byte, its last writer and whether that write has been read.
// Rejects a read of unwritten bytes, a read of another write than in the program's value form (`exec.reads`), and a
// write over unread bytes.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_CHECKS_WRITETRACKER_H
#define BRAID_PASSES_CHECKS_WRITETRACKER_H

#include "dialects/Exec/Exec.h"
#include "dialects/Exec/ValueReads.h"
#include "lib/Memory/ByteRanges.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace braid {

/// The bytes of an exec.tensor, exec.pack or exec.buffer in the arena.
struct ArenaRange {
  mlir::Operation *op;
  llvm::StringRef name;
  int64_t offset, bytes, first, last, padding = 0;
  int64_t zeros = 0; // Zero bytes behind the values of a persistent tensor, which nothing writes.
  bool isOnHost = false;
  int64_t end() const { return offset + bytes; }
};

/// A reference and the range that contains it.
struct RangeAccess {
  ArenaRange *range;
  exec::RefType type;
  ByteRanges bytes;
  bool same(const RangeAccess &other) const {
    return range == other.range && type == other.type && bytes.offset == other.bytes.offset;
  }
};

class WriteTracker {
public:
  using Accesses = llvm::DenseMap<mlir::Value, RangeAccess>;
  WriteTracker(exec::ProgramOp program, const Accesses &accesses) : program(program), accesses(accesses) {}

  /// Records the initial contents: inputs and persistent tensors.
  llvm::LogicalResult start(llvm::ArrayRef<ArenaRange *> ranges);
  /// Checks and records the reads of an action. Must be called for every action in order. An action that begins and
  /// ends at once reads before it writes.
  llvm::LogicalResult read(exec::ActionOpInterface action);
  /// Records the writes of an action at its end.
  llvm::LogicalResult write(exec::ActionOpInterface begun);
  /// Returns the first byte that no action wrote and that has no initial contents, or -1.
  int64_t firstUnwritten(ArenaRange &range, const ByteRanges &bytes) const {
    return written.find(&range)->second.firstUnwritten(bytes);
  }
  /// Checks the results and the new values of persistent tensors.
  llvm::LogicalResult finish();

private:
  /// Result `number` of an action.
  struct Writer {
    exec::ActionOpInterface action;
    unsigned number;
    bool hasReaders;
  };
  llvm::LogicalResult readReads(llvm::ArrayRef<ArenaRange *> ranges);
  void findArguments(llvm::ArrayRef<ArenaRange *> ranges);
  llvm::LogicalResult checkRecord();
  /// Whether the shape and type of a read fit the reference.
  bool fits(const exec::ValueRead &read, exec::RefType type) const;
  /// Returns the bytes of a read without the padding that its reference includes.
  ByteRanges bytesOf(const exec::ValueRead &read, const RangeAccess &access) const;
  int64_t writerOf(exec::ValueSource source) const;
  const RangeAccess *accessOf(exec::ValueSource source) const;
  llvm::LogicalResult checkRead(mlir::Operation *op, const llvm::Twine &verb, const RangeAccess &access,
                                const exec::ValueRead &read);
  llvm::LogicalResult checkElement(mlir::Operation *op, const llvm::Twine &verb, const RangeAccess &access,
                                   const exec::ElementSource &element);
  llvm::LogicalResult checkKept(exec::ActionOpInterface action, const RangeAccess &access);
  std::string describe(int64_t writer) const;
  std::string describe(exec::ValueSource source) const;

  exec::ProgramOp program;
  const Accesses &accesses;
  llvm::DenseMap<ArenaRange *, WrittenBytes> written;
  std::vector<Writer> writers;
  /// Number of the first writer of each action.
  std::vector<int64_t> firstWriter;
  llvm::DenseMap<mlir::Operation *, int64_t> firstWriterOf;
  /// Number of the next action to read.
  int64_t next = 0;
  /// Expected reads from the value form, if known.
  std::optional<exec::ProgramReads> reads;
  std::vector<std::optional<RangeAccess>> arguments;
  /// Persistent tensors by name, and result buffers in order.
  llvm::StringMap<std::pair<exec::TensorOp, RangeAccess>> tensors;
  std::vector<std::pair<exec::BufferOp, RangeAccess>> results;
  /// Tensors that the program does not update.
  llvm::DenseMap<ArenaRange *, llvm::SmallVector<std::pair<exec::TensorOp, RangeAccess>, 1>> kept;
};

} // namespace braid

#endif // BRAID_PASSES_CHECKS_WRITETRACKER_H
