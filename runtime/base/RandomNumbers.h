//===- RandomNumbers.h - many random numbers at once -----------------------===//
//
// The initial values of a large model are billions of numbers.  What each of them is
// a definition says (normalAt, uniformAt); a kernel draws many with the vector
// instructions of this machine, and gives floats of the same bits as the definition
// whatever the instructions are:
//
//   uniforms   every step rounds in the same way in all of them
//   normals    the kernel's logarithm and sine are not quite as exact as the
//              definition's, but it knows by how much: where that could change the
//              float, about once in 100,000 numbers, it asks the definition
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_BASE_RANDOMNUMBERS_H
#define BRAID_BASE_RANDOMNUMBERS_H

#include <cstdint>
#include <vector>

namespace braid {

// Numbers of a stream: normal with mean a and standard deviation b, or uniform in
// [a, b).
struct RandomStream {
  uint64_t seed;
  uint32_t stream;
  double a, b;
};

// The definitions: number `index` of the stream.
double normalAt(const RandomStream &stream, uint64_t index);
double uniformAt(const RandomStream &stream, uint64_t index);

// out[i] becomes number index[i], for i < count.  Both arrays have room for a
// multiple of drawRoom, and all of it may be read and written.
using DrawFunction = void (*)(const RandomStream &stream, const uint64_t *index, int64_t count, float *out);
constexpr int64_t drawRoom = 8;

struct RandomKernel {
  const char *instructions;
  DrawFunction normals, uniforms;
};

// Those that this machine can run, the fastest first; the last one runs anywhere.
const std::vector<RandomKernel> &randomKernels();

} // namespace braid
#endif // BRAID_BASE_RANDOMNUMBERS_H
