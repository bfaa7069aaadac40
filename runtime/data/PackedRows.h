//===- PackedRows.h - documents side by side in rows ----------------------===//
#ifndef BRAID_DATA_PACKEDROWS_H
#define BRAID_DATA_PACKEDROWS_H

#include <cstdint>
#include <span>
#include <vector>

namespace braid {

// Rows of up to `length` tokens that hold whole documents, in order, as many as fit.  One that is
// longer than a row begins in a row of its own and is cut; what is left of it in the end shares a
// row with those behind it.
class PackedRows {
public:
  PackedRows() = default;
  // Of tokens [begin, end).  `documents` has the tokens that documents begin with, rising.
  PackedRows(std::span<const int64_t> documents, int64_t begin, int64_t end, int64_t length);

  int64_t count() const { return static_cast<int64_t>(bounds.size()) - 1; }
  // Row i holds tokens [first(i), first(i + 1)).
  int64_t first(int64_t row) const { return bounds[row]; }

private:
  std::vector<int64_t> bounds = {0};
};

} // namespace braid
#endif // BRAID_DATA_PACKEDROWS_H
