//===- Inputs.h - values of a model's inputs ------------------------------===//
//
// Programs share the arena, so every run needs its inputs anew. The values of each microbatch are kept here
// in the input's type, and copied before each run.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIBRARY_INPUTS_H
#define BRAID_LIBRARY_INPUTS_H

#include "braid/step.h"

#include "core/Model.h"
#include "core/TensorPart.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace braid {

// An input that this rank's programs read from the caller.
struct InputSlot {
  const br_io *io;
  TensorPart part; // of this rank
  bool inTrain = false, inEval = false, inForward = false;
  std::vector<std::vector<std::byte>> values; // of each microbatch; empty: not set
  std::vector<std::byte> spare;               // memory of values that were replaced, for the next ones
};

class InputValues {
public:
  // Throws Error if programs have inputs of one name with different shapes.
  InputValues(const br_model &table, int rank, int microbatches);

  // Inputs by name, without values. The part belongs to the first program.
  std::vector<InputSlot> named() const;
  // Converts and keeps values. An input of other ranks alone is accepted and not kept. Throws Error.
  void set(std::string_view name, int microbatch, br_dtype type, const void *values, braid_extent extent);
  // Throws Error if an input of these programs was not set for microbatches [begin, end).
  void require(bool InputSlot::*isRead, int begin, int end) const;
  // Writes the inputs of a run, which must be set.
  void fill(const Model &model, const br_program &program, int microbatch) const;

private:
  void add(const br_program &program, bool InputSlot::*isRead);
  size_t firstOf(std::string_view name) const;
  const InputSlot &slotOf(const br_io &io) const;
  void convert(InputSlot &slot, int microbatch, br_dtype type, const void *values, braid_extent extent) const;
  bool isOfOthers(std::string_view name) const;

  const br_model &table;
  const int rank, microbatches;
  // One for each name and part: the programs of a step read a rank's rows, and `predict` may read all.
  std::vector<InputSlot> slots;
};

// Copies the elements that two parts share, converted from one type to the other. Throws Error at a number that the
// type does not hold; floats are rounded.
void convertShared(br_dtype type, const TensorPart &to, std::byte *toMemory, br_dtype fromType, const TensorPart &from,
                   const std::byte *fromMemory);

} // namespace braid
#endif // BRAID_LIBRARY_INPUTS_H
