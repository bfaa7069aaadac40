//===- ExpertFamilies.cpp - families with mixtures of experts -------------===//
//
// Mixtral (Jiang et al. 2024), and the Qwen 2 and Qwen 3 families with experts.
//
//===----------------------------------------------------------------------===//

#include "lib/Model/CommonSettings.h"
#include "lib/Model/Families.h"

using namespace llvm;
using namespace braid;

/// Reads the routing settings. The balance loss of routers is part of the loss if
/// `output_router_logits` is on, as in Transformers. The z loss is part of it if there is a
/// `router_z_loss_coef`, which Transformers lacks for these families.
static void readRouting(Settings &settings, DecoderConfig &config, ArrayRef<StringLiteral> countNames) {
  ExpertsConfig &experts = config.experts;
  for (StringRef name : countNames)
    settings.read(name, experts.count, 1 << 16);
  settings.read("num_experts_per_tok", experts.chosen, 1 << 16);
  settings.check(experts.chosen <= experts.count, "'num_experts_per_tok' " + Twine(experts.chosen) +
                                                      " is above the number of experts, " + Twine(experts.count));
  bool hasBalance = false;
  double balance = 0.001;
  settings.read("output_router_logits", hasBalance);
  settings.read("router_aux_loss_coef", balance, 0.0, 1e6);
  experts.balanceWeight = hasBalance ? balance : 0;
  settings.read("router_z_loss_coef", experts.zWeight, 0.0, 1e6);
  experts.layers.assign(config.layers, true);
}

void braid::describeMixtral(DecoderConfig &config) {
  findFamily("mistral")->describe(config);
  config.title = "Mixtral";
  DecoderNames &names = config.names;
  names.mlp = "block_sparse_moe", names.router = "gate", names.experts = "experts";
  names.gate = "w1", names.up = "w3", names.down = "w2";
  config.eps = 1e-5, config.rope.theta = 1e6;
  config.experts.count = 8, config.experts.chosen = 2;
}

void braid::readMixtral(Settings &settings, DecoderConfig &config) {
  readModern(settings, config);
  settings.readActivation("hidden_act", config.activation);
  int64_t window = 0;
  settings.readOptional("sliding_window", window);
  config.windows.assign(config.layers, window);
  settings.refuseUnless("router_jitter_noise", 0.0);
  readRouting(settings, config, {"num_local_experts", "num_experts"});
  config.experts.inner = config.inner;
  readRope(settings, config);
}

/// Reads which layers have experts: every `decoder_sparse_step`th, except `mlp_only_layers`.
static void readSparseLayers(Settings &settings, DecoderConfig &config) {
  int64_t step = 1;
  settings.read("decoder_sparse_step", step, 1 << 12);
  for (int64_t layer = 0; layer < config.layers; ++layer)
    config.experts.layers[layer] = (layer + 1) % step == 0;
  const json::Value *value = settings.find("mlp_only_layers");
  const json::Array *dense = value ? value->getAsArray() : nullptr;
  settings.check(!value || dense, "'mlp_only_layers' must be a list of layers");
  if (!dense)
    return;
  for (const json::Value &each : *dense) {
    std::optional<int64_t> layer = each.getAsInteger();
    settings.check(layer.has_value(), "'mlp_only_layers' has " + Settings::text(each) + ", which is not a layer");
    if (layer && *layer >= 0 && *layer < config.layers)
      config.experts.layers[*layer] = false;
  }
}

static void readQwenExperts(Settings &settings, DecoderConfig &config, ArrayRef<StringLiteral> countNames) {
  readRouting(settings, config, countNames);
  settings.read("moe_intermediate_size", config.experts.inner);
  settings.read("norm_topk_prob", config.experts.normalized);
  readSparseLayers(settings, config);
}

void braid::describeQwen2Moe(DecoderConfig &config) {
  findFamily("qwen2")->describe(config);
  config.title = "Qwen 2 with experts";
  DecoderNames &names = config.names;
  names.router = "gate", names.experts = "experts";
  names.sharedExpert = "shared_expert", names.sharedGate = "shared_expert_gate";
  config.width = 2048, config.inner = 5632, config.layers = 24, config.heads = config.kvHeads = 16;
  config.experts.count = 60, config.experts.chosen = 4, config.experts.inner = 1408;
  config.experts.sharedInner = 5632, config.experts.normalized = false;
}

void braid::readQwen2Moe(Settings &settings, DecoderConfig &config) {
  readModern(settings, config);
  settings.readActivation("hidden_act", config.activation);
  settings.read("qkv_bias", config.queryBias);
  QwenWindow window = readQwenWindow(settings);
  setWindows(settings, config, window.size,
             [&](int64_t layer) { return window.size && layer % 2 == 0 && layer < window.layer; });
  settings.read("shared_expert_intermediate_size", config.experts.sharedInner);
  readQwenExperts(settings, config, {"num_experts"});
  readRope(settings, config);
}

void braid::describeQwen3Moe(DecoderConfig &config) {
  findFamily("qwen3")->describe(config);
  config.title = "Qwen 3 with experts";
  config.names.router = "gate", config.names.experts = "experts";
  config.width = 2048, config.inner = 6144, config.layers = 24, config.kvHeads = 4, config.headSize = 0;
  config.experts.count = 128, config.experts.chosen = 8, config.experts.inner = 768;
  config.experts.normalized = false;
}

void braid::readQwen3Moe(Settings &settings, DecoderConfig &config) {
  readModern(settings, config);
  settings.readActivation("hidden_act", config.activation);
  readAttentionBias(settings, config);
  bool hasWindow = false;
  int64_t window = 4096;
  settings.read("use_sliding_window", hasWindow);
  readSwitchedWindow(settings, hasWindow, window);
  config.windows.assign(config.layers, window);
  settings.ignore({"max_window_layers"});
  readQwenExperts(settings, config, {"num_experts", "num_local_experts"});
  readRope(settings, config);
}
