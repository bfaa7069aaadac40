//===- RandomNumbers.h - many random numbers at once ----------------------===//
//
// The initial values of a large model are billions of numbers.  normalAt and uniformAt define each
// of them.  A kernel draws many at once with the vector instructions of this machine.  Its floats
// have the definition's bits, whatever the instructions:
//
//   uniforms   every step rounds in the same way on all machines
//   normals    the kernel's logarithm and cosine are less exact than the definition's, by a
//              known bound; where the error could change the float, about once in
//              100,000 numbers, the kernel calls the definition
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_BASE_RANDOMNUMBERS_H
#define BRAID_BASE_RANDOMNUMBERS_H

#include <cstdint>
#include <vector>

namespace braid {

// A stream of numbers: normal with mean a and standard deviation b, or uniform in [a, b).
struct RandomStream {
  uint64_t seed;
  uint32_t stream;
  double a, b;
};

// Definitions of number `index` of the stream.
double normalAt(const RandomStream &stream, uint64_t index);
double uniformAt(const RandomStream &stream, uint64_t index);

// Sets out[i] to number index[i], for i < count.  Both arrays need room for a multiple of drawRoom
// elements, and the function may read and write all of it.
using DrawFunction = void (*)(const RandomStream &stream, const uint64_t *index, int64_t count, float *out);
constexpr int64_t drawRoom = 8;

struct RandomKernel {
  const char *instructions;
  DrawFunction normals, uniforms;
};

// Kernels that this machine can run, the fastest first; the last one runs on any machine.
const std::vector<RandomKernel> &randomKernels();

} // namespace braid
#endif // BRAID_BASE_RANDOMNUMBERS_H
