//===- PackedRows.cpp - several documents in a row ------------------------===//

#include "data/PackedRows.h"

#include <algorithm>

using namespace braid;

PackedRows::PackedRows(std::span<const int64_t> documents, int64_t begin, int64_t end, int64_t length) : bounds{begin} {
  auto next = std::upper_bound(documents.begin(), documents.end(), begin);
  for (int64_t at = begin; at < end;) {
    const int64_t documentEnd = next == documents.end() ? end : std::min(end, *next++);
    if (documentEnd - bounds.back() > length && at > bounds.back())
      bounds.push_back(at);
    while (documentEnd - bounds.back() > length)
      bounds.push_back(bounds.back() + length);
    at = documentEnd;
  }
  if (end > bounds.back())
    bounds.push_back(end);
}
