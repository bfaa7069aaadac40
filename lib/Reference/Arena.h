//===- Arena.h - memory that tracks its writers -----------------*- C++ -*-===//
//
// Bytes in the target's layout. Each byte has an owner: the buffer through which it was
// last written, or none if it has not been written since it became live.  Dead bytes
// hold a pattern that is a NaN as any float and a huge number as any int.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_REFERENCE_ARENA_H
#define BRAID_LIB_REFERENCE_ARENA_H

#include "dialects/Exec/Exec.h"
#include "lib/Reference/Tensor.h"
#include <optional>

namespace braid::reference {

/// Returns the byte that dead memory holds. Four of them make the NaN 0x7FFF7FFF of f32
/// (and two of bf16); as i32 the number is 2147450879.
inline uint8_t poisonByte(int64_t offset) { return offset % 2 ? 0x7F : 0xFF; }

/// A reference with its place in the arena and the number of its buffer.
struct Place {
  int64_t offset; // in bytes
  exec::RefType type;
  int32_t owner = 0;

  int64_t end() const { return offset + type.getSpanBytes(); }
  bool operator==(const Place &other) const { return offset == other.offset && type == other.type; }
};

class Arena {
public:
  explicit Arena(int64_t size);

  int64_t size() const { return bytes.size(); }
  /// Resets a range: its bytes become poison without an owner.
  void poison(int64_t offset, int64_t count);
  /// Resets a range like `poison`, but skips blocks that were not written since they were last poisoned.
  void poisonWritten(int64_t offset, int64_t count);

  /// Poisons a place that a collective in flight will write.
  void reserve(const Place &place);

  /// An element with a byte that belongs to `owner` instead of the place's buffer.
  struct ForeignElement {
    Index index;
    int64_t byte; // first byte of the element in the arena
    int32_t owner;
  };
  /// Returns the first such element of a place, if any.
  std::optional<ForeignElement> findForeignElement(const Place &place) const;
  /// Returns the tensor in a place, whatever the owners of its bytes.
  Tensor read(const Place &place) const;
  void write(const Place &place, const Tensor &tensor);

  static constexpr int32_t kNoOwner = -1, kReserved = -2;

private:
  /// Sets the owner of bytes.
  void setOwner(int64_t begin, int64_t count, int32_t owner);

  std::vector<uint8_t> bytes;
  std::vector<int32_t> owners;
  /// Whether each block of bytes was written since all of its bytes were poisoned.
  static constexpr int64_t kBlock = 4096;
  std::vector<bool> touched;
};

/// Converts the bytes of consecutive elements to a tensor, and back.
Tensor tensorOfBytes(mlir::RankedTensorType type, llvm::StringRef bytes);
void appendBytes(const Tensor &tensor, std::string &bytes);

/// Returns whether two places have a byte in common.
bool overlap(const Place &a, const Place &b);

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_ARENA_H
