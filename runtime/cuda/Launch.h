//===- Launch.h - how generated CUDA programs run generated kernels -------===//
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
// A kernel over vectors of any length takes them all as one parameter: each block
// finds the vector it works on, and its part of that.  So an optimizer's update of
// hundreds of parameters is a launch or a few, and nothing lies on the device but the
// arena.  A kernel over rows may be launched like this, too: then lengths are numbers of rows or,
// where all lanes are summed over the same rows, of lanes.
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

// A place in the arena: a pointer of the type it is passed as.
struct Address {
  char *byte;
  template <class T> __host__ __device__ operator T *() const { return reinterpret_cast<T *>(byte); }
};

// The arena on the device, and the stream of computation.  `m[offset]` is the address
// of that byte; `m.in(3, offset)` is one in the slot of br_model.slots[3] that the run uses, of
// which the offset is that in the first slot.
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
  // The first error since the program began.
  br_status status() const { return br_cuda_status(ctx); }

private:
  br_context *ctx;
  char *base;
  cudaStream_t compute;
};

// Blocks of a grid along x, on all GPUs.
inline constexpr int64_t most_blocks = (int64_t{1} << 31) - 1;

// A number that CUDA's fields of 32 bits would cut off is an error of the program, like one that CUDA refuses.
inline void refuse(const Memory &m, const char *what, int64_t number, int64_t most) {
  char text[128];
  std::snprintf(text, sizeof text, "%lld %s, of which there can be 1 to %lld", static_cast<long long>(number), what,
                static_cast<long long>(most));
  m.check(cudaErrorInvalidConfiguration, text);
}

// Runs `kernel`, which begins with enter_kernel(), on the compute stream.
template <class... P, class... A>
inline void launch(const Memory &m, int64_t blocks, int64_t threads, void (*kernel)(P...), A &&...args) {
  if (blocks < 1 || blocks > most_blocks)
    return refuse(m, "blocks of a kernel", blocks, most_blocks);
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

// Kernels that are loaded when the program starts.  Else each would be at its first launch,
// which may wait for all that is on the device: for collectives, and so for other ranks.
struct Preload {
  template <class... K> explicit Preload(K... kernels) {
    (br_cuda_kernel(reinterpret_cast<const void *>(kernels)), ...);
  }
};

// The same of a kernel that is an instance of a template, where it is used.
template <auto kernel> inline const Preload preload{kernel};
template <auto kernel> inline auto preloaded() {
  (void)&preload<kernel>;
  return kernel;
}

//===----------------------------------------------------------------------===//
// Kernels over vectors of any length
//===----------------------------------------------------------------------===//

// The operands of one of many vectors that a kernel runs over, as arena offsets.
template <size_t N> struct Tuple {
  int64_t length;
  uint64_t operands[N];
};

// Lanes [begin, end) of a vector, and where its operands lie.
template <size_t N> struct Part {
  const Address *operands;
  int64_t begin, end;
  __device__ Address operator[](int i) const { return operands[i]; }
};

// Vectors of N operands each, as many as a kernel's parameters hold.
template <size_t N> struct Vectors {
  static constexpr int capacity = (4096 - 16) / ((N + 1) * 8 + 4);

  int64_t block_lanes;            // the lanes of a part
  int count;                      // of vectors
  unsigned first_block[capacity]; // of each
  int64_t lengths[capacity];
  Address operands[capacity][N];

  // What this block works on.
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
// Lanes of a thread in a part, a multiple of every width: enough to pay for finding it,
// fewer where that leaves a large GPU without work.
inline int64_t lanes_of_thread(int64_t length) { return length < (int64_t{1} << 22) ? 8 : 16; }

// Collects vectors, and launches as often as they fill the parameters.
template <size_t N> class VectorLauncher {
public:
  // Of `total` lanes altogether.
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
    if (blocks + parts > most_blocks)
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

// Runs a kernel over one vector, or the rows of one tensor, of which a block takes `part`.
template <size_t N, class... A>
inline void launch_parts(const Memory &m, int64_t length, int64_t part, int64_t threads, void (*kernel)(Vectors<N>),
                         A... operands) {
  detail::VectorLauncher<N> launcher(m, part, threads, kernel);
  launcher.add(length, operands...);
  launcher.flush();
}

// Runs a kernel over all vectors of a table, or the rows of all tensors.
template <size_t N, size_t T>
inline void launch_table(const Memory &m, const Tuple<N> (&table)[T], int64_t part, int64_t threads,
                         void (*kernel)(Vectors<N>)) {
  detail::VectorLauncher<N> launcher(m, part, threads, kernel);
  for (const Tuple<N> &tuple : table)
    detail::add_tuple(launcher, m, tuple, std::make_index_sequence<N>());
  launcher.flush();
}

// The same of vectors, with parts that suit their lengths.
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
