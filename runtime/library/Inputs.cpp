//===- Inputs.cpp - values of a model's inputs ----------------------------===//

#include "library/Inputs.h"

#include "base/Error.h"
#include "base/Format.h"
#include "base/NumberTypes.h"

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace braid;

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

static bool isFloat(br_dtype type) { return type == BR_F64 || type == BR_F32 || type == BR_BF16; }

// Whether an integer type holds a number.
static bool holds(br_dtype type, double x) {
  switch (type) {
  case BR_I32:
    return x >= INT32_MIN && x <= INT32_MAX;
  case BR_I64:
    return x >= -0x1p53 && x <= 0x1p53; // exact in f64, the type in between
  case BR_I8:
    return x >= INT8_MIN && x <= INT8_MAX;
  case BR_I1:
    return x == 0 || x == 1;
  default:
    return true;
  }
}

void braid::convertShared(br_dtype type, const TensorPart &to, std::byte *toMemory, br_dtype fromType,
                          const TensorPart &from, const std::byte *fromMemory) {
  const int64_t size = elementSize(type), fromSize = elementSize(fromType);
  if (type == fromType && type != BR_I1) // a boolean may come as any byte, and is kept as 0 or 1
    return copyShared(to, toMemory, from, fromMemory, size);
  if (isFloat(fromType) && !isFloat(type))
    fail(nameOf(fromType), " is not converted to ", nameOf(type), "; give integers");
  const auto forEachNumber = [&](const auto &f) {
    forEachRun(to, from, [&](const Run &run) {
      for (int64_t i = 0; i < run.count; ++i)
        f(numberAt(fromType, fromMemory + (run.otherPlace + i * run.otherStep) * fromSize),
          toMemory + (run.place + i * run.step) * size);
    });
  };
  if (!isFloat(type)) // checks all numbers first, because an error must not write any
    forEachNumber([&](double x, std::byte *) {
      if (!holds(type, x))
        fail("it holds ", formatExact(x), ", which does not fit ", nameOf(type));
    });
  forEachNumber([&](double x, std::byte *at) { putNumber(type, at, x); });
}

template <class T> static void checkIndices(const br_io &io, const std::vector<std::byte> &values) {
  const T *begin = reinterpret_cast<const T *>(values.data()), *end = begin + values.size() / sizeof(T);
  const T *bad = std::find_if(begin, end, [&](T x) { return (x < 0 || x >= io.extent) && x != io.ignored; });
  if (bad == end)
    return;
  const bool mayIgnore = io.ignored < 0 || io.ignored >= io.extent;
  fail("it holds ", *bad, " at place ", bad - begin, " of this rank's part, but the model takes an index from 0 to ",
       io.extent - 1, mayIgnore ? concat(", or ", io.ignored, " to be ignored") : "");
}

//===----------------------------------------------------------------------===//
// The inputs
//===----------------------------------------------------------------------===//

InputValues::InputValues(const br_model &table, int rank, int microbatches)
    : table(table), rank(rank), microbatches(microbatches) {
  const auto addNamed = [&](const char *name, bool InputSlot::*isRead) {
    if (const br_program *program = findProgram(table, name))
      add(*program, isRead);
  };
  addNamed("train", &InputSlot::inTrain);
  addNamed("accumulate", &InputSlot::inTrain);
  for (int32_t i = 0; i < table.n_cells; ++i)
    if (table.cells[i].kind == BR_CELL_RUN)
      add(table.programs[table.cells[i].index], &InputSlot::inTrain);
  addNamed("eval", &InputSlot::inEval);
  addNamed("predict", &InputSlot::inForward);
}

static bool isSamePart(const TensorPart &a, const TensorPart &b) {
  return a.begin == b.begin && a.extent == b.extent && a.first == b.first && a.last == b.last;
}

void InputValues::add(const br_program &program, bool InputSlot::*isRead) {
  for (const br_io &io : inputsOf(program)) {
    if (isScalarRole(io.role))
      continue;
    const TensorPart part = partOf(table, io, rank);
    InputSlot *slot = nullptr;
    for (InputSlot &other : slots) {
      const br_io &known = *other.io;
      if (std::string_view(known.name) != io.name)
        continue;
      if (known.dtype != io.dtype || known.rank != io.rank ||
          !std::equal(known.shape, known.shape + known.rank, io.shape))
        fail("program '", program.name, "' has another shape or type of input '", io.name,
             "' than the programs before it");
      if (isSamePart(other.part, part))
        slot = &other;
    }
    if (!slot) {
      slot = &slots.emplace_back(InputSlot{&io, part, false, false, false, {}, {}});
      slot->values.resize(microbatches);
    }
    slot->*isRead = true;
  }
}

const InputSlot &InputValues::slotOf(const br_io &io) const {
  const TensorPart part = partOf(table, io, rank);
  return *std::find_if(slots.begin(), slots.end(), [&](const InputSlot &slot) {
    return std::string_view(slot.io->name) == io.name && isSamePart(slot.part, part);
  });
}

size_t InputValues::firstOf(std::string_view name) const {
  return std::find_if(slots.begin(), slots.end(), [&](const InputSlot &slot) { return name == slot.io->name; }) -
         slots.begin();
}

std::vector<InputSlot> InputValues::named() const {
  std::vector<InputSlot> inputs;
  for (const InputSlot &slot : slots) {
    auto at = std::find_if(inputs.begin(), inputs.end(),
                           [&](const InputSlot &other) { return std::string_view(other.io->name) == slot.io->name; });
    if (at == inputs.end())
      at = inputs.insert(at, InputSlot{slot.io, slot.part, false, false, false, {}, {}});
    at->inTrain |= slot.inTrain;
    at->inEval |= slot.inEval;
    at->inForward |= slot.inForward;
  }
  return inputs;
}

// Whether the programs of other ranks read the input.
bool InputValues::isOfOthers(std::string_view name) const {
  for (const br_model *model = &table; model; model = model->others)
    for (int32_t i = 0; i < model->n_programs; ++i)
      for (const br_io &io : inputsOf(model->programs[i]))
        if (name == io.name && !isScalarRole(io.role))
          return true;
  return false;
}

// The values of a rank's own part, without gaps.
static TensorPart denseLike(const TensorPart &part) {
  std::vector<int> order(part.rank);
  std::iota(order.begin(), order.end(), 0);
  return densePart({part.begin.begin(), part.begin.begin() + part.rank},
                   {part.extent.begin(), part.extent.begin() + part.rank}, order);
}

// Replaces the values of a microbatch, unless the new ones are refused.
void InputValues::convert(InputSlot &slot, int microbatch, br_dtype type, const void *values,
                          braid_extent extent) const {
  const br_io &io = *slot.io;
  const TensorPart from = extent == BRAID_WHOLE ? wholeTensor({io.shape, io.shape + io.rank}) : denseLike(slot.part);
  std::vector<std::byte> &to = slot.spare;
  to.resize(io.bytes);
  try {
    convertShared(io.dtype, slot.part, to.data(), type, from, static_cast<const std::byte *>(values));
    if (io.extent > 0 && io.dtype == BR_I64)
      checkIndices<int64_t>(io, to);
    else if (io.extent > 0)
      checkIndices<int32_t>(io, to);
  } catch (const Error &error) {
    fail("input '", io.name, "', microbatch ", microbatch, ": ", error.what());
  }
  to.swap(slot.values[microbatch]);
}

void InputValues::set(std::string_view name, int microbatch, br_dtype type, const void *values, braid_extent extent) {
  if (microbatch < 0 || microbatch >= microbatches)
    fail("input '", name, "': microbatch ", microbatch, " is not one of the ", microbatches, " of a step");
  bool isFirst = true;
  for (InputSlot &slot : slots) {
    if (name != slot.io->name)
      continue;
    // The caller's own part fits the first program; another program may read more.
    const bool fits = isFirst || extent == BRAID_WHOLE;
    if (fits)
      convert(slot, microbatch, type, values, extent);
    else
      slot.values[microbatch].clear();
    isFirst = false;
  }
  if (!isFirst || isOfOthers(name))
    return;
  std::string names;
  for (const InputSlot &other : slots)
    names += concat(names.empty() ? "" : ", ", other.io->name);
  fail("the model has no input '", name, "'; it has ", names.empty() ? "none" : names);
}

void InputValues::require(bool InputSlot::*isRead, int begin, int end) const {
  for (const InputSlot &slot : slots)
    for (int microbatch = begin; microbatch < end && slot.*isRead; ++microbatch)
      if (slot.values[microbatch].empty())
        fail("input '", slot.io->name, "' of microbatch ", microbatch, " was not set",
             "; call braid_set_input before the run",
             &slot == slots.data() + firstOf(slot.io->name) ? "" : ", with BRAID_WHOLE: this program reads all rows");
}

void InputValues::fill(const Model &model, const br_program &program, int microbatch) const {
  for (const br_io &io : inputsOf(program)) {
    if (isScalarRole(io.role))
      continue;
    const std::vector<std::byte> &values = slotOf(io).values[microbatch];
    std::memcpy(model.input<std::byte>(program, io), values.data(), values.size());
  }
}
