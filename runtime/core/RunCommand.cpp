//===- RunCommand.cpp - one program, once
//------------------------------------===//
//
// Runs a program on given or random tensors and writes what went in and what
// came out to one file, so that another implementation can be compared with it.
// A tensor of the model is written before the run under its name and, if the
// run changed it, after it as "updates <name>"; a result has its role as name.
//
//===----------------------------------------------------------------------===//

#include "core/Commands.h"
#include "core/Error.h"
#include "core/LogicalOrder.h"
#include "core/Model.h"
#include "core/Philox.h"
#include "core/Safetensors.h"
#include "cpu/Threads.h"

#include <cstdio>
#include <nlohmann/json.hpp>

using namespace braid;

namespace {

// A copy of a tensor in logical order.
struct Copy {
  std::string name;
  br_dtype dtype;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
};

Copy copyOf(const br_tensor &t, const Model &model) {
  Copy copy{t.name, t.dtype, {t.shape, t.shape + t.rank}, {}};
  copy.bytes.resize(numElements(t) * elementSize(t.dtype));
  readLogical(t, model.arena(), 0, numElements(t), copy.bytes.data());
  return copy;
}

Copy copyOf(const br_io &io, std::string name, const Model &model) {
  const std::byte *data = model.arena() + io.offset;
  return {std::move(name),
          io.dtype,
          {io.shape, io.shape + io.rank},
          {data, data + io.bytes}};
}

uint32_t hashOf(const std::string &name) { // FNV-1a
  uint32_t hash = 2166136261u;
  for (unsigned char c : name)
    hash = (hash ^ c) * 16777619u;
  return hash;
}

// Floats in [low, 1), ints in [0, bound).
void fillRandom(Copy &copy, float low, int64_t bound, uint64_t seed) {
  int64_t size = elementSize(copy.dtype),
          count = static_cast<int64_t>(copy.bytes.size()) / size;
  for (int64_t i = 0; i < count; ++i) {
    PhiloxWords words = philoxAt(i, 0, hashOf(copy.name), seed);
    float real = low + (1 - low) * static_cast<float>(words[0] >> 8) * 0x1p-24f;
    int64_t integer = static_cast<int64_t>(boundedRandom(words, bound));
    std::byte *at = copy.bytes.data() + i * size;
    auto put = [&](auto value) { std::memcpy(at, &value, sizeof value); };
    switch (copy.dtype) {
    case BR_F64:
      put(static_cast<double>(real));
      break;
    case BR_F32:
      put(real);
      break;
    case BR_BF16:
      put(toBFloat16(real));
      break;
    case BR_I32:
      put(static_cast<int32_t>(integer));
      break;
    case BR_I64:
      put(integer);
      break;
    case BR_I1:
      put(static_cast<uint8_t>(words[0] & 1));
      break;
    }
  }
}

// Takes the tensor from the file if it is there; says whether it was.
bool fillFromFile(Copy &copy, const SafetensorsFile *file) {
  const TensorEntry *entry = file ? file->find(copy.name) : nullptr;
  if (!entry)
    return false;
  if (entry->dtype != typeName(copy.dtype) || entry->shape != copy.shape)
    fail("'", file->path(), "' has '", copy.name, "' as ", entry->dtype, " ",
         formatShape(entry->shape), ", but the program takes ",
         typeName(copy.dtype), " ", formatShape(copy.shape));
  file->read(*entry, 0, copy.bytes.data(), copy.bytes.size());
  return true;
}

void writeFile(const std::string &path, const std::vector<Copy> &tensors) {
  nlohmann::ordered_json header;
  uint64_t at = 0;
  for (const Copy &t : tensors) {
    header[t.name] = {{"dtype", typeName(t.dtype)},
                      {"shape", t.shape},
                      {"data_offsets", {at, at + t.bytes.size()}}};
    at += t.bytes.size();
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  uint64_t length = text.size();
  File file = File::createForWriting(path);
  file.write(&length, sizeof length);
  file.write(text.data(), text.size());
  for (const Copy &t : tensors)
    file.write(t.bytes.data(), t.bytes.size());
  file.sync();
}

} // namespace

int braid::runOnce(const br_model &table, const RunOptions &options) {
  Model model(table, options.threads > 0 ? options.threads : availableCores());
  const br_program &program = model.program(options.program);
  std::optional<SafetensorsFile> inputs;
  if (!options.inputs.empty())
    inputs.emplace(options.inputs);
  const SafetensorsFile *file = inputs ? &*inputs : nullptr;
  const int64_t bound = table.vocab_size > 0 ? table.vocab_size : 2;

  std::vector<Copy> written;
  for (const br_tensor &t : tensorsOf(table)) {
    Copy &copy = written.emplace_back(copyOf(t, model));
    // Optimizer state holds means of squares: no negative numbers.
    if (!fillFromFile(copy, file))
      fillRandom(copy, std::string_view(t.cause) == "parameters" ? -1.0f : 0.0f,
                 bound, options.seed);
    writeLogical(t, model.arena(), 0, numElements(t), copy.bytes.data());
  }
  model.setLearningRate(program, 0.01f);
  model.setStep(program, 1);
  model.setKey(program, options.seed, 1, 0);
  model.setPosition(program, 0);
  for (const br_io &io : inputsOf(program)) {
    Copy &copy = written.emplace_back(copyOf(io, io.name, model));
    if (!fillFromFile(copy, file) && !isScalarRole(io.role))
      fillRandom(copy, -1, bound, options.seed);
    std::memcpy(model.arena() + io.offset, copy.bytes.data(), io.bytes);
  }

  model.run(program);

  for (const br_io &io : resultsOf(program))
    written.push_back(copyOf(io, *io.role ? io.role : io.name, model));
  for (int32_t i = 0; i < table.n_tensors; ++i) {
    Copy after = copyOf(table.tensors[i], model);
    if (after.bytes == written[i].bytes)
      continue;
    after.name = "updates " + after.name;
    written.push_back(std::move(after));
  }
  writeFile(options.outputs, written);
  std::printf("ran %s; its tensors are in %s\n", program.name,
              options.outputs.c_str());
  return 0;
}
