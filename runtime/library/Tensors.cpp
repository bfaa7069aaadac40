//===- Tensors.cpp - tensors that live across steps -----------------------===//

#include "base/NumberTypes.h"
#include "checkpoint/Weights.h"
#include "core/TensorPart.h"
#include "library/Handle.h"

#include <algorithm>
#include <cstring>

using namespace braid;

static_assert(int(BRAID_I8) == int(BR_I8) && int(BRAID_OPTIMIZER_STATE) == int(BR_OPTIMIZER_STATE) &&
              BRAID_MAX_DIMS == BR_MAX_RANK);

template <size_t n> static void copyDims(const TensorPart::Dims &from, int64_t (&to)[n]) {
  std::copy(from.begin(), from.end(), to);
}

// Whether the part holds every element, each at the sum of its indices times the strides.
static bool isWhole(const TensorPart &part, const int64_t *shape) {
  int64_t last = 0;
  for (int dim = 0; dim < part.rank; ++dim) {
    if (part.begin[dim] != 0 || part.indices(dim) != shape[dim] ||
        (part.fused[dim] > 1 && part.extent[dim] != part.length[dim]))
      return false;
    last += (shape[dim] - 1) * part.stride[dim];
  }
  return part.first == 0 && part.last > last;
}

void braid::describePart(const TensorPart &part, const int64_t *shape, braid_tensor &out) {
  out.rank = part.rank;
  std::copy_n(shape, part.rank, out.shape);
  copyDims(part.begin, out.begin);
  copyDims(part.extent, out.extent);
  copyDims(part.stride, out.stride);
  copyDims(part.fused, out.fused);
  copyDims(part.length, out.length);
  out.first = part.first;
  out.last = part.last;
  out.is_whole = isWhole(part, shape);
}

int32_t braid_tensor_count(const braid_step *step) {
  return counted(__func__, step, [&] { return step->table.n_tensors; });
}

static const br_tensor &tensorAt(const braid_step &step, int32_t index) {
  if (index < 0 || index >= step.table.n_tensors)
    fail("there is no tensor ", index, "; this rank has ", step.table.n_tensors);
  return step.table.tensors[index];
}

// Whether the tensor is the parameter of which others are copies; the compiler counts it to the optimizer's state.
static bool hasCopies(const br_model &table, const br_tensor &t) {
  const std::span<const br_tensor> tensors = tensorsOf(table);
  return std::any_of(tensors.begin(), tensors.end(), [&](const br_tensor &other) {
    return other.copy_of && std::string_view(other.copy_of) == t.name;
  });
}

braid_status braid_get_tensor(const braid_step *step, int32_t index, braid_tensor *out) {
  return guarded(__func__, {{"step", step}, {"tensor", out}}, [&] {
    const br_tensor &t = tensorAt(*step, index);
    const TensorPart part = partOf(step->table, t, step->model.rank().number);
    *out = {};
    out->name = t.name;
    out->category = hasCopies(step->table, t) ? BRAID_PARAMETER : static_cast<braid_category>(t.category);
    out->type = static_cast<braid_type>(t.dtype);
    describePart(part, t.shape, *out);
    out->is_whole = out->is_whole && t.partial == 0;
    out->on_host = t.on_host || !isForDevice(step->table);
    out->data = (t.on_host ? step->model.hostMemory() : step->model.arena()) + t.offset;
    out->bytes = t.bytes;
    out->copy_of = t.copy_of;
    out->in_checkpoint = t.checkpoint;
  });
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

// Calls f for the tensor, and for its copies if they count.
template <class F>
static bool forEachOfName(const br_model &table, std::string_view name, bool withCopies, const F &f) {
  bool any = false;
  for (const br_tensor &t : tensorsOf(table))
    if (name == t.name || (withCopies && name == nameInFile(t))) {
      f(t);
      any = true;
    }
  return any;
}

[[noreturn]] static void failForName(const br_model &table, const char *name) {
  fail("model '", table.name, "' has no tensor '", name, "' on this rank");
}

// Whether another rank has the tensor, or a copy of it.
static bool isOfOthers(const br_model &table, std::string_view name) {
  for (const br_model *model = &libraryModel(); model; model = model->others)
    if (model != &table && forEachOfName(*model, name, true, [](const br_tensor &) {}))
      return true;
  return false;
}

braid_status braid_write_tensor(braid_step *step, const char *name, braid_type type, const void *values) {
  return guarded(__func__, {{"step", step}, {"name", name}, {"values", values}}, [&] {
    step->enter();
    const br_dtype given = checkedType(type);
    const bool isKnown = forEachOfName(step->table, name, true, [&](const br_tensor &t) {
      const TensorPart part = partOf(step->table, t, step->model.rank().number);
      step->model.onHost(t, Use::Update, [&](std::byte *memory) {
        convertShared(t.dtype, part, memory, given, wholeTensor(shapeOf(t)), static_cast<const std::byte *>(values));
      });
    });
    if (!isKnown && !isOfOthers(step->table, name))
      failForName(step->table, name);
  });
}

braid_status braid_read_tensor(braid_step *step, const char *name, braid_type type, void *values) {
  return guarded(__func__, {{"step", step}, {"name", name}, {"values", values}}, [&] {
    step->enter();
    const br_dtype wanted = checkedType(type);
    const bool isKnown = forEachOfName(step->table, name, false, [&](const br_tensor &t) {
      const TensorPart part = partOf(step->table, t, step->model.rank().number);
      step->model.onHost(t, Use::Read, [&](const std::byte *memory) {
        convertShared(wanted, wholeTensor(shapeOf(t)), static_cast<std::byte *>(values), t.dtype, part, memory);
      });
    });
    if (!isKnown && !isOfOthers(step->table, name))
      failForName(step->table, name);
  });
}

static int64_t elementsShared(const TensorPart &a, const TensorPart &b) {
  int64_t count = 0;
  forEachRun(a, b, [&](const Run &run) { count += run.count; });
  return count;
}

static void renewCopy(braid_step &step, const br_tensor &copy) {
  const int rank = step.model.rank().number;
  const br_tensor *of = findTensor(step.table, copy.copy_of);
  const TensorPart to = partOf(step.table, copy, rank);
  const int64_t elements = elementsShared(to, wholeTensor(shapeOf(copy)));
  if (elements == 0)
    return;
  if (!of || elementsShared(to, partOf(step.table, *of, rank)) != elements)
    fail("'", copy.name, "' has elements of '", copy.copy_of,
         "' that other ranks hold; write the whole parameter by braid_write_tensor");
  step.model.onHost(*of, Use::Read, [&](const std::byte *from) {
    step.model.onHost(copy, Use::Update, [&](std::byte *memory) {
      convertShared(copy.dtype, to, memory, of->dtype, partOf(step.table, *of, rank), from);
    });
  });
}

braid_status braid_renew_copies(braid_step *step) {
  return guarded(__func__, {{"step", step}}, [&] {
    step->enter();
    for (const br_tensor &t : tensorsOf(step->table))
      if (t.copy_of)
        renewCopy(*step, t);
  });
}
