//===- CheckpointReader.cpp - restoring a training job
//----------------------===//

#include "core/Checkpoint.h"
#include "core/Error.h"
#include "core/LogicalOrder.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <set>

using namespace braid;

namespace {

constexpr int64_t chunkElements = 1 << 17;

std::vector<int64_t> shapeOf(const br_tensor &t) {
  return {t.shape, t.shape + t.rank};
}

bool isWanted(const br_tensor &t, Restore what) {
  return t.checkpoint && (what == Restore::Everything ||
                          std::string_view(t.cause) != "optimizer_state");
}

// Reads `tensor` a chunk at a time; `convert(raw, count, out)` makes elements
// of the tensor's type from those of the file's.
template <class Convert>
void readInto(const SafetensorsFile &file, const TensorEntry &entry,
              const br_tensor &tensor, std::byte *arena, Convert convert) {
  int64_t count = numElements(tensor),
          fromSize = safetensorsTypeSize(entry.dtype);
  std::vector<std::byte> raw(std::min(count, chunkElements) * fromSize);
  std::vector<std::byte> ready(std::min(count, chunkElements) *
                               elementSize(tensor.dtype));
  for (int64_t begin = 0; begin < count; begin += chunkElements) {
    int64_t end = std::min(begin + chunkElements, count);
    file.read(entry, begin * fromSize, raw.data(), (end - begin) * fromSize);
    convert(raw.data(), end - begin, ready.data());
    writeLogical(tensor, arena, begin, end, ready.data());
  }
}

float elementAsFloat(const std::string &dtype, const std::byte *raw,
                     int64_t i) {
  if (dtype == "F64")
    return static_cast<float>(reinterpret_cast<const double *>(raw)[i]);
  if (dtype == "F32")
    return reinterpret_cast<const float *>(raw)[i];
  uint16_t bits = reinterpret_cast<const uint16_t *>(raw)[i];
  return dtype == "BF16" ? fromBFloat16(bits) : fromFloat16(bits);
}

bool isFloatType(const std::string &dtype) {
  return dtype == "F64" || dtype == "F32" || dtype == "BF16" || dtype == "F16";
}

[[noreturn]] void refuse(const SafetensorsFile &file, const Model &model,
                         const std::string &difference) {
  fail("'", file.path(), "' is not a checkpoint of model '", model.table().name,
       "': ", difference,
       "; use a checkpoint of this model, or compile that one");
}

// The whole comparison, before anything is written.
void compare(const SafetensorsFile &file, const Model &model, Restore what) {
  std::set<std::string_view> known;
  for (const br_tensor &t : tensorsOf(model.table())) {
    known.insert(t.name);
    if (!isWanted(t, what))
      continue;
    const TensorEntry *entry = file.find(t.name);
    if (!entry)
      refuse(file, model, concat("it has no tensor '", t.name, "'"));
    if (entry->shape != shapeOf(t))
      refuse(file, model,
             concat("tensor '", t.name, "' has shape ",
                    formatShape(entry->shape), " there and ",
                    formatShape(shapeOf(t)), " in the model"));
    if (entry->dtype != typeName(t.dtype))
      refuse(file, model,
             concat("tensor '", t.name, "' has type ", entry->dtype,
                    " there and ", typeName(t.dtype), " in the model"));
  }
  for (const TensorEntry &entry : file.entries())
    if (what == Restore::Everything && !known.count(entry.name))
      refuse(file, model,
             concat("it has a tensor '", entry.name, "' that the model lacks"));
}

} // namespace

SafetensorsFile braid::openCheckpoint(const std::string &path) {
  if (!std::filesystem::is_directory(path))
    return SafetensorsFile(path);
  std::vector<int64_t> steps = checkpointSteps(path);
  if (steps.empty())
    fail("there is no checkpoint (step-*.safetensors) in '", path, "'");
  std::string firstProblem;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    try {
      return SafetensorsFile(checkpointPath(path, *step));
    } catch (const Error &error) {
      std::fprintf(stderr, "warning: skipping a checkpoint: %s\n",
                   error.what());
      if (firstProblem.empty())
        firstProblem = error.what();
    }
  }
  fail("no checkpoint in '", path, "' can be read; the newest: ", firstProblem);
}

void braid::restoreTensors(const SafetensorsFile &file, const Model &model,
                           Restore what) {
  compare(file, model, what);
  for (const br_tensor &t : tensorsOf(model.table()))
    if (isWanted(t, what))
      readInto(file, *file.find(t.name), t, model.arena(),
               [&](const std::byte *raw, int64_t count, std::byte *out) {
                 std::memcpy(out, raw, count * elementSize(t.dtype));
               });
}

void braid::importParameters(const SafetensorsFile &file, const Model &model) {
  auto isParameter = [](const br_tensor &t) {
    return std::string_view(t.cause) == "parameters";
  };
  for (const br_tensor &t : tensorsOf(model.table())) {
    if (!isParameter(t))
      continue;
    const TensorEntry *entry = file.find(t.name);
    if (!entry)
      fail("'", file.path(), "' has no tensor '", t.name,
           "', a parameter of model '", model.table().name, "'");
    if (entry->shape != shapeOf(t))
      fail("'", file.path(), "': tensor '", t.name, "' has shape ",
           formatShape(entry->shape), ", the model's has ",
           formatShape(shapeOf(t)));
    if (entry->dtype != typeName(t.dtype) &&
        !(isFloatType(entry->dtype) &&
          (t.dtype == BR_F32 || t.dtype == BR_BF16)))
      fail("'", file.path(), "': tensor '", t.name, "' has type ", entry->dtype,
           ", which cannot become the model's ", typeName(t.dtype));
  }
  for (const br_tensor &t : tensorsOf(model.table())) {
    if (!isParameter(t))
      continue;
    const TensorEntry *entry = file.find(t.name);
    readInto(file, *entry, t, model.arena(),
             [&](const std::byte *raw, int64_t count, std::byte *out) {
               if (entry->dtype == typeName(t.dtype)) {
                 std::memcpy(out, raw, count * elementSize(t.dtype));
                 return;
               }
               for (int64_t i = 0; i < count; ++i) {
                 float x = elementAsFloat(entry->dtype, raw, i);
                 if (t.dtype == BR_F32)
                   reinterpret_cast<float *>(out)[i] = x;
                 else
                   reinterpret_cast<uint16_t *>(out)[i] = toBFloat16(x);
               }
             });
  }
}

namespace {

const std::string &lookUp(const SafetensorsFile &file, const char *key) {
  auto at = file.metadata().find(key);
  if (at == file.metadata().end())
    fail("'", file.path(),
         "' is no checkpoint to resume from: its metadata lacks '", key,
         "' (weights alone can be given with --init)");
  return at->second;
}

template <class Number>
void get(const SafetensorsFile &file, const char *key, Number &out) {
  const std::string &text = lookUp(file, key);
  auto [end, status] =
      std::from_chars(text.data(), text.data() + text.size(), out);
  if (status != std::errc() || end != text.data() + text.size())
    fail("'", file.path(), "' is corrupt: its metadata has ", key, " = '", text,
         "', which is not a number of that kind");
}

} // namespace

JobState braid::readJobState(const SafetensorsFile &file) {
  JobState s;
  if (const std::string &format = lookUp(file, "format");
      format != "braid-checkpoint-1")
    fail("'", file.path(), "' has the format '", format,
         "', this program reads 'braid-checkpoint-1'");
  get(file, "step", s.step);
  get(file, "tokens_seen", s.tokensSeen);
  get(file, "epoch", s.epoch);
  get(file, "last_loss", s.lastLoss);
  get(file, "seed", s.seed);
  get(file, "batch_seed", s.batchSeed);
  get(file, "lr", s.lr);
  get(file, "min_lr", s.minLr);
  get(file, "warmup", s.warmup);
  get(file, "decay_steps", s.decaySteps);
  s.batchOrder = lookUp(file, "batch_order");
  s.schedule = lookUp(file, "schedule");
  if (s.step < 0 || s.tokensSeen < 0)
    fail("'", file.path(), "' is corrupt: its metadata has step ", s.step,
         " and tokens_seen ", s.tokensSeen);
  return s;
}
