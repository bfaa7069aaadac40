//===- JobState.cpp - state of a job beside its tensors -------------------===//

#include "checkpoint/JobState.h"

#include "base/Checksum.h"
#include "base/Error.h"
#include "base/Format.h"

#include <charconv>
#include <nlohmann/json.hpp>

using namespace braid;

std::string braid::describeJob(const br_model &model, const JobState &s, const char *format) {
  nlohmann::ordered_json metadata = {{"format", format},
                                     {"job_id", s.id},
                                     {"model", model.name},
                                     {"graph_hash", formatHash(model.graph_hash)},
                                     {"step", std::to_string(s.step)},
                                     {"epoch", formatExact(s.epoch)},
                                     {"tokens_seen", std::to_string(s.tokensSeen)},
                                     {"last_loss", formatExact(s.lastLoss)},
                                     {"seed", std::to_string(s.seed)},
                                     {"batch_seed", std::to_string(s.batchSeed)},
                                     {"batch_order", s.batchOrder},
                                     {"lr", formatExact(s.lr)},
                                     {"min_lr", formatExact(s.minLr)},
                                     {"warmup", std::to_string(s.warmup)},
                                     {"decay_steps", std::to_string(s.decaySteps)},
                                     {"schedule", s.schedule},
                                     {"holdout", formatExact(s.holdout)}};
  if (s.batchTokens > 0)
    metadata["batch_tokens"] = std::to_string(s.batchTokens);
  if (!s.initFolder.empty())
    metadata["init_folder"] = s.initFolder;
  if (model.optimizer)
    metadata["optimizer"] = model.optimizer;
  if (!s.data.empty())
    metadata["data"] = s.data;
  // Describes the model beyond its shapes (train/ConfigCheck.h).
  if (model.operations) {
    metadata["model_hash"] = formatHash(model.model_hash);
    metadata["operations"] = model.operations;
  }
  if (model.config)
    metadata["config"] = model.config;
  return metadata.dump();
}

namespace {

struct Metadata {
  const std::map<std::string, std::string> &strings;
  const std::string &path;

  std::string getOr(const char *key, const char *fallback) const {
    auto at = strings.find(key);
    return at == strings.end() ? fallback : at->second;
  }
  const std::string &get(const char *key) const {
    auto at = strings.find(key);
    if (at == strings.end())
      fail("cannot resume from '", path, "': its metadata lacks '", key, "' (weights alone can be given with --init)");
    return at->second;
  }
  template <class Number> void get(const char *key, Number &out) const {
    const std::string &text = get(key);
    auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (status != std::errc() || end != text.data() + text.size())
      fail("'", path, "' is corrupt: its metadata has ", key, " = '", text, "', which is not a number of that kind");
  }
};

} // namespace

std::optional<double> braid::parseHoldout(const std::map<std::string, std::string> &strings, const std::string &path) {
  if (!strings.count("holdout"))
    return std::nullopt;
  double share = 0;
  Metadata{strings, path}.get("holdout", share);
  if (!(share >= 0 && share <= 1))
    fail("'", path, "' is corrupt: its metadata has holdout = '", strings.at("holdout"), "', which is not from 0 to 1");
  return share;
}

JobState braid::parseJob(const std::map<std::string, std::string> &strings, const std::string &path) {
  Metadata from{strings, path};
  JobState s;
  if (const std::string &format = from.get("format"); format != "braid-checkpoint-1" && format != "braid-checkpoint-2")
    fail("'", path, "' has format '", format, "', expected 'braid-checkpoint-1' or 'braid-checkpoint-2'");
  from.get("step", s.step);
  from.get("epoch", s.epoch);
  from.get("tokens_seen", s.tokensSeen);
  from.get("last_loss", s.lastLoss);
  from.get("seed", s.seed);
  from.get("batch_seed", s.batchSeed);
  from.get("lr", s.lr);
  from.get("min_lr", s.minLr);
  from.get("warmup", s.warmup);
  from.get("decay_steps", s.decaySteps);
  if (auto id = strings.find("job_id"); id != strings.end())
    s.id = id->second;
  if (!s.id.empty() && !parseChecksum(s.id))
    fail("'", path, "' is corrupt: its metadata has job_id = '", s.id, "', which is not 16 hexadecimal digits");
  s.batchOrder = from.get("batch_order");
  s.schedule = from.get("schedule");
  s.optimizer = from.getOr("optimizer", "");
  s.data = from.getOr("data", "");
  s.initFolder = from.getOr("init_folder", "");
  s.holdout = parseHoldout(strings, path).value_or(s.holdout);
  if (strings.count("batch_tokens"))
    from.get("batch_tokens", s.batchTokens);
  if (s.step < 0 || s.tokensSeen < 0)
    fail("'", path, "' is corrupt: its metadata has step ", s.step, " and tokens_seen ", s.tokensSeen);
  return s;
}
