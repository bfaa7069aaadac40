//===- PackedRows.h - several documents in a row --------------------------===//
#ifndef BRAID_DATA_PACKEDROWS_H
#define BRAID_DATA_PACKEDROWS_H

#include <cstdint>
#include <span>
#include <vector>

namespace braid {

// Rows of up to `length` tokens, each with as many whole documents as fit, in order. A document longer than
// a row starts a new row and is cut; its last part shares a row with the documents after it.
class PackedRows {
public:
  PackedRows() = default;
  // Packs tokens [begin, end). `documents` has the first token of each document, ascending.
  PackedRows(std::span<const int64_t> documents, int64_t begin, int64_t end, int64_t length);

  int64_t count() const { return static_cast<int64_t>(bounds.size()) - 1; }
  // Row i holds tokens [first(i), first(i + 1)).
  int64_t first(int64_t row) const { return bounds[row]; }

private:
  std::vector<int64_t> bounds = {0};
};

} // namespace braid
#endif // BRAID_DATA_PACKEDROWS_H
