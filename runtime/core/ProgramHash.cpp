//===- ProgramHash.cpp - hash of a compiled program -----------------------===//

#include "core/ProgramHash.h"

#include "base/Format.h"
#include "base/Hash.h"
#include "core/Model.h"

#include <type_traits>

using namespace braid;

namespace {

class Hash {
public:
  template <class... Values> void add(const Values &...values) { (addOne(values), ...); }
  template <class T> void addList(const T *values, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      addOne(values[i]);
  }
  std::string text() const { return formatHash(hash); }

private:
  template <class T> void addOne(const T &value) {
    if constexpr (std::is_convertible_v<T, const char *>)
      addText(value ? value : "");
    else
      addText(std::to_string(static_cast<int64_t>(value)));
  }
  void addText(std::string_view text) { hash = longHashOf("\n", longHashOf(text, hash)); }

  uint64_t hash = longHashOf("");
};

void addTensor(Hash &hash, const br_tensor &t) {
  hash.add(t.name, t.category, t.dtype, t.offset, t.bytes, t.checkpoint, t.flat, t.partial, t.copy_of, t.on_host,
           t.at_axis, t.at);
  hash.addList(t.shape, t.rank);
  hash.addList(t.stride, t.rank);
  hash.addList(t.dims, t.rank);
}

void addProgram(Hash &hash, const br_program &program) {
  hash.add(program.name, program.n_inputs, program.n_results);
  for (int32_t i = 0; i < program.n_inputs + program.n_results; ++i) {
    const br_io &io = program.ios[i];
    hash.add(io.name, io.role, io.dtype, io.offset, io.bytes, io.flat, io.partial);
    hash.addList(io.shape, io.rank);
    hash.addList(io.dims, io.rank);
  }
  for (int32_t i = 0; i < program.n_actions; ++i)
    hash.add(program.actions[i].name);
}

void addTransfer(Hash &hash, const br_transfer_desc &transfer) {
  hash.add(transfer.to_host);
  for (int32_t i = 0; i < transfer.n_parts; ++i)
    hash.add(transfer.parts[i].device, transfer.parts[i].host, transfer.parts[i].bytes);
}

void addCollective(Hash &hash, const br_collective_desc &collective) {
  hash.add(collective.kind, collective.reduction, collective.dtype, collective.group, collective.root);
  hash.addList(collective.pairs, collective.n_pairs * 2);
  for (int32_t i = 0; i < collective.n_segments; ++i) {
    const br_segment_desc &segment = collective.segments[i];
    hash.add(segment.send, segment.recv, segment.count, segment.send_rows, segment.recv_rows, segment.send_slots,
             segment.recv_slots);
  }
}

} // namespace

std::string braid::programHash(const br_model &first) {
  Hash hash;
  for (const br_model *model = &first; model; model = model->others) {
    hash.add(model->name, model->graph_hash, model->arena_bytes, model->accumulate, model->vocab_size, model->plan_json,
             model->optimizer, model->comm_ctas, model->host_bytes);
    for (int32_t i = 0; i < model->n_axes; ++i)
      hash.add(model->mesh[i].name, model->mesh[i].size);
    for (int32_t i = 0; i < model->n_groups; ++i)
      hash.addList(model->groups[i].axes, model->groups[i].n_axes);
    for (const br_tensor &tensor : tensorsOf(*model))
      addTensor(hash, tensor);
    for (int32_t i = 0; i < model->n_programs; ++i)
      addProgram(hash, model->programs[i]);
    for (int32_t i = 0; i < model->n_collectives; ++i)
      addCollective(hash, model->collectives[i]);
    for (int32_t i = 0; i < model->n_slots; ++i) {
      hash.add(model->slots[i].bytes);
      hash.addList(model->slots[i].of_microbatch, model->slots[i].n_microbatches);
    }
    for (int32_t i = 0; i < model->n_cells; ++i)
      hash.add(model->cells[i].kind, model->cells[i].index, model->cells[i].microbatch);
    for (int32_t i = 0; i < model->n_transfers; ++i)
      addTransfer(hash, model->transfers[i]);
  }
  return hash.text();
}
