//===- MatmulPlan.cpp - the execution plan of a matmul --------------------===//
//
// oneDNN gets one matmul at a time; the batch and outer loops are here. Three facts about oneDNN 2.6
// determine the choice. Its fast implementation ("brg") needs scratch memory per thread (at most about 1.3
// MiB), and much more if it splits k over many threads. It needs dense matrices; other matrices are packed
// into the workspace. Its fallback ("gemm:jit") needs no scratch memory but allocates on the heap in every
// call, so it is the last choice. If the descriptor requires it, B is copied into panels at the start of
// the workspace.
//
//===----------------------------------------------------------------------===//

#include "cpu/MatmulPlan.h"

#include "MatmulPanels.h"
#include "base/Error.h"
#include "base/Format.h"
#include "host/Threads.h"

using namespace braid;
using dnnl::memory;

namespace {

memory::data_type dataType(br_dtype type) { return type == BR_BF16 ? memory::data_type::bf16 : memory::data_type::f32; }

void checkType(br_dtype type, const std::string &where) {
  if (type != BR_F32 && type != BR_BF16)
    fail(where, ": only matrices of f32 and bf16 can be multiplied");
}

memory::desc describeMatrix(const MatmulOperand &m, br_dtype type) {
  return memory::desc({m.rows, m.columns}, dataType(type), memory::dims{m.byRow, m.byColumn});
}

// Sets the stride of a dimension of size 1, which has no meaning, so that the matrix looks dense and oneDNN
// recognizes the layout.
void normaliseStrides(int64_t rows, int64_t columns, br_matrix &matrix) {
  int64_t &byRow = matrix.row_stride, &byColumn = matrix.column_stride;
  if (columns == 1 && rows == 1)
    byRow = byColumn = 1;
  else if (columns == 1)
    byColumn = 1, byRow = std::max<int64_t>(byRow, 1);
  else if (rows == 1)
    byRow = byColumn == 1 ? columns : 1;
}

// Rewrites C = A B as C' = B' A', to store into a C with contiguous columns.
void transpose(br_matmul_desc &d) {
  std::swap(d.m, d.n);
  std::swap(d.a, d.b);
  d.copy_b = 0; // B is A now
  for (br_matrix *matrix : {&d.a, &d.b, &d.c})
    std::swap(matrix->row_stride, matrix->column_stride);
}

bool isFast(const std::string &implementation) { return implementation.rfind("brg", 0) == 0; }

// Below this, matmuls gain more from running side by side than from being split.
constexpr double smallFlops = 64e6;

// Strips are made smaller until they fit, up to this many per thread.
constexpr int64_t maxStripsPerThread = 64;

} // namespace

MatmulPlan::MatmulPlan(const br_matmul_desc &desc, int threads, const std::string &where)
    : d(desc), threads(threads), where(where), engine(dnnl::engine::kind::cpu, 0) {
  normalise();
  packing = hasFastWhenDense();
  const bool hasLines = d.b.row_stride == 1 || d.b.column_stride == 1;
  paneled = packing && d.copy_b && d.b.type == BR_BF16 && hasLines && items == 1 && gemms == 1;
  if (paneled && choose())
    return;
  paneled = false;
  if (packing && choose())
    return;
  packing = false;
  if (choose() || tryMode(Mode::Team, 1, /*anyImplementation=*/true))
    return;

  shapes[0] = shapeOf(d.m);
  uint64_t needed = 0;
  Variant probe;
  setThreads(1);
  bool exists = createVariant(probe, shapes[0], Last, false, needed);
  setThreads(threads);
  if (!exists)
    fail(where, ": this processor's oneDNN has no implementation for these types");
  fail(where, ": needs at least ", align64(needed), " bytes of workspace, but the plan gives it ", desc.workspace_bytes,
       "; compile with a larger workspace");
}

void MatmulPlan::normalise() {
  for (const br_matrix *matrix : {&d.a, &d.b, &d.c})
    checkType(matrix->type, where);
  if (d.has_bias)
    checkType(d.bias_type, where);
  if (d.m <= 0 || d.n <= 0 || d.k <= 0)
    fail(where, ": sizes must be positive");
  normaliseStrides(d.m, d.k, d.a);
  normaliseStrides(d.k, d.n, d.b);
  normaliseStrides(d.m, d.n, d.c);
  if (d.c.column_stride != 1 && d.c.row_stride == 1) {
    transposed = true;
    transpose(d);
  }
  for (int32_t i = 0; i < d.n_batch; ++i)
    items *= d.batch[i];
  for (int32_t i = 0; i < d.n_outer; ++i)
    gemms *= d.outer[i];
  if (d.has_aux || d.epilogue == BR_EPILOGUE_GELU_TANH_GRAD)
    fail(where, ": oneDNN neither keeps GELU's input nor has GELU's gradient as an epilogue");
  if (gemms > 1 && d.accumulate && d.epilogue != BR_EPILOGUE_NONE)
    fail(where, ": an epilogue cannot be combined with both accumulate and outer loops; split off the activation");
}

// Whether dense matrices would get oneDNN's fast implementation here.
bool MatmulPlan::hasFastWhenDense() {
  packing = true;
  uint64_t ignored = 0;
  Variant probe;
  setThreads(1);
  bool fast = createVariant(probe, shapeOf(d.m), Last, false, ignored) && isFast(implementation);
  setThreads(threads);
  return fast;
}

// Chooses the first mode whose scratch memory and packed matrices fit the workspace.
bool MatmulPlan::choose() {
  bool sideBySide = threads > 1 && items > 1 && (items >= 2 * threads || 2.0 * d.m * d.n * d.k < smallFlops);
  if (sideBySide && tryMode(Mode::Items, 1, false, threads))
    return true;
  if (tryMode(Mode::Team, 1, false))
    return true;
  // Smaller strips are better than fewer workers.
  for (int minWorkers : {threads, 1})
    for (int64_t parts = threads; parts <= threads * maxStripsPerThread; parts *= 2)
      if (tryMode(Mode::Strips, parts, false, minWorkers))
        return true;
  return false;
}

bool MatmulPlan::tryMode(Mode newMode, int64_t parts, bool anyImplementation, int minWorkers) {
  mode = newMode;
  stripRows = parts == 1 ? d.m : ((d.m + parts - 1) / parts + 15) / 16 * 16;
  strips = (d.m + stripRows - 1) / stripRows;
  shapes[0] = shapeOf(stripRows);
  shapes[1] = shapeOf(d.m - (strips - 1) * stripRows);

  uint64_t scratch = 0;
  setThreads(mode == Mode::Team ? threads : 1);
  bool created = createVariants(anyImplementation, scratch);
  setThreads(threads);
  if (!created || (packing && !isFast(implementation)) || !fitWorkers(scratch, minWorkers))
    return false;
  for (auto &pair : variants)
    for (Variant &variant : pair)
      if (variant.primitive)
        addSlots(variant);
  return true;
}

MatmulPlan::Shape MatmulPlan::shapeOf(int64_t rows) const {
  auto size = [](br_dtype type) { return type == BR_BF16 ? 2 : 4; };
  Shape shape;
  shape.a = {rows, d.k, d.a.row_stride, d.a.column_stride, size(d.a.type)};
  shape.b = {d.k, d.n, d.b.row_stride, d.b.column_stride, size(d.b.type)};
  shape.c = {rows, d.n, d.c.row_stride, d.c.column_stride, size(d.c.type)};
  shape.packA = packing && !shape.a.isDense();
  shape.packB = packing && !paneled && !shape.b.isDense();
  shape.packC = packing && !(shape.c.isRowMajor() && shape.c.isDense());
  return shape;
}

uint64_t MatmulPlan::bytesOfPanels() const { return paneled ? static_cast<uint64_t>(panelBytes(d.k, d.n)) : 0; }

bool MatmulPlan::kindExists(Kind kind) const {
  return kind == Last || (kind == First && gemms > 1) || (kind == Middle && gemms > 2);
}

MatmulPlan::Kind MatmulPlan::kindOf(int64_t gemm) const {
  return gemm == gemms - 1 ? Last : gemm == 0 ? First : Middle;
}

bool MatmulPlan::addsToC(Kind kind) const { return d.accumulate || (gemms > 1 && kind != First); }

bool MatmulPlan::createVariants(bool anyImplementation, uint64_t &scratch) {
  for (int kind = First; kind < NumKinds; ++kind)
    for (int tail = 0; tail < 2; ++tail) {
      Variant &variant = variants[kind][tail];
      variant = Variant();
      bool exists = kindExists(static_cast<Kind>(kind)) && (!tail || shapes[1].a.rows != stripRows);
      if (exists && !createVariant(variant, shapes[tail], static_cast<Kind>(kind), anyImplementation, scratch))
        return false;
    }
  return true;
}

// Creates one primitive; increases `scratch` to the bytes that it needs.
bool MatmulPlan::createVariant(Variant &variant, const Shape &shape, Kind kind, bool anyImplementation,
                               uint64_t &scratch) {
  memory::desc a = describeMatrix(shape.packA ? shape.a.packed() : shape.a, d.a.type);
  memory::desc b = describeMatrix(shape.packB ? shape.b.packed() : shape.b, d.b.type);
  if (paneled)
    b = memory::desc({d.k, d.n}, dataType(d.b.type), memory::format_tag::any);
  memory::desc c = describeMatrix(shape.packC ? shape.c.packed() : shape.c, d.c.type);
  memory::desc bias({1, d.n}, dataType(d.bias_type), memory::dims{d.n, 1});
  bool addsBias = kind == Last && d.has_bias && !transposed;
  dnnl::matmul::desc desc = addsBias ? dnnl::matmul::desc(a, b, bias, c) : dnnl::matmul::desc(a, b, c);
  dnnl::matmul::primitive_desc pd(desc, attributes(kind, shape.c.rows), engine,
                                  /*allow_empty=*/true);
  if (!pd || (paneled && !arePanels(pd.weights_desc())))
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

dnnl::primitive_attr MatmulPlan::attributes(Kind kind, int64_t rows) const {
  bool adds = addsToC(kind), finishes = kind == Last;
  dnnl::post_ops post;
  if (finishes && transposed && d.has_bias)
    post.append_binary(dnnl::algorithm::binary_add, memory::desc({rows, 1}, dataType(d.bias_type), memory::dims{1, 1}));
  // With several GEMMs, C holds a partial sum, to which the activation is applied as well. With one GEMM, C
  // holds the old value, which is added after the activation.
  if (adds && (gemms > 1 || d.epilogue == BR_EPILOGUE_NONE))
    post.append_sum(1.0f);
  if (finishes && d.epilogue == BR_EPILOGUE_GELU_TANH)
    post.append_eltwise(1.0f, dnnl::algorithm::eltwise_gelu_tanh, 0, 0);
  if (finishes && d.epilogue == BR_EPILOGUE_GELU_ERF)
    post.append_eltwise(1.0f, dnnl::algorithm::eltwise_gelu_erf, 0, 0);
  if (finishes && d.epilogue == BR_EPILOGUE_SILU)
    post.append_eltwise(1.0f, dnnl::algorithm::eltwise_swish, 1.0f, 0);
  if (adds && gemms == 1 && d.epilogue != BR_EPILOGUE_NONE)
    post.append_sum(1.0f);
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attr.set_post_ops(post);
  return attr;
}

// Sets the number of workers for which the workspace has room.
bool MatmulPlan::fitWorkers(uint64_t scratch, int minWorkers) {
  const Shape &shape = shapes[0];
  scratchBytes = align64(scratch);
  slice = scratchBytes + (shape.packA ? align64(shape.a.bytes()) : 0) + (shape.packB ? align64(shape.b.bytes()) : 0) +
          (shape.packC ? align64(shape.c.bytes()) : 0);
  if (bytesOfPanels() > d.workspace_bytes)
    return false;
  uint64_t fits = slice ? (d.workspace_bytes - bytesOfPanels()) / slice : static_cast<uint64_t>(threads);
  workers = mode == Mode::Team ? 1 : static_cast<int>(std::min<uint64_t>(fits, static_cast<uint64_t>(threads)));
  return fits > 0 && workers >= minWorkers;
}

void MatmulPlan::addSlots(Variant &variant) {
  const dnnl::matmul::primitive_desc &pd = variant.description;
  memory::desc rowBias({pd.dst_desc().dims()[0], 1}, dataType(d.bias_type), memory::dims{1, 1});
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

std::string MatmulPlan::describe() const {
  static const char *const names[] = {"team", "items", "strips"};
  std::string text = concat(names[static_cast<int>(mode)], " ", implementation, ", ",
                            formatBytes(bytesOfPanels() + slice * workers), " of workspace");
  if (mode != Mode::Team)
    text += concat(", ", workers, " workers");
  if (mode == Mode::Strips)
    text += concat(", ", strips, " strips");
  if (shapes[0].packA || shapes[0].packB || shapes[0].packC)
    text += concat(", packs", shapes[0].packA ? " A" : "", shapes[0].packB ? " B" : "", shapes[0].packC ? " C" : "");
  if (paneled)
    text += ", B in panels";
  return text;
}
