//===- PieceReader.h - read a part of a tensor from a file ----------------===//
#ifndef BRAID_CHECKPOINT_PIECEREADER_H
#define BRAID_CHECKPOINT_PIECEREADER_H

#include "checkpoint/SavedTensors.h"

#include <cstddef>
#include <string>
#include <vector>

namespace braid {

// Whether elements of the file's type can be read as the runtime's type: the same type, or floats of any
// width.
bool isConvertible(const std::string &from, br_dtype to);

// Reads through a buffer of bounded size. Reads the requested bytes, and gaps that are too short for a
// separate read.
class PieceReader {
public:
  PieceReader();

  // Fills the elements of `part`, in `memory`, that the piece holds.
  void read(const SavedTensors::Piece &piece, const TensorPart &part, br_dtype dtype, std::byte *memory);

private:
  std::vector<std::byte> buffer;
  std::vector<Run> pending;
};

} // namespace braid
#endif // BRAID_CHECKPOINT_PIECEREADER_H
