//===- CommonSettings.cpp - settings of several families ------------------===//

#include "lib/Model/CommonSettings.h"

using namespace llvm;
using namespace braid;

void braid::readSizes(Settings &settings, DecoderConfig &config) {
  settings.read("vocab_size", config.vocab);
  settings.read("max_position_embeddings", config.positions);
  settings.read("hidden_size", config.width);
  settings.read("intermediate_size", config.inner);
  settings.read("num_hidden_layers", config.layers, 1 << 12);
  settings.read("num_attention_heads", config.heads, 1 << 12);
  settings.read("initializer_range", config.initStd, 0.0, 1e3);
  settings.read("tie_word_embeddings", config.tied);
}

void braid::divideHeads(Settings &settings, DecoderConfig &config, StringRef heads, StringRef width) {
  settings.check(config.width % config.heads == 0,
                 "'" + heads + "' " + Twine(config.heads) + " does not divide '" + width + "' " + Twine(config.width));
  config.headSize = std::max<int64_t>(1, config.width / config.heads);
}

void braid::readHeads(Settings &settings, DecoderConfig &config) {
  settings.readOptional("num_key_value_heads", config.kvHeads);
  config.kvHeads = config.kvHeads ? config.kvHeads : config.heads;
  settings.check(config.heads % config.kvHeads == 0, "'num_key_value_heads' " + Twine(config.kvHeads) +
                                                         " does not divide 'num_attention_heads' " +
                                                         Twine(config.heads));
  settings.readOptional("head_dim", config.headSize);
  if (!config.headSize)
    divideHeads(settings, config);
}

void braid::readAttentionBias(Settings &settings, DecoderConfig &config) {
  settings.read("attention_bias", config.queryBias);
  config.outBias = config.queryBias;
}

void braid::readPadding(Settings &settings, DecoderConfig &config) {
  if (settings.has("pad_token_id"))
    config.padding = 0;
  else if (settings.isNull("pad_token_id"))
    config.padding = std::nullopt;
  if (!config.padding)
    return settings.ignore({"pad_token_id"});
  settings.read("pad_token_id", *config.padding, config.vocab - 1, -config.vocab);
  if (*config.padding < 0)
    *config.padding += config.vocab;
}

void braid::readModern(Settings &settings, DecoderConfig &config) {
  readSizes(settings, config);
  readPadding(settings, config);
  readHeads(settings, config);
  settings.read("rms_norm_eps", config.eps, 0.0, 1.0);
  settings.read("attention_dropout", config.attentionDropout, 0.0, 1.0);
}

void braid::readSwitchedWindow(Settings &settings, bool isUsed, int64_t &window) {
  if (isUsed)
    return settings.readOptional("sliding_window", window);
  settings.ignore({"sliding_window"});
  window = 0;
}

QwenWindow braid::readQwenWindow(Settings &settings) {
  QwenWindow window;
  bool isUsed = false;
  settings.read("use_sliding_window", isUsed);
  settings.read("max_window_layers", window.layer, 1 << 12, /*min=*/0);
  readSwitchedWindow(settings, isUsed, window.size);
  return window;
}

void braid::setWindows(Settings &settings, DecoderConfig &config, int64_t window, function_ref<bool(int64_t)> slides) {
  config.windows.assign(config.layers, 0);
  const json::Value *types = settings.find("layer_types");
  const json::Array *list = types ? types->getAsArray() : nullptr;
  settings.check(!types || (list && list->size() == static_cast<size_t>(config.layers)),
                 "'layer_types' must have one type for each of " + Twine(config.layers) + " layers");
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    bool isSliding = slides(layer);
    if (list && layer < static_cast<int64_t>(list->size())) {
      StringRef type = (*list)[layer].getAsString().value_or("");
      settings.check(type == "full_attention" || type == "sliding_attention",
                     "'layer_types' has " + Settings::text((*list)[layer]) +
                         "; full_attention and sliding_attention are supported");
      isSliding = type == "sliding_attention";
    }
    settings.check(!isSliding || window,
                   "layer " + Twine(layer) + " has sliding attention, but 'sliding_window' is missing; set it");
    config.windows[layer] = isSliding ? window : 0;
  }
}
