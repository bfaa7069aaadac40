//===- Launch.h - launch kernels in generated programs --------------------===//
//
// A kernel is a function of a `Block` and of pointers. The unit of a block depends on the kernel: rows,
// blocks of rows, or lanes. The split into blocks never changes a result: only `launch_blocks` has one
// partial sum per block, and its split depends on its arguments only, never on the thread count.
//
//   static void scale(Block block, const float *__restrict x, float *__restrict y);
//
//   const Memory m(ctx);
//   launch_rows(ctx, 256, 768, scale, m[0], m[786432]);
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CPU_LAUNCH_H
#define BRAID_CPU_LAUNCH_H

#include "braid_rt.h"

#include "LaneReduce.h"
#include "Lanes.h"

#include <utility>

namespace braid {

// Rows (or lanes) [begin, end) of a kernel, and the index of this block.
struct Block {
  int64_t begin, end, id;
};

// The arena. `m[offset]` is a pointer to that byte; it converts to any pointer type. `m.in(3, offset)`
// points into the slot of br_model.slots[3] that the run uses; the offset is that in the first slot.
// `m.at(12)` reports that action 12 is next, if the program is measured.
class Memory {
public:
  struct Address {
    char *byte;
    template <class T> operator T *() const { return reinterpret_cast<T *>(byte); }
  };

  explicit Memory(br_context *ctx)
      : base(static_cast<char *>(br_arena(ctx))), ctx(ctx), measured(br_is_measured(ctx) ? ctx : nullptr) {}
  Address operator[](uint64_t offset) const { return {base + offset}; }
  Address in(int32_t slots, uint64_t offset) const { return {base + offset + br_slot(ctx, slots)}; }
  void at(int32_t action) const {
    if (measured) [[unlikely]]
      br_action(measured, action);
  }

private:
  char *base;
  br_context *ctx, *measured;
};

//===----------------------------------------------------------------------===//
// Loops over lanes
//===----------------------------------------------------------------------===//

// Stands for a lane count of W.
struct Whole {};

template <class T> inline auto ld(const T *p, Whole) { return ld(p); }
template <class T, class X> inline void st(T *p, X v, Whole) { st(p, v); }
template <class T, class X> inline void st_streamed(T *p, X v, Whole) { st_streamed(p, v); }
template <class T> inline auto ld_strided(const T *p, int64_t stride, Whole) { return ld_strided(p, stride); }
template <class T, class X> inline void st_strided(T *p, int64_t stride, X v, Whole) { st_strided(p, stride, v); }
template <class X, class E> inline X keep(X v, Whole, E) { return v; }

// Calls f(l, n) for the lanes [begin, end), W at a time: n is `Whole`, or the number of remaining lanes.
template <class F> inline void lanes(int64_t begin, int64_t end, const F &f) {
  int64_t l = begin;
  for (; l + W <= end; l += W)
    f(l, Whole{});
  if (l < end)
    f(l, end - l);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

// Number of elements below which waking threads costs more than it gains.
constexpr int64_t serial_elements = 8192;
// Lanes in a unit of work: whole units keep threads off each other's cache lines.
constexpr int64_t lane_unit = 64;

template <class F> inline void parallel(br_context *ctx, int64_t count, const F &f) {
  br_parallel(
      ctx, count, [](void *arg, int64_t begin, int64_t end) { (*static_cast<const F *>(arg))(begin, end); },
      const_cast<F *>(&f));
}

// The launches are not inlined: a program has thousands, and one copy per signature is enough.

// One block of whole rows per thread.
template <class... P, class... A>
[[gnu::noinline]] inline void launch_rows(br_context *ctx, int64_t rows, int64_t lanes, void (*kernel)(Block, P...),
                                          A... args) {
  if (rows == 1 || rows * lanes <= serial_elements)
    return kernel(Block{0, rows, 0}, args...);
  parallel(ctx, rows, [&](int64_t begin, int64_t end) { kernel(Block{begin, end, 0}, args...); });
}

// `blocks` blocks of `rows` rows each.
template <class... P, class... A>
[[gnu::noinline]] inline void launch_blocks(br_context *ctx, int64_t blocks, int64_t rows, int64_t lanes,
                                            void (*kernel)(Block, P...), A... args) {
  auto run = [&](int64_t begin, int64_t end) {
    for (int64_t id = begin; id < end; ++id)
      kernel(Block{id * rows, (id + 1) * rows, id}, args...);
  };
  if (blocks == 1 || blocks * rows * lanes <= serial_elements)
    return run(0, blocks);
  parallel(ctx, blocks, run);
}

// One block of lanes per thread; every block has all rows.
template <class... P, class... A>
[[gnu::noinline]] inline void launch_lanes(br_context *ctx, int64_t rows, int64_t lanes, void (*kernel)(Block, P...),
                                           A... args) {
  if (rows * lanes <= serial_elements)
    return kernel(Block{0, lanes, 0}, args...);
  parallel(ctx, (lanes + lane_unit - 1) / lane_unit, [&](int64_t begin, int64_t end) {
    kernel(Block{begin * lane_unit, minimum(end * lane_unit, lanes), 0}, args...);
  });
}

// One of many vectors, or of many tensors of the same shape, that a kernel runs over: the number of lanes
// or rows, and the operands as arena offsets.
template <size_t N> struct Tuple {
  int64_t length;
  uint64_t operands[N];
};

namespace detail {
template <class... P, size_t N, size_t... I>
inline void call(void (*kernel)(Block, P...), Block block, Memory m, const Tuple<N> &tuple, std::index_sequence<I...>) {
  kernel(block, m[tuple.operands[I]]...);
}
} // namespace detail

// Runs a kernel over all tuples of a table as one launch. Lanes or rows are divided into units of `Unit`;
// each lane or row has `each` elements.
template <int64_t Unit = lane_unit, size_t N, size_t T, class... P>
inline void launch_table(br_context *ctx, Memory m, const Tuple<N> (&table)[T], void (*kernel)(Block, P...),
                         int64_t each = 1) {
  static_assert(sizeof...(P) == N);
  auto units = [](const Tuple<N> &tuple) { return (tuple.length + Unit - 1) / Unit; };
  int64_t total = 0;
  for (const Tuple<N> &tuple : table)
    total += units(tuple);
  auto run = [&](int64_t begin, int64_t end) {
    int64_t first = 0; // first unit of the tuple
    for (const Tuple<N> &tuple : table) {
      int64_t from = maximum(begin - first, int64_t{0});
      int64_t to = minimum(end - first, units(tuple));
      if (from < to)
        detail::call(kernel, Block{from * Unit, minimum(to * Unit, tuple.length), 0}, m, tuple,
                     std::index_sequence_for<P...>());
      first += units(tuple);
    }
  };
  if (total * Unit * each <= serial_elements)
    return run(0, total);
  parallel(ctx, total, run);
}

} // namespace braid
#endif // BRAID_CPU_LAUNCH_H
