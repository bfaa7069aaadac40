//===- WriteTracker.h - every byte from its write to its reads --*- C++ -*-===//
//
// Runs over a program in memory form and keeps for every byte who wrote it last and whether
// that has been read.  Refuses a read of what nobody wrote, a read of another write than
// the program on values says (`exec.reads`), and a write over what is still unread.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_LOWER_WRITETRACKER_H
#define BRAID_PASSES_LOWER_WRITETRACKER_H

#include "dialects/Exec/Exec.h"
#include "dialects/Exec/ValueReads.h"
#include "lib/Memory/ByteRanges.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace braid {

/// An exec.tensor or exec.pack, or an exec.buffer.
struct ArenaRange {
  mlir::Operation *op;
  llvm::StringRef name;
  int64_t offset, bytes, first, last, padding = 0;
  int64_t zeros = 0; // bytes of a persistent tensor that nothing writes, behind its values
  bool isOnHost = false;
  int64_t end() const { return offset + bytes; }
};

/// A reference and the range it is in.
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

  /// Before the first action inputs and persistent tensors hold what they are given.
  llvm::LogicalResult start(llvm::ArrayRef<ArenaRange *> ranges);
  /// Checks and records what an action reads.  Called for every action in order; an action that begins and ends
  /// at once reads before it writes.
  llvm::LogicalResult read(exec::ActionOpInterface action);
  /// What an action that began has written at its end.
  llvm::LogicalResult write(exec::ActionOpInterface begun);
  /// The first byte that no action wrote and that was not given, or -1.
  int64_t firstUnwritten(ArenaRange &range, const ByteRanges &bytes) const {
    return written.find(&range)->second.firstUnwritten(bytes);
  }
  /// The results and new values.
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
  /// Whether a read can be one of such a reference.
  bool fits(const exec::ValueRead &read, exec::RefType type) const;
  /// The bytes of a read without those of padding that it takes along.
  ByteRanges bytesOf(const exec::ValueRead &read, const RangeAccess &access) const;
  int64_t writerOf(exec::ValueSource source) const;
  const RangeAccess *accessOf(exec::ValueSource source) const;
  llvm::LogicalResult checkRead(mlir::Operation *op, const llvm::Twine &does, const RangeAccess &access,
                                const exec::ValueRead &read);
  llvm::LogicalResult checkElement(mlir::Operation *op, const llvm::Twine &does, const RangeAccess &access,
                                   const exec::ElementSource &element);
  llvm::LogicalResult checkKept(exec::ActionOpInterface action, const RangeAccess &access);
  std::string describe(int64_t writer) const;
  std::string describe(exec::ValueSource source) const;

  exec::ProgramOp program;
  const Accesses &accesses;
  llvm::DenseMap<ArenaRange *, WrittenBytes> written;
  std::vector<Writer> writers;
  /// For each action the number of the first of its writers.
  std::vector<int64_t> firstWriter;
  llvm::DenseMap<mlir::Operation *, int64_t> firstWriterOf;
  /// The number of the action that reads next.
  int64_t next = 0;
  /// What the program on values says, if it is known.
  std::optional<exec::ProgramReads> reads;
  std::vector<std::optional<RangeAccess>> arguments;
  /// Persistent tensors by name, and result buffers in order.
  llvm::StringMap<std::pair<exec::TensorOp, RangeAccess>> tensors;
  std::vector<std::pair<exec::BufferOp, RangeAccess>> results;
  /// Tensors that the program does not update.
  llvm::DenseMap<ArenaRange *, llvm::SmallVector<std::pair<exec::TensorOp, RangeAccess>, 1>> kept;
};

} // namespace braid

#endif // BRAID_PASSES_LOWER_WRITETRACKER_H
