//===- MatmulRun.cpp - execute a matmul -----------------------------------===//
//
// An item is one C of the batch, or one strip of C. Workers take contiguous ranges of items. Each worker
// has a slice of the workspace: oneDNN's scratch memory, then the packed matrices.
//
//===----------------------------------------------------------------------===//

#include "cpu/MatmulPlan.h"

#include "MatmulPanels.h"
#include "host/Threads.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

using namespace braid;

void MatmulPlan::run(const char *a, const char *b, char *c, const char *bias, char *workspace) {
  int64_t count = items * strips;
  if (transposed)
    std::swap(a, b);
  if (paneled) {
    const MatmulOperand &matrix = shapes[0].b;
    parallelRanges(threads, panelCount(matrix.columns),
                   [&](int, int64_t begin, int64_t end) { copyPanels(matrix, b, workspace, begin, end); });
    b = workspace;
    workspace += bytesOfPanels();
  }
  if (mode == Mode::Team) {
    for (int64_t i = 0; i < count; ++i)
      runItem(0, i, a, b, c, bias, workspace);
    return;
  }
  // Items are divided among the workers, but the whole team runs, because its size never changes.
  parallelRanges(threads, threads, [&](int worker, int64_t, int64_t) {
    if (worker < workers)
      for (int64_t i = count * worker / workers; i < count * (worker + 1) / workers; ++i)
        runItem(worker, i, a, b, c, bias, workspace + worker * slice);
  });
}

void MatmulPlan::runItem(int worker, int64_t index, const char *a, const char *b, char *c, const char *bias,
                         char *workspace) {
  int64_t item = index / strips, strip = index % strips, row = strip * stripRows;
  bool tail = strip == strips - 1 && shapes[1].a.rows != stripRows;
  const Shape &shape = shapes[tail];
  a += shape.a.size * (loopOffset(item, d.n_batch, d.batch, d.a.batch_strides) + row * d.a.row_stride);
  b += shape.b.size * loopOffset(item, d.n_batch, d.batch, d.b.batch_strides);
  c += shape.c.size * (loopOffset(item, d.n_batch, d.batch, d.c.batch_strides) + row * d.c.row_stride);
  if (transposed && bias)
    bias += row * (d.bias_type == BR_BF16 ? 2 : 4);

  char *free = workspace + scratchBytes, *target = c;
  if (shape.packC) {
    target = free;
    free += align64(shapes[0].c.bytes());
    if (d.accumulate)
      copy(shape.c.packed(), target, shape.c, c);
  }
  for (int64_t j = 0; j < gemms; ++j) {
    char *rest = free;
    const char *aj =
        place(shape.packA, shape.a, a + shape.a.size * loopOffset(j, d.n_outer, d.outer, d.a.outer_strides), rest);
    const char *bj =
        place(shape.packB, shape.b, b + shape.b.size * loopOffset(j, d.n_outer, d.outer, d.b.outer_strides), rest);
    execute(variants[kindOf(j)][tail], worker, aj, bj, target, bias, workspace);
  }
  if (shape.packC)
    copy(shape.c, c, shape.c.packed(), target);
}

// Returns the address of the matrix for oneDNN: `in`, or a packed copy at `free`, which is advanced.
const char *MatmulPlan::place(bool pack, const MatmulOperand &from, const char *in, char *&free) {
  if (!pack)
    return in;
  char *out = free;
  copy(from.packed(), out, from, in);
  free += align64(from.bytes());
  return out;
}

void MatmulPlan::copy(const MatmulOperand &to, char *out, const MatmulOperand &from, const char *in) {
  int64_t lines = lineCount(from);
  if (mode != Mode::Team || from.bytes() < (64 << 10))
    return copyLines(to, out, from, in, 0, lines);
  parallelRanges(threads, lines, [&](int, int64_t begin, int64_t end) { copyLines(to, out, from, in, begin, end); });
}

void MatmulPlan::execute(Variant &variant, int worker, const char *a, const char *b, char *c, const char *bias,
                         char *scratch) {
  Slot &slot = variant.slots[worker];
  auto set = [](dnnl::memory &m, const char *p) {
    if (m)
      dnnl_memory_set_data_handle(m.get(), const_cast<char *>(p));
  };
  set(slot.a, a);
  set(slot.b, b);
  set(slot.c, c);
  set(slot.bias, bias);
  set(slot.scratch, scratch);
  dnnl_status_t status = dnnl_primitive_execute(variant.primitive.get(), slot.stream.get(),
                                                static_cast<int>(slot.args.size()), slot.args.data());
  if (status != dnnl_success) {
    // This cannot fail: the primitive was created for exactly these arguments.
    std::fprintf(stderr, "braid: oneDNN failed to run a matmul (status %d)\n", status);
    std::abort();
  }
}
