//===- Launch.h - launches of generated CUDA kernels ----------------------===//
//
//   const Memory m(ctx);
//   m.at(3);                                    // names the action in errors
//   launch(m, 256, 192, k3_kernel, m[0], m[786432], m[4096]);   // blocks, threads
//   launch_flat(m, 1024, 256, k4_kernel, m[0], m[4096]);        // length, threads
//   launch_table(m, k5_kernel_table0, 256, k5_kernel);
//   launch_parts(m, 64, 8, 256, k6_kernel, m[0], m[4096]);      // rows, rows of a block, threads
//   launch_table(m, k6_kernel_table0, 8, 256, k6_kernel);
//   return m.status();
//
// A kernel over vectors of any length takes all of them in one parameter: each block finds its
// vector and its part of that vector.  So an optimizer updates hundreds of parameters in one launch
// or a few, and nothing but the arena lies on the device.  A kernel over rows may be launched in
// the same way; then lengths are numbers of rows or, where all lanes are summed over the same rows,
// numbers of lanes.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_LAUNCH_H
#define BRAID_CUDA_LAUNCH_H

#include "braid_rt.h"

#include "cuda/braid_cuda.h"

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <utility>

namespace braid {

// An address in the arena; converts to a pointer of any type.
struct Address {
  char *byte;
  template <class T> __host__ __device__ operator T *() const { return reinterpret_cast<T *>(byte); }
};

// The arena on the device, and the compute stream.  `m[offset]` is the address of that byte.
// `m.in(3, offset)` is the address in the current slot of br_model.slots[3]; `offset` is given for
// the first slot.
class Memory {
public:
  explicit Memory(br_context *ctx)
      : ctx(ctx), base(static_cast<char *>(br_arena(ctx))), compute(static_cast<cudaStream_t>(br_cuda_stream(ctx))) {}

  Address operator[](uint64_t offset) const { return {base + offset}; }
  Address in(int32_t slots, uint64_t offset) const { return {base + offset + br_slot(ctx, slots)}; }
  br_context *context() const { return ctx; }
  cudaStream_t stream() const { return compute; }
  // Action `index` of the program comes next.
  void at(int32_t index) const { br_action(ctx, index); }
  void check(cudaError_t error, const char *what) const { br_cuda_check(ctx, error, what); }
  // BR_ERROR after the first error of the program.
  br_status status() const { return br_cuda_status(ctx); }

private:
  br_context *ctx;
  char *base;
  cudaStream_t compute;
};

// Upper limit of blocks of a grid along x, on all GPUs.
inline constexpr int64_t max_blocks = (int64_t{1} << 31) - 1;

// Reports a number that does not fit CUDA's 32-bit fields as an error of the program, like an error
// of CUDA.
inline void refuse(const Memory &m, const char *what, int64_t number, int64_t limit) {
  char text[128];
  std::snprintf(text, sizeof text, "%lld %s, of which there can be 1 to %lld", static_cast<long long>(number), what,
                static_cast<long long>(limit));
  m.check(cudaErrorInvalidConfiguration, text);
}

// Runs `kernel`, which begins with enter_kernel(), on the compute stream.
template <class... P, class... A>
inline void launch(const Memory &m, int64_t blocks, int64_t threads, void (*kernel)(P...), A &&...args) {
  if (blocks < 1 || blocks > max_blocks)
    return refuse(m, "blocks of a kernel", blocks, max_blocks);
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.stream = m.stream();
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  if (br_cuda_begins_early(m.context())) {
    config.attrs = &early;
    config.numAttrs = 1;
  }
  br_cuda_launched(m.context(), cudaLaunchKernelEx(&config, kernel, std::forward<A>(args)...),
                   reinterpret_cast<const void *>(kernel));
}

// Loads kernels when the program starts.  Otherwise CUDA loads each at its first launch, which may
// wait for all work on the device: for collectives, and so for other ranks.
struct Preload {
  template <class... K> explicit Preload(K... kernels) {
    (br_cuda_kernel(reinterpret_cast<const void *>(kernels)), ...);
  }
};

// Preloads an instance of a kernel template, at its place of use.
template <auto kernel> inline const Preload preload{kernel};
template <auto kernel> inline auto preloaded() {
  (void)&preload<kernel>;
  return kernel;
}

//===----------------------------------------------------------------------===//
// Kernels over vectors of any length
//===----------------------------------------------------------------------===//

// Length of one vector, and arena offsets of its N operands.
template <size_t N> struct Tuple {
  int64_t length;
  uint64_t operands[N];
};

// Lanes [begin, end) of a vector, and the addresses of its operands.
template <size_t N> struct Part {
  const Address *operands;
  int64_t begin, end;
  __device__ Address operator[](int i) const { return operands[i]; }
};

// Vectors of N operands each; `capacity` is the number that fits a kernel's parameters.
template <size_t N> struct Vectors {
  static constexpr int capacity = (4096 - 16) / ((N + 1) * 8 + 4);

  int64_t block_lanes;            // lanes of a part
  int count;                      // number of vectors
  unsigned first_block[capacity]; // first block of each vector
  int64_t lengths[capacity];
  Address operands[capacity][N];

  // Returns the part that this block works on.
  __device__ Part<N> part() const {
    int vector = 0, end = count;
    while (vector + 1 < end) {
      const int middle = (vector + end) / 2;
      (first_block[middle] <= blockIdx.x ? vector : end) = middle;
    }
    const int64_t begin = (blockIdx.x - first_block[vector]) * block_lanes, length = lengths[vector];
    return {operands[vector], begin, begin + block_lanes < length ? begin + block_lanes : length};
  }
};

namespace detail {
// Lanes of a thread in a part, a multiple of every vector width.  More lanes pay for the search of
// the part; fewer lanes leave more blocks for a large GPU.
inline int64_t lanes_of_thread(int64_t length) { return length < (int64_t{1} << 22) ? 8 : 16; }

// Collects vectors, and launches the kernel whenever the parameters are full.
template <size_t N> class VectorLauncher {
public:
  // `block_lanes` is the number of lanes of a part.
  VectorLauncher(const Memory &m, int64_t block_lanes, int64_t threads, void (*kernel)(Vectors<N>))
      : m(m), threads(threads), kernel(kernel) {
    static_assert(sizeof(Vectors<N>) <= 4096, "the parameters of a kernel");
    vectors.block_lanes = block_lanes;
  }
  template <class... A> void add(int64_t length, A... operands) {
    static_assert(sizeof...(A) == N);
    if (length == 0)
      return;
    const int64_t parts = (length + vectors.block_lanes - 1) / vectors.block_lanes;
    if (blocks + parts > max_blocks)
      flush();
    const int at = vectors.count++;
    vectors.first_block[at] = static_cast<unsigned>(blocks);
    vectors.lengths[at] = length;
    int i = 0;
    ((vectors.operands[at][i++] = operands), ...);
    blocks += parts;
    if (vectors.count == Vectors<N>::capacity)
      flush();
  }
  void flush() {
    if (vectors.count > 0)
      launch(m, blocks, threads, kernel, vectors);
    vectors.count = 0;
    blocks = 0;
  }

private:
  const Memory &m;
  int64_t threads, blocks = 0;
  void (*kernel)(Vectors<N>);
  Vectors<N> vectors = {};
};

template <size_t N, size_t... I>
inline void add_tuple(VectorLauncher<N> &launcher, const Memory &m, const Tuple<N> &tuple, std::index_sequence<I...>) {
  launcher.add(tuple.length, m[tuple.operands[I]]...);
}
} // namespace detail

// Runs a kernel over one vector, or over the rows of one tensor, with `part` lanes or rows for each
// block.
template <size_t N, class... A>
inline void launch_parts(const Memory &m, int64_t length, int64_t part, int64_t threads, void (*kernel)(Vectors<N>),
                         A... operands) {
  detail::VectorLauncher<N> launcher(m, part, threads, kernel);
  launcher.add(length, operands...);
  launcher.flush();
}

// Runs a kernel over all vectors of a table, or over the rows of all its tensors.
template <size_t N, size_t T>
inline void launch_table(const Memory &m, const Tuple<N> (&table)[T], int64_t part, int64_t threads,
                         void (*kernel)(Vectors<N>)) {
  detail::VectorLauncher<N> launcher(m, part, threads, kernel);
  for (const Tuple<N> &tuple : table)
    detail::add_tuple(launcher, m, tuple, std::make_index_sequence<N>());
  launcher.flush();
}

// Run a kernel over vectors, in parts that suit their lengths.
template <size_t N, class... A>
inline void launch_flat(const Memory &m, int64_t length, int64_t threads, void (*kernel)(Vectors<N>), A... operands) {
  launch_parts(m, length, threads * detail::lanes_of_thread(length), threads, kernel, operands...);
}
template <size_t N, size_t T>
inline void launch_table(const Memory &m, const Tuple<N> (&table)[T], int64_t threads, void (*kernel)(Vectors<N>)) {
  int64_t total = 0;
  for (const Tuple<N> &tuple : table)
    total += tuple.length;
  launch_table(m, table, threads * detail::lanes_of_thread(total), threads, kernel);
}

} // namespace braid
#endif // BRAID_CUDA_LAUNCH_H
