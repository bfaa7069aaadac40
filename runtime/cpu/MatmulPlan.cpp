//===- MatmulPlan.cpp - how one matrix product runs -------------------------===//
//
// oneDNN sees one matrix product at a time; batch and outer loops are ours.  Two
// facts of oneDNN 2.6 shape the choice of a mode: its fast implementation takes
// scratch memory for each thread (about 1.3 MiB at most), much more where it
// cuts k over many threads; and its fallback ("gemm:jit") takes none but
// allocates on the heap in every call.
//
//===----------------------------------------------------------------------===//

#include "cpu/MatmulPlan.h"

#include "core/Error.h"
#include "core/Format.h"
#include "cpu/Threads.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace braid;
using dnnl::memory;

namespace {

memory::data_type dataType(br_dtype type, const std::string &where) {
  if (type == BR_F32)
    return memory::data_type::f32;
  if (type == BR_BF16)
    return memory::data_type::bf16;
  fail(where, ": matrices of f32 and bf16 can be multiplied, not of other types");
}

int64_t sizeOf(br_dtype type) { return type == BR_BF16 ? 2 : 4; }

// A dimension of size 1 has no meaningful stride: give it the one that makes the
// matrix look dense, so that oneDNN recognises the layout.
void normaliseStrides(int64_t rows, int64_t columns, int64_t &byRow, int64_t &byColumn) {
  if (columns == 1 && rows == 1)
    byRow = byColumn = 1;
  else if (columns == 1)
    byColumn = 1, byRow = std::max<int64_t>(byRow, 1);
  else if (rows == 1)
    byRow = byColumn == 1 ? columns : 1;
}

// C' = B' A': how to store into a C whose columns are contiguous.
void transpose(br_matmul_desc &d) {
  std::swap(d.m, d.n);
  std::swap(d.c_m, d.c_n);
  int64_t a_m = d.a_m, a_k = d.a_k;
  d.a_m = d.b_n, d.a_k = d.b_k;
  d.b_n = a_m, d.b_k = a_k;
  std::swap(d.a_type, d.b_type);
  std::swap(d.a_batch, d.b_batch);
  std::swap(d.a_outer, d.b_outer);
}

// Offset of combination `index` of the loops, the last varying fastest.
int64_t loopOffset(int64_t index, int32_t n, const int64_t *size, const int64_t *stride) {
  int64_t offset = 0;
  for (int32_t i = n - 1; i >= 0; --i) {
    offset += index % size[i] * stride[i];
    index /= size[i];
  }
  return offset;
}

// Small products gain more from running side by side than from being cut.
constexpr double smallFlops = 64e6;

uint64_t align64(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

} // namespace

MatmulPlan::MatmulPlan(const br_matmul_desc &desc, int threads, const std::string &where)
    : d(desc), threads(threads), engine(dnnl::engine::kind::cpu, 0) {
  dataType(d.a_type, where), dataType(d.b_type, where), dataType(d.c_type, where);
  if (d.m <= 0 || d.n <= 0 || d.k <= 0)
    fail(where, ": sizes must be positive");
  normaliseStrides(d.m, d.k, d.a_m, d.a_k);
  normaliseStrides(d.k, d.n, d.b_k, d.b_n);
  normaliseStrides(d.m, d.n, d.c_m, d.c_n);
  if (d.c_n != 1 && d.c_m == 1) {
    transposed = true;
    transpose(d);
  }
  for (int32_t i = 0; i < d.n_batch; ++i)
    items *= d.batch[i];
  for (int32_t i = 0; i < d.n_outer; ++i)
    products *= d.outer[i];
  if (products > 1 && d.accumulate && d.epilogue != BR_EPILOGUE_NONE)
    fail(where, ": an epilogue cannot be combined with both accumulate and outer "
                "loops; split off the activation");

  bool sideBySide = threads > 1 && items > 1 &&
                    (items >= 2 * threads || 2.0 * d.m * d.n * d.k < smallFlops);
  if ((sideBySide && tryMode(Mode::Items, 1, false)) ||
      tryMode(Mode::Team, threads, false) || tryMode(Mode::Strips, 1, false) ||
      tryMode(Mode::Team, threads, true))
    return;

  uint64_t needed = 0;
  setThreads(1);
  Variant probe;
  bool exists = createVariant(probe, d.m, First, false, needed);
  setThreads(threads);
  if (!exists)
    fail(where, ": this processor's oneDNN has no implementation for these types");
  fail(where, ": needs at least ", align64(needed), " bytes of workspace, and the plan gives it ",
       desc.workspace_bytes, "; compile with a larger workspace");
}

bool MatmulPlan::kindExists(Kind kind) const {
  return kind == Last || (kind == First && products > 1) ||
         (kind == Middle && products > 2);
}

MatmulPlan::Kind MatmulPlan::kindOf(int64_t product) const {
  return product == products - 1 ? Last : product == 0 ? First : Middle;
}

// Creates every primitive for `mode` with oneDNN using `insideThreads` threads;
// false when the scratch memory does not fit the workspace.
bool MatmulPlan::tryMode(Mode newMode, int insideThreads, bool anyImplementation) {
  mode = newMode;
  strips = 1;
  stripRows = d.m;
  if (mode == Mode::Strips) {
    stripRows = (d.m + threads - 1) / threads;
    stripRows = (stripRows + 15) / 16 * 16;
    strips = (d.m + stripRows - 1) / stripRows;
  }
  int64_t lastRows = d.m - (strips - 1) * stripRows;

  setThreads(insideThreads);
  bool created = true;
  uint64_t scratch = 0;
  for (int kind = First; kind < NumKinds && created; ++kind) {
    for (int tail = 0; tail < 2; ++tail)
      variants[kind][tail] = Variant();
    if (!kindExists(static_cast<Kind>(kind)))
      continue;
    created = createVariant(variants[kind][0], stripRows, static_cast<Kind>(kind),
                            anyImplementation, scratch);
    if (created && lastRows != stripRows)
      created = createVariant(variants[kind][1], lastRows, static_cast<Kind>(kind),
                              anyImplementation, scratch);
  }
  setThreads(threads);
  if (!created)
    return false;

  slice = align64(scratch);
  uint64_t fits = slice ? d.workspace_bytes / slice : threads;
  workers = mode == Mode::Team ? 1 : static_cast<int>(std::min<uint64_t>(threads, fits));
  if (fits == 0 || (mode == Mode::Items && workers < threads))
    return false;
  for (auto &pair : variants)
    for (Variant &variant : pair)
      if (variant.primitive)
        addSlots(variant);
  return true;
}

dnnl::primitive_attr MatmulPlan::attributes(Kind kind, int64_t rows) const {
  bool adds = d.accumulate || (products > 1 && kind != First);
  bool finishes = kind == Last;
  dnnl::post_ops post;
  // With several products C holds a partial sum, which the activation includes;
  // with one it holds the old value, which is added to the activation's result.
  if (finishes && transposed && d.has_bias)
    post.append_binary(dnnl::algorithm::binary_add,
                       memory::desc({rows, 1}, memory::data_type::f32,
                                    memory::dims{1, 1}));
  if (adds && (products > 1 || d.epilogue == BR_EPILOGUE_NONE))
    post.append_sum(1.0f);
  if (finishes && d.epilogue == BR_EPILOGUE_GELU_TANH)
    post.append_eltwise(1.0f, dnnl::algorithm::eltwise_gelu_tanh, 0, 0);
  if (finishes && d.epilogue == BR_EPILOGUE_GELU_ERF)
    post.append_eltwise(1.0f, dnnl::algorithm::eltwise_gelu_erf, 0, 0);
  if (finishes && d.epilogue == BR_EPILOGUE_SILU)
    post.append_eltwise(1.0f, dnnl::algorithm::eltwise_swish, 1.0f, 0);
  if (adds && products == 1 && d.epilogue != BR_EPILOGUE_NONE)
    post.append_sum(1.0f);
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attr.set_post_ops(post);
  return attr;
}

// One primitive for `rows` rows of C.  `scratch` grows to what it needs.
bool MatmulPlan::createVariant(Variant &variant, int64_t rows, Kind kind,
                               bool anyImplementation, uint64_t &scratch) {
  memory::desc a({rows, d.k}, dataType(d.a_type, ""), memory::dims{d.a_m, d.a_k});
  memory::desc b({d.k, d.n}, dataType(d.b_type, ""), memory::dims{d.b_k, d.b_n});
  memory::desc c({rows, d.n}, dataType(d.c_type, ""), memory::dims{d.c_m, d.c_n});
  memory::desc bias({1, d.n}, memory::data_type::f32, memory::dims{d.n, 1});
  bool addsBias = kind == Last && d.has_bias && !transposed;
  dnnl::matmul::desc desc = addsBias ? dnnl::matmul::desc(a, b, bias, c)
                                     : dnnl::matmul::desc(a, b, c);
  dnnl::matmul::primitive_desc pd(desc, attributes(kind, rows), engine,
                                  /*allow_empty=*/true);
  if (!pd)
    return false;
  while (anyImplementation && pd.scratchpad_desc().get_size() > d.workspace_bytes)
    if (!pd.next_impl() || std::string(pd.impl_info_str()).rfind("ref", 0) == 0)
      return false;
  scratch = std::max<uint64_t>(scratch, pd.scratchpad_desc().get_size());
  implementation = pd.impl_info_str();
  variant.description = pd;
  variant.primitive = dnnl::matmul(pd);
  return true;
}

void MatmulPlan::addSlots(Variant &variant) {
  const dnnl::matmul::primitive_desc &pd = variant.description;
  memory::desc rowBias({pd.dst_desc().dims()[0], 1}, memory::data_type::f32,
                       memory::dims{1, 1});
  for (int worker = 0; worker < workers; ++worker) {
    Slot slot;
    auto add = [&](memory &place, int argument, const memory::desc &desc) {
      place = memory(desc, engine, nullptr);
      slot.args.push_back({argument, place.get()});
    };
    add(slot.a, DNNL_ARG_SRC, pd.src_desc());
    add(slot.b, DNNL_ARG_WEIGHTS, pd.weights_desc());
    add(slot.c, DNNL_ARG_DST, pd.dst_desc());
    if (pd.bias_desc().data.ndims)
      add(slot.bias, DNNL_ARG_BIAS, pd.bias_desc());
    else if (transposed && d.has_bias && &variant >= variants[Last])
      add(slot.bias, DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, rowBias);
    if (pd.scratchpad_desc().get_size())
      add(slot.scratch, DNNL_ARG_SCRATCHPAD, pd.scratchpad_desc());
    slot.stream = dnnl::stream(engine);
    variant.slots.push_back(std::move(slot));
  }
}

void MatmulPlan::run(const char *a, const char *b, char *c, const char *bias,
                     char *workspace) {
  int64_t count = items * strips;
  if (transposed)
    std::swap(a, b);
  if (mode == Mode::Team)
    return runItems(0, 0, count, a, b, c, bias, workspace);
  // Cut by workers, but run by the whole team, whose size never changes.
  parallelRanges(threads, threads, [&](int worker, int64_t, int64_t) {
    if (worker < workers)
      runItems(worker, count * worker / workers, count * (worker + 1) / workers, a,
               b, c, bias, workspace);
  });
}

void MatmulPlan::runItems(int worker, int64_t begin, int64_t end, const char *a,
                          const char *b, char *c, const char *bias,
                          char *workspace) {
  int64_t sizeA = sizeOf(d.a_type), sizeB = sizeOf(d.b_type), sizeC = sizeOf(d.c_type);
  for (int64_t i = begin; i < end; ++i) {
    int64_t item = i / strips, strip = i % strips, row = strip * stripRows;
    bool tail = strip == strips - 1 && variants[Last][1].primitive;
    const char *ai = a + sizeA * (loopOffset(item, d.n_batch, d.batch, d.a_batch) + row * d.a_m);
    const char *bi = b + sizeB * loopOffset(item, d.n_batch, d.batch, d.b_batch);
    char *ci = c + sizeC * (loopOffset(item, d.n_batch, d.batch, d.c_batch) + row * d.c_m);
    for (int64_t j = 0; j < products; ++j)
      execute(variants[kindOf(j)][tail], worker,
              ai + sizeA * loopOffset(j, d.n_outer, d.outer, d.a_outer),
              bi + sizeB * loopOffset(j, d.n_outer, d.outer, d.b_outer), ci,
              transposed ? bias + row * sizeof(float) : bias,
              workspace + worker * slice);
  }
}

void MatmulPlan::execute(Variant &variant, int worker, const char *a, const char *b,
                         char *c, const char *bias, char *workspace) {
  Slot &slot = variant.slots[worker];
  auto place = [](memory &m, const char *p) {
    if (m)
      dnnl_memory_set_data_handle(m.get(), const_cast<char *>(p));
  };
  place(slot.a, a);
  place(slot.b, b);
  place(slot.c, c);
  place(slot.bias, bias);
  place(slot.scratch, workspace);
  dnnl_status_t status =
      dnnl_primitive_execute(variant.primitive.get(), slot.stream.get(),
                             static_cast<int>(slot.args.size()), slot.args.data());
  if (status != dnnl_success) {
    // The primitive was created for exactly these arguments.
    std::fprintf(stderr, "braid: oneDNN failed to run a matmul (status %d)\n", status);
    std::abort();
  }
}

std::string MatmulPlan::describe() const {
  static const char *const names[] = {"team", "items", "strips"};
  std::string text = concat(names[static_cast<int>(mode)], " ", implementation, ", ",
                            formatBytes(slice * workers), " of workspace");
  if (mode != Mode::Team)
    text += concat(", ", workers, " workers");
  return text;
}
