//===- Arena.h - memory that knows what was written to it -------*- C++ -*-===//
//
// Bytes in the layout of the target, each with its owner: the buffer through
// which it was last written, or none since it became live.  Dead bytes hold a
// pattern that is a NaN as any float and a huge number as any int.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_REFERENCE_ARENA_H
#define BRAID_LIB_REFERENCE_ARENA_H

#include "dialects/Exec/Exec.h"
#include "lib/Reference/Tensor.h"
#include <optional>

namespace braid::reference {

/// The byte that dead memory holds.  Four make the NaN 0x7FFF7FFF of f32 (and
/// two of bf16); as i32 the number is 2147450879.
inline uint8_t poisonByte(int64_t offset) { return offset % 2 ? 0x7F : 0xFF; }

/// A reference with its place in the arena and the number of its buffer.
struct Place {
  int64_t offset; // bytes
  exec::RefType type;
  int32_t owner = 0;

  int64_t end() const { return offset + type.getSpanBytes(); }
  bool operator==(const Place &other) const { return offset == other.offset && type == other.type; }
};

class Arena {
public:
  explicit Arena(int64_t size);

  int64_t size() const { return bytes.size(); }
  /// Forgets a range: its bytes are poison and nobody's.
  void poison(int64_t offset, int64_t count);
  /// The same, but quick where nothing was written since it was last poison.
  void poisonWritten(int64_t offset, int64_t count);

  /// Poison that belongs to a collective under way.
  void reserve(const Place &place);

  /// An element of which some byte is not its buffer's but `owner`'s.
  struct Stranger {
    Index index;
    int64_t byte; // of the arena, where it begins
    int32_t owner;
  };
  /// The first such element of a place, if any.
  std::optional<Stranger> findStranger(const Place &place) const;
  /// The tensor a place holds, whatever its bytes.
  Tensor read(const Place &place) const;
  void write(const Place &place, const Tensor &tensor);

  static constexpr int32_t kNobody = -1, kReserved = -2;

private:
  /// Says whose bytes these are.
  void own(int64_t begin, int64_t count, int32_t owner);

  std::vector<uint8_t> bytes;
  std::vector<int32_t> owners;
  /// For each block of bytes, whether one was written since all were poison.
  static constexpr int64_t kBlock = 4096;
  std::vector<bool> touched;
};

/// The tensor whose elements, one after another, have these bytes, and back.
Tensor tensorOfBytes(mlir::RankedTensorType type, llvm::StringRef bytes);
void appendBytes(const Tensor &tensor, std::string &bytes);

/// True if two places have a byte in common.
bool overlap(const Place &a, const Place &b);

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_ARENA_H
