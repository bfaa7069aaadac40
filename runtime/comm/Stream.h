//===- Stream.h - memory ranges as one sequence of bytes ------------------===//
//
// The data for or from one rank: ranges of several tensors, as one sequence of bytes. Messages are chunks
// of it. A chunk inside one range is sent from its place; a chunk that spans ranges (small tensors, rows)
// is packed.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_STREAM_H
#define BRAID_COMM_STREAM_H

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

namespace braid {

class Stream {
public:
  void clear() { pieces.clear(); }
  size_t size() const { return pieces.empty() ? 0 : pieces.back().end; }

  void add(const void *data, size_t bytes) {
    if (bytes)
      pieces.push_back({static_cast<std::byte *>(const_cast<void *>(data)), size() + bytes});
  }

  // Returns the memory of a chunk, or null if the chunk spans ranges.
  std::byte *inPlace(size_t begin, size_t bytes) const {
    size_t i = find(begin);
    return begin + bytes <= pieces[i].end ? pieces[i].data + (begin - beginOf(i)) : nullptr;
  }

  void read(size_t begin, size_t bytes, std::byte *to) const {
    forEach(begin, bytes, [&](std::byte *at, size_t size) {
      std::memcpy(to, at, size);
      to += size;
    });
  }

  // Does not copy bytes that are already in place.
  void write(size_t begin, size_t bytes, const std::byte *from) const {
    forEach(begin, bytes, [&](std::byte *at, size_t size) {
      if (at != from)
        std::memcpy(at, from, size);
      from += size;
    });
  }

  // Copies the whole stream to `to`, which has the same number of bytes.
  void copyTo(const Stream &to) const {
    size_t at = 0;
    for (const Piece &piece : pieces) {
      to.write(at, piece.end - at, piece.data);
      at = piece.end;
    }
  }

private:
  struct Piece {
    std::byte *data;
    size_t end; // offset in the stream
  };

  size_t beginOf(size_t i) const { return i ? pieces[i - 1].end : 0; }

  size_t find(size_t offset) const {
    auto it = std::upper_bound(pieces.begin(), pieces.end(), offset,
                               [](size_t offset, const Piece &piece) { return offset < piece.end; });
    return it - pieces.begin();
  }

  template <class F> void forEach(size_t begin, size_t bytes, const F &f) const {
    for (size_t i = bytes ? find(begin) : 0; bytes > 0; ++i) {
      size_t size = std::min(bytes, pieces[i].end - begin);
      f(pieces[i].data + (begin - beginOf(i)), size);
      begin += size;
      bytes -= size;
    }
  }

  std::vector<Piece> pieces;
};

} // namespace braid
#endif // BRAID_COMM_STREAM_H
